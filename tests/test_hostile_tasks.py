"""Labels of strangers in harness tasks are text: lm-eval's own template engine prints them."""

import json

import pytest
from jinja2 import BaseLoader, Environment, StrictUndefined

from factdrift.builders.release.tasks import template_text

HOSTILE = [
    "{{ 7 * 7 }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{% for x in range(10**9) %}a{% endfor %}",
    "{# hidden #}",
    "}} {{ 7 * 7 }} {{",
    '" }} {{ 7 * 7 }} {{ "',
    "' ~ lipsum.__globals__ ~ '",
    '\\" }}{{ 7 * 7 }}{{ \\"',
    "{{ '%s' }}\n{%- raw -%}",
    "{\u200b{ 7 * 7 }} \u2028 é 名",
    "plain text, with 100 % and {one brace}",
]


def rendered(template: str, row: dict[str, object]) -> str:
    """As lm-eval 0.4 renders descriptions and prompts: without a sandbox."""
    try:
        from lm_eval.utils import apply_template
    except ImportError:  # not installed here: the same environment, as its source has it
        environment = Environment(  # noqa: S701 - what lm-eval does is what has to be survived
            loader=BaseLoader(), undefined=StrictUndefined, keep_trailing_newline=True
        )
        return environment.from_string(template).render(**row)
    text: str = apply_template(template, row)
    return text


@pytest.mark.parametrize("label", HOSTILE)
def test_a_description_renders_as_it_is_written(label: str) -> None:
    text = f"Fill the gap.\n\nOn 30 June 2020: {label} is led by _X_.\n\n"
    assert rendered(template_text(text), {"prompt": "p"}) == text


@pytest.mark.parametrize("label", HOSTILE)
def test_a_table_of_descriptions_renders_as_it_is_written(label: str) -> None:
    heads = json.dumps({"P6": label, "*": "other"}, ensure_ascii=False)
    template = f"{{% set heads = {heads} %}}{{{{ heads.get(relation, heads['*']) }}}}\n\n"
    assert rendered(template, {"relation": "P6"}) == f"{label}\n\n"
