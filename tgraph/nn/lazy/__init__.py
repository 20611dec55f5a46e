"""Messages of layers that users write, computed at vertices where they can be, and never made."""
