"""The OpenAPI document matches the code's tables and every real response."""

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from mapshelf.api import errors
from mapshelf.api.http import MAXIMUM_BODY, MAXIMUM_QUERY_STRING
from mapshelf.api.openapi import openapi_document
from mapshelf.model import MAP_KEYS, USER_KEYS, MapDraft, Source
from mapshelf.query import (
    DEFAULT_LIMIT,
    FILTERS,
    MAXIMUM_LIMIT,
    MAXIMUM_OFFSET,
    MAXIMUM_QUERY_LENGTH,
    ORDERS,
    PARAMETERS,
    SORT_ORDERS,
    Filter,
)
from mapshelf.search.snippets import API_BUDGET, LONGEST_EXCERPT, LONGEST_STEP
from mapshelf.snapshot.read.facets import MOST_VALUES
from mapshelf.writers import WRITERS, Writer
from tests.api import openapi
from tests.api.openapi import COMPONENTS, DOCUMENT, documented, resolved
from tests.conftest import Serving
from tests.harness import Service, outline_of

ROWS = {*errors.TABLE.values(), errors.FAULT}


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def parameters_of(path: str, document: dict[str, Any] = DOCUMENT) -> dict[str, dict[str, Any]]:
    parameters = document["paths"][path]["get"].get("parameters", [])
    found = (resolved(one, document["components"]) for one in parameters)
    return {one["name"]: one for one in found if one["in"] == "query"}


def test_the_service_serves_the_document_to_anybody(service: Service) -> None:
    response = service.request("GET", "/openapi.json", signed=False)
    assert response.json() == DOCUMENT
    again = {"If-None-Match": response.headers["ETag"]}
    assert service.request("GET", "/openapi.json", headers=again).status_code == 304


@pytest.mark.slow
def test_it_is_a_valid_document() -> None:
    from schemathesis.specs.openapi.definitions import OPENAPI_31  # noqa: PLC0415 - takes long

    jsonschema.Draft202012Validator(OPENAPI_31).validate(DOCUMENT)


@pytest.mark.slow
def test_every_process_makes_the_same_bytes() -> None:
    """So the ETag of one worker or node is valid for all."""
    program = "import orjson; from mapshelf.api.openapi import openapi_document as made; "
    program += "print(orjson.dumps(made()))"
    made = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(made) == 1


def test_the_addresses_of_oauth_are_those_of_its_metadata(service: Service) -> None:
    metadata = service.request(
        "GET", "/.well-known/oauth-authorization-server", signed=False
    ).json()
    flow = COMPONENTS["securitySchemes"]["oauth"]["flows"]["authorizationCode"]
    assert metadata["issuer"] + flow["authorizationUrl"] == metadata["authorization_endpoint"]
    assert metadata["issuer"] + flow["tokenUrl"] == metadata["token_endpoint"]
    assert flow["refreshUrl"] == flow["tokenUrl"]
    assert list(flow["scopes"]) == metadata["scopes_supported"]
    for path, method, operation in operations():
        bearer = [one["bearer"] for one in operation["security"] if "bearer" in one]
        oauth = [one["oauth"] for one in operation["security"] if "oauth" in one]
        assert bearer == oauth, (method, path)


def test_version_and_security() -> None:
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert DOCUMENT["info"]["version"] == "1.0"
    assert DOCUMENT["security"] == [{"bearer": []}, {"oauth": []}]
    assert COMPONENTS["securitySchemes"]["bearer"]["scheme"] == "bearer"


def test_every_reference_leads_somewhere_and_every_component_is_used() -> None:
    text = json.dumps(DOCUMENT)
    references = {
        f"#/components/{kind}/{name}"
        for kind, members in COMPONENTS.items()
        if kind != "securitySchemes"
        for name in members
    }
    used = {part.split('"')[0] for part in text.split('"$ref": "')[1:]}
    assert used <= references
    # Responses that belong to no operation are named in the description instead.
    named = {*openapi.ANY_ADDRESS.values(), openapi.TO_OPTIONS[204]}
    assert references - used == {f"#/components/responses/{name}" for name in named}
    assert all(f"`{name}`" in DOCUMENT["info"]["description"] for name in (*named, "Error"))


