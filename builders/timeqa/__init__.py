"""Timelines aligned with the subjects' pages, and the time-sensitive questions made of them."""
