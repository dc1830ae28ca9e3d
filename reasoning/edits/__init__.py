"""The `knowledge-edits` dataset: what changed, and what an edit of a model must do and must not."""