def test_every_operation_is_described_and_no_other(service: Service) -> None:
    """HEAD and OPTIONS, which every path has, do not count as operations."""
    writing = {
        ("/maps", "post"),
        ("/maps/{ID}", "patch"),
        ("/maps/{ID}", "delete"),
        ("/maps/{ID}/file", "put"),
        ("/maps/{ID}/restore", "post"),
        ("/maps/{ID}/vote", "put"),
        ("/maps/{ID}/reports", "post"),
        ("/maps/{ID}/versions/{number}/restore", "post"),
        ("/collections", "post"),
        ("/collections/{collection}", "patch"),
        ("/collections/{collection}", "delete"),
        ("/collections/{collection}/maps", "put"),
        ("/collections/{collection}/maps", "post"),
        ("/collections/{collection}/maps/{map}", "delete"),
        ("/collections/{collection}/reports", "post"),
        ("/users/me/searches", "post"),
        ("/users/me/searches/{search}", "patch"),
        ("/users/me/searches/{search}", "delete"),
    }
    assert {(path, method) for path, method, _ in operations()} == writing | {
        (path, "get")
        for path in (
            "/maps",
            "/search",
            "/suggest",
            "/facets",
            "/categories",
            "/software",
            "/folders",
            "/tags",
            "/maps/{ID}",
            "/maps/{ID}/outline.{format}",
            "/maps/{ID}/file",
            "/maps/{ID}/drawing.{drawing}",
            "/maps/{ID}/diff/{OTHER}",
            "/maps/{ID}/links",
            "/maps/{ID}/versions",
            "/maps/{ID}/images/{digest}.png",
            "/thumbnails/{ID}.{picture}",
            "/users/me",
            "/users/me/maps",
            "/users/me/searches",
            "/collections",
            "/collections/{collection}",
            "/collections/{collection}/picture.png",
            "/openapi.json",
        )
    }
    for path, own, operation in operations():
        assert operation["summary"]
        assert operation["description"]
        signed = operation["security"] != []
        example = openapi.example_of(path)
        for method in ("GET", "HEAD") if own == "get" else (own.upper(),):
            response = service.request(method, example, signed=False)
            assert (response.status_code == 401) == signed
        assert service.request("OPTIONS", example, signed=False).status_code == 204
    ids = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(ids)) == len(ids)


def test_every_parameter_is_described_and_no_other() -> None:
    parameters = parameters_of("/maps")
    assert set(parameters) == PARAMETERS
    assert parameters_of("/search") == parameters
    assert parameters_of("/users/me/maps").keys() - parameters.keys() == {"visibility"}
    assert set(parameters_of("/suggest")) == PARAMETERS - {"offset", "order_by"}
    assert set(parameters_of("/facets")) == PARAMETERS - {"offset", "order_by", "limit"}
    for row in FILTERS:
        assert parameters[row.name]["description"] == row.description
        assert parameters[row.name]["schema"] == row.schema
    for order in SORT_ORDERS:
        assert f"\n* `{order.name}`: {order.description}\n" in parameters["order_by"]["description"]
    assert all(one["description"] and not one.get("required") for one in parameters.values())
    for path in ("/categories", "/software", "/users/me", "/openapi.json"):
        assert parameters_of(path) == {}


def test_every_format_is_described_and_no_other() -> None:
    answer = documented("GET", "/maps/pR4vT9xB/outline.md", 200)
    assert list(answer["content"]) == [writer.media_type for writer in WRITERS]
    described = COMPONENTS["parameters"]["format"]
    assert described["schema"]["enum"] == [writer.suffix for writer in WRITERS]
    assert all(
        f"`{writer.suffix}` ({writer.name})" in described["description"] for writer in WRITERS
    )


@pytest.mark.slow
def test_a_new_filter_is_described() -> None:
    row = Filter(
        "colour", "Only maps in it.", {"type": "string"}, len, lambda found: found.map.views
    )
    document = openapi_document(filters=(*FILTERS, row))
    from schemathesis.specs.openapi.definitions import OPENAPI_31  # noqa: PLC0415 - takes long

    jsonschema.Draft202012Validator(OPENAPI_31).validate(document)
    described = {
        "name": "colour",
        "in": "query",
        "description": "Only maps in it.",
        "schema": {"type": "string"},
    }
    for path in (path for path, method, _ in operations() if method == "get"):
        more = {"colour": described} if "category" in parameters_of(path) else {}
        assert parameters_of(path, document) == parameters_of(path) | more
    assert parameters_of("/maps", document)["colour"] == described


