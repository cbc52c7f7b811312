"""``docs/api.md``, ``oauth.md`` and ``website.md`` agree with the code.

The tests run their examples, and compare their tables with those of the code.
"""

import argparse
import hashlib
import json
import re
import shlex
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import pytest

from mapshelf.api import errors
from mapshelf.api.drawings import PARAMETERS as DRAWING_PARAMETERS
from mapshelf.api.drawings import PICTURE_WIDTH
from mapshelf.api.http import MAXIMUM_BODY, MAXIMUM_QUERY_STRING
from mapshelf.api.images import IMAGE_WIDTHS
from mapshelf.api.thumbnails import DEFAULT_WIDTH, DRAWN, SOURCES
from mapshelf.api.topic_pictures import MOST_PICTURES
from mapshelf.api.unpublished_maps import LONGEST_SEARCH, MOST_SEARCHED, MOST_TITLES
from mapshelf.formats.map_links import MOST_LINKS
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import (
    MAP_KEYS,
    USER_KEYS,
    MapDraft,
    MapLink,
    Outline,
    Source,
    Topic,
    sheets_of,
)
from mapshelf.query import (
    DEFAULT_LIMIT,
    MAXIMUM_LIMIT,
    MAXIMUM_OFFSET,
    MAXIMUM_QUERY_LENGTH,
    ORDERS,
    PARAMETERS,
)
from mapshelf.render.image_worker import LARGEST_SIDE
from mapshelf.render.map_drawing import LONGEST_SIDE as DRAWING_SIDE
from mapshelf.render.map_drawing import MOST_PIXELS
from mapshelf.render.render_request import DRAWING_FORMATS, WIDTHS
from mapshelf.render.themes import LIGHT, THEMES
from mapshelf.render.visible_topics import LONGEST_TEXT
from mapshelf.search.snippets import API_BUDGET
from mapshelf.settings import Settings
from mapshelf.site import site_routes
from mapshelf.tokens import SCOPES, new_token, token_digest
from mapshelf.writers import WRITERS
from tests.api.openapi import COMPONENTS
from tests.databases import database_url, open_with
from tests.harness import BASE_URL, Service, outline_of, shelf_with

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENT = (DOCS / "api.md").read_text("utf-8")
WITH_EXAMPLES = [
    DOCUMENT,
    *((DOCS / name).read_text("utf-8") for name in ("oauth.md", "website.md")),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

FILE = b'<map version="1.0.1">'
PLAN = (
    b'<map version="1.0.1"><node TEXT="Plan"><node TEXT="First"/><node TEXT="Then"/></node></map>'
)
SUN = Outline(
    sheets_of((Topic("Sun", "s1", children=[Topic("Panels", "s2"), Topic("Roof", "s3")]),))
)
MAPS = (
    MapDraft(
        file_id=1, id="aB3dE5gH", title="Solar power at home", category="Family and Home",
        owner="bob", thumbs_up=1, date_added=1_700_000_000_000, software="XMind",
        source=Source(b"/solar.mm", "solar.mm", 1, 1, b"solar"),
        outline=encode_outline(SUN),
    ),
    MapDraft(
        file_id=2, id="pR4vT9xB", title="Photosynthesis", description="How plants live on light",
        thumbs_up=48, thumbs_down=2, views=910, downloads=75, category="Science", owner="ada",
        date_added=1_709_625_600_000, size=1825, licence_type_id=3, software="Freeplane",
    ),
    MapDraft(
        file_id=3, id="kL8mN2qS", title="Living on light", category="Science", owner="ada",
        description="Animals live on light too", outline=outline_of("Light", "Animals"),
        links=[MapLink("warmth", "../solar.mm#ID_7", "solar.mm")],
        date_added=1_710_000_000_000, template=True, content=zlib.compress(FILE),
        tags=("light",),
        source=Source(b"/light", "Nature/light.mm", len(FILE), 1, hashlib.sha256(FILE).digest()),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Example:
    """A request in a document, with the response that it shows."""

    command: str
    kind: str
    answer: str


def examples() -> Iterator[Example]:
    for document in WITH_EXAMPLES:
        blocks = BLOCK.findall(document)
        for (kind, command), (answer_kind, answer) in zip(blocks[::2], blocks[1::2], strict=True):
            assert kind == "sh", f"a response without a request: {command}"
            yield Example(command.strip(), answer_kind, answer)


EXAMPLES = list(examples())


@pytest.fixture(scope="module")
def documented(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service of the documents, with the token of a user registered on 2024-01-15."""
    folder = tmp_path_factory.mktemp("documented")
    registered = round(datetime(2024, 1, 15, 12, tzinfo=UTC).timestamp() * 1000)
    then = open_with(folder, lambda: registered)
    then.add_user("ada")
    token = new_token()
    then.add_token("ada", token_digest(token), label="docs", scopes=" ".join(SCOPES), expires=None)
    then.close()
    settings = Settings(data=folder, database=database_url(folder), base_url=BASE_URL)
    with shelf_with(folder, *MAPS), Service(settings, token, site_routes) as service:
        yield service


def curl(service: Service, command: str) -> tuple[httpx.Response, argparse.Namespace]:
    """Send the request of a curl command."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("-i", action="store_true")
    parser.add_argument("-I", action="store_true")
    parser.add_argument("-X", default="GET")
    parser.add_argument("-H", action="append", default=[])
    parser.add_argument("--get", action="store_true")
    parser.add_argument("--data-urlencode", action="append", default=[])
    parser.add_argument("-F", action="append", default=[])
    parser.add_argument("-d", default=None)
    parser.add_argument("url")
    text = command.replace("$BASE", BASE_URL).replace("$TOKEN", service.token)
    program, *arguments = shlex.split(text)
    assert program == "curl"
    given = parser.parse_args(arguments)
    assert given.get == bool(given.data_urlencode)
    url = httpx.URL(given.url)
    if given.get:
        url = url.copy_merge_params([tuple(one.split("=", 1)) for one in given.data_urlencode])
    headers = dict(line.split(": ", 1) for line in given.H)
    if given.F:
        return send_form(service, str(url), headers, given.F), given
    method = "HEAD" if given.I else given.X
    body = None if given.d is None else given.d.encode()
    answer = service.request(method, str(url), headers=headers, signed=False, content=body)
    if answer.status_code == 201 and given.url.endswith("/collections"):
        made = answer.json()
        answer = as_if(answer, made["id"], "cK8wQ2rT", (made["created"], made["changed"]))
    if answer.status_code == 201 and given.url.endswith("/users/me/searches"):
        made = answer.json()
        answer = as_if(answer, made["id"], "sQ4hN7vW", (made["created"], made["changed"]))
    return answer, given


def send_form(
    service: Service, url: str, headers: dict[str, str], fields: list[str]
) -> httpx.Response:
    """Send a form with a file; return the response as if the new map had the documented ID."""
    pairs = [field.split("=", 1) for field in fields]
    files = {name: (value[1:], PLAN) for name, value in pairs if value.startswith("@")}
    data = {name: value for name, value in pairs if not value.startswith("@")}
    answer = service.run(service.client.post(url, headers=headers, data=data, files=files))
    made = answer.json()
    return as_if(answer, made["ID"], "Wn5cT8yR", (made["DateAdded"],))


def as_if(
    answer: httpx.Response, public_id: str, shown: str, dates: tuple[str, ...]
) -> httpx.Response:
    """Return a response as if the created object had the ID and time of the document."""
    text = answer.text.replace(public_id, shown)
    for date in dates:
        text = text.replace(date, "2024-03-09 16:00:00.000")
    location = answer.headers["Location"].replace(public_id, shown)
    changed = {**answer.headers, "location": location, "content-length": str(len(text))}
    return httpx.Response(answer.status_code, headers=changed, text=text)


@pytest.mark.process
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.command[-50:])
def test_examples_are_answered_as_shown(documented: Service, example: Example) -> None:
    response, given = curl(documented, example.command)
    body = example.answer
    assert (example.kind == "http") == (given.i or given.I)
    if example.kind == "http":
        head, _, body = example.answer.partition("\n\n")
        check_head(response, head.strip().splitlines())
    else:
        assert response.status_code == 200
    if example.kind == "markdown":
        assert response.text == body
    else:
        assert in_order(response.text) == in_order(body)


def check_head(response: httpx.Response, lines: list[str]) -> None:
    status = HTTPStatus(response.status_code)
    assert lines[0] == f"HTTP/1.1 {status.value} {status.phrase}"
    for line in lines[1:]:
        name, _, value = line.partition(": ")
        assert response.headers[name] == value


def in_order(text: str) -> Any:
    """Parse JSON into a value that depends on the order of keys."""
    return json.loads(text, object_pairs_hook=list) if text.strip() else None


def test_there_are_examples_of_all_operations_and_of_errors() -> None:
    commands = " ".join(example.command for example in EXAMPLES)
    lists = ("/maps?", "/search?", "/suggest?", "/facets?", "/categories")
    of_one = ("/maps/kL8mN2qS", "/outline.md", "/file", "/links", "/drawing.pdf")
    others = ("/users/me", *of_one, "/thumbnails/", "/images/")
    assert all(path in commands for path in (*lists, *others))
    shown = {example.answer.split()[1] for example in EXAMPLES if example.kind == "http"}
    assert shown == {"200", "201", "204", "304", "400", "401", "404", "405"}


def table_below(heading: str) -> list[list[str]]:
    """Return the rows of the first table below a heading, cell by cell."""
    section = DOCUMENT.split(f"\n{heading}\n", 1)[1]
    rows = re.findall(r"^\|(.*)\|$", section.split("\n#", 1)[0], re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in rows[2:]]


def names_in(heading: str, column: int = 0) -> list[str]:
    """Return the code spans in a column of a table."""
    return [name for row in table_below(heading) for name in re.findall("`(.*?)`", row[column])]


def test_every_parameter_is_documented_and_no_other() -> None:
    names = names_in("### Parameters")
    assert len(names) == len(set(names))
    assert set(names) == PARAMETERS


def test_bounds_and_defaults_are_documented() -> None:
    takes = {row[0].strip("`"): row for row in table_below("### Parameters")}
    assert f"0 to {MAXIMUM_LIMIT}" in takes["limit"][1]
    assert takes["limit"][2] == str(DEFAULT_LIMIT)
    assert f"0 to {MAXIMUM_OFFSET}" in takes["offset"][1]
    assert takes["offset"][2] == "0"
    assert f"{MAXIMUM_QUERY_LENGTH} characters" in takes["query"][1]
    assert takes["only_templates"][2] == "`false`"
    assert re.findall("`(.*?)`", takes["order_by"][1]) == list(ORDERS)
    when = {row[0]: row[3] for row in table_below("## Errors")}
    assert str(MAXIMUM_BODY) in when["413"]
    assert str(MAXIMUM_QUERY_STRING) in when["414"]


def test_every_order_and_field_is_documented_and_no_other() -> None:
    assert names_in("### Sort orders") == list(ORDERS)
    assert set(names_in("### The fields of a map")) == set(MAP_KEYS)
    assert all(f'"{key}"' in DOCUMENT for key in USER_KEYS)


def test_every_field_of_a_topic_is_documented_and_no_other() -> None:
    assert names_in("## GET /search") == list(COMPONENTS["schemas"]["Branch"]["properties"])


def test_every_format_is_documented_and_no_other() -> None:
    assert table_below("### Formats") == [
        [f"`{writer.suffix}`", writer.name, f"`{writer.media_type}`"] for writer in WRITERS
    ]


def test_every_size_and_theme_of_pictures_is_documented_and_no_other() -> None:
    rows = table_below("## GET /thumbnails/{ID}.png, /thumbnails/{ID}.svg")
    documented = {row[0].strip("`"): re.findall("`(.*?)`", row[1]) for row in rows}
    assert documented == {
        "w": list(map(str, WIDTHS)),
        "theme": list(THEMES),
        "source": list(SOURCES),
    }
    assert [row[2].strip("`") for row in rows] == [str(DEFAULT_WIDTH), LIGHT.name, DRAWN]


def test_every_parameter_of_drawings_is_documented_and_no_other() -> None:
    heading = "## GET /maps/{ID}/drawing.svg, .png, .pdf"
    assert names_in(heading) == list(DRAWING_PARAMETERS)
    assert heading.endswith(", ".join(f".{suffix}" for suffix in DRAWING_FORMATS))
    section = DOCUMENT.split(f"{heading}\n")[1].split("\n## ")[0]
    pixels, side = f"{MOST_PIXELS // 10**6} million pixels", f"{DRAWING_SIDE:,} on a side"
    pictures = f"{MOST_PICTURES} pictures, each at most {PICTURE_WIDTH} pixels"
    text = " ".join(section.split())
    assert all(limit in text for limit in (pixels, side, pictures, f"{LONGEST_TEXT:,} characters"))


def test_limits_of_searches_in_own_maps_are_documented() -> None:
    section = DOCUMENT.split("## GET /users/me/maps\n")[1].split("\n## ")[0]
    text = " ".join(section.split())
    assert f"up to {MOST_SEARCHED >> 20} MiB of outlines, titles and descriptions" in text
    assert {3.0: "at most three seconds"}[LONGEST_SEARCH] in text
    assert f"up to {MOST_TITLES:,} characters" in text


def test_the_time_for_finding_topics_is_documented() -> None:
    section = DOCUMENT.split("## GET /search\n")[1].split("\n## ")[0]
    text = " ".join(section.split())
    assert f"at most {API_BUDGET.seconds} seconds of processor time" in text


def test_every_width_of_pictures_in_topics_is_documented_and_no_other() -> None:
    ((name, values, default),) = table_below("## GET /maps/{ID}/images/{digest}.png")
    assert (name, default) == ("`w`", f"`{LARGEST_SIDE}`")
    assert re.findall("`(.*?)`", values) == list(map(str, IMAGE_WIDTHS))


def test_how_many_links_there_may_be_is_documented() -> None:
    section = DOCUMENT.split("## GET /maps/{ID}/links\n")[1].split("\n## ")[0]
    assert f"At most {MOST_LINKS:,} links" in section


def test_every_error_is_documented_and_no_other() -> None:
    rows = [tuple(cell.strip("`") for cell in row[:3]) for row in table_below("## Errors")]
    assert len(rows) == len(set(rows))
    assert set(rows) == {
        (str(row.status), str(row.code), row.identifier)
        for row in (*errors.TABLE.values(), errors.FAULT)
    }


@pytest.mark.slow
def test_every_header_is_documented_and_no_other() -> None:
    names = names_in("## Response headers")
    assert len(names) == len(set(names))
    assert set(names) == {*COMPONENTS["headers"], "Content-Type", "Content-Length", "Connection"}
