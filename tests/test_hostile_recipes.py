"""What a recipe from a stranger may not do: send a key, run code, read or write elsewhere."""

from pathlib import Path

import pytest

from factdrift.builders.core import keys
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.keys import key_for
from factdrift.builders.generate.openai_servers import OpenAI
from factdrift.builders.recipes.recipe import read_recipe
from tests.conftest import ROOT
from tests.tables import read_table

EVIL = "https://evil.example"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Secrets in the environment, and a folder of settings without any."""
    for name in ("OPENAI_API_KEY", "PERSPECTIVE_API_KEY", "AWS_SECRET_ACCESS_KEY", "MINE"):
        monkeypatch.setenv(name, "s3cret")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv(keys.VARIABLE, raising=False)


@pytest.mark.parametrize(("variable", "address", "granted", "goes"), read_table("where_a_key_goes"))
def test_where_a_key_goes(
    variable: str, address: str, granted: str, goes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(keys.VARIABLE, granted)
    assert key_for(variable, address, required=False) == ("s3cret" if goes == "yes" else None)
    if goes == "yes":
        assert key_for(variable, address, required=True) == "s3cret"
        return
    with pytest.raises(UserError, match="which you have not allowed") as error:
        key_for(variable, address, required=True)
    assert "s3cret" not in str(error.value) and f"{variable}: [" in str(error.value)


def test_the_line_of_the_hint_grants_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not allowed") as error:
        key_for("MINE", EVIL, required=True)
    line = str(error.value).partition('"')[2].rpartition('"')[0]
    keys.settings().parent.mkdir()
    keys.settings().write_text(line + "\n", "utf-8")
    assert key_for("MINE", f"{EVIL}/v1", required=True) == "s3cret"
    assert key_for("OPENAI_API_KEY", EVIL, required=False) is None


def test_a_key_never_goes_in_clear_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(keys.VARIABLE, "MINE=http://evil.example")
    with pytest.raises(UserError, match="in clear text"):
        key_for("MINE", "http://evil.example/v1", required=True)


def test_a_rebuild_sends_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(keys.VARIABLE, f"MINE={EVIL}")
    with keys.withheld():
        assert key_for("MINE", EVIL, required=False) is None
        with pytest.raises(UserError, match="a rebuild sends no key"):
            key_for("MINE", EVIL, required=True)
    assert key_for("MINE", EVIL, required=True) == "s3cret"


@pytest.mark.parametrize("text", ["- a", "MINE: 1", "{", "MINE: [[", "just words"])
def test_mistakes_in_the_settings(text: str) -> None:
    keys.settings().parent.mkdir()
    keys.settings().write_text(text, "utf-8")
    with pytest.raises(UserError, match=r"keys\.yaml: is no list of addresses"):
        key_for("MINE", EVIL, required=True)


@pytest.mark.parametrize("variable", ["AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY"])
def test_a_model_is_refused_before_any_work(variable: str) -> None:
    with pytest.raises(UserError, match="not allowed"):
        OpenAI(base_url=f"{EVIL}/v1", key_variable=variable, model="m").check()


def test_a_server_without_a_key_of_its_own_gets_none() -> None:
    assert OpenAI(base_url=f"{EVIL}/v1", model="m").key() is None


@pytest.mark.parametrize(("old", "new", "refusal"), read_table("hostile_recipes"))
def test_a_recipe_that_would_do_more_than_name_things(
    tmp_path: Path, old: str, new: str, refusal: str
) -> None:
    text = (ROOT / "builders/recipes/temporal-facts.yaml").read_text()
    assert old in text
    path = tmp_path / "evil.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UserError, match=rf"evil\.yaml:\d+: {refusal}"):
        read_recipe(path)
