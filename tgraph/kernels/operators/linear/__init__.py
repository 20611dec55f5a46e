"""Steps of linear iterations."""
