"""Temporal reasoning: questions whose answer follows from several dated facts.

A dataset on the public kit, written as somebody outside of the project would write one.
"""