def test_a_new_order_is_described() -> None:
    document = openapi_document(
        orders=(
            *SORT_ORDERS,
            replace(SORT_ORDERS[1], name="size", description="largest file first"),
        )
    )
    for path in ("/maps", "/search"):
        described = parameters_of(path, document)["order_by"]
        assert described["schema"]["enum"] == [*ORDERS, "size"]
        assert "\n* `size`: largest file first\n" in described["description"]


def test_a_new_format_is_described() -> None:
    row = Writer("Braille", "brl", "text/x-braille", lambda outline: b"")
    document = openapi_document(writers=(*WRITERS, row))
    described = document["components"]["parameters"]["format"]
    assert described["schema"]["enum"][-1] == "brl"
    assert "`brl` (Braille)" in described["description"]
    answer = document["paths"]["/maps/{ID}/outline.{format}"]["get"]["responses"]["200"]
    assert answer["content"]["text/x-braille"] == {"schema": {"type": "string"}}


def test_a_new_error_is_described() -> None:
    row = errors.ErrorRow(418, 418, "teapot")
    error = openapi_document(errors=(*ROWS, row))["components"]["schemas"]["Error"]["properties"]
    assert 418 in error["code"]["enum"]
    assert "teapot" in error["error"]["enum"]


def test_bounds_and_defaults_are_those_of_the_parser() -> None:
    schemas = {name: one["schema"] for name, one in parameters_of("/maps").items()}
    limit = {"minimum": 0, "maximum": MAXIMUM_LIMIT, "default": DEFAULT_LIMIT}
    assert schemas["limit"] == {"type": "integer", **limit}
    assert schemas["offset"]["maximum"] == MAXIMUM_OFFSET
    assert schemas["order_by"]["enum"] == list(ORDERS)
    assert schemas["query"]["maxLength"] == MAXIMUM_QUERY_LENGTH
    assert schemas["only_templates"] == {"type": "boolean", "default": False}
    found = COMPONENTS["schemas"]
    for name in ("Maps", "Hits", "Suggestions"):
        assert found[name]["maxItems"] == MAXIMUM_LIMIT
    assert found["Hit"]["properties"]["topics"]["maxItems"] == API_BUDGET.snippets
    assert found["Branch"]["properties"]["text"]["maxLength"] == LONGEST_EXCERPT + len("……")
    assert found["Branch"]["properties"]["path"]["items"]["maxLength"] == LONGEST_STEP
    assert found["NamedCounts"]["maxItems"] == MOST_VALUES
    responses = COMPONENTS["responses"]
    assert str(MAXIMUM_BODY) in responses["ContentTooLarge"]["description"]
    assert str(MAXIMUM_QUERY_STRING) in responses["UriTooLong"]["description"]


def test_every_error_is_described_and_no_other() -> None:
    error = COMPONENTS["schemas"]["Error"]["properties"]
    assert set(error["code"]["enum"]) == {row.code for row in ROWS}
    assert set(error["error"]["enum"]) == {row.identifier for row in ROWS}
    statuses = {
        int(status) for _, _, operation in operations() for status in operation["responses"]
    }
    assert statuses | set(openapi.ANY_ADDRESS) == {row.status for row in ROWS} | {
        *(200, 201, 204, 304)
    }


@pytest.mark.parametrize(
    ("name", "keys"),
    [("Map", MAP_KEYS), ("User", USER_KEYS), ("Error", ("code", "error", "error_description"))],
)
def test_objects_have_these_keys_in_this_order_and_no_other(
    name: str, keys: tuple[str, ...]
) -> None:
    schema = COMPONENTS["schemas"][name]
    assert tuple(schema["properties"]) == tuple(schema["required"]) == keys
    assert schema["additionalProperties"] is False
    texts = {key for key, one in schema["properties"].items() if one["type"] == "string"}
    assert texts == set(keys) - {"code"}


FULL = MapDraft(
    id="Q7xK2mZp",
    file_id=12,
    title='Quotes " and \\ and \x7f é 日本',
    description="Two\nlines,\ttabs \x01",
    thumbs_up=3,
    thumbs_down=1,
    views=2**60,
    downloads=0,
    category="Education",
    date_added=1_700_000_000_123,
    owner="Zoë",
    size=12345,
    copyright="© 2024",
    licence_type_id=4,
    software="XMind",
    source=Source(b"/maps/a.mm", "a.mm", 3, 1, b"d" * 32),
    outline=outline_of("Root", "Topic"),
    content=zlib.compress(b"<map"),
)


