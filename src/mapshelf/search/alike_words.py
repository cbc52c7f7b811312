"""Limit how many words of one map begin alike.

A search for a prefix looks at every word of the index that has it, however rare, so a few maps with
tens of thousands of words with the same beginning would make such searches slow for everybody.
"""

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import replace
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Final

from mapshelf.text.normalize import SEPARATOR
from mapshelf.text.word_forms import Forms

MOST_ALIKE: Final = {5: 500, 1: 8192}
"""Maximum number of different words of a map with the same first characters, by the number of these
characters. The maps of people with the most that we know have 57 and 728."""

_VARIANTS: Final = attrgetter("variants")


def with_few_alike(texts: Iterable[list[Forms]]) -> tuple[list[list[Forms]], set[Forms]]:
    """Return the texts of a map without the words over a limit of ``MOST_ALIKE``, and all pieces.

    A separator takes the place of such a word, so all others keep their positions. Its stems are
    kept, so searches for it as a whole find the map.
    """
    all_texts = list(texts)
    pieces = set[Forms]().union(*all_texts)
    variants = sum(map(len, map(_VARIANTS, pieces)))
    surplus: set[str] = set()
    for length, most in MOST_ALIKE.items():
        # Hardly any map has surplus words, so fast tests come first.
        if variants > most:
            words = chain.from_iterable(map(_VARIANTS, pieces))
            counts = Counter(map(itemgetter(slice(length)), words))
            often = {beginning for beginning, count in counts.items() if count > most}
            if often:
                surplus |= _surplus(all_texts, often, length)
    if not surplus:
        return all_texts, pieces
    shortened = {piece: _without(piece, surplus) for piece in pieces}
    return [[shortened[piece] for piece in text] for text in all_texts], {*shortened.values()}


def _surplus(texts: Iterable[list[Forms]], often: Set[str], length: int) -> set[str]:
    """Return the surplus words with these beginnings, which have ``length`` characters."""
    kept: dict[str, set[str]] = {beginning: set() for beginning in often}
    surplus = set()
    for piece in dict.fromkeys(chain.from_iterable(texts)):
        # The variants alone have no order, so each build would keep other ones.
        for word in (*piece.words, *sorted(piece.variants)):
            some = kept.get(word[:length])
            if some is None or word in some:
                continue
            if len(some) < MOST_ALIKE[length]:
                some.add(word)
            else:
                surplus.add(word)
    return surplus


def _without(piece: Forms, surplus: Set[str]) -> Forms:
    if surplus.isdisjoint(piece.variants) and surplus.isdisjoint(piece.words):
        return piece
    return replace(
        piece,
        words=tuple([SEPARATOR if word in surplus else word for word in piece.words]),
        variants=tuple([word for word in piece.variants if word not in surplus]),
        forms=" ".join([form for form in piece.forms.split(" ") if form not in surplus]),
    )
