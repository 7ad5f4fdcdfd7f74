"""A model is asked only where one is named; keys go only where they belong."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from swath.agent.llm.local import is_local
from swath.agent.llm.planner import model_settings
from swath.agent.llm.prices import cost_of
from swath.agent.llm.settings import Settings, settings
from swath.agent.planner import PlannerOptions
from swath.errors import InputError


def environment(tmp_path: Path, text: str = "", **variables: str) -> dict[str, str]:
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8")
    return {"SWATH_CONFIG": str(file), **variables}


def test_a_key_alone_names_no_model(tmp_path: Path) -> None:
    assert settings(environ=environment(tmp_path, OPENAI_API_KEY="sk-1", SWATH_API_KEY="sk-2")) is None
    assert settings(environ={"SWATH_CONFIG": str(tmp_path / "absent.toml")}) is None


def test_arguments_win_over_the_environment_and_it_over_the_file(tmp_path: Path) -> None:
    text = '[llm]\nmodel = "file"\nbase_url = "http://file:1/v1"\nretries = 7\n[llm.budget]\ncalls = 3\n'
    both = environment(tmp_path, text, SWATH_MODEL="environment")
    found = settings("typed", environ=both)
    assert found is not None
    assert (found.model, found.base_url, found.retries, found.budget.calls) == ("typed", "http://file:1/v1", 7, 3)
    found = settings(environ=both)
    assert found is not None
    assert found.model == "environment"


def test_the_key_of_openai_goes_to_openai_only(tmp_path: Path) -> None:
    keys = environment(tmp_path, OPENAI_API_KEY="sk-openai")
    there = settings("gpt-5", environ=keys)
    elsewhere = settings("gpt-5", "http://elsewhere/v1", environ=keys)
    assert there is not None and there.key is not None and there.key.value == "sk-openai"
    assert elsewhere is not None and elsewhere.key is None


def test_a_key_can_have_another_name(tmp_path: Path) -> None:
    text = '[llm]\nmodel = "m"\nbase_url = "http://x/v1"\nkey_env = "OTHER"\n'
    found = settings(environ=environment(tmp_path, text, OTHER=" k \n"))
    assert found is not None and found.key is not None and found.key.value == "k"
    assert "k" not in repr(found.key)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[llm\n", "cannot be read as TOML"),
        ("llm = 3\n", "[llm] is not a table"),
        ('[llm]\nkey = "sk-1"\n', "[llm] knows no key, only api, base_url"),
        ('[llm]\napi = "telnet"\n', "api in [llm] must be one of chat, responses"),
        ("[llm]\nretries = -1\n", "retries in [llm] must be a number that is not negative"),
        ("[llm]\nmodel = 5\n", "model in [llm] must be a text"),
        ("[llm]\nprices = [1]\n", "prices in [llm] must be three numbers"),
        ("[llm.budget]\nwishes = 3\n", "[llm.budget] takes positive numbers for calls, tokens, seconds, dollars"),
        ('[llm]\nmodel = "m"\nbase_url = "ftp://x"\n', '"ftp://x" is no address of a server.'),
        ('[llm]\nmodel = "m"\nbase_url = "ftp://me:secret@x"\n', '"ftp://x" is no address of a server.'),
        ('[llm]\nrival = "m"\n', "rival in [llm] must be a table"),
        ('[llm.rival]\nbase_url = "http://x/v1"\n', "[llm.rival] names no model"),
        ('[llm.rival]\nmodel = "m"\nbudget = {calls = 1}\n', "[llm] knows no budget"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        settings(environ=environment(tmp_path, text))
    assert said in str(caught.value)


SECOND = """[llm]
model = "one"
base_url = "http://first:1/v1"
key_env = "FIRST"
way = "bound"
timeout_s = 7
[llm.rival]
model = "{}"
"""


def test_a_second_model_takes_over_what_is_not_the_first_one_s_own(tmp_path: Path) -> None:
    found = settings(environ=environment(tmp_path, SECOND.format("two"), FIRST="sk-first"))
    assert found is not None and found.rival is not None and found.rival.key is not None
    second = found.rival
    assert (second.model, second.host, second.way, second.timeout_s) == ("two", "first:1", "auto", 7)
    assert found.rival.key.value == "sk-first"


def test_a_key_goes_to_no_other_server(tmp_path: Path) -> None:
    text = SECOND.format("two") + 'base_url = "http://second:2/v1"\n'
    found = settings(environ=environment(tmp_path, text, FIRST="sk-first", SWATH_API_KEY="sk-swath"))
    assert found is not None and found.rival is not None
    assert (found.rival.host, found.rival.key) == ("second:2", None)
    found = settings(environ=environment(tmp_path, text + 'key_env = "SECOND"\n', SECOND="sk-second"))
    assert found is not None and found.rival is not None and found.rival.key is not None
    assert found.rival.key.value == "sk-second"


def test_a_file_as_second_model_is_on_no_server(tmp_path: Path) -> None:
    found = settings(environ=environment(tmp_path, SECOND.format("two.gguf")))
    assert found is not None and found.rival is not None
    assert is_local(found.rival) and not is_local(found)


def test_a_budget_of_money_needs_prices(tmp_path: Path, nothing_configured: Path) -> None:
    file = nothing_configured / "config.toml"
    file.write_text('[llm]\nmodel = "mine"\nbase_url = "http://x/v1"\nbudget = {dollars = 0.5}\n', encoding="utf-8")
    with pytest.raises(
        InputError, match=r"A budget of 0\.5 dollars needs prices, and those of mine are not known\. Next"
    ):
        model_settings(PlannerOptions())
    file.write_text('[llm]\nmodel = "gpt-4o-mini"\nbudget = {dollars = 0.5}\n', encoding="utf-8")
    assert model_settings(PlannerOptions()).budget.dollars == 0.5


def test_the_list_of_prices_says_of_which_day_it_is() -> None:
    text = resources.files("swath.agent.llm").joinpath("prices.toml").read_text(encoding="utf-8")
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", tomllib.loads(text)["date"])


def test_prices_are_looked_up_by_model_whatever_its_date() -> None:
    assert cost_of(Settings("gpt-4o-mini-2024-07-18"), 1_000_000, 0, 0) == pytest.approx(0.15)
    assert cost_of(Settings("unheard-of"), 1_000_000, 0, 0) is None
    assert cost_of(Settings("gpt-4o-mini", base_url="http://localhost/v1"), 1, 0, 0) is None


def test_a_host_is_named_without_its_password() -> None:
    assert Settings("m", base_url="https://me:secret@host:8443/v1?token=1").host == "host:8443"


@pytest.mark.parametrize("options", ['"llm", PlannerOptions("m")', '"auto", PlannerOptions("m", agree=True)'])
def test_without_the_extra_one_sentence_says_so_and_the_rest_works(options: str) -> None:
    code = f"""
import sys
sys.modules["openai"] = None
import swath
from swath.agent.planner import PlannerOptions
from swath.agent.planners import open_planner
from swath.errors import InputError
print(open_planner("auto").name)
try:
    open_planner({options})
except InputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "offline", "Language models need the package openai. Next: pip install 'swath[llm]'.",
    ]  # fmt: skip
