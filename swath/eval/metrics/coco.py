"""The programs behind published caption scores: Stanford's tokenizer and METEOR 1.5, run by Java (pycocoevalcap)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from importlib.util import find_spec

from swath.errors import InputError


def require_java() -> None:
    """Make sure that the programs can be run.

    Raises:
        InputError: the package or Java is missing.
    """
    if find_spec("pycocoevalcap") is None or shutil.which("java") is None:
        raise InputError(
            "caption:official runs Stanford's tokenizer and METEOR 1.5, which need Java and the package pycocoevalcap. "
            "Next: install both (pip install 'swath[captions]'), or use the metric caption."
        )


def stanford_tokens(groups: Sequence[Sequence[str]]) -> list[list[str]]:
    """Texts as Penn Treebank tokens with spaces between; characters beyond ASCII are deleted, as VRSBench does."""
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    texts = {
        i: [{"caption": text.encode("ascii", "ignore").decode()} for text in group] for i, group in enumerate(groups)
    }
    found = PTBTokenizer().tokenize(texts)
    return [found[i] for i in range(len(groups))]


def meteor_1_5(said: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """METEOR 1.5 (`-l en -norm`) of a whole set: of summed counts, not the mean of its captions.

    Args:
        said: one text per image, in tokens.
        references: their references, in tokens.
    """
    from pycocoevalcap.meteor.meteor import Meteor

    meteor = Meteor()
    with meteor.meteor_p:  # the package leaves its pipes open
        score, _ = meteor.compute_score(dict(enumerate(references)), {i: [text] for i, text in enumerate(said)})
    return float(score)