def test_the_bytes_of_a_map_object(serving: Serving) -> None:
    body = serving(FULL).maps().content.decode()
    assert body == (
        '[{"File_ID":"12","ID":"Q7xK2mZp","Title":"Quotes \\" and \\\\ and \x7f é 日本",'
        '"Description":"Two\\nlines,\\ttabs \\u0001","ThumbsUp":"3","ThumbsDown":"1",'
        '"Views":"1152921504606846976","Downloads":"0",'
        '"Thumbnail":"https://maps.example.org/thumbnails/Q7xK2mZp.png",'
        '"URL":"https://maps.example.org/mindmaps/Q7xK2mZp/quotes-and-and-e-%E6%97%A5%E6%9C%AC",'
        '"Category":"Education","CategoryID":"6","DateAdded":"2023-11-14 22:13:20.123",'
        '"Owner":"Zoë","Size":"123.45","Copyright":"© 2024","LicenceTypeID":"4",'
        '"Software":"XMind"}]'
    )


def test_every_object_is_sent_with_its_keys_in_order(serving: Serving) -> None:
    service = serving(FULL, MapDraft(title="Bare"))
    for found in service.maps().json():
        assert tuple(found) == MAP_KEYS
        assert all(isinstance(value, str) for value in found.values())
    assert tuple(service.get("/users/me").json()) == USER_KEYS


ASKED = [
    "/maps",
    "/maps?limit=0",
    "/maps?limit=1&offset=1",
    "/maps?offset=99",
    "/maps?query=quotes&order_by=rating",
    "/maps?limit=x",
    "/maps?x=" + "y" * MAXIMUM_QUERY_STRING,
    "/maps?query=quotas",
    "/search",
    "/search?query=topic",
    "/search?query=topik&limit=1",
    "/search?query=topic&limit=x",
    "/suggest",
    "/suggest?query=to",
    "/suggest?query=to&limit=0",
    "/suggest?category=x",
    "/facets",
    "/facets?query=quotas&owner=zoë",
    "/facets?only_templates=x",
    "/categories",
    "/software?limit=x",
    "/maps/Q7xK2mZp",
    *(f"/maps/Q7xK2mZp/outline.{writer.suffix}" for writer in WRITERS),
    "/maps/Q7xK2mZp/outline.pdf",
    "/maps/Q7xK2mZp/file",
    "/maps/Q7xK2mZp/links",
    "/maps/Q7xK2mZp/drawing.svg",
    "/maps/Q7xK2mZp/drawing.svg?sheet=0",
    "/maps/Q7xK2mZp/drawing.pdf?topic=unknown",
    "/maps/unknown0",
    "/maps/unknown0/outline.md",
    "/maps/unknown0/file",
    f"/maps/Q7xK2mZp/images/{'0' * 64}.png",
    f"/maps/Q7xK2mZp/images/{'0' * 64}.png?w=1",
    "/thumbnails/Q7xK2mZp.png",
    "/thumbnails/Q7xK2mZp.svg?w=640&theme=dark",
    "/thumbnails/Q7xK2mZp.png?w=1",
    "/thumbnails/unknown0.png",
    "/users/me",
    "/openapi.json",
    "/nothing",
]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST"])
@pytest.mark.parametrize("signed", [True, False])
def test_responses_are_as_described(serving: Serving, method: str, signed: bool) -> None:
    service = serving(FULL, MapDraft(title="Bare"))
    for path in ASKED:
        openapi.check(service.request(method, path, signed=signed))
        known = {"If-None-Match": "*"}
        openapi.check(service.request(method, path, signed=signed, headers=known))
        length = {"Content-Length": str(MAXIMUM_BODY + 1)}
        openapi.check(service.request(method, path, signed=signed, headers=length))


@pytest.mark.slow
def test_a_response_that_is_not_as_described_is_found(service: Service) -> None:
    response = service.get("/maps")
    del response.headers["X-Total-Count"]
    with pytest.raises(AssertionError):
        openapi.check(response)
    wrong = [{**service.get("/maps").json()[0], "Views": 1}]
    schema = documented("GET", "/maps", 200)["content"]["application/json"]["schema"]
    with pytest.raises(jsonschema.ValidationError):
        openapi.validator(schema).validate(wrong)
