# ruff: noqa: RUF001 - the scripts are the point
"""Generated words in several scripts, with a realistic distribution of frequencies.

Real text would have to be shipped with the project, together with its licence. What matters for the
figures is the number of different words, their frequencies (Zipf's law), their lengths, and how the
search index splits their scripts. Generated syllables preserve all of that.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

VOCABULARY: Final = 40_000
"""Different words of each script."""

FLATNESS: Final = 8.0
"""Mandelbrot's addition to Zipf's law. Without it, a tenth of all text is the first word."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script, such as Latin or Arabic.

    Attributes:
        name: its name.
        share: its share of all maps.
        syllables: the syllables of its words.
        space: the separator between words.
    """

    name: str
    share: float
    syllables: tuple[str, ...]
    space: str = " "


def _pairs(first: str, second: str) -> tuple[str, ...]:
    return tuple(one + other for one in first.split() for other in second.split())


def _range(first: int, count: int) -> tuple[str, ...]:
    return tuple(chr(first + i) for i in range(count))


SCRIPTS: Final = (
    Script("Latin", 0.62, _pairs("b c d f g h l m n p r s t v st tr", "a e i o u é ü ö ñe ar en")),
    Script("Cyrillic", 0.12, _pairs("б в г д ж з к л м н п р с т ч ш", "а е и о у ы я ё ов ен")),
    Script("Chinese", 0.12, _range(0x4E00, 2500), space=""),
    Script("Japanese", 0.08, _range(0x3042, 80) + _range(0x5B57, 800), space=""),
    Script("Arabic", 0.06, _pairs("ب ت ج ح د ر س ش ع ف ق ك ل م ن ه", "ا و ي َ ِ ان ات")),
)
"""The scripts of maps; their shares add up to 1."""


def vocabulary(script: Script, seed: int) -> list[str]:
    """Return the words of ``script``, the most frequent first; frequent words are short."""
    chance = random.Random(f"{seed} {script.name}")
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        longest = 2 + (len(words) > 300) + (len(words) > 5000)
        count = chance.randint(1 if len(words) < 300 else 2, longest if script.space else 3)
        words["".join(chance.choices(script.syllables, k=count))] = None
    return list(words)


def ranks(rng: np.random.Generator, choices: int, count: int) -> Integers:
    """Draw ``count`` numbers below ``choices``; low ones are more likely (Zipf-Mandelbrot)."""
    weights = np.cumsum(1.0 / (np.arange(choices) + FLATNESS))
    drawn: Any = np.searchsorted(weights, rng.random(count) * weights[-1])
    return np.asarray(drawn, dtype=np.int64)


def texts(
    script: Script, words: list[str], rng: np.random.Generator, count: int
) -> Callable[[int], str]:
    """Return a function that returns the next ``length`` words as text, ``count`` in total."""
    supply: Iterator[str] = map(words.__getitem__, ranks(rng, len(words), count).tolist())

    def text(length: int) -> str:
        return script.space.join(next(supply) for _ in range(length))

    return text
