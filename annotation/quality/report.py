"""`report.html`: what came back for one layout, on one page without scripts or other files.

The same judgments give the same bytes: no clock, nothing of the machine.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from annotation.quality.expert import Share
from annotation.quality.figures import Figures
from annotation.submission import decode

REPORT = "report.html"
_EXAMPLES = 20


@dataclass(frozen=True)
class RefusedCounts:
    """What the last import did not take: by reason, and the first few lines."""

    reasons: tuple[tuple[str, int], ...] = ()
    examples: tuple[dict[str, Any], ...] = ()


def read_refused(path: Path) -> RefusedCounts:
    """Counts of `refused.jsonl`; nothing where there is none."""
    reasons: Counter[str] = Counter()
    examples: list[dict[str, Any]] = []
    if path.is_file():
        with path.open(encoding="utf-8") as file:
            for line in file:
                one = decode(line)
                reasons[one["reason"]] += 1
                if len(examples) < _EXAMPLES:
                    examples.append({**one, "file": Path(one["file"]).name})
    return RefusedCounts(tuple(sorted(reasons.items())), tuple(examples))


def render(figures: Figures, shares: Sequence[Share], refused: RefusedCounts) -> str:
    """The page as text."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": _count,
        "figure": _figure,
        "money": _money,
        "percent": _percent,
    }
    lowest = min([a.low for a in figures.agreements.answers if a.low is not None] + [0.0])
    left = min(-0.2, lowest)
    page = environment.get_template("report.html.j2").render(
        f=figures,
        layout=figures.layout,
        shares=shares,
        checked=Counter(str(share.accepted) for share in shares),
        refused=refused,
        rule=_rule(figures),
        place=lambda value: f"{100 * (max(value, left) - left) / (1 - left):.2f}%",
        ticks=[-1, -0.5, 0, 0.5, 1] if left < -0.5 else [0, 0.25, 0.5, 0.75, 1],
        left=left,
        most=max([*figures.decisions.values(), 1]),
        total=max(sum(figures.decisions.values()), 1),
    )
    return page.rstrip() + "\n"


def _rule(figures: Figures) -> str:
    rule, layout = figures.layout.rule, figures.layout
    of = f" on “{layout.answers[rule.of].label}”" if rule.of else ""
    accept = f", {' or '.join(rule.accept)} accepts" if rule.accept else ""
    many = f"{layout.assignments} judgment{'s' if layout.assignments > 1 else ''} a row"
    words = {
        "majority": f"more than half agree{of}",
        "unanimous": f"all agree{of}",
        "any": f"every judgment is taken{of}",
        "sampled": f"{rule.sampled} items of each worker's batch go to an expert, "
        "the batch is accepted or rejected whole",
    }
    return f"{many}; {words[rule.by]}{accept}"


def _count(value: float) -> str:
    return f"{value:,}"


def _figure(value: float | None) -> str:
    """Two digits, or a dash where it is undefined."""
    return "–" if value is None else f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _money(value: Decimal) -> str:
    return f"{value:,.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f} %"


__all__ = ["REPORT", "RefusedCounts", "read_refused", "render"]
