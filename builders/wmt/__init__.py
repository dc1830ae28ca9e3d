"""Dated news: archive reader, passages, and the dates at which questions are asked."""
