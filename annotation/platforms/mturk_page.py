"""What MTurk shows a worker: a HIT as an HTMLQuestion, or a template of the requester site.

Both hold the page of `annotation.page` with one variable, `${data}`, for which a HIT is put in:
deflated JSON in base64, so that MTurk sees nothing but ASCII letters, whatever an article holds.
An HTMLQuestion has up to 65,535 bytes (API reference, CreateHITWithHITType, `Question`).

The requester site puts a template into a form of its own, with a button below it. HTML allows no
form in a form, so the template makes its form by script, takes the button away, and lets no
Enter key submit the outer form.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from annotation.batch import Batch, Hit, Item
from annotation.layout import Layout
from annotation.page import data, render
from builders.errors import UserError

SUBMIT = {
    "sandbox": "https://workersandbox.mturk.com",
    "production": "https://www.mturk.com",
}
"""Where answers go, by site."""
LARGEST = 65_535
"""Bytes of a question."""
VARIABLE = "${data}"
_SPARE = 512
_SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
)
_HEAD = """<!-- Paste all of this into the Design Layout of a project. -->
<style>#submitButton{display:none}</style>
<script>
(function () {
  const to = new URLSearchParams(location.search).get('turkSubmitTo') || '';
  const known = /^https:\\/\\/(www|workersandbox)\\.mturk\\.com\\/?$/.test(to);
  const form = document.createElement('form');
  form.id = 'form';
  form.method = 'post';
  form.hidden = true;
  form.action = (known ? to.replace(/\\/$/, '') : '%s') + '/mturk/externalSubmit';
  for (const name of ['assignmentId', 'hitId', 'workerId', 'submission']) {
    const input = document.createElement('input');
    input.type = 'hidden';
    input.name = name;
    form.append(input);
  }
  document.body.append(form);
  document.addEventListener('submit', (e) => e.preventDefault(), true);
  const view = document.createElement('meta');
  view.name = 'viewport';
  view.content = 'width=device-width, initial-scale=1';
  document.head.append(view);
})();
</script>
"""


def question(layout: Layout, name: str, folder: Path, batch: str, submit: str) -> str:
    """The HTMLQuestion of a layout, with `${data}` in place of a HIT, as MTurk's API takes it."""
    page = render(layout, name, folder, [], batch=batch, mode="mturk", deliver={"submit": submit})
    return (
        f'<HTMLQuestion xmlns="{_SCHEMA}"><HTMLContent><![CDATA[\n{page}\n]]></HTMLContent>'
        "<FrameHeight>0</FrameHeight></HTMLQuestion>\n"
    )


def template(layout: Layout, name: str, folder: Path, batch: str, submit: str) -> str:
    """The page as a template of the requester site; see the head of this module.

    It submits to the site that it is on, `submit` where the address does not say.
    """
    page = render(layout, name, folder, [], batch=batch, mode="mturk", deliver={"submit": submit})
    inside = page[page.index("<body>") + len("<body>") : page.rindex("</body>")]
    bare, forms = re.subn(r"<form\b.*?</form>\n?", "", inside, flags=re.DOTALL)
    if forms != 2 or "<form" in bare:
        raise AssertionError(f"{forms} forms in the shell of pages")
    return _HEAD % submit.rstrip("/") + bare.lstrip("\n")


def filled(question: str, hit: Hit, batch: str) -> str:
    """A question with a HIT in it."""
    return question.replace(VARIABLE, data(hit, batch))


def room(question: str) -> Callable[[Sequence[Item]], bool]:
    """What tells whether items fit into a question, with some bytes left for addresses."""
    left = LARGEST - _SPARE - len(question)
    name = "0" * 16
    return lambda items: len(data(Hit(name, tuple(items)), name)) <= left


def check_sizes(question: str, batch: Batch) -> int:
    """Bytes of the largest question of a batch; `UserError` where MTurk would not take it.

    The template of the requester site is smaller than the question, so it fits, too.
    """
    bare = len(question) - len(VARIABLE)

    def size(items: Sequence[Item], hit: Hit) -> int:
        return bare + len(data(Hit(hit.id, tuple(items)), batch.id))

    sizes = [size(hit.items, hit) for hit in batch.hits]
    large = [n for n, bytes_ in enumerate(sizes) if bytes_ > LARGEST]
    if not large:
        return max(sizes, default=bare)
    fits = min(_fitting([size([item], batch.hits[n]) - bare for item in batch.hits[n].items], bare)
               for n in large)  # fmt: skip
    worst = max(large, key=sizes.__getitem__)
    text = (
        f"{len(large)} of {len(batch.hits)} HITs are too large for MTurk: HIT {worst + 1}, of "
        f"{len(batch.hits[worst].items)} items, makes a question of {sizes[worst]:,} bytes, of "
        f"which {bare:,} are the page; {LARGEST:,} are taken"
    )
    if fits:
        raise UserError(text, hint=f"set items_per_hit: {fits} in its layout.yaml")
    hint = (
        "one item alone is too large: use --platform static, whose pages hold any text, "
        "and let them be found from MTurk, Prolific or Connect by a link"
    )
    raise UserError(text, hint=hint)


def _fitting(packed: Sequence[int], bare: int) -> int:
    """How many of the items fit together for sure, the largest first: each packed by itself."""
    room, count = LARGEST - bare, 0
    for bytes_ in sorted(packed, reverse=True):
        room -= bytes_
        if room < 0:
            break
        count += 1
    return count
