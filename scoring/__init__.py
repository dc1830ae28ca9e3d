"""Scoring of models on a release: predictions, scores, strata, reports."""

if __name__ != "factdrift.scoring":
    raise ImportError(f"{__name__} is a part of factdrift: import factdrift.scoring")
