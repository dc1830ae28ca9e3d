"""`factdrift receive`: a small server that hands HITs out and takes submissions, for one batch.

`pool` says which HIT goes to whom, `journal` puts lines onto the disk before anybody is told so,
`desk` joins the two with the batch, and `server` speaks HTTP. One process serves one batch: what it
knows is in memory, and every change is in a file first, so that it may be killed at any time.

In `results/<layout>-<number>/` it keeps `submissions.jsonl`, which `factdrift judgments` reads,
`given.log` (who was handed which HIT, for a restart), and `not-taken.log` (submissions whose
answers break the layout's rules). They hold the platform's own worker ids.
"""
