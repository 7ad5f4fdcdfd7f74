"""Templates: strict placeholders, a version that follows the text."""

from __future__ import annotations

import jinja2
import pytest

from swath.agent.surface_page import surface_page
from swath.prompts import render


def test_a_placeholder_without_a_value_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError, match="'example' is undefined"):
        render("surface.md", families=[])


def test_an_unknown_template_is_an_error() -> None:
    with pytest.raises(jinja2.TemplateNotFound):
        render("nonsense")


def test_the_version_is_the_template_s_not_the_values() -> None:
    first, second = render("surface.md", families=[], example="a"), render("surface.md", families=[], example="b")
    assert first.version == second.version
    assert len(first.version) == 12
    assert first.text != second.text


def test_the_surface_page_names_every_tool() -> None:
    text = surface_page().text
    assert "### near\n" in text
    assert "### reply\n" in text
    assert "site:" not in text
