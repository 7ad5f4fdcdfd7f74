"""Renders the templates of this room; a placeholder without a value is an error, never an empty string."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import jinja2


@dataclass(frozen=True)
class Prompt:
    """A rendered template.

    Attributes:
        name: the template.
        version: first 12 hex digits of the SHA-256 of the template's text, values left out.
        text: what it says with the values filled in.
    """

    name: str
    version: str
    text: str


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("swath.prompts", "templates"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - prompts and Markdown, never HTML
    )


def render(name: str, **values: Any) -> Prompt:
    """Fill in a template.

    Args:
        name: file name under `templates/` without `.jinja`.
        values: one value per placeholder.

    Raises:
        jinja2.UndefinedError: a placeholder has no value.
        jinja2.TemplateNotFound: there is no such template.
    """
    environment, file = _environment(), f"{name}.jinja"
    template = environment.get_template(file)
    source = resources.files("swath.prompts").joinpath("templates", file).read_text(encoding="utf-8")
    return Prompt(name, hashlib.sha256(source.encode()).hexdigest()[:12], template.render(**values))
