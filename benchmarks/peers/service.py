"""A typical ``GET /maps`` with FastAPI and a database, for SQLite and PostgreSQL.

It is simpler than Mapshelf: it checks no token, and sends no pagination links and no validators.
One part is optimised: orjson encodes the body, which is several times faster than letting FastAPI
validate and encode twenty objects. Endpoints are ordinary functions, which FastAPI runs in threads,
so a slow search does not block the others.

Run it as ``python -m benchmarks.peers.service sqlite|postgres ADDRESS PORT``.
"""

import sys
from collections.abc import Callable
from typing import Annotated, Final

import orjson
import uvicorn
from fastapi import FastAPI, Query, Response

from benchmarks.peers.database import Database, Request, TooSlow
from benchmarks.peers.records import map_object
from benchmarks.peers.searchtext import parse

COLUMNS: Final = {
    "alpha": "title",
    "date": "date_added",
    "downloads": "downloads",
    "views": "views",
}
"""The column of each value of ``order_by``."""


def application(database: Database) -> FastAPI:
    """Return the service for a database."""
    app = FastAPI()
    app.add_api_route("/maps", _maps(database), methods=["GET"])
    return app


def _maps(database: Database) -> Callable[..., Response]:
    def maps(
        query: Annotated[str, Query(max_length=500)] = "",
        limit: Annotated[int, Query(ge=0, le=50)] = 20,
        offset: Annotated[int, Query(ge=0)] = 0,
        order_by: Annotated[str | None, Query(pattern="^(alpha|date|downloads|views)$")] = None,
        category: int | None = None,
    ) -> Response:
        parts = parse(query)
        column = COLUMNS.get(order_by or ("" if parts else "date"))
        try:
            total, rows = database.answer(Request(parts, category, column, limit, offset))
            if not total and parts and (corrected := database.corrected(parts)) != parts:
                request = Request(corrected, category, column, limit, offset)
                total, rows = database.answer(request)
        except TooSlow:
            return Response(status_code=503)
        body = orjson.dumps([map_object(row) for row in rows])
        return Response(body, 200, {"X-Total-Count": str(total)}, "application/json")

    return maps


def main() -> None:
    """Serve a database until a signal ends the process."""
    kind, address, port = sys.argv[1:]
    uvicorn.run(
        application(_opened(kind, address)),
        host="127.0.0.1",
        port=int(port),
        workers=1,
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
    )


def _opened(kind: str, address: str) -> Database:
    """Return the database of this kind; import its module only now, as it needs other packages."""
    if kind == "sqlite":
        from benchmarks.peers.sqlite import SqliteDatabase  # noqa: PLC0415

        return SqliteDatabase(address)
    from benchmarks.peers.postgres import PostgresDatabase  # noqa: PLC0415

    return PostgresDatabase(address)


if __name__ == "__main__":
    main()
