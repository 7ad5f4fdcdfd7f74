"""The two ways in which servers are asked: Chat Completions and Responses, both as streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from openai import OpenAI

from swath.agent.llm.exchange import Ask, Function, Grammar, Received, Schema
from swath.agent.llm.failures import BrokeOff
from swath.agent.llm.settings import OPENAI_URL, Settings

Finish = Literal["stop", "length", "tool", "filter"]

_CHAT_FINISH: dict[str, Finish] = {"length": "length", "tool_calls": "tool", "content_filter": "filter"}


def stream(client: OpenAI, settings: Settings, ask: Ask, left_out: frozenset[str]) -> Iterator[Received]:
    """Send a call and yield what has come in, after every piece.

    Args:
        client: the library's client.
        settings: the model.
        ask: what is sent.
        left_out: parameters that this server is known not to take.

    Raises:
        BrokeOff: the server says in the middle of its reply that it failed.
    """
    if settings.api == "responses":
        yield from _responses(client, settings, ask, left_out)
    else:
        yield from _chat(client, settings, ask, left_out)


def _chat(client: OpenAI, settings: Settings, ask: Ask, left_out: frozenset[str]) -> Iterator[Received]:
    ours = settings.base_url.rstrip("/") == OPENAI_URL
    longest = "max_completion_tokens" if ours != ("max_tokens" in left_out) else "max_tokens"
    given: dict[str, Any] = {
        "temperature": 0,
        "stream_options": {"include_usage": True},
        longest: ask.max_tokens,
        **_chat_shape(ask),
    }
    given = _taken(given, left_out - {longest})
    received = Received()
    messages: Any = list(ask.messages)
    for chunk in client.chat.completions.create(model=settings.model, messages=messages, stream=True, **given):
        _take_chat_chunk(received, chunk)
        yield received


def _taken(given: dict[str, Any], left_out: frozenset[str]) -> dict[str, Any]:
    """The parameters that a server takes; a grammar lies among those that the library does not know."""
    kept = {name: value for name, value in given.items() if name not in left_out}
    if "grammar" in left_out:
        kept.pop("extra_body", None)
    return kept


def _chat_shape(ask: Ask) -> dict[str, Any]:
    match ask.shape:
        case Grammar(gbnf):
            return {"extra_body": {"grammar": gbnf}}
        case Schema(name, schema):
            wanted = {"name": name, "schema": schema, "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": wanted}}
        case Function(name, description, schema):
            function = {"name": name, "description": description, "parameters": schema}
            choice = {"type": "function", "function": {"name": name}}
            return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
    return {}


def _take_chat_chunk(received: Received, chunk: Any) -> None:
    usage = getattr(chunk, "usage", None)
    if usage is not None:
        received.tokens_in, received.tokens_out = usage.prompt_tokens, usage.completion_tokens
        details = getattr(usage, "prompt_tokens_details", None)
        received.tokens_cached = getattr(details, "cached_tokens", None) or 0
    for choice in chunk.choices or ():
        delta = choice.delta
        if delta is not None:
            received.text += delta.content or ""
            received.refusal += getattr(delta, "refusal", None) or ""
            for call in delta.tool_calls or ():
                if call.function is not None and call.index == 0:
                    received.text += call.function.arguments or ""
        if choice.finish_reason is not None:
            received.finish = _CHAT_FINISH.get(choice.finish_reason, "stop")


def _responses(client: OpenAI, settings: Settings, ask: Ask, left_out: frozenset[str]) -> Iterator[Received]:
    given: dict[str, Any] = {"temperature": 0, "max_output_tokens": ask.max_tokens, "store": False}
    given |= _responses_shape(ask)
    given = _taken(given, left_out)
    received = Received()
    messages: Any = [_responses_message(message) for message in ask.messages]
    for event in client.responses.create(model=settings.model, input=messages, stream=True, **given):
        _take_event(received, event)
        yield received


def _responses_message(message: Any) -> dict[str, Any]:
    content = message["content"]
    if isinstance(content, str):
        return dict(message)
    parts = [
        {"type": "input_text", "text": part["text"]}
        if part["type"] == "text"
        else {"type": "input_image", "image_url": part["image_url"]["url"]}
        for part in content
    ]
    return {**message, "content": parts}


def _responses_shape(ask: Ask) -> dict[str, Any]:
    match ask.shape:
        case Grammar(gbnf):
            return {"extra_body": {"grammar": gbnf}}
        case Schema(name, schema):
            return {"text": {"format": {"type": "json_schema", "name": name, "schema": schema, "strict": True}}}
        case Function(name, description, schema):
            tool = {"type": "function", "name": name, "description": description, "parameters": schema, "strict": True}
            return {"tools": [tool], "tool_choice": {"type": "function", "name": name}}
    return {}


def _take_event(received: Received, event: Any) -> None:
    if event.type in ("response.output_text.delta", "response.function_call_arguments.delta"):
        received.text += event.delta
    elif event.type == "response.refusal.delta":
        received.refusal += event.delta
    elif event.type == "error":
        raise BrokeOff(event.message)
    elif event.type == "response.failed":
        raise BrokeOff(event.response.error.message if event.response.error else "")
    elif event.type in ("response.completed", "response.incomplete"):
        _take_end(received, event.response)


def _take_end(received: Received, response: Any) -> None:
    if response.usage is not None:
        received.tokens_in, received.tokens_out = response.usage.input_tokens, response.usage.output_tokens
        details = response.usage.input_tokens_details
        received.tokens_cached = getattr(details, "cached_tokens", None) or 0
    if response.status == "completed":
        received.finish = "stop"
    elif response.status == "incomplete":
        reason = getattr(response.incomplete_details, "reason", None)
        received.finish = "filter" if reason == "content_filter" else "length"
