"""The offline planner: questions into programs by a grammar, without a model."""

from swath.agent.offline.planner import OfflinePlanner

__all__ = ["OfflinePlanner"]
