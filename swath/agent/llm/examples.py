"""Chooses the worked examples that are most like a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache

from swath.prompts.examples import Example, examples
from swath.segment.vocabulary import fold, singulars

_WORD = re.compile(r"[a-z%]+")


def similar(question: str, count: int) -> tuple[Example, ...]:
    """The examples that share most words with a question, rare words counting more; the most similar last.

    Args:
        question: as typed.
        count: how many.
    """
    words = _words(question)
    rarity = _rarity()
    every = max(rarity.values())

    def likeness(example: Example) -> float:
        other = _words(example.question)
        shared = sum(rarity.get(word, every) for word in words & other)
        both = math.sqrt(sum(rarity.get(word, every) for word in words) * sum(rarity[word] for word in other))
        return shared / both if both else 0.0

    ranked = sorted(examples(), key=likeness, reverse=True)
    return tuple(reversed(ranked[:count]))


def _words(text: str) -> frozenset[str]:
    return frozenset(list(singulars(word))[-1] for word in _WORD.findall(fold(text)))


@lru_cache(maxsize=1)
def _rarity() -> dict[str, float]:
    """Every word of the examples with its inverse document frequency."""
    seen = Counter(word for example in examples() for word in _words(example.question))
    return {word: math.log(1 + len(examples()) / count) for word, count in seen.items()}
