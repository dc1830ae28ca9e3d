"""English words, names and dates, as lists and patterns."""
