"""Texts of runs as HTML in which they stay texts, and the policy of a page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import jinja2
from markupsafe import Markup

from swath.trace.strict_json import json_ready
from swath.trace.wording import harmless, harmless_lines


def environment(package: str, **filters: Any) -> jinja2.Environment:
    """The templates of a package, every value escaped, control and formatting characters made visible.

    Args:
        package: name of the package that has a folder `templates`.
        filters: filters beside `lines`, which keeps the lines of a text.
    """
    made = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        # A page is bytes in UTF-8, which cannot hold half a character.
        finalize=lambda value: value if isinstance(value, Markup) else harmless(str(value)),
    )
    made.filters.update({"lines": lambda text: Markup("\n").join(harmless_lines(text).split("\n")), **filters})
    return made


def policy(style: str, script: str) -> str:
    """A Content-Security-Policy: the page may show its own pictures, use this style and script, no more."""
    style_hash, script_hash = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") for text in (style, script)
    )
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; "
        "base-uri 'none'; form-action 'none'"
    )


def embedded_json(value: Any) -> Markup:
    """A value as the content of a `<script type="application/json">`: in it no element begins or ends."""
    text = json.dumps(json_ready(value), allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - only escapes are left of what HTML reads
