"""Steps of centralities: paths counted, levels swept, many searches at once."""
