"""Prompt templates and their loader; a prompt is text with the hash that a run records."""

from swath.prompts.loader import Prompt, render

__all__ = ["Prompt", "render"]
