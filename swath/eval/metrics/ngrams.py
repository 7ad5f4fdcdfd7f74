"""Caption measures that count word sequences: BLEU, ROUGE_L and CIDEr-D.

A caption is a list of words; what was said comes with the list of its references.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

LONGEST = 4
BETA = 1.2
SIGMA = 6.0

Words = Sequence[str]
Pairs = Sequence[tuple[Words, Sequence[Words]]]
"""What was said, and the references it is held against."""
Gram = tuple[str, ...]


def bleu(pairs: Pairs) -> list[float]:
    """BLEU-1 to BLEU-4 of a whole set (Papineni et al. 2002), brevity against the closest reference, not smoothed.

    Returns:
        Four values from 0 to 1; 0 where no sequence of that length is shared.
    """
    matched, total = [0] * LONGEST, [0] * LONGEST
    said_length = closest_length = 0
    for said, references in pairs:
        said_length += len(said)
        closest_length += min((abs(len(r) - len(said)), len(r)) for r in references)[1]
        for n in range(1, LONGEST + 1):
            counts = Counter(_grams(said, n))
            most: Counter[Gram] = Counter()
            for reference in references:
                most |= Counter(_grams(reference, n))
            matched[n - 1] += sum((counts & most).values())
            total[n - 1] += sum(counts.values())
    brevity = 1.0 if said_length >= closest_length else math.exp(1 - closest_length / max(said_length, 1e-9))
    precisions = [hits / tries if tries else 0.0 for hits, tries in zip(matched, total, strict=True)]
    return [brevity * math.prod(precisions[:n]) ** (1 / n) for n in range(1, LONGEST + 1)]


def rouge_l(said: Words, references: Sequence[Words]) -> float:
    """ROUGE_L (Lin 2004), beta 1.2, of the best recall and the best precision over the references, as COCO has it."""
    shared = [_common_length(said, reference) for reference in references]
    precision = max(shared) / len(said) if said else 0.0
    recall = max(length / len(r) if r else 0.0 for length, r in zip(shared, references, strict=True))
    if not precision or not recall:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def cider_d(pairs: Pairs) -> list[float]:
    """CIDEr-D of each caption (Vedantam et al. 2015), times 10, with the document frequencies of this set's references.

    So a value depends on the set; of a single image all are 0.
    """
    frequency: Counter[Gram] = Counter()
    for _, references in pairs:
        frequency.update({gram for r in references for n in range(1, LONGEST + 1) for gram in _grams(r, n)})
    rarity = {gram: math.log(len(pairs)) - math.log(count) for gram, count in frequency.items()}
    unseen = math.log(len(pairs)) if pairs else 0.0
    return [_consensus(said, references, rarity, unseen) for said, references in pairs]


def _consensus(said: Words, references: Sequence[Words], rarity: Mapping[Gram, float], unseen: float) -> float:
    total = 0.0
    for reference in references:
        penalty = math.exp(-((_pairs_in(said) - _pairs_in(reference)) ** 2) / (2 * SIGMA**2))
        total += penalty * sum(_similarity(said, reference, n, rarity, unseen) for n in range(1, LONGEST + 1))
    return 10 * total / LONGEST / len(references)


def _similarity(said: Words, reference: Words, n: int, rarity: Mapping[Gram, float], unseen: float) -> float:
    """Cosine of the weighted counts, those of what was said clipped at the reference's."""
    a, b = (
        {gram: count * rarity.get(gram, unseen) for gram, count in Counter(_grams(words, n)).items()}
        for words in (said, reference)
    )
    norm = math.sqrt(sum(w * w for w in a.values())) * math.sqrt(sum(w * w for w in b.values()))
    shared = sum(min(weight, b[gram]) * b[gram] for gram, weight in a.items() if gram in b)
    return shared / norm if norm else 0.0


def _pairs_in(words: Words) -> int:
    """The length that the official code compares: it counts pairs of words, one fewer than words."""
    return max(len(words) - 1, 0)


def _grams(words: Words, n: int) -> Iterator[Gram]:
    return (tuple(words[at : at + n]) for at in range(len(words) - n + 1))


def _common_length(a: Words, b: Words) -> int:
    """Length of the longest common subsequence."""
    lengths = [0] * (len(b) + 1)
    for word in a:
        diagonal = 0
        for at, other in enumerate(b, start=1):
            diagonal, lengths[at] = lengths[at], diagonal + 1 if word == other else max(lengths[at], lengths[at - 1])
    return lengths[-1]
