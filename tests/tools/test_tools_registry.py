"""What may be a tool, what a program may pass to it, and what is derived from its signature."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Callable
from typing import Any, Literal

import jsonschema
import numpy as np
import pytest
from measured_sites import call, planar, site_on

from swath.errors import ToolError
from swath.tools import registry
from swath.tools.handles import Mask, Regions
from swath.tools.registry import UNIT_SUFFIXES, MalformedTool, describe, make_tool, tool, tools
from swath.tools.site import Site


def no_docstring(site: Site) -> int:
    return 1


def no_site(mask: Mask) -> int:
    """Count."""
    return 1


def no_parameters() -> int:
    """Count."""
    return 1


def no_type(site: Site, mask) -> int:  # type: ignore[no-untyped-def]
    """Count."""
    return 1


def no_return(site: Site, mask: Mask):  # type: ignore[no-untyped-def]
    """Count."""


def positional_number(site: Site, mask: Mask, size_px: int) -> int:
    """Count."""
    return 1


def positional_optional_number(site: Site, mask: Mask, size_px: float | None = None) -> int:
    """Count."""
    return 1


def no_unit(site: Site, mask: Mask, *, distance: float) -> int:
    """Count."""
    return 1


def no_unit_in_an_optional(site: Site, mask: Mask, *, min_area: int | None = None) -> int:
    """Count."""
    return 1


MALFORMED = [
    (no_docstring, "Tool no_docstring has no docstring; its first line is what planners and people read."),
    (no_site, "Tool no_site must take `site: Site` as its first parameter."),
    (no_parameters, "Tool no_parameters must take `site: Site` as its first parameter."),
    (no_type, "Tool no_type: parameter mask has no type."),
    (no_return, "Tool no_return does not say what it returns."),
    (positional_number, "Tool positional_number: number size_px must be keyword-only."),
    (positional_optional_number, "Tool positional_optional_number: number size_px must be keyword-only."),
    (no_unit, f"Tool no_unit: distance must end in its unit, one of {', '.join(UNIT_SUFFIXES)}."),
    (
        no_unit_in_an_optional,
        f"Tool no_unit_in_an_optional: min_area must end in its unit, one of {', '.join(UNIT_SUFFIXES)}.",
    ),
]


@pytest.mark.parametrize(("function", "sentence"), MALFORMED)
def test_a_malformed_tool_fails_when_it_is_registered(function: Callable[..., Any], sentence: str) -> None:
    with pytest.raises(MalformedTool) as told:
        make_tool(tool()(function))
    assert str(told.value) == sentence


def test_two_tools_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        def __init__(self, name: str) -> None:
            self.name = name

        def load(self) -> Any:
            module = type(inspect)(self.name)

            def count(site: Site, mask: Mask) -> int:
                """Count."""
                return 1

            count.__module__ = f"strange.{self.name}"
            module.count = tool()(count)  # type: ignore[attr-defined]
            return module

    monkeypatch.setattr(registry, "entry_points", lambda group: [Entry("one"), Entry("two")])
    with pytest.raises(MalformedTool, match="^Two tools are called count: rename the one in strange.two.$"):
        tools.__wrapped__()


def test_a_stranger_s_tool_registers_as_ours_do() -> None:
    @tool(measures=True)
    def shade_percent(site: Site, mask: Mask, *, hour: Literal["noon", "dusk"] = "noon") -> float:
        """Share of a mask in the shade.

        Args:
            site: the image.
            mask: the pixels.
            hour: when.
        """
        return 12.5 if hour == "noon" else 50.0

    made = make_tool(shade_percent)
    site = site_on(planar("square"), {"wood": np.ones((60, 80), dtype=bool)})
    assert made.measures
    assert made.summary == "Share of a mask in the shade."
    assert made.stub == "shade_percent(mask: Mask, *, hour: Literal['noon', 'dusk'] = 'noon') -> float"
    assert made.call(site, (call(site, "segment", "wood"),), {"hour": "dusk"}) == 50.0


@pytest.mark.parametrize("name", sorted(tools()))
def test_every_schema_is_json_schema_and_every_stub_is_python(name: str) -> None:
    made = tools()[name]
    schema = json.loads(json.dumps(made.schema))
    jsonschema.Draft202012Validator.check_schema(schema["parameters"])
    jsonschema.Draft202012Validator.check_schema(schema["returns"])
    assert schema["name"] == name
    assert set(schema["parameters"]["properties"]) == set(made.signature.parameters)
    stub = ast.parse(f"def {made.stub}: ...").body[0]
    assert isinstance(stub, ast.FunctionDef)
    names = [argument.arg for argument in (*stub.args.args, *stub.args.kwonlyargs)]
    assert names == list(made.signature.parameters)
    assert made.summary.endswith(".")
    assert "site:" not in made.details


@pytest.mark.parametrize("name", sorted(tools()))
def test_numbers_are_keyword_only_and_say_their_unit(name: str) -> None:
    for parameter in tools()[name].signature.parameters.values():
        kinds = describe(parameter.annotation).split(" | ")
        if {"int", "float"} & set(kinds) and parameter.name not in registry.OPERANDS:
            assert parameter.kind is parameter.KEYWORD_ONLY
            plain = ("n", "connectivity", "efficiency", "percent", "x", "y")  # x and y are in the unit of the CRS
            assert parameter.name in plain or parameter.name.endswith(UNIT_SUFFIXES)


def test_a_schema_accepts_what_the_tool_accepts() -> None:
    schema = tools()["near"].schema["parameters"]
    jsonschema.validate({"regions": "#3", "target": "#1", "max_distance_m": 30}, schema)
    for wrong in ({"regions": "#3"}, {"regions": "3", "target": "#1"}, {"regions": "#3", "target": "#1", "max_m": 3},
                  {"regions": "#3", "target": "#1", "max_distance_m": "30"}):  # fmt: skip
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)
    assert schema["required"] == ["regions", "target"]
    assert tools()["region_areas_m2"].schema["returns"] == {"type": "array", "items": {"type": "number"}}


SITE = site_on(planar("square"), {"wood": np.ones((60, 80), dtype=bool)})
WOOD = call(SITE, "segment", "wood")
WOODS = call(SITE, "components", WOOD)

MISUSES: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("count", (), {}, "count: missing a required argument: 'regions'. It is count(regions: Regions) -> int."),
    ("count", (WOODS, WOODS), {}, "count: too many positional arguments. It is count(regions: Regions) -> int."),
    ("count", (WOOD,), {}, "count: regions must be Regions, not Mask (wood)."),
    ("count", ("wood",), {}, "count: regions must be Regions, not str 'wood'."),
    ("segment", (3,), {}, "segment: class_name must be str, not int '3'."),
    ("largest", (WOODS,), {"n": 1.5}, "largest: n must be int, not float '1.5'."),
    ("largest", (WOODS,), {"n": True}, "largest: n must be int, not bool 'True'."),
    ("components", (WOOD,), {"min_m2": -1}, "components: min_m2 must be a finite number that is not negative, not -1."),
    ("components", (WOOD,), {"min_m2": float("nan")},
     "components: min_m2 must be a finite number that is not negative, not nan."),
    ("near", (WOODS, WOOD), {"max_distance_m": float("inf")},
     "near: max_distance_m must be a finite number that is not negative, not inf."),
    ("convert", ("5",), {"from_unit": "m", "to_unit": "km"}, "convert: value must be float, not str '5'."),
    ("ratio", (float("nan"), 2), {}, "ratio: a must be a finite number, not nan."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "kwargs", "sentence"), MISUSES)
def test_misuse_is_a_hint_that_names_the_argument(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ToolError) as told:
        call(SITE, name, *args, **kwargs)
    assert str(told.value) == sentence


def test_an_unknown_argument_shows_the_signature() -> None:
    with pytest.raises(ToolError, match=r"near: got an unexpected keyword argument 'distance'. It is near\(regions: "):
        call(SITE, "near", WOODS, WOOD, distance=5)


def test_a_whole_number_is_a_number_and_operands_may_be_negative() -> None:
    assert call(SITE, "ratio", -3, 2) == -1.5
    assert len(call(SITE, "components", WOOD, min_m2=3)) == 1


def test_types_as_a_program_s_author_writes_them() -> None:
    assert describe(Mask | Regions) == "Mask | Regions"
    assert describe(float | None) == "float | None"
    assert describe(list[Regions]) == "list[Regions]"
    assert describe(Literal[4, 8]) == "Literal[4, 8]"
