"""The searches of the comparison: eight kinds, each plain, in a category, and ordered by views.

Words are chosen by how many maps contain them, as counted by the bare engine. So "rare" and
"common" mean the same at any size of the catalogue. All choices depend on a seed. Each kind has up
to 300 searches. Each request has a slightly different spelling (capital letters, spaces inside
quotes, an unused number), so no system can answer it from a cache.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from benchmarks.catalogue import Catalogue, words_of
from benchmarks.peers.searchtext import fold
from mapshelf.store import open_store
from mapshelf.store.seed import CATEGORIES

MOST: Final = 300
"""Searches of a kind: more than Mapshelf caches sorted results of."""

COMMON: Final = 30
"""How many of the most frequent words are common."""

MIDDLING: Final = 0.03
RARE: Final = 0.0001
CJK: Final = 0.002
PHRASE: Final = 0.002
"""Target shares of all maps that contain words of these kinds."""

FEWEST: Final = 3
"""Least number of maps that contain a rare word."""

CANDIDATES: Final = 2500
"""Words beyond the first thousand whose frequency is counted."""

SAMPLED: Final = 5000
"""Maps to take phrases from."""

VARIANTS: Final = ("", "in a category", "by views")

WEIGHTS: Final = {
    "rare": 20,
    "middling": 20,
    "common": 8,
    "two common": 12,
    "phrase": 5,
    "prefix": 25,
    "typo": 5,
    "CJK": 5,
}
"""Shares of the kinds in the mixed load, in percent.

