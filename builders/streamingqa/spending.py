"""What the models of a run will cost, before one is asked, and what they came to."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.core.hashing import digest
from factdrift.builders.core.steps import Say
from factdrift.builders.generate.backends import AnyModel, CachedModel, TaskCost
from factdrift.builders.generate.costs import Price, Prices, Terms, money, total
from factdrift.builders.generate.prompt_files import Task, prompt_template
from factdrift.builders.generate.prompts import load_prompts
from factdrift.builders.generate.protocol import Style
from factdrift.filters.base import Filter

_RATES = "rates.json"
_BEGUN = "begun.json"
"""The runs that have not ended, with what their models had been asked before they began."""
_CHARACTERS_OF_TOKEN = 4.4
"""Characters of English news that are one token, in tokenizers of 100,000 and more entries."""
_CHARACTERS_OF_SENTENCE = 115
"""Characters of a sentence of news, as the archives of WMT have them."""
_QUESTIONS_OF_DRAW = 1.2
"""Questions of a draw that come to the filters of models: a capable model wrote 43 pairs about 40
articles that it had not seen, and of style `candidates` more."""
_KEPT_BY_FILTER = 0.85
"""The share of questions that one filter of a model keeps for the next one."""
_FEWEST_DRAWS = 10
"""Draws of a run from which its rates are better than ours."""
_TASK_OF_FILTER: Mapping[str, str] = {
    "round_trip": "answering",
    "guess": "guessing",
    "toxicity": "scoring",
}
"""The task of a filter's prompts, as `CachedModel.costs` names it; of others it is `judging`."""
_WRITTEN: Mapping[str, int] = {
    "writing": 200,
    "answering": 15,
    "guessing": 15,
    "judging": 60,
    "scoring": 60,
}
"""Tokens of one answer by task, of a model that does not reason before it answers."""
_RUBRIC = 1900
"""Characters of the rubric of toxicity, which has no article."""


@dataclass(frozen=True)
class ModelUse:
    """One use of a model: a task for the writer, or for a filter; `name` is the user's word."""

    name: str
    task: str
    settings: AnyModel


@dataclass(frozen=True)
class TaskEstimate:
    """What one task will take; `cost` is None where no price is known."""

    task: str
    calls: float
    tokens_read: float
    tokens_written: float
    cost: float | None


@dataclass(frozen=True)
class RunPlan:
    """What the models of a run are to do: uses, the writer first, and the draws asked about."""

    uses: tuple[ModelUse, ...]
    style: Style
    kept: int
    draw_count: int
    articles_path: Path
    answers: Path
    """The folder of the answers, with the rates of earlier runs."""
    run_key: str
    """What tells this release from others by the same models: a killed run goes on with it."""

    @property
    def key(self) -> str:
        """A hash of the models, prompts and filters, whose rates earlier runs have left."""
        identity: list[Any] = [self.style, self.kept]
        for use in self.uses:
            prompts = load_prompts(use.settings.prompts).identity
            identity.append([use.name, use.settings.backend, use.settings.model, prompts])
        return digest(identity)


def model_uses(writer: AnyModel | None, filters: Sequence[Filter]) -> Iterator[ModelUse]:
    """Yield the uses of models: the writer, where there is one, then each filter that asks one."""
    if writer is not None:
        yield ModelUse("writer", "writing", writer)
    for chosen_filter in filters:
        settings = chosen_filter.own_model() or writer
        if settings is not None and {"answering", "model"} & chosen_filter.resources():
            if chosen_filter.filter == "guess" and settings.cutoff is None:
                continue  # it asks nothing then
            task = _TASK_OF_FILTER.get(chosen_filter.filter, "judging")
            yield ModelUse(chosen_filter.filter, task, settings)


def estimate(plan: RunPlan, terms: Terms) -> tuple[list[TaskEstimate], int]:
    """Estimate each task, and return the draws of the earlier run by which it is done; 0: none."""
    rates = _read_rates(plan.answers).get(plan.key)
    if rates is not None:
        by_task: list[TaskEstimate] = []
        factor = plan.draw_count / rates["draws"]
        for task, (calls, read, written) in rates["tasks"].items():
            settings = next((use.settings for use in plan.uses if use.task == task), None)
            price = _price(settings or plan.uses[0].settings, terms)
            cost = price.of(read * factor, written * factor) if price else None
            by_task.append(
                TaskEstimate(task, calls * factor, read * factor, written * factor, cost)
            )
        return by_task, rates["draws"]
    return [_estimate_use(plan, index, terms) for index in range(len(plan.uses))], 0


