"""What the checker says of a program before it runs, on a surface of its own."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from swath.agent.checker import MAX_SOURCE_BYTES, check, depends_on_measurement
from swath.agent.checking.constructs import BUILTINS, METHODS
from swath.agent.sandbox import Sandbox
from swath.errors import ProgramFailed, ProgramRejected


class Mask: ...


class Regions: ...


@dataclass(frozen=True)
class FakeTool:
    name: str
    signature: inspect.Signature
    measures: bool


TOOLS: dict[str, FakeTool] = {}


def tool(*, measures: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        hints = typing.get_type_hints(function)
        signature = inspect.signature(function)
        parameters = [p.replace(annotation=hints[p.name]) for p in signature.parameters.values()]
        signature = signature.replace(parameters=parameters, return_annotation=hints["return"])
        TOOLS[function.__name__] = FakeTool(function.__name__, signature, measures)
        return function

    return register


@tool()
def segment(class_name: str) -> Mask: ...


@tool()
def intersection(a: Mask | Regions, b: Mask | Regions) -> Mask: ...


@tool(measures=True)
def components(
    mask: Mask,
    *,
    larger_than_m2: float | None = None,
    min_m2: float | None = None,
    smaller_than_m2: float | None = None,
    max_m2: float | None = None,
    larger_than_px: float | None = None,
    connectivity: Literal[4, 8] = 8,
) -> Regions: ...


@tool(measures=True)
def near(
    regions: Regions,
    target: Mask | Regions,
    *,
    max_distance_m: float | None = None,
    smaller_than_m: float | None = None,
) -> Regions: ...


@tool(measures=True)
def count(regions: Regions) -> int: ...


@tool(measures=True)
def area_m2(of: Mask | Regions) -> float: ...


@tool()
def mask_of(regions: Regions) -> Mask: ...


@tool()
def each(regions: Regions) -> list[Regions]: ...


@tool(measures=True)
def largest(regions: Regions, *, n: int = 1) -> Regions: ...


@tool(measures=True)
def area_statistic_m2(regions: Regions, *, statistic: Literal["mean", "median", "sum"]) -> float: ...


@tool()
def convert(value: float, *, from_unit: str, to_unit: str) -> float: ...


@tool()
def reply(
    value: Any,
    *,
    kind: Literal["count", "quantity", "percent", "boolean", "category", "text", "ranking"],
    unit: str | None = None,
    objects: Mask | Regions | None = None,
) -> None: ...


REPLY = 'reply(count(components(segment("a"))), kind="count")'


def hints(source: str) -> list[str]:
    with pytest.raises(ProgramRejected) as caught:
        check(source, TOOLS)
    return caught.value.hints


GOOD = [
    """
built = segment("building")
big = components(built, larger_than_m2=100)
wet = near(big, segment("water"), max_distance_m=50)
reply(count(wet), kind="count", objects=wet)
""",
    """
total = 0
for region in each(components(segment("forest"), min_m2=5, max_m2=5)):
    if area_m2(region) > 10:
        total += area_m2(region)
    else:
        continue
reply(total / 10000, kind="quantity", unit="ha")
""",
    """
def share(part, whole):
    return 100 * area_m2(part) / area_m2(whole)

values = [share(r, segment("a")) for r in each(components(segment("b")))]
values.sort(reverse=True)
table = {"first": values[0], "all": values[:3]}
if not values:
    reply(0, kind="percent")
elif max(values) > 50:
    reply(max(values), kind="percent", unit="percent")
else:
    try:
        reply(sum(values) / len(values), kind="percent")
    except ZeroDivisionError:
        reply(0, kind="percent")
""",
    """
areas = sorted([area_m2(r) for r in each(components(segment("a")))], key=lambda v: -v)
pairs = [f"{i}: {a:.1f}" for i, a in enumerate(areas)]
both = [a + b for a, b in zip(areas, areas)]
first, *rest = areas
reply(", ".join(pairs), kind="text", objects=None)
""",
    """
