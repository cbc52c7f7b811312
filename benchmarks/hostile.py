"""Searches for arbitrary text: every ``query`` must get a quick response.

Texts are random Unicode, operators of many search languages, and words of the catalogue in various
combinations, up to the maximum of 500 characters.
"""

import random
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from typing import Any, Final
from urllib.parse import quote

from benchmarks.catalogue import Catalogue, words_of
from benchmarks.measure import times_of
from benchmarks.serving import Target, service
from benchmarks.words import SCRIPTS
from mapshelf.query import MAXIMUM_QUERY_LENGTH

OPERATORS: Final = (
    " AND ", " OR ", " NOT ", " NEAR/3 ", "&&", "||", "!", "+", "-", "(", ")", "{", "}", "[", "]",
    "^2", '"', "'", "~", "~2", "*", "?", ":", "\\", "/", "title:", "<->", "|", "@", "%", "_", ";--",
    "..", ">=", "<", "$", "#", "\t", " ", "\u200b", "\u202e", "\ufeff", "\x01", "\x1f", "\x7f",
)  # fmt: skip


def measured(catalogue: Catalogue, count: int) -> Iterator[tuple[str, Any]]:
    """Yield response times and failures of each kind of text; one client sends all requests."""
    with service(catalogue) as (target, _):
        for name, kind in KINDS.items():
            texts = _Texts(catalogue, name)
            queries = [kind(texts)[:MAXIMUM_QUERY_LENGTH] for _ in range(count // len(KINDS))]
            yield name, _sent(target, queries)


class _Texts:
    """Random texts of one kind, the same in every run."""

    def __init__(self, catalogue: Catalogue, name: str) -> None:
        self.chance = random.Random(f"{catalogue.seed} {name}")
        self._words = [word for row in SCRIPTS for word in words_of(row.name, catalogue.seed)]

    def any_unicode(self) -> str:
        return "".join(self._character() for _ in range(self._length()))

    def operators(self) -> str:
        return "".join(
            self.chance.choice(OPERATORS) if self.chance.random() < 0.6 else self._word()
            for _ in range(self._length() // 3)
        )

    def words(self) -> str:
        return self.chance.choice((" ", "-", " -", ".")).join(
            self._word() for _ in range(self._length() // 4)
        )

    def short_words(self) -> str:
        return " ".join(self._word()[:2] for _ in range(MAXIMUM_QUERY_LENGTH // 2))

    def phrases(self) -> str:
        return " ".join(f'"{self._word()} {self._word()}"' for _ in range(self._length() // 12))

    def misspelt(self) -> str:
        return " ".join(self._word() + self._word()[::-1] for _ in range(self.chance.randint(1, 9)))

    def letters(self) -> str:
        return "".join(self.chance.choices("abcdefghijklmnopqrstuvwxyz", k=self._length()))

    def ideographs(self) -> str:
        return "".join(chr(self.chance.randrange(0x4E00, 0x5800)) for _ in range(self._length()))

    def _length(self) -> int:
        return self.chance.choice((1, 2, 5, 20, 100, MAXIMUM_QUERY_LENGTH))

    def _word(self) -> str:
        return self._words[int(len(self._words) * self.chance.random() ** 3)]

    def _character(self) -> str:
        code = self.chance.randrange(1, 0x110000)
        return chr(code) if not 0xD800 <= code < 0xE000 else " "


KINDS: Final[dict[str, Callable[[_Texts], str]]] = {
    "any Unicode": _Texts.any_unicode,
    "operators of search languages": _Texts.operators,
    "many words": _Texts.words,
    "250 short words": _Texts.short_words,
    "many phrases": _Texts.phrases,
    "misspelt words": _Texts.misspelt,
    "letters": _Texts.letters,
    "ideographs": _Texts.ideographs,
}


def _sent(target: Target, texts: list[str]) -> dict[str, Any]:
    connection = HTTPConnection("127.0.0.1", target.port, timeout=60)
    headers = {"Authorization": f"Bearer {target.token}"}
    taken, failed = [], 0
    for text in texts:
        began = time.perf_counter()
        connection.request("GET", f"/maps?query={quote(text)}", headers=headers)
        response = connection.getresponse()
        response.read()
        taken.append(time.perf_counter() - began)
        failed += response.status != 200
    slowest = texts[taken.index(max(taken))][:80]
    connection.close()
    return {**times_of(taken).as_json(), "not_200": failed, "slowest": slowest}
