"""Pages without a server: text that is safe in them, charts, tables, and the page itself."""
