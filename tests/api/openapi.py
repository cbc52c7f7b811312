"""The OpenAPI document as tests read it: what it says of an operation, and checks against it."""

import json
from importlib.resources import files
from typing import Any, Final

import httpx
import jsonschema

DOCUMENT: Final[dict[str, Any]] = json.loads((files("mapshelf.api") / "openapi.json").read_text())
COMPONENTS: Final[dict[str, Any]] = DOCUMENT["components"]

TRANSPORT: Final = {"content-type", "content-length", "connection"}
"""Headers that OpenAPI has other places for, or none."""

ANY_ADDRESS: Final = {404: "NotFound", 405: "MethodNotAllowed"}
"""Answers that belong to no operation."""


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """Return ``part``, or what it refers to."""
    while "$ref" in part:
        _, _, kind, name = part["$ref"].split("/")
        part = COMPONENTS[kind][name]
    return part


def documented(method: str, path: str, status: int) -> dict[str, Any]:
    """Return what the document says of an answer."""
    if status in ANY_ADDRESS:
        found: dict[str, Any] = COMPONENTS["responses"][ANY_ADDRESS[status]]
        return found
    responses = DOCUMENT["paths"][path][method.lower()]["responses"]
    assert str(status) in responses, f"{method} {path} answers {status}, which is not documented"
    return resolved(responses[str(status)])


def check(response: httpx.Response) -> None:
    """Compare a whole answer with what the document says of it."""
    request = response.request
    answer = documented(request.method, request.url.path, response.status_code)
    check_headers(response, answer)
    if request.method == "HEAD" or "content" not in answer:
        assert response.content == b""
    else:
        (content_type,) = answer["content"]
        assert response.headers["content-type"] == content_type
        validator(answer["content"][content_type]["schema"]).validate(response.json())


def check_headers(response: httpx.Response, answer: dict[str, Any]) -> None:
    """Compare the headers of an answer: those required are there, and no other than described."""
    headers = {name.lower(): resolved(header) for name, header in answer["headers"].items()}
    sent = set(response.headers) - TRANSPORT
    assert sent <= set(headers), "a header is not documented"
    assert {name for name, header in headers.items() if header.get("required")} <= sent
    for name in sent:
        validator(headers[name]["schema"]).validate(as_schema_sees_it(response.headers[name]))


def as_schema_sees_it(text: str) -> str | int:
    return int(text) if text.isdigit() else text


def validator(schema: dict[str, Any]) -> jsonschema.Draft202012Validator:
    """Return a validator for a schema of the document."""
    return jsonschema.Draft202012Validator({**schema, "components": COMPONENTS})
