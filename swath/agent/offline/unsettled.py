"""Why a question is not answered although its words are understood."""

from __future__ import annotations


class Unsettled(Exception):
    """Something is left open, or cannot be measured, and must not be guessed.

    Attributes:
        why: sentences that say what is missing or wrong.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
