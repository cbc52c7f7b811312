"""``python -m benchmarks.same_answers``: check that two versions send the same responses.

    python -m benchmarks.same_answers record answers.ndjson
    cd here && …/there/.venv/bin/python -m benchmarks.same_answers compare answers.ndjson

Both generate the same catalogue, send the same requests in the same order, and publish the same
changes in between. The requests are for lists, searches, pages, files, pictures and errors. Some
are repeated at once, some after a change, and some with the ETag of an earlier response. We compare
the status, the body, and the headers except for the request id.
"""

import argparse
import gzip
import hashlib
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import orjson

from benchmarks import catalogue as catalogues
from benchmarks.catalogue import Catalogue
from benchmarks.changing import Edits
from benchmarks.in_process import InProcess, Sent
from benchmarks.requests import Clients
from mapshelf.model import MapDraft
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.format.records import record_ids
from mapshelf.snapshot.read import Snapshot
from mapshelf.store import Store, open_store

SIZE: Final = 2000
"""Maps of the catalogue."""

REQUESTS: Final = 5000
PUBLICATIONS: Final = 20
CHANGES: Final = 5
"""Maps changed before each publication."""

KNOWN: Final = 150
"""Maps that are requested individually. Some are changed or deleted during the run."""

PICTURES: Final = 25

SEED: Final = 18

LEFT_OUT: Final = frozenset(("x-request-id",))

PAGE_HEADERS: Final = {"accept-encoding": "gzip", "authorization": ""}

Request = tuple[str, str, dict[str, str]]
"""A method, a path with its query, and headers."""


