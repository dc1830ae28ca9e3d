"""Platforms: one file each, in one table."""
