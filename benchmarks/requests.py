"""Random requests of clients, the same for the same seed."""

import random
from collections.abc import Callable, Sequence
from typing import Final, TypeVar
from urllib.parse import urlencode

from benchmarks.catalogue import Catalogue, owner_name, owners_of, words_of
from benchmarks.filing import LANGUAGES, folder_path, folders_of, skewed, tag_name, tags_of
from mapshelf.query import ORDERS, SIZES
from mapshelf.store.seed import CATEGORIES, SOFTWARE

T = TypeVar("T")

FILTERS: Final = ("category", "software", "owner", "only_templates")

COMBINATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (),
    ("category",),
    ("software",),
    ("owner",),
    ("only_templates",),
    ("category", "software"),
    ("category", "owner"),
    ("category", "software", "only_templates"),
    FILTERS,
)

FILED: Final[tuple[tuple[str, ...], ...]] = (
    ("folder",),
    ("tag",),
    ("language",),
    ("size",),
    ("with_notes",),
    ("folder", "tag"),
    ("tag", "language"),
    ("folder", "category", "language"),
    ("tag", "software", "with_tasks"),
)
"""Combinations of filters by folder, tag, language and content, some with older filters."""

DIFFERENT: Final = 20_000
"""Different requests of a load: far more than the cache of a worker holds."""

DRAWN: Final = 400_000
"""Most draws to find them; a small catalogue does not have enough different requests."""


class Clients:
    """Clients that request frequent values of the catalogue often."""

    def __init__(self, catalogue: Catalogue, seed: str) -> None:
        self._chance = random.Random(f"{catalogue.seed} {seed}")
        self._catalogue = catalogue

    def filters(self, names: Sequence[str]) -> dict[str, str]:
        """Return a random value for each of these filters."""
        return {name: self._value(name) for name in names}

    def words(self, count: int) -> str:
        """Return words of the catalogue, in the script of most maps."""
        words = words_of("Latin", self._catalogue.seed)
        return " ".join(words[self._skewed(5000)] for _ in range(count))

    def order(self) -> str:
        """Return a random order of maps."""
        return self._chance.choice(ORDERS)

    def listing(self) -> dict[str, str]:
        """Return the parameters of a list, with or without filters, often of a later page."""
        names = self._chance.choice(COMBINATIONS)
        most = 1 if names else self._catalogue.size // 20
        page = self._chance.choice((0, self._chance.randrange(10), self._chance.randrange(most)))
        return {"order_by": self.order(), "offset": str(20 * page), **self.filters(names)}

    def library(self, filters: Sequence[str]) -> dict[str, str]:
        """Return the parameters of a page of the library with these filters."""
        chosen = self.filters(filters)
        pages = 1 if chosen else self._catalogue.size // 24
        page = self._chance.randrange(pages)
        return {"order_by": self.order(), "offset": str(24 * page), **chosen}

    def search(self) -> dict[str, str]:
        """Return the parameters of a search for one to three words."""
        return {"query": self.words(self._chance.choice((1, 1, 2, 3)))}

    def some(self, choices: Sequence[T], count: int) -> list[T]:
        """Return ``count`` random choices in random order, or all if there are fewer."""
        return self._chance.sample(choices, min(count, len(choices)))

    def _value(self, name: str) -> str:
        size = self._catalogue.size
        values: dict[str, Callable[[], str]] = {
            "category": lambda: str(CATEGORIES[self._skewed(len(CATEGORIES))].id),
            "software": lambda: str(SOFTWARE[self._skewed(len(SOFTWARE))].id),
            "owner": lambda: owner_name(self._skewed(owners_of(size)), self._catalogue.seed),
            "folder": self._folder,
            "tag": lambda: tag_name(
                self._skewed(tags_of(size)), words_of("Latin", self._catalogue.seed)
            ),
            "language": lambda: self._chance.choice(
                [one for row in LANGUAGES.values() for one in row]
            ),
            "size": lambda: self._chance.choice(list(SIZES)),
        }
        return values.get(name, lambda: "true")()

    def _folder(self) -> str:
        """Return a folder: one with maps, or one of its parents."""
        size = self._catalogue.size
        path = folder_path(self._skewed(folders_of(size)), size)
        steps = path.split("/")
        return "/".join(steps[: self._chance.randint(1, len(steps))])

    def _skewed(self, choices: int) -> int:
        """Return a number below ``choices``, approximately by Zipf's law."""
        return skewed(self._chance, choices)


def different(draw: Callable[[], str], count: int = DIFFERENT) -> list[str]:
    """Return ``count`` different addresses in the order they were drawn, or as many as exist."""
    found: dict[str, None] = {}
    for _ in range(DRAWN):
        found[draw()] = None
        if len(found) == count:
            break
    return list(found)


def listing_paths(catalogue: Catalogue) -> list[str]:
    """Return many different requests for lists."""
    clients = Clients(catalogue, "listings")
    return different(lambda: _path(clients.listing()))


def search_paths(catalogue: Catalogue) -> list[str]:
    """Return many different requests for searches by relevance."""
    clients = Clients(catalogue, "searches")
    return different(lambda: _path(clients.search()))


def library_paths(catalogue: Catalogue, filters: Sequence[str], count: int) -> list[str]:
    """Return different pages of the library, with these filters."""
    clients = Clients(catalogue, f"library {' '.join(filters)}")
    return different(lambda: f"/?{urlencode(clients.library(filters))}", count)


def mixed_paths(catalogue: Catalogue) -> list[str]:
    """Return a typical mix: the first page of the list, other lists, a profile, searches."""
    clients = Clients(catalogue, "mixture")
    round_of_ten = ["/maps?limit=20"] * 3 + ["/users/me"]
    paths: list[str] = []
    while len(paths) < DIFFERENT:
        paths += round_of_ten
        paths += [_path(clients.listing()) for _ in range(5)]
        paths.append(_path(clients.search()))
    return paths


def _path(parameters: dict[str, str]) -> str:
    return "/maps?" + urlencode({"limit": "20", **parameters})
