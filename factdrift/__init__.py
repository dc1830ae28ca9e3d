"""Dated sources in, versioned Parquet releases out."""

__version__ = "0.2.0"
