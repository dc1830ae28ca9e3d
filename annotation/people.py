"""The register of people: who takes part, who is set aside, who is an expert, and who is erased.

`judgments/people.jsonl` is a journal with an event on each line; only erasing somebody takes lines
out. People are named by the salted hash that judgments have. A later event takes an earlier one
back where they contradict each other: `readmitted` ends `excluded` and `erased`, and of a
platform's statuses of one submission the last holds.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from factdrift.annotation.layout import Consent
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing

PEOPLE, EXPERTS = "people.jsonl", "experts.txt"
EventName = Literal["consented", "excluded", "readmitted", "erased", "expert", "status"]


class PersonEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the register.

    `why` is what a user gave as the reason, or the status that the platform gave to the submission
    `assignment`, a salted hash. `text` is the SHA-256 of the text that was consented to. `day` is
    the day of the consent, or the day on which the event was noted.
    """

    worker: str
    event: EventName
    platform: str = ""
    why: str = ""
    text: str = ""
    day: str = ""
    assignment: str = ""


def consent_sha256(consent: Consent) -> str:
    """The SHA-256 of all that a worker reads before agreeing, by which a consent names its text."""
    return sha256("\n".join([*consent.text, consent.contact, consent.agree]).encode()).hexdigest()


def today() -> str:
    """The day in UTC, as the register writes it."""
    return datetime.now(UTC).date().isoformat()


