"""Reader of Wikipedia pages: MediaWiki XML dumps, JSONL and Parquet, as paragraphs with links."""
