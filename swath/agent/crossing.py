"""What may cross between a program and its host: plain values and handles, nothing else.

Handles are host objects. They enter the worker as an opaque name without attributes and come back as the very same
object, so that pixels never leave the host and a program can neither read nor build one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from swath.errors import BudgetExceeded, ProgramFailed

MAX_ITEMS = 200_000  # values in one call: a list of the areas of every region still fits
MAX_INT_BITS = 1024  # no measurement is larger than the largest float
MAX_DEPTH = 20


class Crossing:
    """The customs of one run: converts values both ways and counts what it lets through.

    Attributes:
        handles: number of different handles given to the program so far.
        handle_bytes: bytes of the arrays that these handles keep alive, shared arrays counted once.
        text_bytes: bytes of text that the program passed to tools so far.
    """

    def __init__(self, handle_types: tuple[type, ...], wrap: Callable[[Any], Any]) -> None:
        self._types = handle_types
        self._wrap = wrap
        self._wrapped: dict[int, tuple[object, Any]] = {}
        self._counted: dict[int, object] = {}
        self.handle_bytes = 0
        self.text_bytes = 0
        self._items = 0

    @property
    def handles(self) -> int:
        """Number of different handles given to the program so far."""
        return len(self._wrapped)

    def to_guest(self, value: Any, tool: str) -> Any:
        """A tool's result as the program may see it.

        Raises:
            TypeError: the tool returned something that is neither plain nor a handle: a fault of the tool.
        """
        if isinstance(value, self._types):
            return self._handle(value)
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value)
        if isinstance(value, list | tuple):
            return [self.to_guest(item, tool) for item in value]
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {key: self.to_guest(item, tool) for key, item in value.items()}
        raise TypeError(f"{tool} returned {type(value).__name__}, which is neither a plain value nor a handle.")

    def from_guest(self, value: Any, where: str) -> Any:
        """An argument as the host may use it; tuples become lists.

        Args:
            value: as decoded from the worker.
            where: what it is, for the message: "Line 3: argument a of near".

        Raises:
            ProgramFailed: it is neither a plain value nor a handle that a tool returned in this run.
            BudgetExceeded: it is larger than any argument has reason to be.
        """
        self._items = 0
        return self._plain(value, where, 0)

    def _plain(self, value: Any, where: str, depth: int) -> Any:
        self._items += 1
        if self._items > MAX_ITEMS or depth > MAX_DEPTH:
            raise BudgetExceeded(f"{where} is too large: at most {MAX_ITEMS} values, nested at most {MAX_DEPTH} deep.")
        if id(value) in self._wrapped:
            return value
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            if value.bit_length() > MAX_INT_BITS:
                raise ProgramFailed(f"{where} is a number of {value.bit_length()} bits, larger than any measurement.")
            return value
        if isinstance(value, str):
            self.text_bytes += len(value)
            return value
        if isinstance(value, list | tuple):
            return [self._plain(item, where, depth + 1) for item in value]
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {key: self._plain(item, where, depth + 1) for key, item in value.items()}
        raise ProgramFailed(
            f"{where} is {_described(value)}: only numbers, texts, lists of them and what tools returned can be passed."
        )

    def _handle(self, handle: object) -> Any:
        known = self._wrapped.get(id(handle))
        if known is None:
            known = self._wrapped[id(handle)] = (handle, self._wrap(handle))
            self.handle_bytes += self._held_bytes(handle, 0)
        return known[1]

    def _held_bytes(self, value: Any, depth: int) -> int:
        """Bytes of the arrays that a handle keeps alive and that were not counted before in this run."""
        if isinstance(getattr(value, "nbytes", None), int):
            while getattr(value, "base", None) is not None and hasattr(value.base, "nbytes"):
                value = value.base
            if id(value) in self._counted:
                return 0
            self._counted[id(value)] = value
            return int(value.nbytes)
        if depth >= 3:
            return 0
        # A tuple of outlines may be long and holds no pixels: only a few members, as of sources, are looked into.
        members = value[:8] if isinstance(value, tuple) else vars(value).values() if hasattr(value, "__dict__") else ()
        return sum(self._held_bytes(member, depth + 1) for member in members)


def _described(value: Any) -> str:
    """What a program tried to pass, in words; never its repr, which may be long or address-bearing."""
    if isinstance(value, type):
        return "a type"
    if type(value).__name__ == "MontyClassProxy":
        return "an object made by the program itself"
    if isinstance(value, float) and not math.isfinite(value):
        return "not a finite number"
    return f"a value of type {type(value).__name__}"
