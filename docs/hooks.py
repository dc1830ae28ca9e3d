"""Pages that MkDocs makes while it builds: from the models, the command line, and the documents.

Nothing of these is kept in the repository; a page cannot say other than the code does.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pydantic import BaseModel  # noqa: E402

from docs import scale_picture, shared_results  # noqa: E402 - MkDocs runs this file by its path
from docs.keys import nested, table, title  # noqa: E402

if TYPE_CHECKING:
    from factdrift.builders.recipes.recipe import Recipe

DOCUMENTS = {
    "TOUR.md": "tour.md",
    "PEOPLE.md": "people.md",
    "SCALE.md": "scale.md",
    "GLOSSARY.md": "glossary.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "samples/quarters/README.md": "quarters.md",
    "README.md": "index.md",
}
"""Documents of the repository that are pages as they are."""
ROWS = (ROOT / "tests/golden/rows.md", ROOT / "docs/rows.md")
"""A row of each dataset: of the samples' releases, and of those that need people's work."""
RELEASES = ROOT / "releases"
SEARCH_PROGRAM = "search/lunr.js"
"""The search engine that MkDocs brings along, by its path among its templates and our pages."""
BY_TASK = """
## Pages by task

- [Which benchmark do I want?](which.md)
- [Evaluate a model](score.md), [test retrieval or memory](asof.md), [edit a model](edit.md)
- [Build a release](build.md), [have people check and write rows](people.md)
- [Extend it](contributing.md), [run it at scale](scale.md)
- [Look at rows](gallery/index.md) and at [results](results.md)

Search works in these pages as they lie in a folder; a server is not needed.
"""
"""What the first page says beyond the README, which has no word to spare."""
NO_CARD = (
    "None lies in `releases/`. After `make release`, `make docs` shows the newest one's card here, "
    "with its counts and pictures."
)
GALLERY = ROOT / "tests/golden/gallery.md"
"""Ten rows of each dataset of the samples' releases, as `docs/gallery.py` writes them."""
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")


def section(text: str, heading: str) -> str:
    """A section of a Markdown document without its heading. `KeyError`: it has none of it."""
    match = re.search(rf"^(#+) {re.escape(heading)}\n(.*?)(?=^#{{1,3}} |\Z)", text, re.M | re.S)
    if not match:
        raise KeyError(heading)
    return match[2].strip()


GALLERY_WORDS = (
    "Ten rows of each dataset, drawn from the sample's releases, with the facts and texts behind "
    "them. One of each:"
)
WHY_WORDS = (
    "`factdrift why ID RELEASE` says of any row [what stands behind it](../why.md); the id of each "
    "stands in brackets."
)
PEOPLE_WORDS = (
    "The samples alone give none of these. A row of each, from a rehearsal, stands on its page:"
)
# what a page takes from elsewhere: `<!-- row: as-of 3 -->` is the third row of as-of's gallery,
# `<!-- section: README.md Edit a model -->` a section, `<!-- picture: scale.png Hours -->` a
# picture
_TAKEN = re.compile(r"^<!-- (row|section|picture): (\S+) (.+) -->$", re.M)


def with_taken(text: str) -> str:
    """A page with what it takes from elsewhere."""

    def part(match: re.Match[str]) -> str:
        kind, source, words = match.groups()
        if kind == "row":
            row = gallery_row(source, int(words)).replace("\n", "\n> ")
            return f"> {row}\n>\n> *One of [ten rows of {source}](gallery/{source}.md).*"
        if kind == "section":
            return relinked(section((ROOT / source).read_text("utf-8"), words))
        return f"![{words}]({source})"

    return _TAKEN.sub(part, text)


def gallery_row(dataset: str, number: int) -> str:
    """A row of the gallery without its number. `KeyError`: there is none of this number."""
    rows = section(GALLERY.read_text("utf-8"), dataset)
    match = re.search(rf"^\*\*{number}\.\*\* (.*?)(?=^\*\*\d+\.\*\* |\Z)", rows, re.M | re.S)
    if not match:
        raise KeyError(number)
    return match[1].strip()


