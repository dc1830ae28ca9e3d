"""Annotation: batches of rows out to people, their judgments in, gold rows for releases.

A *layout* (`annotation/layouts/<name>/`) says what is shown and what is asked. `factdrift hits`
samples rows of a dataset, makes *items* of them, groups the items into *HITs* and the HITs into a
numbered *batch*, and writes it for a *platform*. `factdrift judgments` reads a platform's results,
matches them to their batch and writes `rows.Judgment` and, by the layout's rule, `rows.Gold`, which
recipes take as inputs.

A submission is one worker's answers to one HIT, the same JSON on every platform:

    {"format": "factdrift-submission/1", "batch": "<batch id>", "hit": "<HIT id>",
     "worker": "<platform's id>", "assignment": "<platform's id>", "seconds": 84.2,
     "answers": {"<item id>": {"<answer name>": <value>, …}, …},
     "item_seconds": {"<item id>": 20.1, …}}

and perhaps `study`, the platform's id of the study, and `received`, when a server took it.

Values by kind of answer: `choice` the value (text), `choices` a list of them, `flag` true or
false, `text` the text, `span` {"start", "end", "text"} counting Unicode code points in the
field's text (for `paragraphs`, with "paragraph"), `spans` a list of these, `group` a list of
objects of its own answers. An answer whose `when` does not hold is absent.
"""

if __name__ != "factdrift.annotation":
    raise ImportError(f"{__name__} is a part of factdrift: import factdrift.annotation")
