"""One call of a model: what is sent, what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Message = Mapping[str, Any]
"""{"role": "system" | "user" | "assistant", "content": text or a list of parts}."""


@dataclass(frozen=True)
class Grammar:
    """The reply must be derivable from a GBNF grammar; for servers of llama.cpp's kind."""

    gbnf: str


@dataclass(frozen=True)
class Schema:
    """The reply must be JSON of a schema (structured output)."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Function:
    """The reply must be a call of one function (tool calling); its arguments become the reply's text, as JSON."""

    name: str
    description: str
    schema: Mapping[str, Any]


Shape = Grammar | Schema | Function | None


@dataclass(frozen=True)
class Ask:
    """What is sent.

    Attributes:
        messages: the conversation; its long constant part first, for prefix caches.
        shape: what the reply must look like; None for free text.
        max_tokens: longest reply.
        purpose: what it is for, in a word or two, for the record: "plan", "repair", "judge" ...
    """

    messages: tuple[Message, ...]
    shape: Shape = None
    max_tokens: int = 2_000
    purpose: str = "plan"


@dataclass
class Received:
    """What has come in of a reply.

    Attributes:
        text: its words, or the arguments of the function that it calls.
        refusal: words with which the model declined.
        finish: why it ended: "stop", "length", "tool", "filter"; None while it has not.
        tokens_in: tokens read, None where the server does not say.
        tokens_cached: how many of them came from its cache.
        tokens_out: tokens written.
    """

    text: str = ""
    refusal: str = ""
    finish: Literal["stop", "length", "tool", "filter"] | None = None
    tokens_in: int | None = None
    tokens_cached: int = 0
    tokens_out: int | None = None


@dataclass(frozen=True)
class Call:
    """A call for the record: never a key, never the prompt itself.

    Attributes:
        purpose: what it was for.
        model: name of the model.
        host: name of the server.
        tokens_in: tokens read, None where the server did not say.
        tokens_cached: how many of them came from the server's cache.
        tokens_out: tokens written.
        cost: dollars, None where prices are not known.
        seconds: how long it took, retries included.
        tries: how often it was sent.
        reply: what came back.
        error: why nothing usable came back.
    """

    purpose: str
    model: str
    host: str
    tokens_in: int | None
    tokens_cached: int
    tokens_out: int | None
    cost: float | None
    seconds: float
    tries: int
    reply: str = field(repr=False)
    error: str | None = None