a = b = segment("x")
n = count(components(a, larger_than_m2=None)) if (m := area_m2(b)) > 0 else 0
reply("yes" if n >= 1 and m else "no", kind="boolean")
""",
    'x = convert(area_m2(segment("a")), from_unit="m2", to_unit="ha")\nreply(round(x, 2), kind="quantity", unit="ha")',
    'big = largest(components(segment("a")), n=int(2.5))\nreply(area_m2(big), kind="quantity", unit="m2", objects=big)',
    'if area_m2(segment("a")) < 0:\n    raise ValueError("no")\nreply(1, kind="count")',
]


@pytest.mark.parametrize("source", GOOD)
def test_good_programs_pass(source: str) -> None:
    check(source, TOOLS)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # names
        ("x = segmnt('a')", "there is no tool or function segmnt: did you mean segment?"),
        ("x = qqqqq", "there is no name qqqqq."),
        ("total = 1\ny = totl", "there is no name totl: did you mean total?"),
        (
            "count = 3",
            "count is a tool and cannot be given another meaning: use another name, such as count_value, wherever this "
            "value is used; count(regions) stays the call.",
        ),
        ("def count(x):\n    return x", "count is a tool and cannot be given another meaning"),
        ("x = [count for count in [1]]", "count is a tool and cannot be given another meaning"),
        ("x = max([1], key=area_m2)", "the tool area_m2 can only be called by its name, not passed on"),
        ("c\u043eunt2 = 1", "'c\\u043eunt2' cannot be a name here: use plain letters, digits and single underscores."),
        # arguments
        ("components()", "components also needs mask: components(mask, ...)."),
        (
            "area_statistic_m2(components(segment('a')))",
            "also needs statistic: area_statistic_m2(regions, statistic=...).",
        ),
        ("segment('a', 'b')", "segment takes 1 argument, not 2: segment(class_name)."),
        (
            "near(components(segment('a')), segment('b'), 50)",
            "near takes 2 arguments by position; name the others: max_dist",
        ),
        ("segment('a', class_name='b')", "segment is given class_name twice."),
        ("segment(name='b')", "segment has no argument name: did you mean class_name?"),
        ("segment('a', zzz=1)", "segment has no argument zzz: segment(class_name)."),
        ("segment(*['a'])", "write the arguments of segment out, without * and **."),
        ("segment(**{'class_name': 'a'})", "write the arguments of segment out, without * and **."),
        # units
        ("components(segment('a'), larger_than_ha=0.8)", "areas are given in m2: larger_than_m2=8000."),
        ("components(segment('a'), min_area_acres=2)", "areas are given in m2: min_m2=8093.7128448."),
        ("x = 3\ncomponents(segment('a'), at_least_km2=x)", "areas are given in m2: min_m2=...."),
        (
            "components(segment('a'), min_area_m2=2)",
            "components has no argument min_area_m2: areas are given in m2: min_m2=2.",
        ),
        ("components(segment('a'), greater_than_m2=2)", "areas are given in m2: larger_than_m2=2."),
        (
            "near(components(segment('a')), segment('b'), distance_km=0.05)",
            "lengths are given in m: max_distance_m=50.",
        ),
        (
            "near(components(segment('a')), segment('b'), within_ft=100)",
            "lengths are given in m: max_distance_m=30.48.",
        ),
        (
            "near(components(segment('a')), segment('b'), radius=100)",
            "near has no argument radius: did you mean max_distance_m?",
        ),
        # types
        ("area_m2('water')", "area_m2: of must be a mask or regions, not a text: use segment(...)."),
        ("area_m2(5)", "area_m2: of must be a mask or regions, not a whole number."),
        ("count(segment('a'))", "count: regions must be regions, not a mask: use components(...)."),
        ("components(components(segment('a')))", "components: mask must be a mask, not regions: use mask_of(...)."),
        ("x = segment('a')\ncomponents(x, min_m2=x)", "min_m2 must be None or a number, not a mask: use area_m2(...)."),
        ("components(segment('a'), min_m2='5')", "components: min_m2 must be None or a number, not a text."),
        (
            "largest(components(segment('a')), n=2.5)",
            "largest: n must be a whole number, not a number with a fraction.",
        ),
        ("largest(components(segment('a')), n=True)", "largest: n must be a whole number, not a truth value."),
        ("count(each(components(segment('a'))))", "not a list: go through the list and pass one at a time."),
        (
            "for r in each(components(segment('a'))):\n    segment(r)",
            "segment: class_name must be a text, not regions.",
        ),
        ("for i, r in enumerate(each(components(segment('a')))):\n    segment(r)", "must be a text, not regions."),
        ("segment([r for r in each(components(segment('a')))][0])", "must be a text, not regions."),
        # values
        ("area_statistic_m2(components(segment('a')), statistic='men')", "'sum', not 'men': did you mean mean?"),
        ("components(segment('a'), connectivity=6)", "components: connectivity must be one of 4, 8, not 6."),
        (
            "components(segment('a'), larger_than_m2=1, min_m2=1)",
            "larger_than_m2 and min_m2 of components are both a lower",
        ),
        (
            "components(segment('a'), smaller_than_m2=1, max_m2=1)",
            "are both an upper bound: give only one.",
        ),
        (
            "components(segment('a'), min_m2=10, max_m2=5)",
            "nothing satisfies both min_m2=10 and max_m2=5 of components.",
        ),
        # handles are not values
        ("len(components(segment('a')))", "a Regions is not a list: the number of regions is count(regions)."),
        (
            "for r in components(segment('a')):\n    print(r)",
            "a Regions is not a list: go through regions with each(regions).",
        ),
        ("x = components(segment('a'))[0]", "a Regions is not a list: single regions come from largest(regions)"),
        ("x = segment('a') & segment('b')", "a Mask cannot be calculated with: use intersection(...)."),
        ("x = segment('a') * 2", "a Mask cannot be calculated with: measure it first, with area_m2 or count."),
        ("x = components(segment('a')) > 3", "a Regions is not a number: measure it first, with area_m2 or count."),
        ("x = segment('a')\ny = x.area_m2", "a Mask has no attributes (area_m2): write area_m2(...)."),
        ("x = segment('a')\ny = x.pixels", "a Mask has no attributes (pixels): pass it to a tool"),
        # constructs
        ("import math", "import is not available: use the tools and plain Python."),
        ("from os import path", "import is not available: use the tools and plain Python."),
        ("class A:\n    pass", "class is not available"),
        ("def f():\n    yield 1", "yield is not available: build a list with a comprehension."),
        ("x = 1\ndel x", "del is not available and not needed: leave it out."),
        ("with segment('a') as x:\n    pass", "with is not available"),
        ("async def f():\n    pass", "async is not available: call tools directly."),
        ("def f():\n    global x\n    x = 1", "global is not available"),
        ("match 1:\n    case 1:\n        pass", "match is not available: use if and elif."),
        ("@max\ndef f():\n    pass", "decorators are not available: write a plain function."),
        ("exec('1')", "exec is not available: use the tools and plain Python."),
        ("x = eval('1')", "eval is not available: use the tools and plain Python."),
        ("open('x')", "open is not available: use the tools and plain Python."),
        ("x = getattr(1, 'real')", "getattr is not available"),
        (
            "x = ().__class__",
            "__class__ cannot be reached: attributes that start with an underscore are not available.",
        ),
        ("__builtins__ = 1", "'__builtins__' cannot be a name here"),
        ("x = __builtins__", "there is no name __builtins__."),
        ("x = '{0.real}'.format(1)", "format is not available: use an f-string"),
        ("x = (1).real", "there is no attribute real here"),
        ("x = sorted([1], key=lambda r: area_m2(r))", "area_m2 cannot be called inside a lambda"),
    ],
)
def test_a_fault_gets_a_hint_with_its_line(line: str, expected: str) -> None:
    # The fault is in the last line, unless a block opens with it.
    found = hints(f"{line}\n{REPLY}")
    matching = [hint for hint in found if expected in hint]
    assert matching, found
    opens = line.startswith(("with", "class", "async", "match", "def count", "for r in components"))
    number = 1 if opens else 2 if line.startswith(("def", "@")) else line.count("\n") + 1
    assert any(hint.startswith(f"Line {number}: ") for hint in matching)
    assert all(hint.endswith((".", "?")) for hint in found)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1", ["Line 1: the program has no reply: end it with reply(value, kind=..., unit=...)."]),
        ("", ["Line 1: the program has no reply: end it with reply(value, kind=..., unit=...)."]),
        (f"{REPLY}\nx = 1", ["Line 2: reply must be the last thing the program does: move this before it."]),
        (f"{REPLY}\n{REPLY}", ["Line 2: reply must be the last thing the program does: move this before it."]),
        (
            f"for i in [1]:\n    {REPLY}",
            ["Line 2: reply must stand on a line of its own, outside loops and functions."],
        ),
        (f"def f():\n    {REPLY}", ["Line 2: reply must stand on a line of its own, outside loops and functions."]),
        (f"x = {REPLY}", ["Line 1: reply must stand on a line of its own, outside loops and functions."]),
        (
            f"x = [{REPLY} for i in [1]]",
            ["Line 1: reply must stand on a line of its own, outside loops and functions."],
        ),
        (
            f"if 1 > 2:\n    {REPLY}",
            ["Line 2: the program can end without a reply: give every if an else that replies."],
        ),
        (
            f"if 1 > 2:\n    {REPLY}\n{REPLY}",
            ["Line 3: the program may reply twice: put this into the else of the condition above."],
        ),
        (
            f"try:\n    {REPLY}\nexcept ValueError:\n    pass",
            ["Line 2: the program can end without a reply: give every if an else that replies."],
        ),
        ("reply(1)", ["Line 1: reply also needs kind: reply(value, kind=..., ...)."]),
        ('reply(1, kind="quantity")', ['Line 1: a reply of kind "quantity" needs its unit, such as unit="m2".']),
        ('reply(1, kind="quantity", unit="hectares")', ["Line 1: reply has no unit 'hectares': did you mean ha?"]),
        ('reply(1, kind="quantity", unit="Km2")', ["Line 1: reply has no unit 'Km2': did you mean km2?"]),
        (
            'reply(1, kind="count", unit="ha")',
            [
                'Line 1: a reply of kind "count" takes unit="count" or none, not \'ha\': '
                'a number with a unit is a "quantity".'
            ],
        ),
        (
            'reply("a", kind="text", unit="m")',
            ['Line 1: a reply of kind "text" takes no unit, not \'m\': a number with a unit is a "quantity".'],
        ),
        (
            'reply(1, kind="count", objects=3)',
            ["Line 1: reply: objects must be None or a mask or regions, not a whole number."],
        ),
    ],
)
def test_replies(source: str, expected: list[str]) -> None:
    assert hints(source) == expected


def test_an_unknown_kind_lists_the_kinds() -> None:
    (hint,) = hints('reply(1, kind="number")')
    assert hint.startswith("Line 1: reply: kind must be one of 'count', 'quantity', 'percent'")


def test_hints_come_in_the_order_of_lines_and_are_not_endless() -> None:
    found = hints("\n".join(f"x{i} = unknown{i}" for i in range(50)))
    assert [hint.split(":")[0] for hint in found] == [f"Line {i}" for i in range(1, 13)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = (1", "Line 1: this is not Python: '(' was never closed."),
        ("x = 1\n y = 2", "Line 2: this is not Python: unexpected indent."),
        ("x = 1\0", "this is not Python"),
        ("x = '\ud800'", "Line 1: the program holds characters that no text file can hold."),
        ("x = " + "(" * 60 + "1" + ")" * 60, "Line 1: the program has no reply"),
        ("x = " + "[" * 60 + "1" + "]" * 60, "Line 1: this is nested too deeply: split it over several assignments."),
        ("x = 1" + " + 1" * 3000, "Line 1: this is nested too deeply"),
        (
            "#" * (MAX_SOURCE_BYTES + 1),
            f"Line 1: the program has {MAX_SOURCE_BYTES + 1} bytes, more than {MAX_SOURCE_BYTES}",
        ),
    ],
)
def test_text_that_cannot_be_read(source: str, expected: str) -> None:
    assert expected in hints(source)[0]


@pytest.mark.parametrize(
    "body",
    [
        'reply(count(components(segment("a"))), kind="count")',
        'x = area_m2(segment("a"))\ny = x / 2\nreply(y, kind="quantity", unit="m2")',
        'x = 0\nfor r in each(components(segment("a"))):\n    x += 1\nreply(x, kind="count")',
        'x = []\nx.append(area_m2(segment("a")))\nreply(x[0], kind="quantity", unit="m2")',
        'x = {}\nx["a"] = area_m2(segment("a"))\nreply(x, kind="ranking")',
        'if area_m2(segment("a")) > 1:\n    reply("yes", kind="boolean")\nelse:\n    reply("no", kind="boolean")',
        'x = "no"\nif area_m2(segment("a")) > 1:\n    x = "yes"\nreply(x, kind="boolean")',
        'x = 0\nwhile x < count(components(segment("a"))):\n    x += 1\nreply(x, kind="count")',
        'reply(convert(area_m2(segment("a")), from_unit="m2", to_unit="ha"), kind="quantity", unit="ha")',
        'def f(x):\n    return area_m2(x)\nreply(f(segment("a")), kind="quantity", unit="m2")',
        'def f(x):\n    return 2 * x\nreply(f(area_m2(segment("a"))), kind="quantity", unit="m2")',
        'x, y = 1, area_m2(segment("a"))\nreply(y, kind="quantity", unit="m2")',
        'reply(sum(area_m2(r) for r in [segment("a")]), kind="quantity", unit="m2")',
        'x = [r for r in [1, 2] if r > area_m2(segment("a"))]\nreply(len(x), kind="count")',
        'reply(f"{area_m2(segment(\'a\')):.1f}", kind="text")',
        'try:\n    x = 1 / area_m2(segment("a"))\nexcept ZeroDivisionError:\n    x = 0\nreply(x, kind="count")',
        'reply(kind="count", value=count(components(segment("a"))))',
        'print(y := area_m2(segment("a")))\nreply(y, kind="quantity", unit="m2")',
    ],
)
def test_a_reply_that_was_measured(body: str) -> None:
    check(body, TOOLS)
    assert depends_on_measurement(body, TOOLS)


@pytest.mark.parametrize(
    "body",
    [
        'reply(7, kind="count")',
        'x = area_m2(segment("a"))\nreply(7, kind="count")',
        'x = area_m2(segment("a"))\nx = 5\nreply(x, kind="count")',
        'x = segment("a")\nreply("yes", kind="boolean", objects=x)',
        'x = segment("a")\nreply("yes" if x else "no", kind="boolean")',
        'reply(7, kind="count", objects=components(segment("a")))',
        'if 1 > 2:\n    reply(7, kind="count")\nelse:\n    reply(count(components(segment("a"))), kind="count")',
        'x, y = 1, area_m2(segment("a"))\nreply(x, kind="count")',
        'x = 0\nfor r in [1, 2, 3]:\n    x += r\nreply(x, kind="count")',
        'def f(x):\n    return 3\nreply(f(segment("a")), kind="count")',
        'x = [area_m2(segment("a"))]\ny = [3]\ny.append(4)\nreply(y[0], kind="count")',
        'reply(convert(5, from_unit="m2", to_unit="ha"), kind="quantity", unit="ha")',
    ],
)
def test_a_reply_that_was_not_measured(body: str) -> None:
    check(body, TOOLS)
    assert not depends_on_measurement(body, TOOLS)


def test_a_loop_carries_a_measurement_around() -> None:
    loop = 'for i in [1, 2, 3]:\n    c = b\n    b = a\n    a = area_m2(segment("x"))'
    source = f'a = b = c = 0\n{loop}\nreply(c, kind="count")'
    assert depends_on_measurement(source, TOOLS)


def test_a_program_without_a_reply_measures_nothing() -> None:
    assert not depends_on_measurement('area_m2(segment("a"))', TOOLS)


def test_what_the_checker_lets_through_exists_in_the_sandbox() -> None:
    lines = [f"known = {name}" for name in sorted(BUILTINS)]
    owners = {"''": str, "[1]": list, "{}": dict, "{1}": set}
    attributes = [(text, name) for text, kind in owners.items() for name in sorted(METHODS) if hasattr(kind, name)]
    assert {name for _, name in attributes} == METHODS
    lines += [f"({text}).{name}()" for text, name in attributes]
    with Sandbox() as sandbox:
        for line in lines:
            try:
                sandbox.run(line, lambda call: None, names=(), handle_types=())
            except ProgramFailed as error:  # a method that wants arguments is there all the same
                assert "Error" in str(error) and "has no attribute" not in str(error), line
