"""A reader of GBNF of its own: derives random sentences, and says whether a text is one."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:\\.|[^"\\])*")|(?P<set>\[(?:\\.|[^\]\\])*\])|(?P<count>\{\d+,\d+\})"""
    r"""|(?P<sign>[()|?])|(?P<name>[a-z][a-z0-9-]*))"""
)
Node = tuple[Any, ...]


@dataclass
class Gbnf:
    """A grammar: name of a rule to its tree of ("or" | "all" | "text" | "set" | "name" | "times", ...)."""

    rules: dict[str, Node]

    @classmethod
    def read(cls, text: str) -> Gbnf:
        rules = {}
        for line in text.strip().split("\n"):
            name, sign, body = line.partition(" ::= ")
            assert sign and re.fullmatch(r"[a-z][a-z0-9-]*", name), line
            assert name not in rules, f"{name} twice"
            rules[name] = _Reader(body).whole()
        used = {node[1] for rule in rules.values() for node in _nodes(rule) if node[0] == "name"}
        assert used <= rules.keys(), used - rules.keys()
        return cls(rules)

    def derived(self, rng: random.Random, start: str = "root", depth: int = 7) -> str:
        return self._derived(("name", start), rng, depth)

    def _derived(self, node: Node, rng: random.Random, depth: int) -> str:
        kind = node[0]
        if kind == "text":
            return str(node[1])
        if kind == "set":
            return rng.choice(node[1])
        if kind == "name":
            return self._derived(self.rules[node[1]], rng, depth - 1)
        if kind == "all":
            return "".join(self._derived(part, rng, depth) for part in node[1])
        if kind == "times":
            low, high = (node[2], node[2]) if depth <= 0 else (node[2], node[3])
            return "".join(self._derived(node[1], rng, depth) for _ in range(rng.randint(low, high)))
        options = sorted(node[1], key=lambda part: self._height(part, self._heights))
        return self._derived(options[0] if depth <= 0 else rng.choice(options), rng, depth)

    @cached_property
    def _heights(self) -> dict[str, float]:
        """How deep the shallowest derivation of each rule is."""
        found = dict.fromkeys(self.rules, float("inf"))
        for _ in self.rules:
            found = {name: 1 + self._height(rule, found) for name, rule in self.rules.items()}
        return found

    def _height(self, node: Node, heights: dict[str, float]) -> float:
        kind = node[0]
        if kind in ("text", "set"):
            return 0
        if kind == "name":
            return heights[node[1]]
        if kind == "times":
            return self._height(node[1], heights) if node[2] else 0
        return (min if kind == "or" else max)(self._height(part, heights) for part in node[1])

    def holds(self, text: str, start: str = "root") -> bool:
        return len(text) in self._ends(("name", start), text, 0, {})

    def _ends(self, node: Node, text: str, at: int, seen: dict[tuple[int, int], set[int]]) -> set[int]:
        """Where what a node stands for can end, if it begins at a place."""
        key = (id(node), at)
        if key not in seen:
            seen[key] = self._new_ends(node, text, at, seen)
        return seen[key]

    def _new_ends(self, node: Node, text: str, at: int, seen: dict[tuple[int, int], set[int]]) -> set[int]:
        kind = node[0]
        if kind == "text":
            return {at + len(node[1])} if text.startswith(node[1], at) else set()
        if kind == "set":
            return {at + 1} if at < len(text) and text[at] in node[1] else set()
        if kind == "name":
            return self._ends(self.rules[node[1]], text, at, seen)
        if kind == "or":
            return {end for part in node[1] for end in self._ends(part, text, at, seen)}
        places = {at}
        if kind == "all":
            for part in node[1]:
                places = {end for place in places for end in self._ends(part, text, place, seen)}
            return places
        found = {at} if node[2] == 0 else set()
        for number in range(1, node[3] + 1):
            places = {end for place in places for end in self._ends(node[1], text, place, seen)}
            if number >= node[2]:
                found |= places
        return found


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    if node[0] in ("or", "all"):
        for part in node[1]:
            yield from _nodes(part)
    elif node[0] == "times":
        yield from _nodes(node[1])


class _Reader:
    def __init__(self, body: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while body[at:].strip():
            found = TOKEN.match(body, at)
            assert found is not None and found.lastgroup is not None, body[at:]
            self.tokens.append((found.lastgroup, found[found.lastgroup]))
            at = found.end()
        self.at = 0

    def whole(self) -> Node:
        node = self.either()
        assert self.at == len(self.tokens), self.tokens[self.at :]
        return node

    def either(self) -> Node:
        options = [self.sequence()]
        while self.peek() == ("sign", "|"):
            self.at += 1
            options.append(self.sequence())
        return ("or", options) if len(options) > 1 else options[0]

    def sequence(self) -> Node:
        parts: list[Node] = []
        while self.peek() not in (("", ""), ("sign", "|"), ("sign", ")")):
            parts.append(self.repeated())
        assert parts, "an empty alternative"
        return ("all", parts)

    def repeated(self) -> Node:
        node = self.single()
        kind, text = self.peek()
        if (kind, text) == ("sign", "?"):
            self.at += 1
            return ("times", node, 0, 1)
        if kind == "count":
            self.at += 1
            low, high = (int(part) for part in text[1:-1].split(","))
            return ("times", node, low, high)
        return node

    def single(self) -> Node:
        kind, text = self.peek()
        self.at += 1
        if kind == "text":
            return ("text", re.sub(r"\\(.)", r"\1", text[1:-1]))
        if kind == "set":
            return ("set", _letters(text[1:-1]))
        if kind == "name":
            return ("name", text)
        assert (kind, text) == ("sign", "("), text
        node = self.either()
        assert self.peek() == ("sign", ")")
        self.at += 1
        return node

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("", "")


def _letters(inside: str) -> str:
    spans = re.sub(r"(.)-(.)", lambda span: "".join(map(chr, range(ord(span[1]), ord(span[2]) + 1))), inside)
    return "".join(dict.fromkeys(spans))
