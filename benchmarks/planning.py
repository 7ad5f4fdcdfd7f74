"""How long the offline planner takes for a question: `python benchmarks/planning.py [STRINGS]`.

Typical questions are those of `docs/questions.py`; the worst is looked for among so many strings of random words.
Times are those of this process's own work (`time.process_time`), after the grammar is loaded.
"""

from __future__ import annotations

import importlib.util
import random
import statistics
import sys
import time
from contextlib import suppress
from pathlib import Path

from swath.agent.offline import OfflinePlanner, lexicon
from swath.agent.planner import Scene
from swath.errors import Refused

PAGE = Path(__file__).parents[1] / "docs" / "questions.py"
STRINGS = 10_000


def seconds(question: str, scene: Scene) -> float:
    """What planning a question, or refusing it, takes."""
    planner, start = OfflinePlanner(), time.process_time()
    with suppress(Refused):
        planner.plan(question, scene, None)
    return time.process_time() - start


def main(strings: int = STRINGS) -> None:
    """Print the times."""
    spec = importlib.util.spec_from_file_location("questions_page", PAGE)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{PAGE} cannot be loaded.")
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    questions = [question for section in page.SECTIONS.values() for question in section]
    first = seconds("How many buildings are there?", page.SCENE)
    typical = sorted(1000 * seconds(question, page.SCENE) for question in questions)
    draw = random.Random(3)
    words = [" ".join(phrase) for phrase in lexicon.lexicon("en").entries] + [
        "water",
        "buildings",
        "100 m2",
        "20 m",
    ] * 99
    worst = max((1000 * seconds(" ".join(draw.choices(words, k=draw.randint(1, 40))), page.SCENE), at)
                for at in range(strings))  # fmt: skip
    print(f"first question, with the grammar loaded for it: {1000 * first:.0f} ms")
    print(f"{len(typical)} questions: median {statistics.median(typical):.1f} ms, largest {typical[-1]:.1f} ms")
    print(f"{strings} strings of random words: worst {worst[0]:.0f} ms")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
