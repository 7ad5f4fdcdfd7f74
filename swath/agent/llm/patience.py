"""Whether and when a call that failed is sent again."""

from __future__ import annotations

import email.utils
import random
import time

import openai

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
AGAIN = (408, 409, 429)
"""Statuses that pass by themselves, beside those from 500 on."""


def pause_before(fault: openai.OpenAIError, failures: int) -> float | None:
    """Seconds to wait before a call is sent again; None where that cannot help.

    Args:
        fault: how it failed.
        failures: how often it has failed, this time included.
    """
    if isinstance(fault, openai.APIStatusError):
        if fault.status_code not in AGAIN and fault.status_code < 500:
            return None
        told = _told(fault)
        if told is not None:
            return told
    elif not isinstance(fault, openai.APIConnectionError):
        return None
    pause = min(FIRST_PAUSE_S * 2.0 ** (failures - 1), LONGEST_PAUSE_S)
    return pause * random.uniform(0.75, 1.0)  # noqa: S311 - so that many who failed together do not come back together


def _told(fault: openai.APIStatusError) -> float | None:
    """What the server says: Retry-After in seconds or as a date, or in milliseconds."""
    headers = fault.response.headers
    for name, divisor in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / divisor
        except ValueError:
            continue
        if seconds >= 0:
            return seconds
    date = email.utils.parsedate_tz(headers.get("retry-after"))
    return None if date is None else max(email.utils.mktime_tz(date) - time.time(), 0.0)
