"""A language model as the judge of open answers: the model that the configuration, the environment or a flag names."""

from __future__ import annotations

from swath.agent.llm.client import Client
from swath.agent.llm.exchange import Ask, Call
from swath.agent.llm.planner import model_settings, open_client
from swath.agent.planner import PlannerOptions

LONGEST_REPLY = 300


class LlmJudge:
    """Replies to the prompts of `swath.eval.metrics.judge`; name it with `set_judge`.

    Attributes:
        calls: a record of every call, with its tokens and cost.
    """

    def __init__(self, options: PlannerOptions | None = None) -> None:
        """Find out which model is meant; nothing is sent yet.

        Args:
            options: model and address as typed; others do not matter.

        Raises:
            InputError: no model is named, or the configuration cannot be used.
        """
        self._settings = model_settings(options or PlannerOptions())
        self._client: Client | None = None
        self.calls: list[Call] = []

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._settings.model

    def ask(self, prompt: str) -> str:
        """The reply to one prompt; a declining model's words are a reply, too, which no verdict is read from.

        Raises:
            ModelError: the model cannot be asked.
        """
        if self._client is None:
            self._client = open_client(self._settings)
        client = Client(self._client.settings)  # each answer is judged on a budget of its own
        try:
            received = client.ask(Ask(({"role": "user", "content": prompt},), None, LONGEST_REPLY, "judge"))
        finally:
            self.calls += client.calls
        return received.text or received.refusal
