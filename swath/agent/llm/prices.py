"""What tokens cost, from a dated list; an unknown model has no cost, not a cost of nothing."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib import resources

from swath.agent.llm.settings import OPENAI_URL, Settings

MILLION = 1_000_000
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@lru_cache(maxsize=1)
def _listed() -> dict[str, tuple[float, float, float]]:
    text = resources.files("swath.agent.llm").joinpath("prices.toml").read_text(encoding="utf-8")
    return {name: tuple(prices) for name, prices in tomllib.loads(text)["models"].items()}


def prices_of(settings: Settings) -> tuple[float, float, float] | None:
    """Dollars for a million tokens (in, cached, out): stated, else listed, None where they are not known."""
    if settings.prices is None and settings.base_url.rstrip("/") == OPENAI_URL:
        return _listed().get(_DATED.sub("", settings.model))
    return settings.prices


def cost_of(settings: Settings, tokens_in: int, tokens_cached: int, tokens_out: int) -> float | None:
    """Dollars for one call, None where the prices are not known.

    Args:
        settings: the model, and its prices where the configuration states them.
        tokens_in: tokens read, those from the cache included.
        tokens_cached: how many of them came from the server's prefix cache.
        tokens_out: tokens written.
    """
    prices = prices_of(settings)
    if prices is None:
        return None
    fresh, cached, written = prices
    return ((tokens_in - tokens_cached) * fresh + tokens_cached * cached + tokens_out * written) / MILLION
