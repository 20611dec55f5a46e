"""Steps of components, forests, orders and colours."""
