"""All errors have the same shape, at every path and for every cause."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import httpx
import pytest

from mapshelf.api.errors import FAULT, TABLE
from mapshelf.model import MapDraft
from tests.api import openapi
from tests.databases import KIND, break_tokens
from tests.harness import Service, Shelf, copied_shelf, serve, shelf_with

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "DELETE")
PATHS = (
    "/maps",
    "/search",
    "/suggest",
    "/facets",
    "/categories",
    "/software",
    "/maps/unknown0",
    "/maps/unknown0/outline.md",
    "/maps/unknown0/file",
    "/maps/unknown0/drawing.svg",
    "/thumbnails/unknown0.png",
    "/users/me",
    "/openapi.json",
    "/nothing",
)


def leave(shelf: Shelf, service: Service) -> None:
    """Change nothing."""


def stop(shelf: Shelf, service: Service) -> None:
    """Close the store under the service."""
    service.stop()


def break_store(shelf: Shelf, service: Service) -> None:
    """Drop a table, as an unexpected fault."""
    break_tokens(shelf.settings.data)


def narrow(shelf: Shelf, service: Service) -> None:
    """Use a token without any scope."""
    service.token = shelf.token(scopes="")


@dataclass(frozen=True)
class Condition:
    """A fault, and the status of the response to GET /maps."""

    status: int
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    signed: bool = True
    prepare: Callable[[Shelf, Service], None] = leave
    published: bool = True


CONDITIONS = {
    "nothing": Condition(200),
    "limit": Condition(400, "limit=51"),
    "offset": Condition(400, "offset=x"),
    "order": Condition(400, "order_by=x"),
    "category": Condition(400, "category=x"),
    "software": Condition(400, "software=x"),
    "templates": Condition(400, "only_templates=x"),
    "long query": Condition(400, "query=" + "x" * 501),
    "twice": Condition(400, "owner=a&owner=b"),
    "no text": Condition(400, "owner=%FF"),
    "nul": Condition(400, "owner=%00"),
    "no token": Condition(401, signed=False),
    "wrong token": Condition(401, headers={"Authorization": "Bearer msh_wrong"}),
    "no token and a bad limit": Condition(401, "limit=51", signed=False),
    "no scope": Condition(403, prepare=narrow),
    "large body": Condition(413, headers={"Content-Length": "65537"}),
    "long address": Condition(414, "x=" + "y" * 9000),
    "store broken": Condition(500, prepare=break_store),
    "store closed": Condition(503, prepare=stop),
    "no snapshot": Condition(503, published=False),
}


@contextmanager
def under(condition: Condition, folder: Path) -> Iterator[Service]:
    """Yield a service with this fault."""
    shelf = Shelf(folder)
    try:
        if condition.published:
            shelf.publish()
        with serve(shelf) as service:
            condition.prepare(shelf, service)
            yield service
    finally:
        shelf.close()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A shared service with an empty catalogue: do not change it."""
    with copied_shelf(tmp_path_factory.mktemp("sound")) as shelf, serve(shelf) as running:
        yield running


def check_shape(response: httpx.Response) -> None:
    """Compare an error with its description, byte by byte except for its message."""
    openapi.check(response)
    assert response.headers["Cache-Control"] == "no-store"
    if response.request.method != "HEAD":
        body = response.json()
        assert tuple(body) == ("code", "error", "error_description")
        row = next(one for one in (*TABLE.values(), FAULT) if one.identifier == body["error"])
        assert (response.status_code, body["code"]) == (row.status, row.code)
        assert body["error_description"].isprintable()
        assert body["error_description"].endswith(".")


@pytest.mark.slow
@pytest.mark.parametrize("name", CONDITIONS)
def test_errors_have_one_shape(name: str, tmp_path: Path, sound: Service) -> None:
    condition = CONDITIONS[name]
    only_asked = condition.prepare is leave and condition.published
    with nullcontext(sound) if only_asked else under(condition, tmp_path) as service:
        for method in METHODS:
            for path in PATHS:
                response = service.request(
                    method,
                    f"{path}?{condition.query}",
                    headers=condition.headers,
                    signed=condition.signed,
                )
                if response.is_error:
                    check_shape(response)
                else:
                    openapi.check(response)
        asked = f"/maps?{condition.query}"
        answer = service.request("GET", asked, headers=condition.headers, signed=condition.signed)
        assert answer.status_code == condition.status


def test_every_row_of_the_table_is_tested() -> None:
    met = {condition.status for condition in CONDITIONS.values()} | {404, 405}
    met |= {408, 411, 415}  # tested in test_bodies.py
    met |= {409, 422, 429}  # tested in test_publishing.py and test_uploads.py
    assert met == {row.status for row in (*TABLE.values(), FAULT)} | {200}


INTERNAL = (
    "sqlite",
    "postgres",
    "sql",
    "tantivy",
    "traceback",
    "mapshelf.",
    ".py",
    "/tmp",
    "catalogue.db",
)


@pytest.mark.parametrize("name", ["store broken", "store closed", "no snapshot"])
def test_server_errors_reveal_nothing_internal(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with under(CONDITIONS[name], tmp_path) as service:
        response = service.get("/maps")
        told = (response.text + str(response.headers)).lower()
        assert not [word for word in INTERNAL if word in told]
        assert response.headers["X-Request-Id"] in caplog.text
        assert service.token not in caplog.text


def test_a_service_that_starts_logs_no_errors(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with under(CONDITIONS["no snapshot"], tmp_path) as service:
        assert service.get("/maps").status_code == 503
    told = {record.levelno for record in caplog.records if record.name.startswith("mapshelf.api")}
    assert told == {logging.INFO}


@pytest.mark.skipif(KIND != "sqlite", reason="damages the file of the database")
def test_damage_to_the_database_is_one_line_for_each_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with shelf_with(tmp_path, MapDraft(title="One")) as shelf, serve(shelf) as service:
        fresh = shelf.token()
        assert service.get("/maps").status_code == 200
        damage(tmp_path / "catalogue.db")
        service.token = fresh
        caplog.clear()
        assert service.get("/maps").status_code == 500
        (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
        assert "damaged" in record.getMessage()
        assert "Traceback" not in caplog.text
        assert "\n" not in record.getMessage()
        caplog.clear()  # closing logs more errors, because this test broke the database


def damage(path: Path) -> None:
    """Overwrite all of a database except its first page, which identifies the format."""
    database = apsw.Connection(str(path))
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    page = 4096
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(page)
        file.write(b"\xff" * (size - page))
