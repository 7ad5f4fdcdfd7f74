"""From the parse tree to the meaning: sizes, heights, elevations and slopes in ranges."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal

from lark import Token, Transformer

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.children import bounds, things, values
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.seen.children import sign_of
from swath.agent.offline.unsettled import Unsettled


class SeenLimits(Transformer[Token, Any]):
    """Ranges of size, height, elevation and slope."""

    def __default__(self, data: Any, children: list[Any], meta: Any) -> Any:
        """Every rule that leaves a node has a method; a rule without one would lose what it holds."""
        raise NotImplementedError(f"no method reads the rule {data}")

    def op(self, children: list[Any]) -> q.Operator:
        return sign_of(children)

    def size(self, children: list[Any]) -> m.Size:
        return m.Size(*bounds(sign_of(children), values(children, "QAREA", "QPX")[0]))

    def size_between(self, children: list[Any]) -> m.Size:
        low, high = values(children, "QAREA")
        return m.Size(m.Bound(low, True), m.Bound(high, True))

    def size_at_least(self, children: list[Any]) -> m.Size:
        return m.Size(m.Bound(values(children, "QAREA")[0], True))

    def size_at_most(self, children: list[Any]) -> m.Size:
        return m.Size(high=m.Bound(values(children, "QAREA")[0], True))

    def tall(self, children: list[Any]) -> s.Between:
        return s.Between("height", *bounds(sign_of(children), values(children, "QLEN")[0]))

    def tall_at_least(self, children: list[Any]) -> s.Between:
        return s.Between("height", m.Bound(values(children, "QLEN")[0], True))

    def tall_at_most(self, children: list[Any]) -> s.Between:
        return s.Between("height", high=m.Bound(values(children, "QLEN")[0], True))

    def tall_between(self, children: list[Any]) -> s.Between:
        return self._between("height", values(children, "QLEN"))

    def _between(self, field: Literal["height", "elevation", "slope"], amounts: Sequence[m.Amount]) -> s.Between:
        low, high = sorted(amounts, key=lambda amount: amount.value)
        return s.Between(field, m.Bound(low, True), m.Bound(high, True))

    def tall_than(self, children: list[Any]) -> s.Between:
        limit = s.Field("height", things(children)[0])
        return s.Between("height", *bounds(sign_of(children), limit))

    def raised(self, children: list[Any]) -> s.Between:
        return s.Between("elevation", *bounds(sign_of(children), values(children, "QLEN")[0]))

    def raised_between(self, children: list[Any]) -> s.Between:
        return self._between("elevation", values(children, "QLEN"))

    def steep(self, children: list[Any]) -> s.Between:
        limit = values(children, "QDEG", "QPCT")[0]
        percent = limit.value if limit.unit == "percent" else None
        return s.Between("slope", *bounds(sign_of(children), degrees(limit)), percent)

    def steep_at_least(self, children: list[Any]) -> s.Between:
        return s.Between("slope", m.Bound(values(children, "QDEG")[0], True))

    def steep_between(self, children: list[Any]) -> s.Between:
        return self._between("slope", values(children, "QDEG"))

    def flooded(self, children: list[Any]) -> s.Flooded:
        return s.Flooded(values(children, "QLEN")[0])

    def no_unit(self, children: list[Any]) -> Any:
        number = values(children, "NUM")[0].said
        raise Unsettled(f"Say the unit of {number}, such as {number} m.")

    def storeys(self, children: list[Any]) -> Any:
        raise Unsettled(
            "It counts storeys, which a raster of heights does not show. Next: ask with a height in metres."
        )


def degrees(amount: m.Amount) -> m.Amount:
    """A slope in degrees; of one in percent the angle."""
    if amount.unit != "percent":
        return amount
    angle = Decimal(math.degrees(math.atan(float(amount.value) / 100))).quantize(Decimal("1e-9"))
    return m.Amount(angle, "deg", f"{amount.said} (that of {amount.value.normalize():f} %)")
