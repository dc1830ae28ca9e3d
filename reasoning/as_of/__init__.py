"""Dated statements and questions as of a day, for search and for memories (the dataset `as-of`)."""
