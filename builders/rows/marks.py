"""Marks on columns."""

RENDERED = "rendered"
"""Marks a column that a template renders: a change of it alone is a patch version."""
