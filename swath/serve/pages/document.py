"""One HTML document that needs nothing but itself: styles, scripts and data inside, everything else forbidden."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from swath.trace.html import embedded_json, environment, policy

IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE)
EXPORT = re.compile(r"^export ", re.MULTILINE)


def document(
    template: str, *, title: str, styles: Sequence[str], scripts: Sequence[str], data: Any = None, **parts: Any
) -> str:
    """A page.

    Args:
        template: name under `templates/` without its ending.
        title: of the page.
        styles: names of style sheets under `assets/`, in order.
        scripts: names of modules under `assets/`, each after those that it imports.
        data: what the scripts read, as JSON in the element `data`.
        parts: what the template shows.
    """
    style, script = "\n".join(map(asset, styles)), bundled(scripts)
    return _templates().get_template(f"{template}.html.jinja").render(
        title=title,
        policy=policy(style, script),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        data=embedded_json(data),
        **parts,
    )  # fmt: skip


def asset(name: str) -> str:
    """The text of a file under `assets/`."""
    return resources.files("swath.serve.pages").joinpath("assets", name).read_text(encoding="utf-8")


def bundled(names: Sequence[str]) -> str:
    """ES modules as one: a document that opens from a disk can import none."""
    return "\n".join(EXPORT.sub("", IMPORT.sub("", asset(name))) for name in names)


@lru_cache(maxsize=1)
def _templates() -> jinja2.Environment:
    return environment("swath.serve.pages")