We have no query logs, so these are estimates. Clients that search while the user types send mostly
prefixes. Users prefer distinctive words to words that half of the maps contain. Few use quotes.
About one word in twenty is misspelled. One map in five is in Chinese or Japanese in these
catalogues, but we assume a smaller share of such queries.
"""

VARIANT_WEIGHTS: Final = {"": 75, "in a category": 15, "by views": 10}
"""Shares of the variants in the mixed load, in percent. Most searches have no filter or order."""


@dataclass(frozen=True, slots=True)
class Question:
    """A search that every peer supports.

    Attributes:
        words: the words to search for, as users write them.
        sense: ``words`` (all of them, whole words), ``phrase``, ``prefix`` or ``typo``.
        category: id of a category to filter by.
        by_views: whether to order by views instead of relevance.
    """

    words: tuple[str, ...]
    sense: str = "words"
    category: int | None = None
    by_views: bool = False

    def spelled(self, number: int) -> tuple[str, ...]:
        """Return the words as the ``number``-th request spells them."""
        styles = (str.lower, str.capitalize, str.upper)
        return tuple(styles[number % len(styles)](word) for word in self.words)

    def text(self, number: int) -> str:
        """Return the query text of the ``number``-th request; quoted words match whole words."""
        words, blanks = self.spelled(number), " " * (number // 3 % 8)
        match self.sense:
            case "prefix" | "typo":
                return " ".join(words)
            case "phrase":
                return f'"{blanks}{" ".join(words)}"'
        return " ".join(f'"{blanks}{word}"' for word in words)


Kinds = dict[str, list[Question]]
Count = Callable[[Question], int]


def chosen(catalogue: Catalogue, count: Count) -> Kinds:
    """Return the searches of each kind in the plain variant.

    Args:
        catalogue: the catalogue to search.
        count: returns the number of matches of a search.
    """
    chance = random.Random(f"{catalogue.seed} peers")
    latin = _Words(_candidates(words_of("Latin", catalogue.seed)), count)
    cjk = [word for name in ("Chinese", "Japanese") for word in _pairs(catalogue, name)]
    common = latin.words[:COMMON]
    pairs = [(a, b) for a in common for b in common if a != b]
    middling = latin.nearest(MIDDLING * catalogue.size)
    rare = latin.nearest(max(FEWEST, RARE * catalogue.size))
    kinds: Kinds = {
        "rare": [Question((word,)) for word in rare],
        "middling": [Question((word,)) for word in middling],
        "common": [Question((word,)) for word in common],
        "two common": [Question(pair) for pair in pairs],
        "phrase": _nearest(_phrases(catalogue), count, PHRASE * catalogue.size),
        "prefix": [Question((start,), "prefix") for start in _starts(latin.words)],
        "typo": _typos(latin, count, chance),
        "CJK": [Question((word,)) for word in _Words(cjk, count).nearest(CJK * catalogue.size)],
    }
    for questions in kinds.values():
        chance.shuffle(questions)
    return {name: questions[:MOST] for name, questions in kinds.items()}


def varied(questions: Sequence[Question], variant: str) -> list[Question]:
    """Return the searches in one of ``VARIANTS``, for the eight largest categories."""
    if variant == "by views":
        return [replace(question, by_views=True) for question in questions]
    if variant == "in a category":
        ids = [row.id for row in CATEGORIES[:8]]
        return [
            replace(question, category=ids[i % len(ids)]) for i, question in enumerate(questions)
        ]
    return list(questions)


def mixture(kinds: Kinds, seed: int, length: int) -> list[Question]:
    """Return a random load of all kinds and variants by their weights."""
    chance = random.Random(f"{seed} mixture of peers")
    weights = {name: weight for name, weight in WEIGHTS.items() if kinds[name]}
    names = chance.choices(list(weights), list(weights.values()), k=length)
    variants = chance.choices(list(VARIANT_WEIGHTS), list(VARIANT_WEIGHTS.values()), k=length)
    pools = {
        (name, variant): varied(questions, variant)
        for name, questions in kinds.items()
        for variant in VARIANTS
    }
    return [chance.choice(pools[pair]) for pair in zip(names, variants, strict=True)]


class _Words:
    """Words with the number of maps that contain each, the most frequent first."""

    def __init__(self, candidates: Iterable[str], count: Count) -> None:
        distinct = {fold(word): word for word in candidates}
        counted = [(count(Question((word,))), word) for word in distinct.values()]
        self._counted = sorted((pair for pair in counted if pair[0]), reverse=True)
        self.words = [word for _, word in self._counted]

    def nearest(self, target: float) -> list[str]:
        """Return the words whose count is nearest to ``target`` by ratio."""
        found = sorted(self._counted, key=lambda pair: max(pair[0] / target, target / pair[0]))
        return [word for _, word in found[:MOST]]


def _candidates(words: list[str]) -> list[str]:
    """Return words of all ranks: the first thousand, and fewer of the less frequent ones."""
    first = words[:1000]
    ratio = (len(words) / len(first)) ** (1 / CANDIDATES)
    later = {int(len(first) * ratio**i): None for i in range(CANDIDATES)}
    return first + [words[i] for i in later]


def _pairs(catalogue: Catalogue, script: str) -> list[str]:
    """Return the two-character words of a script, as most Chinese words are."""
    return [word for word in words_of(script, catalogue.seed)[:5000] if len(word) == 2][:1500]


def _phrases(catalogue: Catalogue) -> list[tuple[str, str]]:
    """Return pairs of Latin words that start a description."""
    latin = set(words_of("Latin", catalogue.seed))
    store = open_store(catalogue.settings.database)
    seen: dict[tuple[str, str], None] = {}
    for after in range(0, catalogue.size, max(1, catalogue.size // SAMPLED)):
        for found in store.maps(after, 1):
            first = found.description.split()[:2]
            if len(first) == 2 and latin.issuperset(first):
                seen[first[0], first[1]] = None
    store.close()
    return list(seen)


def _nearest(pairs: Sequence[tuple[str, str]], count: Count, target: float) -> list[Question]:
    """Return the phrases whose number of matches is nearest to ``target``."""
    counted = [(count(question), question) for question in (Question(p, "phrase") for p in pairs)]
    found = [pair for pair in counted if pair[0]]
    found.sort(key=lambda pair: max(pair[0] / target, target / pair[0]))
    return [question for _, question in found[:MOST]]


def _starts(words: list[str]) -> list[str]:
    """Return the different prefixes of three letters of the more frequent words."""
    folded = (fold(word) for word in words[:2000])
    return list(dict.fromkeys(word[:3] for word in folded if len(word) > 4))[:MOST]


def _typos(latin: _Words, count: Count, chance: random.Random) -> list[Question]:
    """Return words of at least six letters with one wrong letter, which no map contains."""
    found: list[Question] = []
    for word in latin.words:
        folded = fold(word)
        if len(folded) < 6 or len(found) == MOST:
            continue
        place = chance.randrange(1, len(folded))
        wrong = folded[:place] + chance.choice("bdfgklmprsvxz") + folded[place + 1 :]
        question = Question((wrong,), "typo")
        if count(replace(question, sense="prefix")) == 0:
            found.append(question)
    return found
