"""A release on disk: Parquet files, manifest, card, Croissant, versions, verification."""
