"""A little of `make torture`: no case loses anything, and a fault that is planted is a loss."""

from pathlib import Path

import pytest

from torture import Outcome
from torture.__main__ import CAMPAIGNS, Report, main
from torture.servers import CLIENTS, FAULTS

SLOW = pytest.mark.slow


def asked(client: str, fault: str) -> str:
    """The case of one client and one fault."""
    return f"servers/{FAULTS.index(fault) * len(CLIENTS) + list(CLIENTS).index(client)}"


@pytest.mark.parametrize(
    "case",
    [
        pytest.param("lines/0", marks=SLOW),
        *(asked("sparql", fault) for fault in ("401", "bomb", "redirect")),
        *(asked("chat", fault) for fault in ("401", "bomb", "redirect", "json " + "[" * 100_000)),
        *(asked("fetch", fault) for fault in ("cut", "redirect", "429 0")),
        *(
            pytest.param(asked(client, "drip"), marks=SLOW)
            for client in CLIENTS
            if client != "fetch"
        ),
    ],
)
def test_a_case_loses_nothing(case: str, tmp_path: Path) -> None:
    assert main(["--folder", str(tmp_path), "--case", case]) == 0
    report = (tmp_path / "report.md").read_text("utf-8")
    assert "0 losses" in report and f"| {case.partition('/')[0]} |" in report


@SLOW
def test_a_short_run_loses_nothing(tmp_path: Path) -> None:
    words = [word for campaign in CAMPAIGNS for word in (f"--{campaign.__name__}", "1")]
    assert main(["--folder", str(tmp_path), "--seed", "1", *words]) == 0


def test_the_report_names_the_case_of_a_loss(tmp_path: Path) -> None:
    Report(7, tmp_path).add("kills/3", Outcome("SIGKILL of the group", 2, ("1.0.0 is lost",)))
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "seed 7: 1 losses" in text
    assert "| kills | SIGKILL of the group | 2 | 1 |" in text
    assert "`kills/3`" in text