def gallery_pages() -> Iterator[tuple[str, str]]:
    """Path and Markdown of the pages of the gallery: of each dataset, and the list of them."""
    text = GALLERY.read_text("utf-8")
    names = re.findall(r"^## (\S+)$", text, re.M)
    lines = ["# Gallery", "", GALLERY_WORDS, ""]
    for name in names:
        lines += [f"## [{name}]({name}.md)", "", gallery_row(name, 1), ""]
        introduction = f"The dataset: [{name}](../datasets/{name}.md). {WHY_WORDS}"
        yield f"gallery/{name}.md", f"# Rows of {name}\n\n{introduction}\n\n{section(text, name)}\n"
    others = [name for name in _builders() if name not in names]
    lines += ["## Made with people", "", PEOPLE_WORDS, ""]
    lines += [f"- [{name}](../datasets/{name}.md#what-a-row-looks-like)" for name in others]
    yield "gallery/index.md", "\n".join(lines) + "\n"


def relinked(text: str) -> str:
    """A document whose links go to pages; what is no page is named, and not linked."""

    def link(match: re.Match[str]) -> str:
        own = match[1].removeprefix("docs/") if match[1].startswith("docs/") else None
        page = DOCUMENTS.get(match[1], own)
        return f"]({page}{match[2] or ''})" if page else "]()"

    return re.sub(r"\[([^\]]+)\]\(\)", r"`\1`", _LINK.sub(link, text))


@cache
def _bundled() -> "dict[Path, Recipe]":
    """The bundled recipes, read once for all pages."""
    from factdrift.builders.recipes.recipe import recipes as bundled_recipes

    return bundled_recipes()


def _builders() -> dict[str, Any]:
    """The builders that bundled recipes name, ours first."""
    from factdrift.builders.recipes.datasets import BUILDERS

    return {**BUILDERS, **{one.build.builder: type(one.build) for one in _bundled().values()}}


def dataset(name: str, model: Any) -> str:
    """The page of a dataset: what it measures, how it is made, its recipes and its keys."""
    from factdrift.builders.recipes.datasets import prose_of

    prose = prose_of(model, name).read_text("utf-8")
    mine = {path: one for path, one in _bundled().items() if one.build.builder == name}
    lines = [f"# {name}", ""]
    for heading in ("Motivation", "What it measures", "How it was made", "Known limits"):
        lines += [f"## {heading}", "", section(prose, heading), ""]
        if heading == "What it measures":
            lines += ["## What a row looks like", "", example(name), ""]
            if f"\n## {name}\n" in f"\n{GALLERY.read_text('utf-8')}":
                lines += [f"[Ten more, with the facts behind them](../gallery/{name}.md).", ""]
    found = released(one.dataset for one in mine.values())
    lines += ["## The card of a release", ""]
    lines += [f"- [{one.parent.name} {one.name}](cards/{one.parent.name}.md)" for one in found]
    lines += [] if found else [NO_CARD]
    lines += [
        "",
        "## Recipes",
        "",
        "| recipe | what it makes | it may take, too |",
        "|:--|:--|:--|",
    ]
    for path, one in mine.items():
        more = ", ".join(f"`--{n}`" for n, i in one.inputs.items() if i.optional and not i.path)
        lines.append(f"| `{path.stem}` | {one.summary} | {more} |")
    lines += ["", "```sh", *(invocation(path.stem, one) for path, one in mine.items()), "```", ""]
    lines += ["## Keys of `build`", "", f"{title(model)}", "", table(model)]
    text = "\n".join(lines)
    return re.sub(r"\]\(#(\w+)\)", r"](../recipes.md#\1)", text)


def example(name: str) -> str:
    """A row of a dataset as the card of the sample's release shows it."""
    return next(
        section(rows_text, name)
        for rows_file in ROWS
        if f"## {name}\n" in (rows_text := rows_file.read_text("utf-8"))
    )


INPUT_EXAMPLES = {
    "dump": "wikidata-20261109-all.json.gz",
    "news": "wmt-archives",
    "pages": "enwiki-20261101-pages-articles-multistream.xml.bz2",
    "trex": "TREx",
    "gold": "judgments",
}
"""What a command of a page gives as each input that a bundled recipe waits for."""


def invocation(name: str, recipe: Any) -> str:
    """The command that builds a bundled recipe, with the inputs that it waits for."""
    waits = recipe.waits_for(())
    input_options = [
        f"--{input_name} {INPUT_EXAMPLES[input_name]}"
        for input_name in recipe.inputs
        if input_name in waits
    ]
    return " ".join(["factdrift release", name, *input_options])


