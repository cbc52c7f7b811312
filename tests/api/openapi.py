"""Looks up operations in the OpenAPI document, and compares responses with it."""

import re
from typing import Any, Final

import httpx
import jsonschema

from mapshelf.api.openapi import openapi_document

DOCUMENT: Final = openapi_document()
COMPONENTS: Final[dict[str, Any]] = DOCUMENT["components"]

TRANSPORT: Final = {"content-type", "content-length", "connection"}
"""Headers that OpenAPI has other places for, or none."""

ANY_ADDRESS: Final = {404: "NotFound", 405: "MethodNotAllowed"}
"""Answers that belong to no operation."""

TO_OPTIONS: Final = {204: "Preflight", 400: "BadRequest", 500: "ServerError"}
"""Answers to OPTIONS, which is no operation."""


def resolved(part: dict[str, Any], components: dict[str, Any] = COMPONENTS) -> dict[str, Any]:
    """Return ``part``, or the component that it refers to."""
    while "$ref" in part:
        _, _, kind, name = part["$ref"].split("/")
        part = components[kind][name]
    return part


def template_of(path: str) -> str:
    """Return the path in the document that matches ``path``, empty if there is none."""
    for template in DOCUMENT["paths"]:
        pieces = re.split(r"\{(\w+)\}", template)
        pieces[::2] = map(re.escape, pieces[::2])
        pieces[1::2] = (_values_of(name) for name in pieces[1::2])
        if re.fullmatch("".join(pieces), path):
            return str(template)
    return ""


def example_of(template: str) -> str:
    """Return a path of the document with its parameters replaced by their examples."""
    return re.sub(
        r"\{(\w+)\}", lambda part: str(COMPONENTS["parameters"][part[1]]["example"]), template
    )


def _values_of(name: str) -> str:
    return "|".join(COMPONENTS["parameters"][name]["schema"].get("enum", ["[^/]+"])).join("()")


def documented(method: str, path: str, status: int) -> dict[str, Any]:
    """Return the description of a response; a response to HEAD has that of GET."""
    template = template_of(path)
    if template and method == "OPTIONS" and status in TO_OPTIONS:
        return _response(TO_OPTIONS[status])
    operation = "get" if method in ("GET", "HEAD") else method.lower()
    responses = DOCUMENT["paths"].get(template, {}).get(operation, {}).get("responses", {})
    if str(status) in responses:
        return resolved(responses[str(status)])
    assert status in ANY_ADDRESS, f"{method} {path} answers {status}, which is not documented"
    assert status == 405 or not template, f"{path} is documented but does not exist"
    return _response(ANY_ADDRESS[status])


def _response(name: str) -> dict[str, Any]:
    found: dict[str, Any] = COMPONENTS["responses"][name]
    return found


def check(response: httpx.Response) -> None:
    """Compare a whole response with its description in the document."""
    request = response.request
    answer = documented(request.method, request.url.path, response.status_code)
    check_headers(response, answer)
    if request.method == "HEAD" or "content" not in answer:
        assert response.content == b""
    else:
        content_type = response.headers["content-type"]
        assert content_type in answer["content"]
        body = response.json() if content_type == "application/json" else response.text
        validator(answer["content"][content_type]["schema"]).validate(body)


def check_headers(response: httpx.Response, answer: dict[str, Any]) -> None:
    """Check that a response has the required headers, and none that is not described."""
    headers = {name.lower(): resolved(header) for name, header in answer["headers"].items()}
    sent = set(response.headers) - TRANSPORT
    assert sent <= set(headers), f"headers are not documented: {sent - set(headers)}"
    assert {name for name, header in headers.items() if header.get("required")} <= sent
    for name in sent:
        validator(headers[name]["schema"]).validate(as_schema_sees_it(response.headers[name]))


def as_schema_sees_it(text: str) -> str | int:
    return int(text) if text.isdigit() else text


def validator(schema: dict[str, Any]) -> jsonschema.Draft202012Validator:
    """Return a validator for a schema of the document."""
    return jsonschema.Draft202012Validator({**schema, "components": COMPONENTS})
