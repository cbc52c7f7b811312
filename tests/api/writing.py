"""Operations for tests that accept request bodies, and respond with what has arrived.

``python -m tests.api.writing FOLDER PORT`` serves them like ``mapshelf serve``.
"""

import asyncio
import hashlib
import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson

from mapshelf.api import Application
from mapshelf.api.context import Context
from mapshelf.api.csrf import FIELD, form_token
from mapshelf.api.forms import MULTIPART, URL_ENCODED, FormLimits
from mapshelf.api.http import BodyRule, Request, Response, etag, json_response
from mapshelf.api.routes import Method, Route
from mapshelf.api.rsgi import RSGIApplication
from mapshelf.errors import InvalidParameter
from mapshelf.service.listening import bind_socket, listen, resolve_address
from mapshelf.service.web_server import serve_http
from mapshelf.settings import Settings
from mapshelf.tokens import MAPS_WRITE
from tests.harness import BASE_URL

JSON_MOST: Final = 1000
FILE_MOST: Final = 32 << 20

JSON: Final = BodyRule(JSON_MOST, ("application/json",))
ANY_FILE: Final = BodyRule(FILE_MOST, ("application/octet-stream",))
FORM: Final = BodyRule(100_000, (URL_ENCODED, MULTIPART))
UPLOAD: Final = BodyRule(FILE_MOST + 100_000, (MULTIPART,))

FORM_LIMITS: Final = FormLimits(fields=10, text=2000)
UPLOAD_LIMITS: Final = FormLimits(fields=10, text=65_536, files=("map",), file=FILE_MOST)


def said(values: Mapping[str, Any]) -> Response:
    return json_response(200, orjson.dumps(values), [(b"cache-control", b"no-store")])


def facts(content: bytes) -> dict[str, Any]:
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


async def show(context: Context, request: Request) -> Response:
    return said({"shown": True})


async def take_nothing(context: Context, request: Request) -> Response:
    return said({"user": request.user.name if request.user else ""})


async def take_json(context: Context, request: Request) -> Response:
    async with context.bodies.content(request) as body:
        if request.query_string:
            raise InvalidParameter("There are no parameters.")
        response = said({"received": body.decode("latin-1")})
        return replace(response, headers=(*response.headers, etag(response.body)))


async def take_file(context: Context, request: Request) -> Response:
    async with context.bodies.file(request) as file:
        return said(facts(await asyncio.to_thread(file.read)))


async def refuse_file(context: Context, request: Request) -> Response:
    raise InvalidParameter("This is refused before it is read.")


async def take_form(context: Context, request: Request) -> Response:
    async with context.bodies.form(request, FORM_LIMITS) as form:
        return said({"fields": form.fields})


async def take_upload(context: Context, request: Request) -> Response:
    async with context.bodies.form(request, UPLOAD_LIMITS) as form:
        upload = form.upload("map")
        if upload is None:
            return said({"fields": form.fields})
        content = await asyncio.to_thread(upload.content.read)
        assert len(content) == upload.size
        return said({"fields": form.fields, "map": {"name": upload.name, **facts(content)}})


async def show_session(context: Context, request: Request) -> Response:
    """Respond with the signed-in user, as a page does."""
    session = await context.sessions.session(request)
    if session is None:
        return said({"user": None})
    return said({"user": session.user.name, "form_token": session.form_token()})


async def show_form(context: Context, request: Request) -> Response:
    """Show a form to a visitor who is not signed in."""
    secret, headers = context.sessions.form_secret(request)
    response = said({FIELD: form_token(secret)})
    return replace(response, headers=(*response.headers, *headers))


async def take_checked_form(context: Context, request: Request) -> Response:
    async with context.bodies.form(request, FORM_LIMITS) as form:
        secret, _ = context.sessions.form_secret(request)
        context.sessions.check_form(request, form.text(FIELD), secret)
        return said({"name": form.text("name")})


def writing_routes(context: Context) -> Mapping[str, Route]:
    """Return the routes."""
    return {
        "/test/notes": Route(
            show,
            POST=Method(take_json, MAPS_WRITE, body=JSON),
            DELETE=Method(take_nothing, MAPS_WRITE),
        ),
        "/test/file": Route(PUT=Method(take_file, MAPS_WRITE, body=ANY_FILE)),
        "/test/refused": Route(PUT=Method(refuse_file, MAPS_WRITE, body=ANY_FILE)),
        "/test/form": Route(show, scope=None, POST=Method(take_form, None, body=FORM)),
        "/test/checked": Route(
            show_form, scope=None, POST=Method(take_checked_form, None, body=FORM)
        ),
        "/test/upload": Route(POST=Method(take_upload, MAPS_WRITE, body=UPLOAD)),
        "/test/session": Route(show_session, scope=None),
    }


def load_application(settings: Settings) -> Any:
    return RSGIApplication(Application(settings, writing_routes))


def main(folder: Path, listener: socket.socket) -> None:
    settings = Settings(data=folder, database=os.environ["DATABASE"], base_url=BASE_URL)
    serve_http(listener, partial(load_application, settings))


if __name__ == "__main__":
    opened = bind_socket(resolve_address("127.0.0.1", int(sys.argv[2])))
    listen(opened)
    main(Path(sys.argv[1]), opened)
