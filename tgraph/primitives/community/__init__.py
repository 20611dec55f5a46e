"""Steps of the search for communities."""
