"""What a user writes programs with: the five operators, `Program` and `Relaxation`."""
