"""A GBNF grammar of the expression language, bound to the classes and quantities of one question.

What the question does not name cannot be written: no other class, no other number. A model too small to copy a number
can still choose where it belongs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swath.agent.llm.expression import BOUND_NEEDED, SHARES, Argument, Operation, label, operations
from swath.agent.llm.given import Given

LONGEST_REASON = 80
FIXED = """root ::= cannot | answer
cannot ::= "cannot: " [a-z ,]{{1,{longest}}}
answer ::= truth | number | name
truth ::= claim | claim " and " claim | claim " or " claim
claim ::= number comparison limit
comparison ::= " > " | " >= " | " < " | " <= " | " == "
limit ::= number | zero{limits}
zero ::= "0"
number ::= measure | measure " + " measure | measure " - " measure | "percent(" measure ", " measure ")"
either ::= mask | regions
"""


def grammar(given: Given, classes: Sequence[str]) -> str:
    """The grammar for a question.

    Args:
        given: the question and what is certain about it.
        classes: names that may be written: those that the question means, or all where it names none.
    """
    quantities = _Quantities(given)
    limits = quantities.of("m", "m2", "px", "percent", "kW", "")
    lines = [FIXED.format(longest=LONGEST_REASON, limits=f" | {limits}" if limits else "").strip()]
    named = " | ".join(_text(name) for name in classes)
    lines.append(f"class ::= {named}")
    made = [(operation, body) for operation in operations().values() if (body := _body(operation, quantities))]
    for returns, rule, further in (
        ("mask", "mask", ["class"]),
        ("regions", "regions", []),
        ("number", "measure", []),
        ("name", "name", ['class " if " number comparison number " else " class'] if len(classes) > 1 else []),
    ):
        bodies = [body for operation, body in made if operation.returns == returns]
        lines.append(f"{rule} ::= {' | '.join((*further, *bodies))}")
    return "\n".join(lines) + "\n"


class _Quantities:
    """The question's quantities as alternatives of the grammar."""

    def __init__(self, given: Given) -> None:
        self._amounts = given.amounts

    def of(self, *dimensions: str) -> str:
        """Alternatives of some dimensions, "" where the question has none."""
        found = dict.fromkeys(_text(label(amount)) for amount in self._amounts if amount.unit in dimensions)
        return " | ".join(found)

    def whole(self) -> str:
        """Bare whole numbers of the question, unquoted."""
        bare = [amount for amount in self._amounts if not amount.unit and amount.value == int(amount.value)]
        return " | ".join(dict.fromkeys(f'"{int(amount.value)}"' for amount in bare))


def _text(value: str) -> str:
    r"""A text of the expression language as a literal of GBNF: "\"building\""."""
    inner = value.replace("\\", "\\\\\\\\").replace('"', '\\\\\\"')
    return f'"\\"{inner}\\""'


def _body(operation: Operation, quantities: _Quantities) -> str:
    """How a tool is called, "" where the question lacks what it needs."""
    places = [argument for argument in operation.arguments if not argument.keyword and argument.required]
    parts = [f'"{operation.tool.name}("', *_joined([_place(argument) for argument in places])]
    for argument in operation.arguments:
        if argument.keyword and argument.kind != "bound":
            part = _keyword(argument, quantities, first=not places)
            if not part and argument.required:
                return ""
            parts.append(part)
    bounds = _bounds(operation, quantities)
    if operation.tool.name in BOUND_NEEDED and not bounds:
        return ""
    return " ".join(part for part in (*parts, bounds, '")"') if part)


def _joined(parts: Sequence[str]) -> Iterator[str]:
    for number, part in enumerate(parts):
        if number:
            yield '", "'
        yield part


def _place(argument: Argument) -> str:
    return {"number": "measure"}.get(argument.kind, argument.kind)


def _keyword(argument: Argument, quantities: _Quantities, *, first: bool) -> str:
    if argument.kind == "choice":
        values = " | ".join(_text(choice) for choice in argument.choices)
    elif argument.kind == "number":
        values = quantities.whole() or ("[1-9]" if argument.required else "")
    elif argument.kind == "share":
        values = quantities.of("percent") if argument.name in SHARES else ""
    else:
        values = argument.kind
    if not values:
        return ""
    given = f'"{"" if first else ", "}{argument.short}=" ({values})'
    return given if argument.required else f"({given})?"


def _bounds(operation: Operation, quantities: _Quantities) -> str:
    """At most one lower and one upper bound, in this order."""
    sides = []
    for beginnings in (("larger_than", "min_", "min"), ("smaller_than", "max_", "max")):
        options: dict[str, None] = {}
        for argument in operation.arguments:
            if argument.kind == "bound" and argument.short.startswith(beginnings):
                values = quantities.of(argument.unit)
                options |= {f'", {argument.short}=" ({values})': None} if values else {}
        sides.append(" | ".join(options))
    low, high = (f"({side})" if side else "" for side in sides)
    if operation.tool.name not in BOUND_NEEDED:
        return " ".join(f"{side}?" for side in (low, high) if side)
    if low and high:
        return f"({low} | {high} | {low} {high})"
    return low or high