def released(datasets: Iterable[str]) -> list[Path]:
    """The newest release of each of these datasets that lies in the folder `releases`."""
    from factdrift.builders.release.version import published_versions

    shelves = [RELEASES / name for name in datasets]
    return [
        shelf / str(versions[-1]) for shelf in shelves if (versions := published_versions(shelf))
    ]


def card(release: Path) -> str:
    """The card of a release as a page, with its pictures; other files of it are named."""
    dataset, text = release.parent.name, (release / "README.md").read_text("utf-8")

    def link(match: re.Match[str]) -> str:
        return f"]({dataset}/{match[1]})" if match[1].startswith("plots/") else "]()"

    text = _LINK.sub(link, re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S))
    return re.sub(r"\[([^\]]+)\]\(\)", r"`\1`", text)


def datasets() -> str:
    """The list of all datasets, each with what its recipe says of it: one for real inputs."""

    lines = ["# Datasets", "", "A recipe names one of these under `build: {builder: …}`.", ""]
    for name in _builders():
        dataset_recipes = [recipe for recipe in _bundled().values() if recipe.build.builder == name]
        chosen = max(dataset_recipes, key=lambda recipe: bool(recipe.waits_for(())))
        lines.append(f"- [{name}]({name}.md): {chosen.summary}")
    return "\n".join(lines) + "\n"


def recipe_keys() -> str:
    """Every key of a recipe, model by model."""
    from factdrift.builders.recipes.recipe import Recipe

    lines = ["# Keys of a recipe", "", "A recipe is one YAML file. An unknown key is an error that",
             "names the file and the line.", "", "## A whole recipe", "", "```yaml"]  # fmt: skip
    example = ROOT / "samples/quarters/recipe.yaml"
    lines += [example.read_text("utf-8").rstrip(), "```", ""]
    roots: list[type[BaseModel]] = [Recipe, *_builders().values()]
    models = dict.fromkeys(model for root in roots for model in (root, *nested(root)))
    for model in models:
        lines += [f"## {model.__name__}", "", f"{title(model)}", "", table(model)]
    return "\n".join(lines)


def template_keys() -> str:
    """Every key of a template, model by model."""
    from factdrift.builders.facts.relations import Relation

    lines = ["# Keys of a template", "", "A template is one YAML file a relation, such as:", ""]
    lines += ["```yaml", (ROOT / "templates/P286.yaml").read_text("utf-8").rstrip(), "```", ""]
    models: list[type[BaseModel]] = [Relation, *nested(Relation)]
    for model in models:
        lines += [f"## {model.__name__}", "", f"{title(model)}", "", table(model)]
    return "\n".join(lines)


COMMAND_LINE = """\
# Command line

Each is `factdrift COMMAND`, or `python -m factdrift COMMAND`. `-h` shows what a command takes.

- stdout has the result alone: a folder or file that was made, a line each, or the table that was
  asked for; with `--json`, where a command has it, as JSON. So `factdrift verify "$(factdrift
  release timeqa)"` works.
- stderr has all else. Every command takes `-q` (`--quiet`: warnings, errors and questions alone)
  and `-v` (`--verbose`: with times, every split of a release, what libraries log, and where an
  error comes from), before or after its name.
- `factdrift --install-completion` lets your shell complete commands and options.
"""
"""What holds for all commands."""


def commands() -> str:
    """Every command with its arguments and options, as the program itself knows them."""
    import typer

    from factdrift.builders.cli import EXIT_STATUSES, app

    group: Any = typer.main.get_command(app)
    lines = [*COMMAND_LINE.splitlines(), "", "| exit status | when |", "|--:|:--|"]
    lines += [f"| {status} | {text} |" for status, text in EXIT_STATUSES.items()]
    lines.append("")
    for name, command in sorted(group.commands.items()):
        lines += [f"## {name}", "", command.help or "", "", *_options(command), ""]
    return "\n".join(lines)


