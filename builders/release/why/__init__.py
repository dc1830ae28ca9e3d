"""`factdrift why`: what stands behind a row of a release, or behind what was left out.

`explain.explain` is the one entry. It finds the row (`lookup`), the histories of what it is about
(`histories`) in the release and in the tables of the build folder (`tables`), the texts that it
points into (`texts`), and what speaks against it (`checks`). `words` and `drawing` print all that.
A dataset needs nothing of its own here: the columns that rows share say what is behind them, such
as `subject`, `relation`, `statements`, `evidence_id`, and the roles of the manifest.
"""
