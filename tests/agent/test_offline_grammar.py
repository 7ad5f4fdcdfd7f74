"""The grammar and its lexicons as wholes: drawn sentences, terminals, predictions cut down."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest
from changed_town import SCENE as BOTH_DATES
from painted_town import SCENE

from swath.agent.offline import OfflinePlanner, grammar, languages, lexicon
from swath.errors import Refused

SAMPLES = {
    "CLASS": ["water", "buildings", "road", "vegetation", "ponds", "solar panels", "trees"],
    "QAREA": ["0.1 ha", "200 m2", "2 acres"], "QLEN": ["50 m", "100 ft"], "QPX": ["20 pixels"],
    "QPCT": ["30%", "a third", "half"], "NUM": ["3", "five"], "NTH": ["second", "3rd"],
    "PART": ["northern half", "top left quarter"], "AUNIT": ["hectares", "square metres"], "LUNIT": ["metres"],
    "PUNIT": ["kW"], "PXUNIT": ["pixels"], "QPOW": ["30 kW"], "QIRR": ["900 W/m2"], "TIMESNUM": ["twice", "3 times"],
    "COMMA": [","], "STOP": ["."],
}  # fmt: skip
INTERNAL = {"PLUSDE", "MOINSDE", "ZWHATIS", "NOISE", "BYAREA", "BYNUMBER", "ATSIGN", "ASIDE", "THATSIZE", "THATFAR"}
"""Terminals of the lexicons that are turned into others, or taken off, before the parse."""


def words_by_terminal(*, two_dates: bool) -> dict[str, list[str]]:
    words = defaultdict(list, SAMPLES)
    for phrase, entry in lexicon.lexicon("en", two_dates=two_dates).entries.items():
        if entry.kind not in SAMPLES:
            words[entry.kind].append(" ".join(phrase))
    return words


class Sentences:
    """Draws sentences from the grammar's own rules, shallow ones once it is deep enough."""

    def __init__(self, seed: int, *, two_dates: bool = False) -> None:
        self.random = random.Random(seed)
        self.words = words_by_terminal(two_dates=two_dates)
        self.rules = defaultdict(list)
        for rule in grammar.parser().rules:
            if all(not symbol.is_term or symbol.name in self.words for symbol in rule.expansion):
                self.rules[rule.origin.name].append(rule)
        self.depths: dict[str, int] = {}
        for _ in range(40):
            for name, rules in self.rules.items():
                self.depths[name] = min(map(self.depth, rules))

    def depth(self, rule) -> int:
        return 1 + max((self.depths.get(s.name, 99) for s in rule.expansion if not s.is_term), default=0)

    def draw(self, name: str, room: int) -> list[str]:
        rules = [rule for rule in self.rules[name] if self.depth(rule) < 99]
        if room <= 0:
            least = min(map(self.depth, rules))
            rules = [rule for rule in rules if self.depth(rule) == least]
        words: list[str] = []
        for symbol in self.random.choice(rules).expansion:
            is_word = symbol.is_term
            words += [self.random.choice(self.words[symbol.name])] if is_word else self.draw(symbol.name, room - 1)
        return words


@pytest.mark.parametrize("scene", [SCENE, BOTH_DATES], ids=["one date", "two dates"])
@pytest.mark.parametrize("seed", range(4))
def test_sentences_drawn_from_the_grammar_are_planned_or_refused(seed, scene):
    sentences, planner = Sentences(seed, two_dates=scene is BOTH_DATES), OfflinePlanner()
    planned = 0
    for _ in range(150):
        question = " ".join(sentences.draw("start", sentences.random.randint(2, 6)))
        try:
            compile(planner.plan(question, scene, None).source, question, "exec")
        except Refused:
            continue
        planned += 1
    assert planned > 10


@pytest.mark.parametrize("seed", range(2))
def test_random_words_are_planned_or_refused(seed):
    draw = random.Random(seed)
    words = [" ".join(phrase) for phrase in lexicon.lexicon("en").entries] + [
        word for sample in SAMPLES.values() for word in sample
    ] * 20
    planner = OfflinePlanner()
    outcomes = set()
    for _ in range(200):
        question = " ".join(draw.choices(words, k=draw.randint(1, 30)))
        try:
            planner.plan(question, SCENE, None)
            outcomes.add("planned")
        except Refused:
            outcomes.add("refused")
    assert "refused" in outcomes


def test_cutting_predictions_down_changes_no_parse():
    from swath.agent.offline.asked import asides_taken_off
    from swath.agent.offline.pieces import pieces_of
    from swath.agent.offline.words import normalised, words_of

    for question in (
        "how many buildings larger than 0.01 ha are within 20 m of a road but further than 30 m from water?",
        "what percentage of the image is vegetation within 20 m of water?",
        "is there more water than road in the northern half?",
    ):
        text = normalised(question)
        pieces = asides_taken_off(pieces_of(words_of(text), text, lexicon.lexicon("en"), SCENE.classes), text).pieces
        pieces = [piece for piece in pieces if piece.text != "the"]
        whole = grammar.parser().parser.parser.parse(grammar._Pieces(pieces), "start")
        assert grammar.parse(pieces) == whole


@pytest.mark.parametrize("language", languages.LANGUAGES)
def test_every_word_leads_into_the_grammar(language):
    terminals = {symbol.name for rule in grammar.parser().rules for symbol in rule.expansion if symbol.is_term}
    kinds = {entry.kind for entry in lexicon.lexicon(language).entries.values()}
    assert kinds - terminals <= INTERNAL


def test_every_terminal_of_the_grammar_has_words():
    terminals = {symbol.name for rule in grammar.parser().rules for symbol in rule.expansion if symbol.is_term}
    entries = [lexicon.lexicon(language, two_dates=True).entries for language in languages.LANGUAGES]
    kinds = {entry.kind for phrases in entries for entry in phrases.values()}
    assert terminals - kinds - set(SAMPLES) == set()


def test_a_phrase_listed_twice_is_an_error(monkeypatch, tmp_path):
    (tmp_path / "lexicon_xx.txt").write_text("AND\n    and\nOR\n    and\n", encoding="utf-8")
    monkeypatch.setattr(lexicon.resources, "files", lambda package: tmp_path)
    with pytest.raises(ValueError, match="'and' is listed under AND and under OR"):
        lexicon.lexicon("xx")