def _options(command: Any) -> Iterator[str]:
    """The lines of the table of a command's arguments and options."""
    yield "| argument or option | what it is | default |"
    yield "|:--|:--|:--|"
    for parameter in command.params:
        if getattr(parameter, "hidden", False) or parameter.name in ("help", "quiet", "verbose"):
            continue
        is_option = parameter.opts[0].startswith("-")
        words = parameter.opts if is_option else [(parameter.name or "").upper()]
        names = ", ".join(f"`{word}`" for word in words)
        text = (getattr(parameter, "help", None) or "").replace("|", "\\|")
        if choices := _choices(parameter.type_descriptor.annotation):
            text += f" One of {', '.join(f'`{choice}`' for choice in choices)}."
        yield f"| {names} | {text} | {_default_text(parameter)} |"


def _default_text(parameter: Any) -> str:
    """The default of an argument or option, as the table shows it."""
    if parameter.required:
        return "needed"
    default = parameter.default
    is_empty = default is None or default is False or default in ((), [])
    text = "" if is_empty else f"`{default}`"
    if isinstance(getattr(parameter, "show_default", None), str) and parameter.show_default:
        text = parameter.show_default
    return "the project's" if str(ROOT) in text else text


def _choices(hint: Any) -> tuple[Any, ...]:
    """The values of a `Literal`, also of one that may be absent."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return next((choices for argument in get_args(hint) if (choices := _choices(argument))), ())


def pictures() -> Iterator[tuple[str, Path]]:
    """Path in the documentation and file of every picture of a card."""
    for release in _cards():
        for picture in sorted(release.glob("plots/*.png")):
            yield f"datasets/cards/{release.parent.name}/plots/{picture.name}", picture


def _cards() -> list[Path]:

    return released(dict.fromkeys(recipe.dataset for recipe in _bundled().values()))


def pages() -> Iterator[tuple[str, str]]:
    """Path and Markdown of every page that is made."""
    for document, page in DOCUMENTS.items():
        text = relinked((ROOT / document).read_text("utf-8"))
        yield page, text + BY_TASK if document == "README.md" else text
    yield from gallery_pages()
    yield "datasets/index.md", datasets()
    for name, model in _builders().items():
        yield f"datasets/{name}.md", dataset(name, model)
    for release in _cards():
        yield f"datasets/cards/{release.parent.name}.md", card(release)
    yield "recipes.md", recipe_keys()
    yield "templates.md", template_keys()
    yield "commands.md", commands()
    yield "results.md", shared_results.page()


def on_files(files: Any, config: Any) -> Any:
    """Called by MkDocs: put the pages beside those of the folder."""
    from mkdocs.contrib import search
    from mkdocs.structure.files import File

    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    for path, picture in pictures():
        files.append(File.generated(config, path, abs_src_path=str(picture)))
    for path, content in shared_results.pictures():
        files.append(File.generated(config, path, content=content))
    files.append(File.generated(config, "scale.png", content=scale_picture.draw()))
    sorting = str(shared_results.script())
    files.append(File.generated(config, shared_results.SORTING, abs_src_path=sorting))
    lunr = Path(search.__file__).parent / "templates" / SEARCH_PROGRAM
    files.append(File.generated(config, SEARCH_PROGRAM, abs_src_path=str(lunr)))
    return files


def on_post_build(config: Any) -> None:
    """Called by MkDocs: the index of the search is a script, as `docs/search.js` reads it.

    The plugin's file is taken away: nothing reads it.
    """
    index = Path(config["site_dir"], "search/search_index.json")
    index.with_name("index.js").write_text(
        f"var searchIndex = {index.read_text('utf-8')};\n", "utf-8"
    )
    index.unlink()


def on_config(config: Any) -> Any:
    """Called by MkDocs: the datasets stand in the navigation, one a page."""
    entries: list[Any] = [{"All of them": "datasets/index.md"}]
    entries += [f"datasets/{name}.md" for name in _builders()]
    config["nav"] = [
        {"Datasets": entries} if "Datasets" in entry else entry for entry in config["nav"]
    ]
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Called by MkDocs: a page gets what it takes from elsewhere."""
    return with_taken(markdown)


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Called by MkDocs: a phone, whose navigation is folded away, has a search box on the page."""
    search = "../" * page.url.count("/") + "search.html"
    return (
        f'<form class="phone-search" action="{search}" method="get">'
        f'<input type="search" name="q" placeholder="Search docs" aria-label="Search"></form>{html}'
    )
