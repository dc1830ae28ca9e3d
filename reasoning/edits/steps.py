"""The step that writes edits and what is asked about each."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.dates import Granularity, Period
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import namesakes
from factdrift.builders.rows import Answer, Dropped, ToldDelta
from factdrift.builders.text.given_away import gives_away
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.reasoning.edits.candidates import EditCandidates
from factdrift.reasoning.edits.rows import (
    EditChain,
    EditHop,
    EditNeighbour,
    EditQuestion,
    KnowledgeEdit,
    QuestionKind,
    ReversibleEdit,
)
from factdrift.reasoning.edits.wordings import EditPrompt, EditTemplates
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.titles import bearers_in_dump, office_titles, telling_title

ASKED = ("rephrases", "portability", "reverse", "locality")
"""The configs with what is asked about edits."""
_HOPS: Mapping[int, QuestionKind] = {1: "one hop", 2: "two hops"}

EditKey = tuple[str, str, date]
"""Subject and relation of an edit, and the last day of its period."""
T = TypeVar("T", EditChain, EditNeighbour, ReversibleEdit)


class EditRows(Step):
    """Writes `edits.parquet` (`KnowledgeEdit`), a file of each of `ASKED` (`EditQuestion`), and
    `dropped.parquet`.

    `templates` are those of all relations that the candidates name. `per_edit` is the largest
    number of portability questions of each number of hops, and of untouched facts of each kind.
    """

    name: ClassVar[str] = "edit-rows"

    candidates: EditCandidates
    templates: Mapping[str, EditTemplates]
    per_edit: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Write an edit with all its questions, one after another, in the order of the sequence."""
        folder = workspace.folder(self.candidates)
        granularity = self.candidates.told.changes.granularity
        names = self._names(folder, workspace)
        writer = EditWriter(folder, self.templates, names, granularity, self.per_edit)
        with (
            writing(out / "edits.parquet", KnowledgeEdit) as edit_file,
            writing(out / "dropped.parquet", Dropped) as drop_file,
            writing(out / "rephrases.parquet", EditQuestion) as rephrase_file,
            writing(out / "portability.parquet", EditQuestion) as portability_file,
            writing(out / "reverse.parquet", EditQuestion) as reverse_file,
            writing(out / "locality.parquet", EditQuestion) as locality_file,
        ):
            question_files = {
                "rephrases": rephrase_file,
                "portability": portability_file,
                "reverse": reverse_file,
                "locality": locality_file,
            }
            for edit, questions in writer.edits():
                edit_file.append(edit)
                for config, question in questions:
                    question_files[config].append(question)
            for dropped in writer.dropped:
                drop_file.append(dropped)

    def _names(self, folder: Path, workspace: Workspace) -> Verbalizer:
        """Return the names of all items, where every office tells of which country it is."""
        phrases = {
            relation: template.phrases
            for relation, template in self.templates.items()
            if template.phrases
        }
        entities = {
            entity.id: entity for entity in typed_rows(folder / "entities.parquet", rows.Entity)
        }
        names = Verbalizer(
            entities, phrases, namesakes.namesake_subjects(folder / namesakes.NAMESAKES)
        )
        query = """
            with segments as (from read_parquet($path))
            select subject from segments where relation in (select unnest($subjects))
            union select object from segments where relation in (select unnest($objects))
            order by 1
        """
        mined_entities = workspace.folder(self.candidates.facts.mined) / "entities.parquet"
        with duck.connect(workspace.work("spill"), workspace.memory) as db:
            office_rows = db.execute(
                query,
                {
                    "path": str(folder / "timelines.parquet"),
                    "subjects": [key for key in phrases if phrases[key].subject_is == "office"],
                    "objects": [key for key in phrases if phrases[key].object_is == "office"],
                },
            ).fetchall()
            office_names = {
                item_id: names.name(item_id) for (item_id,) in office_rows if item_id in entities
            }
            titles = office_titles(
                office_names,
                entities,
                partial(bearers_in_dump, db, mined_entities),
                telling_title,
            )
        return names._replace(titles=titles)


