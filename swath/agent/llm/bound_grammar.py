"""The rules of the bound way as a GBNF grammar, for llama.cpp and servers like it."""

from __future__ import annotations

from collections.abc import Iterable

from swath.agent.llm.bound_forms import Call, Choice, Form, Group, Infix, Ref, Rules, Text, Whole

LONGEST_REASON = 80
FIXED = """root ::= cannot | answer
cannot ::= "cannot: " [a-z ,]{{1,{longest}}}
"""


def grammar(rules: Rules) -> str:
    """The grammar of some rules.

    Alternatives begin differently as far as can be: a beginning that two of them share is read twice, token by token.
    """
    lines = [f"{name} ::= {' | '.join(map(_spelt, forms))}" for name, forms in rules.items()]
    return FIXED.format(longest=LONGEST_REASON) + "\n".join(lines) + "\n"


def _spelt(form: Form) -> str:
    match form:
        case Ref(rule):
            return rule
        case Text(values):
            return _either(map(_text, values))
        case Whole(values):
            return _either(f'"{value}"' for value in values)
        case Call():
            return _call(form)
        case Infix(left, signs, right, optional):
            rest = f"{_either(_literal(sign) for sign in signs)} {_spelt(right)}"
            return f"{_spelt(left)} ({rest})?" if optional else f"{_spelt(left)} {rest}"
        case Choice(yes, test, no):
            return f'{_spelt(yes)} " if " {_spelt(test)} " else " {_spelt(no)}'
    raise TypeError(form)


def _call(call: Call) -> str:
    parts, first = [f'"{call.tool}("'], True
    for _, form in call.places:
        parts += [_spelt(form)] if first else ['", "', _spelt(form)]
        first = False
    for group in call.groups:
        if group.required or not first:  # an optional one that comes first would need no comma
            parts.append(_group(group, "" if first else ", "))
            first = False
    return " ".join((*parts, '")"'))


def _group(group: Group, comma: str) -> str:
    options = _either(f'"{comma}{name}=" {_spelt(value)}' for name, value in group.options)
    return options if group.required else f"({options})?"


def _either(options: Iterable[str]) -> str:
    found = list(options)
    return f"({' | '.join(found)})" if len(found) > 1 else found[0]


def _literal(text: str) -> str:
    return f'"{text}"'


def _text(value: str) -> str:
    r"""A text of the expression language as a literal of GBNF: "\"building\""."""
    inner = value.replace("\\", "\\\\\\\\").replace('"', '\\\\\\"')
    return f'"\\"{inner}\\""'
