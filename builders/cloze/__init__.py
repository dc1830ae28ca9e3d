"""LAMA-style cloze queries: relation templates, rendering, tokenizer views."""
