"""The CKL datasets that need people: from recent news to clozes, judged against an old corpus."""
