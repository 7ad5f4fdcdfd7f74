"""Which model to ask, where and with what key: from arguments, the environment and a configuration file, in this order.

A key alone never leads to a call: without the name of a model there are no settings.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

import click

from swath.errors import InputError

OPENAI_URL = "https://api.openai.com/v1"
"""Where a model lives whose server is not named."""

ENDING = ".gguf"
"""Of a model that is a file."""

Api = Literal["chat", "responses"]
Way = Literal["auto", "code", "structured", "tools", "bound", "bound-json"]
Profile = Literal["auto", "full", "small"]

ENVIRONMENT = {"model": "SWATH_MODEL", "base_url": "SWATH_BASE_URL"}
KEY, OPENAI_KEY, CONFIG = "SWATH_API_KEY", "OPENAI_API_KEY", "SWATH_CONFIG"


@dataclass(frozen=True)
class Secret:
    """A key that no `repr`, log or record shows."""

    value: str = field(repr=False)

    def hidden_in(self, text: str) -> str:
        """A text with every occurrence of the key blotted out."""
        return text.replace(self.value, "[key]") if self.value else text


@dataclass(frozen=True)
class Budget:
    """What one question may cost; each limit ends it with a sentence.

    Attributes:
        calls: most calls of the model.
        tokens: most tokens read and written together.
        seconds: most seconds of waiting for the model.
        dollars: most money, where prices are known; None for no limit.
    """

    calls: int = 8
    tokens: int = 60_000
    seconds: float = 300.0
    dollars: float | None = None


@dataclass(frozen=True)
class Settings:
    """A model and how to ask it.

    Attributes:
        model: its name on the server.
        base_url: address of an OpenAI-compatible server, with its version path.
        key: what the server asks for; None for none.
        api: "chat" (Chat Completions) or "responses".
        way: how programs are written: "code", "structured", "tools" (the same as a tool call), "bound", "bound-json"
            (the same by a schema), or "auto" for what `swath llm check` found.
        profile: length of the prompt: "full", "small", or "auto" for what `swath llm check` found.
        vision: whether it may be sent pictures.
        timeout_s: longest silence of the server.
        retries: how often a failing call is tried again.
        max_output_tokens: longest reply.
        budget: what one question may cost.
        prices: dollars for a million tokens (in, cached, out), None to look them up.
        rival: a second model that has to come to the same, with `--agree`; None for another way of the same one.
    """

    model: str
    base_url: str = OPENAI_URL
    key: Secret | None = None
    api: Api = "chat"
    way: Way = "auto"
    profile: Profile = "auto"
    vision: bool = False
    timeout_s: float = 120.0
    retries: int = 4
    max_output_tokens: int = 2_000
    budget: Budget = field(default_factory=Budget)
    prices: tuple[float, float, float] | None = None
    rival: Settings | None = None

    @property
    def host(self) -> str:
        """Name of the server for sentences: no user, password, path or query."""
        parts = urlsplit(self.base_url)
        return parts.hostname + (f":{parts.port}" if parts.port else "") if parts.hostname else "(no host)"


def config_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The configuration file: what SWATH_CONFIG names, else `config.toml` in the user's own folder for swath."""
    return Path(environ.get(CONFIG) or Path(click.get_app_dir("swath", force_posix=False)) / "config.toml")


def settings(
    model: str | None = None,
    base_url: str | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
) -> Settings | None:
    """The settings in force, None where no model is named.

    Args:
        model: as typed; wins over SWATH_MODEL, which wins over the file.
        base_url: as typed; wins over SWATH_BASE_URL, which wins over the file.
        environ: environment variables.

    Raises:
        InputError: the file cannot be read, or it or an address is not as it should be.
    """
    stated = _stated(config_path(environ))
    rival = stated.pop("rival", None)
    for name, typed in (("model", model), ("base_url", base_url)):
        found = typed or environ.get(ENVIRONMENT[name])
        if found:
            stated[name] = found
    if not stated.get("model"):
        return None
    made = _made(stated, environ)
    if rival is None:
        return made
    shared = {name: value for name, value in stated.items() if name not in _OF_ONE_MODEL}
    if "base_url" in rival:
        shared["key_env"] = ""  # the key of one server is not sent to another
    elif rival["model"].endswith(ENDING):
        shared.pop("base_url", None)
    return replace(made, rival=_made({**shared, **rival}, environ))