class Requests:
    """Random requests, the same in every run."""

    def __init__(self, catalogue: Catalogue, ids: list[str], titles: dict[str, str]) -> None:
        self._clients = Clients(catalogue, "same answers")
        self._chance = random.Random(SEED)
        self._ids = ids
        self._titles = titles
        self._earlier: list[Request] = []
        self._etags: dict[str, str] = {}

    def next(self) -> Request:
        """Return the next request, often a repeated one."""
        if self._earlier and self._chance.random() < 0.3:
            method, target, headers = self._chance.choice(self._earlier[-400:])
            etag = self._etags.get(target)
            if etag and self._chance.random() < 0.3:
                return method, target, {**headers, "if-none-match": etag}
            return method, target, headers
        request = self._drawn()
        self._earlier.append(request)
        return request

    def note(self, target: str, sent: Sent) -> None:
        """Store the ETag, as a client would, for later conditional requests."""
        etag = dict(sent.headers).get("etag")
        if etag:
            self._etags[target] = etag

    def _drawn(self) -> Request:
        target = self._chance.choice(self._kinds())()
        kind = self._chance.random()
        method = "HEAD" if kind < 0.05 else "POST" if kind > 0.995 else "GET"
        page = not target.startswith(("/maps", "/search", "/suggest", "/facets", "/users"))
        headers = dict(PAGE_HEADERS) if page and self._chance.random() < 0.8 else {}
        if self._chance.random() < 0.01:
            headers["authorization"] = self._chance.choice(["", "Bearer wrong", "nothing"])
        return method, target, headers

    def _kinds(self) -> list[Any]:
        return [
            *[self._listing] * 6,
            *[self._search] * 4,
            *[self._library] * 6,
            *[self._map_page] * 6,
            *[self._of_map] * 5,
            *[self._picture] * 4,
            self._suggestion,
            self._facets,
            self._results,
            self._feed,
            self._small,
            self._mistake,
        ]

    def _id(self) -> str:
        return self._chance.choice(self._ids)

    def _listing(self) -> str:
        given = self._clients.listing()
        if self._chance.random() < 0.2:
            given["limit"] = str(self._chance.randrange(51))
        if self._chance.random() < 0.2:
            given |= self._chance.choice(
                [{"year": "2014"}, {"size": "small"}, {"language": "en"}, {"with_notes": "true"}]
            )
        return f"/maps?{urlencode(given)}"

    def _words(self) -> str:
        words = self._clients.words(self._chance.choice((1, 1, 2, 3)))
        kind = self._chance.randrange(10)
        if kind == 0:
            return f'"{words}"'
        if kind == 1:
            return f"title:{words}"
        if kind == 2:
            return f"{words} -{self._clients.words(1)}"
        if kind == 3:
            return words[: self._chance.randrange(1, len(words) + 1)]
        return words.replace("a", "e", 1) if kind == 4 else words

    def _search(self) -> str:
        given = {"query": self._words()}
        if self._chance.random() < 0.3:
            given["order_by"] = self._clients.order()
        if self._chance.random() < 0.3:
            given |= self._clients.filters(("category",))
        if self._chance.random() < 0.2:
            given["offset"] = str(self._chance.randrange(0, 200, 20))
        return f"{self._chance.choice(('/maps', '/maps', '/search'))}?{urlencode(given)}"

    def _suggestion(self) -> str:
        words = self._clients.words(2)
        return f"/suggest?{urlencode({'query': words[: self._chance.randrange(1, 12)]})}"

    def _facets(self) -> str:
        names = self._chance.choice([(), ("category",), ("software",), ("owner",)])
        given = self._clients.filters(names)
        if self._chance.random() < 0.3:
            given["query"] = self._words()
        return f"/facets?{urlencode(given)}"

    def _library(self) -> str:
        given = self._clients.listing()
        if self._chance.random() < 0.3:
            return "/"
        if self._chance.random() < 0.3:
            given = {"query": self._words()}
        if self._chance.random() < 0.2:
            given["view"] = "table"
        if self._chance.random() < 0.1:
            given["versions"] = "all"
        place = self._chance.randrange(5)
        if place == 0 and "owner" in given:
            return f"/owners/{quote(given.pop('owner'))}?{urlencode(given)}"
        if place == 1 and "category" in given:
            return f"/categories/{given.pop('category')}?{urlencode(given)}"
        return f"/?{urlencode(given)}"

    def _results(self) -> str:
        return f"/site/search?{urlencode({'query': self._words()})}"

    def _feed(self) -> str:
        return f"/feed.atom?{urlencode(self._clients.listing())}"

    def _map_page(self) -> str:
        public_id = self._id()
        page = f"/mindmaps/{public_id}/{self._titles[public_id]}"
        kind = self._chance.randrange(12)
        if kind == 0:
            return f"/mindmaps/{public_id}"
        if kind == 1:
            return f"{page}?embed=1"
        if kind == 2:
            return f"/site/maps/{public_id}.json"
        if kind == 3:
            return f"{page}.{self._chance.choice(('md', 'opml', 'mm', 'txt'))}"
        return page

    def _of_map(self) -> str:
        ends = ("", "", "", "/outline.md", "/outline.json", "/outline.opml", "/file", "/links")
        return f"/maps/{self._id()}{self._chance.choice(ends)}"

    def _picture(self) -> str:
        public_id = self._chance.choice(self._ids[:PICTURES])
        parameters = self._chance.choice(("", "?w=320", "?w=640", "?w=320&theme=dark", "?w=7"))
        kind = self._chance.choice(("png", "png", "svg"))
        return f"/thumbnails/{public_id}.{kind}{parameters}"

    def _small(self) -> str:
        return self._chance.choice(
            ("/users/me", "/categories", "/software", "/folders", "/tags", "/browse/tags")
        )

    def _mistake(self) -> str:
        return self._chance.choice(
            (
                "/maps?limit=51",
                "/maps?order_by=none",
                "/maps?category=a",
                "/maps?limit=1&limit=2",
                "/nothing",
                "/maps/nothing1",
                "/mindmaps/nothing1",
                "/?view=none",
                "/owners/nobody",
                "/categories/999",
                "/maps?query=%FF",
                "/maps?query=%00",
            )
        )


