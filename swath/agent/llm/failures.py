"""Why a model could not be asked, in one sentence each; a key is in none of them."""

from __future__ import annotations

import openai

from swath.agent.llm.settings import KEY, OPENAI_KEY, OPENAI_URL, Settings
from swath.trace.wording import harmless

LONGEST = 200


class BrokeOff(Exception):
    """A server ended its reply before the reply ended; its message is what the server said of that, if anything."""


def sentence(fault: Exception, settings: Settings) -> str:
    """What went wrong and what to do next.

    Args:
        fault: what the library raised.
        settings: the model that was asked.
    """
    at = f"The server at {settings.host}"
    match fault:
        case openai.APIStatusError():
            return _about_the_status(fault, at, settings)
        case openai.APITimeoutError():
            return f"{at} was silent for {settings.timeout_s:g} s. Next: try again, or raise timeout_s."
        case openai.APIConnectionError():
            return f"No server answers at {settings.host}. Next: start it, or check --base-url."
        case BrokeOff():
            why = f": {_plain(str(fault), settings)}" if str(fault) else "."
            return f"{at} broke off in the middle of its reply, again and again{why} Next: look at its log."
    return f"{at} does not answer as an OpenAI-compatible server would. Next: check --base-url."


def _about_the_status(fault: openai.APIStatusError, at: str, settings: Settings) -> str:
    status, model = fault.status_code, settings.model
    if status == 401:
        return _about_the_key(at, settings)
    if status == 403:
        return f"{at} does not let this key use the model {model} (403). Next: use another model or key."
    if status == 404:
        return f"{at} has no model {model} at this address (404). Next: check --model and --base-url."
    if status == 429:
        return f"{at} is too busy or the account's limit is reached (429). Next: wait, or use another model."
    if status >= 500:
        return f"{at} fails ({status}) however often it is asked. Next: look at its log, or wait."
    return f"{at} does not take the request ({status}): {_said(fault, settings)} Next: check --model."


def _about_the_key(at: str, settings: Settings) -> str:
    if settings.key is not None:
        return f"{at} refuses the key (401). Next: check {KEY}."
    name = OPENAI_KEY if settings.base_url.rstrip("/") == OPENAI_URL else KEY
    return f"{at} asks for a key and none is set (401). Next: set {name}."


def _said(fault: openai.APIStatusError, settings: Settings) -> str:
    body = fault.body
    told = body.get("message") if isinstance(body, dict) else None
    return _plain(str(told or fault.message), settings)


def _plain(words: str, settings: Settings) -> str:
    """A server's own words, bounded, on one line, without the key."""
    text = harmless(words)[:LONGEST].rstrip(". ")
    return (settings.key.hidden_in(text) if settings.key else text) + "."
