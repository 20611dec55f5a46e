"""Self-contained HTML pages: safe text, charts, tables, and the page itself."""