@dataclass(frozen=True)
class EditDraft:
    """An edit before its place in the sequence is known."""

    delta: ToldDelta
    period: Period
    prompt: EditPrompt

    @property
    def key(self) -> EditKey:
        """The key of its candidates."""
        return self.delta.subject, self.delta.relation, self.period.last

    @property
    def before(self) -> EditKey:
        """The key of chains on the last day of the period before."""
        return self.delta.subject, self.delta.relation, (self.period + -1).last

    @property
    def has_several(self) -> bool:
        """Whether several objects hold after the change."""
        return len(self.delta.answers) > 1


class NamedAnswers(NamedTuple):
    """Items as answers, and the names that are accepted for them."""

    answers: tuple[Answer, ...]
    names: tuple[str, ...]


class EditWriter:
    """Writes the edits of a folder of candidates; `dropped` has what is left out, afterwards."""

    def __init__(
        self,
        folder: Path,
        templates: Mapping[str, EditTemplates],
        names: Verbalizer,
        granularity: Granularity,
        per_edit: int,
    ) -> None:
        self.templates, self.granularity, self.per_edit = templates, granularity, per_edit
        self.dropped: list[Dropped] = []
        self._folder = folder
        self._names = names
        all_namesakes = typed_rows(folder / namesakes.NAMESAKES, rows.Namesake)
        self._object_namesakes = {item.id: item for item in all_namesakes if item.role == "object"}
        self._chains = _by_edit(typed_rows(folder / "chains.parquet", EditChain))
        self._neighbours = _by_edit(typed_rows(folder / "neighbours.parquet", EditNeighbour))
        self._reversible = _by_edit(typed_rows(folder / "reversible.parquet", ReversibleEdit))
        self._last_edited: dict[str, date] = {}
        """The last day of the last period with an edit of a prompt."""

    def edits(self) -> Iterator[tuple[KnowledgeEdit, list[tuple[str, EditQuestion]]]]:
        """Yield every edit with its questions, each with the config that it belongs to."""
        edit_drafts = list(self._drafts())
        self._last_edited = {
            edit_draft.prompt.text: edit_draft.period.last for edit_draft in edit_drafts
        }
        last_of_pair = {
            (edit_draft.delta.subject, edit_draft.delta.relation): edit_draft
            for edit_draft in edit_drafts
        }
        for sequence, edit_draft in enumerate(edit_drafts, 1):
            pair = edit_draft.delta.subject, edit_draft.delta.relation
            edit = self._edit(edit_draft, sequence, superseded=last_of_pair[pair] is not edit_draft)
            questions = [
                *(
                    ("rephrases", question)
                    for question in self._rephrase_questions(edit_draft, edit)
                ),
                *(("portability", question) for question in self._portability(edit_draft, edit)),
                *(("reverse", question) for question in self._reverse(edit_draft, edit)),
                *(("locality", question) for question in self._locality(edit_draft, edit)),
            ]
            yield edit, questions

    def _drafts(self) -> Iterator[EditDraft]:
        for told_delta in typed_rows(self._folder / "edits.parquet", ToldDelta):
            delta = self._with_titles(told_delta)
            period = Period(self.granularity, delta.period)
            prompt = self._prompt(delta)
            if prompt is None:
                self._drop(delta, period, "answer_in_prompt")
            else:
                yield EditDraft(delta, period, prompt)

    def _with_titles(self, delta: ToldDelta) -> ToldDelta:
        return replace(
            delta,
            subject_name=self._names.titles.get(delta.subject, delta.subject_name),
            names=tuple(map(self._with_title, delta.names)),
        )

    def _with_title(self, answer: Answer) -> Answer:
        """Return an office under its title, its label among its aliases."""
        title = self._names.titles.get(answer.id)
        if title is None:
            return answer
        other_names = (name for name in (answer.label, *answer.aliases) if name != title)
        return Answer(answer.id, title, tuple(dict.fromkeys(other_names)))

    def _prompt(self, delta: ToldDelta) -> EditPrompt | None:
        """Return the first sentence that has its subject once and gives no new answer away.

        Editors replace the subject in it by a slot.
        """
        template = self.templates[delta.relation]
        labels = [name.label for name in delta.names if name.id in delta.added]
        for prompt in template.prompts(delta.subject_name, has_several=len(delta.answers) > 1):
            has_subject = prompt.text.count(prompt.subject) == 1
            if has_subject and not any(gives_away(prompt.text, label) for label in labels):
                return prompt
        return None

    def _edit(self, draft: EditDraft, sequence: int, *, superseded: bool) -> KnowledgeEdit:
        delta, period = draft.delta, draft.period
        names_by_id = {name.id: name for name in delta.names}

        def named(item_ids: Iterable[str]) -> tuple[Answer, ...]:
            return tuple(names_by_id[item_id] for item_id in item_ids)

        new_answers = named(item for item in delta.answers if item not in delta.still_true)
        possible_answers = named(delta.possible_answers)
        template = self.templates[delta.relation]
        rephrases = template.rephrases(
            draft.prompt, delta.subject_name, period.last, has_several=draft.has_several
        )
        return KnowledgeEdit(
            id=row_id(delta.subject, delta.relation, period),
            prompt=draft.prompt.text,
            targets=_accepted(new_answers, possible_answers),
            sequence=sequence,
            superseded=superseded,
            subject=delta.subject,
            subject_label=delta.subject_label,
            subject_name=draft.prompt.subject,
            relation=delta.relation,
            relation_label=template.label,
            template=f"{delta.relation}/{draft.prompt.place}",
            question=template.question(
                delta.subject_name, period.last, has_several=draft.has_several
            ),
            rephrases=tuple(rephrase.text for rephrase in rephrases),
            change="new" if delta.split == "new" else "updated",
            period=str(period),
            period_first=period.first,
            period_last=period.last,
            answers=named(delta.answers),
            previous_answers=named(delta.previous_answers),
            still_true=named(delta.still_true),
            possible_answers=possible_answers,
            added=delta.added,
            removed=delta.removed,
            sitelinks=delta.sitelinks,
        )

    def _rephrase_questions(self, draft: EditDraft, edit: KnowledgeEdit) -> Iterator[EditQuestion]:
        template = self.templates[edit.relation]
        rephrases = template.rephrases(
            draft.prompt,
            draft.delta.subject_name,
            edit.period_last,
            has_several=draft.has_several,
        )
        for rephrase in rephrases:
            yield self._question(
                edit,
                rephrase.kind,
                rephrase.text,
                targets=edit.targets,
                answers=edit.answers,
                previous_answers=edit.previous_answers,
            )

    def _portability(self, draft: EditDraft, edit: KnowledgeEdit) -> Iterator[EditQuestion]:
        """Yield questions whose answer changes with the edit, up to `per_edit` of each length."""
        previous_chains = {chain.path: chain for chain in self._chains.get(draft.before, ())}
        written_counts = dict.fromkeys(_HOPS, 0)
        asked_prompts: set[str] = set()
        for chain in self._chains.get(draft.key, ()):
            hop_count = len(chain.items)
            if hop_count not in _HOPS or written_counts[hop_count] == self.per_edit:
                continue
            previous_answers = previous_chains.get(chain.path)
            if previous_answers and previous_answers.items[0] not in draft.delta.removed:
                previous_answers = None
            question = self._chain_question(draft, edit, chain, previous_answers)
            if question is not None and question.prompt not in asked_prompts:
                asked_prompts.add(question.prompt)
                written_counts[hop_count] += 1
                yield question

    def _chain_question(
        self, draft: EditDraft, edit: KnowledgeEdit, chain: EditChain, previous: EditChain | None
    ) -> EditQuestion | None:
        relations = chain.path.split(" ")
        path_words = draft.delta.subject_name
        for relation in relations[:-1]:
            path_words = self.templates[relation].noun(path_words)
        followed_from = self.templates[relations[-2]].phrases
        prompt, *rewordings = self.templates[relations[-1]].chain_questions(
            path_words, edit.period_last, followed_from.object_is if followed_from else "thing"
        )
        answers = self._answers(chain.answers)
        if len(chain.answers) > 1:
            self._left_out(edit, chain.path, "not_single", prompt)
            return None
        if self._leads_back(chain, answers.names):
            self._left_out(edit, chain.path, "leads_back", prompt)
            return None
        if self._states(prompt, answers.names):
            self._left_out(edit, chain.path, "answer_in_question", prompt)
            return None
        previous_answers = self._answers(previous.answers).answers if previous else ()
        if _same_names(answers.answers, previous_answers):
            self._left_out(edit, chain.path, "same_answer", prompt)
            return None
        return self._question(
            edit,
            _HOPS[len(chain.items)],
            prompt,
            rewordings=tuple(rewordings),
            relation=relations[-1],
            path=chain.path,
            targets=answers.names,
            answers=answers.answers,
            previous_answers=previous_answers,
            hops=self._hops(chain),
            previous_hops=self._hops(previous) if previous else (),
            statements=chain.statements,
        )

    def _leads_back(self, chain: EditChain, names: Iterable[str]) -> bool:
        """Whether an answer says again what leads to it.

        Who heads a government holds the office of its head, and Yahoo belongs to Yahoo! Inc.
        """
        before, last = (self.templates[relation].phrases for relation in chain.path.split(" ")[-2:])
        asks_office = bool(last and last.object_is == "office")
        if asks_office and before and before.subject_is != "person":
            return True
        led_through = [*map(self._names.name, chain.items)]
        return any(
            gives_away(item_name, name) or gives_away(name, item_name)
            for name in names
            for item_name in led_through
        )

    def _hops(self, chain: EditChain) -> tuple[EditHop, ...]:
        """Return the hops beyond the edit: each goes from an object to the next."""
        hops: list[EditHop] = []
        answer_sets = [*((item,) for item in chain.items[1:]), chain.answers]
        relations = chain.path.split(" ")[1:]
        for item, relation, answer_ids in zip(chain.items, relations, answer_sets, strict=True):
            template, name = self.templates[relation], self._names.name(item)
            hops.append(
                EditHop(
                    subject=item,
                    subject_label=self._names.entities[item].label,
                    relation=relation,
                    relation_label=template.label,
                    question=template.question(name, chain.as_of),
                    cloze=template.statement(name),
                    answers=self._answers(answer_ids).answers,
                )
            )
        return tuple(hops)

    def _reverse(self, draft: EditDraft, edit: KnowledgeEdit) -> Iterator[EditQuestion]:
        for reversible in self._reversible.get(draft.key, ()):
            object_answer = self._answers([reversible.object]).answers
            subject_answer = self._answers([edit.subject])
            namesake = self._object_namesakes.get(reversible.object)
            if namesakes.may_mean_others(namesake, subject_answer.answers):
                self._left_out(edit, edit.relation, "ambiguous_prompt", object_answer[0].label)
                continue
            name = namesake.name if namesake and namesake.name else object_answer[0].label
            prompt = self.templates[edit.relation].reverse_question(name, edit.period_last)
            if self._states(prompt, subject_answer.names):
                self._left_out(edit, edit.relation, "answer_in_question", prompt)
                continue
            yield self._question(
                edit,
                "reverse",
                prompt,
                subject=reversible.object,
                subject_label=object_answer[0].label,
                targets=merge_targets(subject_answer.names, [draft.delta.subject_name]),
                answers=subject_answer.answers,
                statements=reversible.statements,
            )

    def _locality(self, draft: EditDraft, edit: KnowledgeEdit) -> Iterator[EditQuestion]:
        """Yield facts that stay: of the same subject, then of others, up to `per_edit` of each."""
        changed_names = {
            normalize_or_keep(answer.label) for answer in (*edit.answers, *edit.previous_answers)
        }
        written_counts: dict[QuestionKind, int] = defaultdict(int)
        asked_prompts: set[str] = set()
        for neighbour_fact in self._neighbours.get(draft.key, ()):
            is_full = written_counts[neighbour_fact.kind] == self.per_edit
            if is_full or len(neighbour_fact.objects) > 1:
                continue
            answers = self._answers(neighbour_fact.objects)
            is_of_subject = neighbour_fact.kind == "same subject"
            if not is_of_subject and self._names.may_mean_others(
                [neighbour_fact.near_subject], neighbour_fact.objects
            ):
                continue
            name = (
                draft.delta.subject_name
                if is_of_subject
                else self._names.name(neighbour_fact.near_subject)
            )
            template = self.templates[neighbour_fact.near_relation]
            prompt = template.prompts(name, has_several=False)[0].text
            has_same_name = any(
                normalize_or_keep(answer.label) in changed_names for answer in answers.answers
            )
            is_given_away = any(gives_away(prompt, answer.label) for answer in answers.answers)
            is_edited_now = self._last_edited.get(prompt, date.min) >= edit.period_last
            is_taken = is_edited_now or prompt in asked_prompts
            if has_same_name or is_given_away or is_taken:
                continue
            asked_prompts.add(prompt)
            written_counts[neighbour_fact.kind] += 1
            yield self._question(
                edit,
                neighbour_fact.kind,
                prompt,
                subject=neighbour_fact.near_subject,
                subject_label=self._names.entities[neighbour_fact.near_subject].label,
                relation=neighbour_fact.near_relation,
                question=template.question(name, edit.period_last),
                targets=answers.names,
                answers=answers.answers,
                statements=neighbour_fact.statements,
            )

    def _question(
        self,
        edit: KnowledgeEdit,
        kind: QuestionKind,
        prompt: str,
        *,
        targets: tuple[str, ...],
        answers: tuple[Answer, ...],
        previous_answers: tuple[Answer, ...] = (),
        subject: str = "",
        subject_label: str = "",
        relation: str = "",
        path: str = "",
        question: str = "",
        rewordings: tuple[str, ...] = (),
        hops: tuple[EditHop, ...] = (),
        previous_hops: tuple[EditHop, ...] = (),
        statements: tuple[str, ...] = (),
    ) -> EditQuestion:
        """Return a question; what is not given is that of its edit."""
        relation = relation or edit.relation
        return EditQuestion(
            id=row_id(edit.id, kind, subject, relation, path, prompt),
            prompt=prompt,
            targets=targets,
            edit=edit.id,
            sequence=edit.sequence,
            period=edit.period,
            as_of=edit.period_last,
            kind=kind,
            subject=subject or edit.subject,
            subject_label=subject_label or edit.subject_label,
            relation=relation,
            relation_label=self.templates[relation].label,
            path=path or relation,
            question=question or (edit.question if kind in ("statement", "completion") else prompt),
            rewordings=rewordings,
            answers=answers,
            previous_answers=previous_answers,
            hops=hops,
            previous_hops=previous_hops,
            statements=statements,
        )

    def _answers(self, item_ids: Sequence[str]) -> NamedAnswers:
        entities = [self._names.entities[item_id] for item_id in item_ids]
        answers = tuple(
            self._with_title(Answer(entity.id, entity.label, entity.aliases)) for entity in entities
        )
        return NamedAnswers(answers, self._names.accepted_names(item_ids))

    def _states(self, text: str, names: Iterable[str]) -> bool:
        """Whether a text gives one of some names away."""
        return any(gives_away(text, name) for name in names)

    def _left_out(self, edit: KnowledgeEdit, item: str, reason: str, detail: str) -> None:
        """Count a question that is not asked."""
        self.dropped.append(
            Dropped(
                "edits", reason, f"{edit.id}/{item}", edit.subject, edit.relation, edit.period,
                None, detail,
            )
        )  # fmt: skip

    def _drop(self, delta: ToldDelta, period: Period, reason: str) -> None:
        self.dropped.append(
            Dropped(
                "edits", reason, f"{delta.subject}/{delta.relation}", delta.subject,
                delta.relation, str(period), None, delta.subject_name,
            )
        )  # fmt: skip


def _by_edit(candidate_rows: Iterable[T]) -> dict[EditKey, list[T]]:
    by_edit: dict[EditKey, list[T]] = defaultdict(list)
    for row in candidate_rows:
        by_edit[row.subject, row.relation, row.as_of].append(row)
    return by_edit


def _accepted(new_answers: Sequence[Answer], possible_answers: Sequence[Answer]) -> tuple[str, ...]:
    return merge_targets(
        [answer.label for answer in new_answers],
        [alias for answer in new_answers for alias in answer.aliases],
        [answer.label for answer in possible_answers],
        [alias for answer in possible_answers for alias in answer.aliases],
    )


def _same_names(answers: Collection[Answer], previous_answers: Collection[Answer]) -> bool:
    """Whether an answer was right before as well, so that its question does not tell."""
    forms = {normalize_or_keep(answer.label) for answer in answers}
    return any(normalize_or_keep(answer.label) in forms for answer in previous_answers)
