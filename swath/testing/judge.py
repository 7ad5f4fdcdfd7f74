"""A judge that says what it was told to say."""

from __future__ import annotations


class ScriptedJudge:
    """Replies in order, whatever is asked; the last reply is repeated.

    Attributes:
        asked: every prompt, in order.
    """

    def __init__(self, *replies: str) -> None:
        self._replies = list(replies)
        self.asked: list[str] = []

    def ask(self, prompt: str) -> str:
        """The next reply."""
        self.asked.append(prompt)
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
