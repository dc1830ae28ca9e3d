"""Temporal reasoning: questions whose answer follows from several dated facts.

A dataset on the public kit, written as somebody outside of the project would write one.
"""

if __name__ != "factdrift.reasoning":
    raise ImportError(f"{__name__} is a part of factdrift: import factdrift.reasoning")