def answers(folder: Path, requests: int) -> Iterator[dict[str, Any]]:
    """Yield each request with its response; publish changes in between."""
    made = _made(folder)
    store = open_store(made.settings.database)
    builder = Builder(store, SnapshotDirectory(made.settings.snapshots))
    builder.advance()
    drawn = _requests(made)
    edits = Edits(made)
    with InProcess(made.settings) as application:
        for number in range(requests):
            if number and number % (requests // PUBLICATIONS) == 0:
                _publish(store, builder, edits, application, number)
            method, target, headers = drawn.next()
            sent = application.request(target, headers, method)
            drawn.note(target, sent)
            yield {
                "number": number,
                "asked": [method, target, headers],
                "status": sent.status,
                "headers": [row for row in sent.headers if row[0] not in LEFT_OUT],
                "body": hashlib.sha256(_plain(sent)).hexdigest(),
                "packed": hashlib.sha256(sent.body).hexdigest(),
            }
    builder.close()
    store.close()


def _plain(sent: Sent) -> bytes:
    packed = ("content-encoding", "gzip") in sent.headers and sent.body
    return gzip.decompress(sent.body) if packed else sent.body


def _made(folder: Path) -> Catalogue:
    for _ in catalogues.prepare(SIZE, folder):
        pass
    return catalogues.prepared(SIZE, folder)


def _requests(made: Catalogue) -> Requests:
    directory = SnapshotDirectory(made.settings.snapshots)
    snapshot = Snapshot(directory.folder(directory.current()))
    records = snapshot.at(list(range(0, SIZE, SIZE // KNOWN)), b"")
    found = {record_ids(one.body)[1]: orjson.loads(one.body)["URL"] for one in records}
    slugs = {key: url.rpartition("/")[2] for key, url in found.items()}
    return Requests(made, list(found), slugs)


def _publish(
    store: Store, builder: Builder, edits: Edits, application: InProcess, number: int
) -> None:
    edits.make(store, CHANGES)
    draft = MapDraft(id=f"new{number:05d}", title=f"New {number}", date_added=2_000_000_000_000)
    store.put_maps([draft])
    builder.advance()
    while not _shown(application, draft):
        application.wait(0.05)


def _shown(application: InProcess, draft: MapDraft) -> bool:
    first = application.request("/maps?limit=1")
    return f'"ID":"{draft.id}"'.encode() in first.body


def main() -> int:
    """Record responses, or compare them with recorded ones."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_answers")
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument(
        "--other-compression", action="store_true", help="compare responses decompressed only"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mapshelf-same-") as folder:
        found = answers(Path(folder), given.requests)
        if given.what == "record":
            given.file.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in found))
            return 0
        known = [orjson.loads(line) for line in given.file.read_bytes().splitlines()]
        return _compare(known, found, _decompressed if given.other_compression else dict)


def _decompressed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without what depends on how its response was compressed."""
    if ["content-encoding", "gzip"] not in row["headers"]:
        return row
    headers = [header for header in row["headers"] if header[0] != "content-length"]
    return row | {"headers": headers, "packed": ""}


def _compare(
    known: list[dict[str, Any]],
    found: Iterator[dict[str, Any]],
    compared: Callable[[dict[str, Any]], dict[str, Any]],
) -> int:
    different = 0
    for known_row, raw in zip(known, found, strict=True):
        one, other = compared(known_row), compared(orjson.loads(orjson.dumps(raw)))
        names = [name for name in one if one[name] != other[name]]
        if names:
            different += 1
            statuses = ((name, one[name], other[name]) for name in names if name == "status")
            print(other["number"], *other["asked"], ", ".join(names), *statuses, flush=True)
    print(f"{len(known)} requests, {different} responses differ")
    return different != 0


if __name__ == "__main__":
    sys.exit(main())
