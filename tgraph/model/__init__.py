"""The interface for programs: the five operators, `Program` and `Relaxation`."""