def _estimate_use(plan: RunPlan, index: int, terms: Terms) -> TaskEstimate:
    """Estimate one use by figures of a capable model on other news."""
    use = plan.uses[index]
    call_count: float = plan.draw_count
    if index == 0 and plan.style == "candidates":
        call_count *= plan.kept
    elif index:
        question_rate = _QUESTIONS_OF_DRAW if plan.style == "article" else 0.7 * plan.kept
        call_count *= question_rate * _KEPT_BY_FILTER ** (index - 1)
    tokens_read = call_count * _prompt_tokens(plan, use)
    tokens_written = call_count * (_WRITTEN[use.task] if index or plan.style == "article" else 25)
    price = _price(use.settings, terms)
    return TaskEstimate(
        use.task,
        call_count,
        tokens_read,
        tokens_written,
        price.of(tokens_read, tokens_written) if price else None,
    )


def _prompt_tokens(plan: RunPlan, use: ModelUse) -> float:
    """Tokens of one prompt: the instruction with its examples, and an article of average length."""
    if use.task == "scoring":
        return _RUBRIC / _CHARACTERS_OF_TOKEN
    task_name = "writes questions" if use.task == "writing" else f"filter {use.name}"
    writing_task: Task = "article" if plan.style == "article" else "generate"
    template = prompt_template(load_prompts(use.settings.prompts), task_name, writing_task)
    (sentences,) = duck.query(
        "select coalesce(avg(sentences), 0) from read_parquet(?)", [str(plan.articles_path)]
    )[0]
    article = min(float(sentences) * _CHARACTERS_OF_SENTENCE, use.settings.characters)
    shown = 0 if use.task == "guessing" else article
    return (len(template) + shown) / _CHARACTERS_OF_TOKEN


def _price(settings: AnyModel, terms: Terms) -> Price | None:
    base_url = getattr(settings, "base_url", None)
    return terms.prices.of(settings.model, settings.backend, base_url)


def announce(plan: RunPlan, models: Sequence[CachedModel], terms: Terms, say: Say) -> None:
    """Say what the run will take and cost, and let the user agree; `UserError` if nobody does.

    `models` have the answers of earlier runs, which are not paid for again.
    """
    task_estimates, rate_draws = estimate(plan, terms)
    _begin(plan, models)
    answered_calls, answered_cost = _answered(plan, models)
    for estimate_line in _estimate_lines(plan, task_estimates, terms):
        say(estimate_line)
    whole_cost = total([entry.cost for entry in task_estimates])
    cost_left = None if whole_cost is None else max(0.0, whole_cost - answered_cost)
    cost_text = "unknown price" if cost_left is None else f"about {money(cost_left)}"
    basis_text = "by figures of other news; after a run with --limit 20 it is by your own"
    if rate_draws:
        basis_text = f"by your run of {rate_draws:,} draws"
    answered_text = f"; {answered_calls:,} calls are answered already" if answered_calls else ""
    say(f"  {cost_text} ({basis_text}){answered_text}")
    if all(use.settings.backend == "batch" for use in plan.uses):
        # files of calls cost nothing; who sends them agrees
        if terms.budget is not None and cost_left is not None and cost_left > terms.budget:
            hint_text = "ask for fewer rows, or give a higher --budget"
            raise UserError(f"the batches would cost {money(cost_left)}", hint=hint_text)
        return
    terms.agree(cost_left, _is_free(plan, terms), say)


def _estimate_lines(
    plan: RunPlan, task_estimates: Sequence[TaskEstimate], terms: Terms
) -> Iterator[str]:
    """The calls, the tokens, and the price of each model."""
    call_count = sum(entry.calls for entry in task_estimates)
    merged_tasks = _merged(task_estimates)
    task_texts = ", ".join(f"{entry.calls:,.0f} {entry.task}" for entry in merged_tasks)
    tokens_read = sum(entry.tokens_read for entry in task_estimates) / 1e6
    tokens_written = sum(entry.tokens_written for entry in task_estimates) / 1e6
    yield f"  {plan.draw_count:,} draws: about {call_count:,.0f} calls ({task_texts}),"
    yield f"  {tokens_read:,.2f} million tokens read and {tokens_written:,.2f} million written"
    for settings in {use.settings.model: use.settings for use in plan.uses}.values():
        yield f"  {settings.model}: {_price(settings, terms) or 'unknown price'}"


