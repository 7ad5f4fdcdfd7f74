"""Parses pieces by `grammar.lark`, with only the rules that the pieces at hand can use.

Lark's Earley parser predicts every rule at every place, 700 of them here; a question holds some eight different
terminals, which leave about 120 rules. Cutting the predictions down first makes a parse about ten times faster and
changes no result, since a rule with an absent terminal can never be completed.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedEOF, UnexpectedToken
from lark.grammar import NonTerminal, Rule
from lark.lexer import Lexer

from swath.agent.offline.pieces import Piece


class NotUnderstood(Exception):
    """The pieces are no sentence of the grammar.

    Attributes:
        at: index of the first piece that fits no reading; the number of pieces where something is missing at the end.
    """

    def __init__(self, at: int) -> None:
        super().__init__(f"no reading at piece {at}")
        self.at = at


class _NoLexer(Lexer):
    """The pieces are made beforehand; Lark only wants to know that there is a lexer."""

    def __init__(self, lexer_conf: Any) -> None:
        self.lexer_conf = lexer_conf

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Token]:
        """Nothing is lexed here."""
        raise NotImplementedError


class _Pieces:
    """What Earley asks for its tokens."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces

    def lex(self, expects: Any) -> Iterator[Token]:
        """The pieces as Lark's tokens, the position in place of a line number."""
        for at, piece in enumerate(self._pieces):
            token = Token(piece.kind, piece.text, start_pos=at)
            token.value = piece
            yield token


@cache
def parser(name: str = "grammar.lark") -> Lark:
    """A grammar, loaded once."""
    text = resources.files("swath.agent.offline").joinpath(name).read_text(encoding="utf-8")
    bare = re.sub(r"//.*", "", text)
    terminals = sorted(set(re.findall(r"\b[A-Z]{2,}\b", bare)))
    declared = f"{text}\n%declare {' '.join(terminals)}\n"
    starts = [start for start in _STARTS if re.search(rf"^{start}:", text, re.MULTILINE)]
    return Lark(declared, start=starts, parser="earley", lexer=_NoLexer, ambiguity="resolve")


_STARTS = ("start", "frame", "contest")


@cache
def _needs(name: str) -> tuple[tuple[Rule, frozenset[str], frozenset[str]], ...]:
    """Every rule with the terminals and the rules that it needs."""
    return tuple(
        (
            rule,
            frozenset(symbol.name for symbol in rule.expansion if symbol.is_term),
            frozenset(symbol.name for symbol in rule.expansion if not symbol.is_term),
        )
        for rule in parser(name).rules
    )


@lru_cache(maxsize=512)
def _predictions(kinds: frozenset[str], name: str, *, chinese: bool) -> Mapping[NonTerminal, list[Rule]]:
    """The rules that can be completed with some terminals, by what they make; of Chinese word order only there."""
    left = [needs for needs in _needs(name) if needs[1] <= kinds]
    left = [needs for needs in left if chinese or not needs[0].origin.name.startswith("z_")]
    while True:
        made = {rule.origin.name for rule, _, _ in left}
        kept = [needs for needs in left if needs[2] <= made]
        if len(kept) == len(left):
            break
        left = kept
    found: dict[NonTerminal, list[Rule]] = {}
    for rule, _, _ in left:
        found.setdefault(rule.origin, []).append(rule)
    return found


def parse(pieces: Sequence[Piece], name: str = "grammar.lark", start: str = "start") -> Tree[Token]:
    """The tree of a question.

    Args:
        pieces: its terminals.
        name: which grammar.
        start: the rule that it has to fulfil: "start", or "frame" or "contest" where word order is to
            say nothing.

    Raises:
        NotUnderstood: it has none.
    """
    chinese = any("\u3400" <= piece.text[:1] <= "\u9fff" for piece in pieces)
    predictions = _predictions(frozenset(piece.kind for piece in pieces), name, chinese=chinese)
    if NonTerminal(start) not in predictions:
        raise NotUnderstood(len(pieces))
    earley: Any = copy.copy(parser(name).parser.parser)
    earley.predictions = predictions
    try:
        tree: Tree[Token] = earley.parse(_Pieces(pieces), start)
    except UnexpectedToken as error:
        raise NotUnderstood(error.token.start_pos) from None
    except UnexpectedEOF:
        raise NotUnderstood(len(pieces)) from None
    return tree
