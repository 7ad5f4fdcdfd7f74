"""A GBNF grammar of the expression language, bound to the classes and quantities of one question.

What the question does not name cannot be written: no other class, no other number. A model too small to copy a number
can still choose where it belongs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from swath.agent.llm.expression import BARE, Argument, Operation, label, operations
from swath.agent.llm.given import Given
from swath.agent.llm.offered import offered

LONGEST_REASON = 80
FIXED = """root ::= cannot | answer
cannot ::= "cannot: " [a-z ,]{{1,{longest}}}
answer ::= truth | number | name
truth ::= claim | claim " and " claim | claim " or " claim
comparison ::= " > " | " >= " | " < " | " <= " | " == "
either ::= mask | regions
"""


def grammar(given: Given, classes: Sequence[str]) -> str:
    """The grammar for a question.

    Args:
        given: the question and what is certain about it.
        classes: names that may be written: those that the question means, or all where it names none.
    """
    quantities = _Quantities(given)
    lines = [FIXED.format(longest=LONGEST_REASON).strip(), f"class ::= {' | '.join(map(_text, classes))}"]
    fitting = [operations()[tool.name] for tool in offered(given.question) if tool.name in operations()]
    made = [(operation, body) for operation in fitting if (body := _body(operation, quantities))]
    for returns, further in (("mask", ["class"]), ("regions", []), ("name", _choice(classes))):
        bodies = [body for operation, body in made if operation.returns == returns]
        lines.append(f"{returns} ::= {' | '.join((*further, *bodies))}")
    measures: dict[str, list[str]] = {}
    for operation, body in made:
        if operation.returns == "number":
            measures.setdefault(operation.unit, []).append(body)
    return "\n".join((*lines, *_numbers(measures, quantities))) + "\n"


def _choice(classes: Sequence[str]) -> list[str]:
    return ['class " if " same " else " class'] if len(classes) > 1 else []


def _numbers(measures: Mapping[str, list[str]], quantities: _Quantities) -> Iterator[str]:
    """Rules by unit, so that nothing is added to, compared with or divided by what has another."""
    rules = {unit: re.sub(r"[^a-z0-9]", "", unit.lower()) for unit in measures}
    for unit, bodies in measures.items():
        rule, further = rules[unit], ['"percent(" pair ")"'] if unit == "percent" else []
        limits = [f"sum-{rule}", '"0"', quantities.of(*((unit, "") if unit in BARE else (unit,)))]
        yield f"of-{rule} ::= {' | '.join((*bodies, *further))}"
        yield f'sum-{rule} ::= of-{rule} | of-{rule} " + " of-{rule} | of-{rule} " - " of-{rule}'
        yield f"limit-{rule} ::= {' | '.join(filter(None, limits))}"
    yield f"number ::= {' | '.join(f'sum-{rule}' for rule in rules.values())}"
    yield f"claim ::= {' | '.join(f'sum-{rule} comparison limit-{rule}' for rule in rules.values())}"
    yield f"same ::= {' | '.join(f'sum-{rule} comparison sum-{rule}' for rule in rules.values())}"
    yield "pair ::= " + " | ".join(f'of-{rule} ", " of-{rule}' for rule in rules.values())


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
    places = [argument.kind for argument in operation.places]
    parts = [f'"{operation.tool.name}("', *(["pair"] if places == ["number", "number"] else _joined(places))]
    keywords = [argument for argument in operation.arguments if argument.keyword and not argument.side]
    for argument in sorted(keywords, key=lambda argument: not argument.required):
        part = _keyword(argument, quantities, first=len(parts) == 1)
        if not part and argument.required:
            return ""
        if part and (argument.required or len(parts) > 1):  # an optional one that comes first would need no comma
            parts.append(part)
    bounds = _bounds(operation, quantities, first=len(parts) == 1)
    if operation.needs_bound and not bounds:
        return ""
    return " ".join(part for part in (*parts, bounds, '")"') if part)


def _joined(parts: Sequence[str]) -> Iterator[str]:
    for number, part in enumerate(parts):
        if number:
            yield '", "'
        yield part


def _keyword(argument: Argument, quantities: _Quantities, *, first: bool) -> str:
    if argument.kind == "choice":
        values = " | ".join(_text(choice) for choice in argument.choices)
    elif argument.kind == "number":
        values = quantities.whole() or ("[1-9]" if argument.required else "")
    elif argument.kind == "share":
        values = quantities.of("percent")
    elif argument.kind == "bound":
        values = quantities.of(argument.unit)
    else:
        values = argument.kind
    if not values:
        return ""
    given = f'"{"" if first else ", "}{argument.short}=" ({values})'
    return given if argument.required else f"({given})?"


def _bounds(operation: Operation, quantities: _Quantities, *, first: bool) -> str:
    """At most one lower and one upper bound, in this order; at least one where the tool does nothing without."""
    sides = []
    for side in ("low", "high"):
        options: dict[str, None] = {}
        for argument in operation.arguments:
            values = quantities.of(argument.unit) if argument.side == side else ""
            options |= {f'"{argument.short}=" ({values})': None} if values else {}
        sides.append(f"({' | '.join(options)})" if options else "")
    low, high = sides
    comma = "" if first else '", " '
    if not operation.needs_bound:
        return " ".join(f"({comma}{side})?" for side in (low, high) if side)
    both = f'{low} ", " {high}' if low and high else ""
    alternatives = [f"{comma}{bounds}" for bounds in (low, high, both) if bounds]
    return f"({' | '.join(alternatives)})" if alternatives else ""
