"""From the parse tree to what is asked: words, boxes, masks, lists."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline.children import has, piece, things, values
from swath.agent.offline.meaning import EVERYTHING
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.seen import question as sq
from swath.agent.offline.seen.children import steps_in
from swath.agent.offline.seen.claims import SeenClaims
from swath.agent.offline.seen.numbers import Stat, conditions_in, many, of, two_of
from swath.agent.offline.unsettled import Unsettled


class SeenReader(SeenClaims):
    """Words, boxes, masks and lists."""

    def colour_of(self, children: list[Any]) -> sq.Named:
        return sq.Named("colour", of(children))

    def _thing_named(self, what: str, children: Sequence[Any]) -> sq.Named:
        if of(children) is None:
            raise Unsettled("It does not say of what: name a class.")
        return sq.Named(what, of(children))

    def shape_of(self, children: list[Any]) -> sq.Named:
        return self._thing_named("shape", children)

    def course_of(self, children: list[Any]) -> sq.Named:
        return self._thing_named("course", children)

    def layouts(self, children: list[Any]) -> None:
        """The words that there are to choose from; the measurement has its own."""

    def layout_of(self, children: list[Any]) -> sq.Named:
        return self._thing_named("distribution", children)

    def directions(self, children: list[Any]) -> None:
        """The words that there are to choose from."""

    def direction_of(self, children: list[Any]) -> sq.Named:
        return self._thing_named("direction", children)

    def size_of(self, children: list[Any]) -> sq.Named:
        return self._thing_named("size", children)

    def cell_of(self, children: list[Any]) -> sq.Named:
        return self._thing_named("cell", children)

    def settlement(self, children: list[Any]) -> sq.Named:
        return sq.Named("settlement")

    def main_scene(self, children: list[Any]) -> sq.Named:
        return sq.Named("scene")

    def facing(self, children: list[Any]) -> sq.Named:
        return sq.Named("facing", of(children))

    def boxes(self, children: list[Any]) -> sq.Boxes:
        return sq.Boxes(things(children)[0].having(*conditions_in(children)))

    def boxes_ranked(self, children: list[Any]) -> sq.Boxes:
        return sq.Boxes(things(children)[0].having(*steps_in(children)))

    def oriented_boxes(self, children: list[Any]) -> sq.Boxes:
        return sq.Boxes(things(children)[0], oriented=True)

    def more_np(self, children: list[Any]) -> m.Thing:
        return things(children)[0]

    def masks(self, children: list[Any]) -> sq.Masks:
        return sq.Masks(tuple(one for thing in things(children) for one in _apart(thing)))

    def mask_flooded(self, children: list[Any]) -> sq.Masks:
        return sq.Masks((EVERYTHING.having(s.Flooded(values(children, "QLEN")[0])),))

    def mask_where(self, children: list[Any]) -> sq.Masks:
        return sq.Masks((EVERYTHING.having(*conditions_in(children)),))

    def heights_ranked(self, children: list[Any]) -> sq.Heights:
        return sq.Heights(things(children)[0], ordered=True)

    def heights_listed(self, children: list[Any]) -> sq.Heights:
        return sq.Heights(things(children)[0])

    def higher(self, children: list[Any]) -> sq.Higher:
        return sq.Higher(tuple(two_of(children)), most=has(children, "HIGHERWORD", "TALLEST"))

    def one_of_two(self, children: list[Any]) -> sq.OneOfTwo:
        token = next(child for child in children if has([child], *_MORE))
        by, most = _MORE[token.type]
        if token.type in ("BIGGISH", "SMALLISH") and not piece(token).text.lower().endswith("r"):
            raise Unsettled("It does not compare. Next: ask which is the larger or the largest.")
        facets = {"HEIGHT": "height", "LENGTH": "length"}
        by = next((facets[child.type] for child in children if has([child], *facets)), by)
        return sq.OneOfTwo(many(things(children)[0]), by, most)

    def stat_(self, children: list[Any]) -> Stat | None:
        return children[0] if children else None

    def which_part(self, children: list[Any]) -> sq.PartWith:
        steep = has(children, "SLOPE", "STEEPERWORD", "STEEPEST")
        thing = of(children)
        what = "slope" if steep else "height" if thing is not None and not has(children, "ELEVATION") else "elevation"
        parts = [str(value) for value in values(children, "PART")]
        if not parts and has(children, "WHICHHALF"):
            raise Unsettled("It does not say which halves: the northern or southern one, the left or right one.")
        least = has(children, "LOWERWORD", "SMALLISH", "LOWEST", "SMALLEST")
        field = self._field(what, [child for child in children if not isinstance(child, m.Thing)])
        named = None if thing is None else many(thing)
        return sq.PartWith(tuple(parts or _QUADRANTS), replace(field, of=named), not least)

    def profile(self, children: list[Any]) -> sq.Profile:
        return sq.Profile(*values(children, "PLACE"))

    def caption(self, children: list[Any]) -> sq.Caption:
        return sq.Caption(next((int(number) for number in values(children, "BRIEFLY")), None))


_MORE = {
    "HIGHERWORD": ("height", True), "LOWERWORD": ("height", False), "BIGGISH": ("area", True),
    "SMALLISH": ("area", False), "LONGERWORD": ("length", True),
}  # fmt: skip
_QUADRANTS = ("top-left", "top-right", "bottom-left", "bottom-right")


def _apart(thing: m.Thing) -> list[m.Thing]:
    """Of "water and roads" each one, of "water, roads in the north" it is not clear."""
    if len(thing.classes) < 2:
        return [thing]
    if steps_in(thing.steps):
        raise Unsettled("It is not clear whether the condition is for each of them. Next: ask for one after the other.")
    return [m.Thing((word,)) for word in thing.classes]