def _is_free(plan: RunPlan, terms: Terms) -> bool:
    """Whether every model is known to cost nothing."""
    model_prices = [_price(use.settings, terms) for use in plan.uses]
    return all(price is not None and not (price.read or price.written) for price in model_prices)


def _merged(tasks: Sequence[TaskEstimate]) -> list[TaskEstimate]:
    """One estimate a task: several filters may judge."""
    by_task: dict[str, TaskEstimate] = {}
    for entry in tasks:
        earlier = by_task.get(entry.task)
        if earlier is None:
            by_task[entry.task] = entry
            continue
        by_task[entry.task] = TaskEstimate(
            entry.task,
            earlier.calls + entry.calls,
            earlier.tokens_read + entry.tokens_read,
            earlier.tokens_written + entry.tokens_written,
            total([earlier.cost, entry.cost]),
        )
    return list(by_task.values())


def _begin(plan: RunPlan, models: Sequence[CachedModel]) -> None:
    """Note what the models had been asked when this release was begun, unless that is noted."""
    begun = _read_state(plan.answers / _BEGUN)
    if plan.run_key not in begun:
        begun[plan.run_key] = {path.name: _sums(model) for path, model in _by_path(models).items()}
        _write_state(plan.answers / _BEGUN, begun)


def _end(plan: RunPlan) -> None:
    begun = _read_state(plan.answers / _BEGUN)
    if begun.pop(plan.run_key, None) is not None:
        _write_state(plan.answers / _BEGUN, begun)


def _by_path(models: Sequence[CachedModel]) -> dict[Path, CachedModel]:
    """The models by the file of their answers: a writer that judges, too, is one."""
    return {model.path: model for model in models}


def _sums(model: CachedModel) -> list[int]:
    """The calls, tokens read and tokens written of a model before this run."""
    entries = list(model.earlier_costs.values())
    tokens_read = sum(entry.tokens_read for entry in entries)
    tokens_written = sum(entry.tokens_written for entry in entries)
    return [sum(entry.calls for entry in entries), tokens_read, tokens_written]


def _answered(plan: RunPlan, models: Sequence[CachedModel]) -> tuple[int, float]:
    """The calls of earlier runs of the same release, which did not end, and what they cost."""
    begun_runs = _read_state(plan.answers / _BEGUN).get(plan.run_key, {})
    call_count, earlier_cost = 0, 0.0
    for path, model in _by_path(models).items():
        if path.name in begun_runs:
            new_sums = [
                now - then for now, then in zip(_sums(model), begun_runs[path.name], strict=True)
            ]
            call_count += new_sums[0]
            earlier_cost += model.price.of(*new_sums[1:]) if model.price else 0
    return call_count, earlier_cost


def report(
    plan: RunPlan, models: Sequence[CachedModel], row_count: int, terms: Terms, say: Say
) -> None:
    """Say what the models cost in this run and with earlier ones, and what would be cheaper.

    Earlier ones are those of the same release, which were stopped.
    """
    calls = sum(model.misses for model in models)
    tokens_read = sum(model.usage.tokens_read for model in models)
    tokens_written = sum(model.usage.tokens_written for model in models)
    cost = total([model.cost() for model in models])
    _, earlier_cost = _answered(plan, models)
    _end(plan)
    cost_text = f"  it cost {money(cost)}" if cost is not None else "  unknown price"
    say(f"{cost_text}: {calls:,} calls, {tokens_read:,} tokens read, {tokens_written:,} written")
    if cost is None or not (cost + earlier_cost):
        return
    whole_cost = cost + earlier_cost
    earlier_text = f" with earlier runs {money(whole_cost)}," if earlier_cost else ""
    if row_count:
        say(f" {earlier_text} {money(whole_cost / row_count)} a row")
    if suggestions := list(_cheaper(plan, models, whole_cost, terms)):
        say(f"  cheaper: {'; '.join(suggestions)}")


