"""Code that is independent of any dataset: errors, configuration, steps, files, engines."""