def _made(stated: dict[str, Any], environ: Mapping[str, str]) -> Settings:
    stated = {"base_url": OPENAI_URL, **stated}
    key_variable = stated.pop("key_env", KEY)
    _check_address(stated["base_url"])
    key = environ.get(key_variable)
    if not key and stated["base_url"].rstrip("/") == OPENAI_URL:  # this one is sent to nobody else
        key = environ.get(OPENAI_KEY)
    return Settings(**stated, key=Secret(key.strip()) if key else None)


def _stated(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        table = tomllib.loads(text).get("llm", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read as TOML: {error}. Next: mend or remove it.") from None
    if not isinstance(table, dict):
        raise _wrong(path, "[llm] is not a table")
    return _checked(path, table, {*(item.name for item in fields(Settings)), "key_env"} - {"key"})


def _checked(path: Path, table: dict[str, Any], known: set[str]) -> dict[str, Any]:
    for name, value in table.items():
        if name not in known:
            raise _wrong(path, f"[llm] knows no {name}, only {', '.join(sorted(known))}")
        _check_value(path, name, value)
    if "budget" in table:
        table["budget"] = _budget(path, table["budget"])
    if "prices" in table:
        table["prices"] = tuple(table["prices"])
    if "rival" in table:
        table["rival"] = _checked(path, table["rival"], known - {"rival", "budget"})
        if "model" not in table["rival"]:
            raise _wrong(path, "[llm.rival] names no model")
    return table


_OF_ONE_MODEL = ("way", "profile", "vision", "prices")
"""What a second model does not take over from the first."""
_NUMBERS = ("timeout_s", "retries", "max_output_tokens")
_CHOICES: dict[str, tuple[str, ...]] = {"api": get_args(Api), "way": get_args(Way), "profile": get_args(Profile)}


def _check_value(path: Path, name: str, value: Any) -> None:
    if name in _CHOICES:
        fits, wanted = value in _CHOICES[name], f"one of {', '.join(_CHOICES[name])}"
    elif name in _NUMBERS:
        fits, wanted = _is_number(value) and value >= 0, "a number that is not negative"
    elif name == "vision":
        fits, wanted = isinstance(value, bool), "true or false"
    elif name == "prices":
        fits, wanted = isinstance(value, list) and len(value) == 3 and all(map(_is_number, value)), "three numbers"
    elif name in ("budget", "rival"):
        fits, wanted = isinstance(value, dict), "a table"
    else:
        fits, wanted = isinstance(value, str) and bool(value), "a text"
    if not fits:
        raise _wrong(path, f"{name} in [llm] must be {wanted}")


def _budget(path: Path, table: Mapping[str, Any]) -> Budget:
    known = [item.name for item in fields(Budget)]
    for name, value in table.items():
        if name not in known or not _is_number(value) or value <= 0:
            raise _wrong(path, f"[llm.budget] takes positive numbers for {', '.join(known)}, not {name} = {value!r}")
    return Budget(**table)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _wrong(path: Path, what: str) -> InputError:
    return InputError(f"{path}: {what}. Next: mend the file.")


_USER = re.compile(r"//[^/@]*@")
"""Name and password in an address."""


def _check_address(base_url: str) -> None:
    try:
        parts = urlsplit(base_url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        fits = False
    if not fits:
        shown = _USER.sub("//", base_url)
        raise InputError(
            f'"{shown}" is no address of a server. Next: give one such as http://localhost:8080/v1 as --base-url.'
        )
