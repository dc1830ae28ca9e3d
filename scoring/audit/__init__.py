"""Audits of published benchmarks: which of their answers still hold, by the timelines of a dump.

It stands beside scoring because it judges the answers of others with scoring's rules for names, and
because it uses everything below: the reader of dumps, timelines, inputs and plots.
"""