def _cheaper(
    plan: RunPlan, models: Sequence[CachedModel], whole_cost: float, terms: Terms
) -> Iterator[str]:
    """What the same calls would cost otherwise, in words."""
    if plan.uses[0].settings.backend == "openai":
        batch_share = terms.prices.tables[0].batch
        yield f"batch files (--backend batch) {money(whole_cost * batch_share)}"
    writer_price = _price(plan.uses[0].settings, terms)
    by_task = _costs_by_task(models)
    if writer_price is not None:
        for price in terms.prices.cheaper(writer_price):
            share = _cost_of(by_task, price) / (_cost_of(by_task, writer_price) or 1)
            yield f"{price.model} {money(whole_cost * share)}"
        task_costs = {
            task: writer_price.of(entry.tokens_read, entry.tokens_written)
            for task, entry in by_task.items()
            if task != "writing"
        }
        if task_costs:
            task = max(task_costs, key=lambda name: task_costs[name])
            names = " and ".join(use.name for use in plan.uses if use.task == task)
            share = task_costs[task] / (_cost_of(by_task, writer_price) or 1)
            yield f"without {names} {money(whole_cost * (1 - share))}"


def _cost_of(by_task: Mapping[str, TaskCost], price: Price) -> float:
    return sum(price.of(entry.tokens_read, entry.tokens_written) for entry in by_task.values())


def _costs_by_task(models: Sequence[CachedModel]) -> dict[str, TaskCost]:
    """The calls and tokens of this run and earlier ones, by task."""
    by_task: dict[str, TaskCost] = {}
    earlier = [model.earlier_costs for model in _by_path(models).values()]
    for costs in (*earlier, *(model.costs for model in models)):
        for task, entry in costs.items():
            task_cost = by_task.setdefault(task, TaskCost())
            task_cost.calls += entry.calls
            task_cost.tokens_read += entry.tokens_read
            task_cost.tokens_written += entry.tokens_written
    return by_task


def keep_rates(plan: RunPlan, models: Sequence[CachedModel], row_count: int) -> None:
    """Keep the calls and tokens of each task for so many draws, cached answers among them."""
    if plan.draw_count < _FEWEST_DRAWS:
        return
    prompt_counts: Counter[str] = Counter()
    for model in models:
        prompt_counts += model.prompt_counts
    task_rates: dict[str, list[float]] = {}
    for task, task_cost in _costs_by_task(models).items():
        call_count = prompt_counts[task]
        if call_count and task_cost.calls:
            call_share = call_count / task_cost.calls
            task_rates[task] = [
                call_count,
                task_cost.tokens_read * call_share,
                task_cost.tokens_written * call_share,
            ]
    if "writing" not in task_rates:
        return  # answers of an older version, whose tokens nobody counted
    rates = _read_rates(plan.answers)
    rates[plan.key] = {"draws": plan.draw_count, "rows": row_count, "tasks": task_rates}
    _write_state(plan.answers / _RATES, rates)


def say_whole(
    plan: RunPlan, draw_count: int, row_count: int, terms: Terms | None, say: Say
) -> None:
    """Say what all draws would take, by the limited run that has just ended."""
    rows_each = row_count / plan.draw_count
    whole_plan = replace(plan, draw_count=draw_count)
    task_estimates, _ = estimate(whole_plan, terms or Terms(Prices.read()))
    call_count = sum(task.calls for task in task_estimates)
    whole_cost = total([task.cost for task in task_estimates])
    cost_text = f" for {money(whole_cost)}" if whole_cost else ""
    say(f"  the whole recipe, {draw_count:,} draws: about {call_count:,.0f} calls{cost_text},")
    say(f"  {draw_count * rows_each:,.0f} rows")


def _read_rates(folder: Path) -> dict[str, Any]:
    return _read_state(folder / _RATES)


def _read_state(path: Path) -> dict[str, Any]:
    state: dict[str, Any] = {}
    with suppress(FileNotFoundError, ValueError):
        state = json.loads(path.read_text("utf-8"))
    return state


def _write_state(path: Path, state: Mapping[str, Any]) -> None:
    with replacing(path) as unfinished:
        unfinished.write_text(json.dumps(state, indent=1), "utf-8")
