"""TimeQA: time-evolving facts aligned with pages, and questions about them (paper 001)."""