@dataclass
class Register:
    """The people of one folder of judgments, as their events have it; made by `read`."""

    events: list[PersonEvent] = field(default_factory=list)
    listed_experts: frozenset[str] = frozenset()
    _workers: set[str] = field(default_factory=set)
    _latest: dict[str, str] = field(default_factory=dict)
    _experts: set[str] = field(default_factory=set)
    _consents: dict[str, dict[str, str]] = field(default_factory=dict)
    _statuses: dict[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def read(cls, judgments_folder: Path) -> "Register":
        """Read the register of a folder; an empty one where there is none.

        `UserError`, with the line: the file is damaged.
        """
        experts_path = judgments_folder / EXPERTS
        expert_hashes = experts_path.read_text("utf-8").split() if experts_path.is_file() else []
        people_register = cls(listed_experts=frozenset(expert_hashes))
        for person_event in _read_events(judgments_folder / PEOPLE):
            people_register._note(person_event)
        return people_register

    def is_excluded(self, worker_hash: str) -> bool:
        """Whether somebody's work is set aside. It stays, and counts for nothing."""
        return self._latest.get(worker_hash) == "excluded"

    def is_erased(self, worker_hash: str) -> bool:
        """Whether all that somebody did was erased, and is taken no more."""
        return self._latest.get(worker_hash) == "erased"

    def is_expert(self, worker_hash: str) -> bool:
        """Whether somebody is an expert, in batches that are made for experts."""
        return worker_hash in self._experts or worker_hash in self.listed_experts

    def consents(self, worker_hash: str) -> list[tuple[str, str]]:
        """The texts that somebody consented to, by their SHA-256, each with the first day."""
        return sorted(self._consents.get(worker_hash, {}).items())

    def status(self, worker_hash: str, assignment: str) -> str:
        """What a platform said last of a submission; empty where it said nothing."""
        return self._statuses.get((worker_hash, assignment), "")

    def statuses_of(self, worker_hash: str) -> list[str]:
        """What platforms said of somebody's submissions, each word with its number."""
        status_words = [
            status for (named, _), status in self._statuses.items() if named == worker_hash
        ]
        return [f"{status_words.count(word)} {word}" for word in sorted(set(status_words))]

    def experts(self) -> frozenset[str]:
        """The hashes of all experts."""
        return self.listed_experts | self._experts

    def excluded(self) -> frozenset[str]:
        """The hashes of all people whose work is set aside."""
        return frozenset(
            worker_hash for worker_hash in self._latest if self.is_excluded(worker_hash)
        )

    def workers(self) -> list[str]:
        """The hashes of all people of the register, sorted."""
        return sorted(self._workers | self.listed_experts)

    def has(self, worker_hash: str) -> bool:
        """Whether anything is said of somebody."""
        return worker_hash in self._workers or worker_hash in self.listed_experts

    def is_new(self, person_event: PersonEvent) -> bool:
        """Whether an event says what the register does not know yet."""
        if person_event.event == "consented":
            return person_event.text not in self._consents.get(person_event.worker, {})
        if person_event.event == "expert":
            return not self.is_expert(person_event.worker)
        if person_event.event == "status":
            return self.status(person_event.worker, person_event.assignment) != person_event.why
        latest_event = self._latest.get(person_event.worker)
        return latest_event != person_event.event and (
            person_event.event != "readmitted" or latest_event is not None
        )

    def add(self, judgments_folder: Path, new_events: Iterable[PersonEvent]) -> int:
        """Append the events that say something new, and return how many did.

        The caller holds the lock of the folder. The file is written whole and put in place of the
        earlier one, so that no reader sees half a line.
        """
        added_events = []
        for person_event in new_events:
            if self.is_new(person_event):
                self._note(person_event)
                added_events.append(person_event)
        if added_events:
            _write_events(judgments_folder / PEOPLE, self.events)
        return len(added_events)

    def erase(self, judgments_folder: Path, person_event: PersonEvent) -> None:
        """Put one event `erased` in place of all that is said of a person, also among experts."""
        self.events = [earlier for earlier in self.events if earlier.worker != person_event.worker]
        self.listed_experts -= {person_event.worker}
        self._experts.discard(person_event.worker)
        self._consents.pop(person_event.worker, None)
        self._statuses = {
            submission: status
            for submission, status in self._statuses.items()
            if submission[0] != person_event.worker
        }
        self._note(person_event)
        _write_events(judgments_folder / PEOPLE, self.events)
        if (judgments_folder / EXPERTS).is_file():
            write_expert_hashes(judgments_folder, self.listed_experts)

    def _note(self, person_event: PersonEvent) -> None:
        self.events.append(person_event)
        self._workers.add(person_event.worker)
        if person_event.event == "consented":
            self._consents.setdefault(person_event.worker, {}).setdefault(
                person_event.text, person_event.day
            )
        elif person_event.event == "expert":
            self._experts.add(person_event.worker)
        elif person_event.event == "status":
            self._statuses[person_event.worker, person_event.assignment] = person_event.why
        else:
            self._latest[person_event.worker] = person_event.event


def write_expert_hashes(judgments_folder: Path, expert_hashes: Collection[str]) -> None:
    """Write the hashes of experts' worker ids, one a line."""
    with replacing(judgments_folder / EXPERTS) as experts_path:
        hash_lines = "".join(f"{expert_hash}\n" for expert_hash in sorted(expert_hashes))
        experts_path.write_text(hash_lines, "utf-8", newline="\n")


def _read_events(people_path: Path) -> Iterator[PersonEvent]:
    if not people_path.is_file():
        return
    with people_path.open("rb") as people_file:
        for line_number, event_line in enumerate(people_file, 1):
            if not event_line.strip():
                continue
            try:
                yield msgspec.json.decode(event_line, type=PersonEvent)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                hint_text = "take the line out, or bring the file back as factdrift wrote it"
                raise UserError(
                    f"not an event of the register: {error}",
                    where=display_path(people_path),
                    line=line_number,
                    hint=hint_text,
                ) from None


def _write_events(people_path: Path, person_events: Iterable[PersonEvent]) -> None:
    with replacing(people_path) as temporary, temporary.open("w", encoding="utf-8") as people_file:
        for person_event in person_events:
            people_file.write(json.dumps(msgspec.to_builtins(person_event), sort_keys=True) + "\n")
