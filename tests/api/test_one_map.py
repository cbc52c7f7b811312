"""Requests for one map: the object, the outline in every format, the original file."""

import asyncio
import hashlib
import io
import json
import threading
import zipfile
import zlib
from collections.abc import Iterator
from email.message import Message
from time import process_time
from typing import Any, Final

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.api import map_detail as one_map
from mapshelf.api.content_disposition import attachment, sent_name
from mapshelf.formats.file_names import split_name
from mapshelf.formats.outline_codec import decode_outline, encode_outline
from mapshelf.model import MapDraft, Outline, Source
from mapshelf.writers import WRITERS
from tests.conftest import Serving
from tests.harness import Service, Shelf, outline_of, serve, shelf_with
from tests.writers.outlines import TEXTS, broad

ORIGINAL: Final = b"<map>" + bytes(range(256)) + b"</map>"
DIGEST: Final = hashlib.sha256(ORIGINAL).digest()
FILE: Final = Source(b"/maps/a.mm", "folder/Pl\xe4ne 1.mm", len(ORIGINAL), 1, DIGEST)
OUTLINE: Final = outline_of("Plan", "one", "two")

FULL: Final = MapDraft(
    id="Q7xK2mZp", title='Plan "A"/\u202eb\u65e5', source=FILE, outline=OUTLINE,
    content=zlib.compress(ORIGINAL),
)  # fmt: skip
BARE: Final = MapDraft(id="Bare0000", title="Bare")
OUTLINES: Final = [f"/maps/Q7xK2mZp/outline.{writer.suffix}" for writer in WRITERS]
PATHS: Final = ["/maps/Q7xK2mZp", "/maps/Q7xK2mZp/file", *OUTLINES]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A shared service: do not change it."""
    with shelf_with(tmp_path_factory.mktemp("one"), FULL, BARE) as shelf, serve(shelf) as running:
        yield running


def refused(response: httpx.Response) -> tuple[int, str, str]:
    body = response.json()
    assert response.status_code == body["code"]
    return body["code"], body["error"], body["error_description"]


def test_a_map_is_the_object_that_lists_show(service: Service) -> None:
    listed = {found["ID"]: found for found in service.maps().json()}
    for public_id, found in listed.items():
        response = service.get(f"/maps/{public_id}")
        assert response.content in service.maps().content
        assert response.json() == found
        assert response.headers["Content-Type"] == "application/json"
        assert "Content-Disposition" not in response.headers


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.suffix)
def test_an_outline_is_the_output_of_its_writer(service: Service, writer: Any) -> None:
    response = service.get(f"/maps/Q7xK2mZp/outline.{writer.suffix}")
    assert response.content == writer.write(decode_outline(OUTLINE))
    assert response.headers["Content-Type"] == writer.media_type
    assert saved_as(response) == f"Plan A b\u65e5.{writer.suffix}"


def test_a_file_is_the_one_that_was_imported(service: Service) -> None:
    response = service.get("/maps/Q7xK2mZp/file")
    assert response.content == ORIGINAL
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert response.headers["ETag"] == f'"{DIGEST.hex()}"'
    assert saved_as(response) == "Pl\xe4ne 1.mm"


@pytest.mark.parametrize("path", PATHS)
def test_responses_may_be_cached_but_must_be_revalidated(service: Service, path: str) -> None:
    response = service.get(path)
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert response.headers["Vary"] == "Authorization, Accept-Encoding"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "Content-Disposition" in response.headers["Access-Control-Expose-Headers"]
    known = service.get(path, If_None_Match=response.headers["ETag"])
    assert (known.status_code, known.content) == (304, b"")
    assert known.headers["ETag"] == response.headers["ETag"]
    head = service.request("HEAD", path)
    assert head.content == b""
    assert head.headers["Content-Length"] == str(len(response.content))
    assert {**head.headers, "x-request-id": ""} == {**response.headers, "x-request-id": ""}


@pytest.mark.parametrize("path", PATHS)
def test_the_token_comes_before_the_map_and_after_address_and_method(
    service: Service, path: str
) -> None:
    for asked in (path, path.replace("Q7xK2mZp", "unknown0")):
        assert service.request("GET", asked, signed=False).status_code == 401
        assert service.request("POST", asked, signed=False).status_code == 405
        assert service.request("OPTIONS", asked, signed=False).status_code == 204
        assert service.request("GET", f"{asked}/x", signed=False).status_code == 404


@pytest.mark.parametrize("path", PATHS)
def test_other_ids_are_not_found(service: Service, path: str) -> None:
    others = ("unknown0", "q7xk2mzp", "Q7xK2mZ", "Q7xK2mZp0", "%20", "%C3%A9", "%00", "1", "..")
    for public_id in others:
        response = service.get(path.replace("Q7xK2mZp", public_id))
        assert refused(response)[:2] == (404, "not_found")


ELSEWHERE: Final = [
    "/maps/Q7xK2mZp/",
    "/maps/Q7xK2mZp/outline",
    "/maps/Q7xK2mZp/outline.",
    "/maps/Q7xK2mZp/outline.pdf",
    "/maps/Q7xK2mZp/outline.MD",
    "/maps/Q7xK2mZp/outlinexmd",
    "/maps/Q7xK2mZp/outline.md/",
    "/maps/Q7xK2mZp/outline.md%0A",
    "/maps/Q7xK2mZp/file.mm",
    "/maps//file",
    "/maps/a/b/file",
]


def test_other_addresses_of_a_map_are_not_found(service: Service) -> None:
    missing = (404, "not_found", "There is nothing at this address.")
    for path in ELSEWHERE:
        assert refused(service.request("GET", path, signed=False)) == missing


def test_missing_files_and_outlines_are_not_found(service: Service) -> None:
    assert service.get("/maps/Bare0000").status_code == 200
    for writer in WRITERS:
        answer = refused(service.get(f"/maps/Bare0000/outline.{writer.suffix}"))
        assert answer == (404, "not_found", "This map has no outline.")
    answer = refused(service.get("/maps/Bare0000/file"))
    assert answer == (404, "not_found", "The file of this map is not kept here.")


def test_a_deleted_map_is_not_found_even_if_lists_still_have_it(
    shelf: Shelf, live: Service
) -> None:
    shelf.put(FULL)
    shelf.publish()
    live.wait_until(lambda: live.get("/maps/Q7xK2mZp").status_code == 200)
    shelf.store.delete_maps(["Q7xK2mZp"])
    for path in PATHS[1:]:
        assert refused(live.get(path))[:2] == (404, "not_found")
    shelf.publish()
    live.wait_until(lambda: live.get("/maps/Q7xK2mZp").status_code == 404)


def test_an_edited_map_gets_another_etag(shelf: Shelf, live: Service) -> None:
    shelf.put(FULL)
    shelf.publish()
    live.wait_until(lambda: live.get("/maps/Q7xK2mZp").status_code == 200)
    before = {path: live.get(path).headers["ETag"] for path in PATHS}
    assert len(set(before.values())) == len(PATHS)
    other = Source(FILE.path, FILE.name, 3, 2, hashlib.sha256(b"new").digest())
    shelf.put(
        MapDraft(
            title="Other", source=other, outline=outline_of("New"), content=zlib.compress(b"new")
        )
    )
    shelf.publish()
    live.wait_until(lambda: live.get("/maps/Q7xK2mZp").json()["Title"] == "Other")
    for path, etag in before.items():
        response = live.get(path, If_None_Match=etag)
        assert response.status_code == 200
        assert response.headers["ETag"] != etag
    assert live.get("/maps/Q7xK2mZp/file").content == b"new"


def test_damage_in_the_store_is_a_server_error(serving: Serving) -> None:
    service = serving(
        MapDraft(id="broken00", title="t", source=FILE, outline=b"x", content=b"not zlib")
    )
    for path in ("outline.md", "file"):
        response = service.get(f"/maps/broken00/{path}")
        assert refused(response) == (500, "server_error", "Something went wrong on our side.")


def test_other_requests_are_answered_while_an_outline_is_made(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event loop goes on, however long that takes."""
    started, go_on = threading.Event(), threading.Event()

    def slowly(data: bytes) -> Outline:
        started.set()
        assert go_on.wait(10)
        return decode_outline(data)

    monkeypatch.setattr(one_map, "decode_outline", slowly)
    service = serving(FULL)

    async def ask() -> tuple[httpx.Response, list[httpx.Response]]:
        headers = service.authorization()
        slow = asyncio.ensure_future(service.client.get(OUTLINES[0], headers=headers))
        while not started.is_set():
            await asyncio.sleep(0.01)
        others = [
            await service.client.get(path, headers=headers)
            for path in ("/maps", "/users/me", "/maps/Q7xK2mZp")
        ]
        assert not slow.done()
        go_on.set()
        return await slow, others

    slow, others = service.run(ask())
    assert {response.status_code for response in (slow, *others)} == {200}


@pytest.mark.slow
def test_the_largest_map_can_be_downloaded(serving: Serving) -> None:
    service = serving(
        MapDraft(id="large000", title="t", outline=encode_outline(broad(20_000, 256)))
    )
    for path in OUTLINES:
        response = service.get(path.replace("Q7xK2mZp", "large000"))
        content = response.content
        if path.endswith(".xmind"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = archive.read("content.json")
        assert content.count(b"topic 1999") >= 10
    found = json.loads(service.get("/maps/large000/outline.json").content)
    assert found["sheets"][0]["root"]["text"] == "root"


# -- names ----------------------------------------------------------------------------------------


def saved_as(response: httpx.Response) -> str:
    return parsed(response.headers["Content-Disposition"])


def parsed(header: str) -> str:
    """Return the whole file name in a header, read by the standard library."""
    message = Message()
    message["Content-Disposition"] = f"attachment; {header[header.rindex('filename*=') :]}"
    assert header.startswith('attachment; filename="')
    name = message.get_filename()
    assert name
    return name


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("attachment; filename=plan.mm", "plan.mm"),
        ('attachment; filename="a;b \\"c\\".mm"; size=3', 'a;b "c".mm'),
        ("attachment; filename=\"_.mm\"; filename*=UTF-8''%C3%A4.mm", "ä.mm"),
        ("attachment; FileName = plan.mm ; x=y", "plan.mm"),
        ('attachment; x="filename=no.mm"; filename=plan.mm', "plan.mm"),
        ('attachment; filename="/etc/pass\\\\wd', "wd"),
        ("attachment; filename*=iso-8859-1'de'%E4.mm", "ä.mm"),
        # The standard library's parser fails on these.
        ("attachment; filename*=a; filename*0=b", ""),
        (f"attachment; filename*{'9' * 5000}=b", ""),
        ("attachment; filename*=undefined''a; filename=plan.mm", "plan.mm"),
        ("attachment; filename*=idna''a%ff", ""),
        ("", ""),
    ],
)
def test_file_names_in_requests(header: str, name: str) -> None:
    assert sent_name(header.encode()) == name


@pytest.mark.parametrize("repeated", [";", '";"', '\\";', ';a="', "; ", ";a=b"])
def test_a_hostile_header_is_read_quickly(repeated: str) -> None:
    """The standard library's parser takes seconds, during which a worker would not answer."""
    header = b'attachment; filename="' + repeated.encode() * (60_000 // len(repeated))
    began = process_time()
    sent_name(header)
    assert process_time() - began < 0.3


@pytest.mark.parametrize(
    ("stem", "suffix", "name", "plain"),
    [
        ("Plan", "md", "Plan.md", "Plan.md"),
        ("Débuter aux échecs", "mm", "Débuter aux échecs.mm", "Debuter aux echecs.mm"),
        ("はじめての山歩き", "txt", "はじめての山歩き.txt", "map.txt"),
        ("../../etc/passwd", "md", "etc passwd.md", "etc passwd.md"),
        ('..\\..\\a:b*c?d|e<f>g"h', "md", "a b c d e f g h.md", "a b c d e f g h.md"),
        ("a\r\nX-Evil: 1\x00", "md", "a X-Evil 1.md", "a X-Evil 1.md"),
        ("gnp.\u202eexe", "md", "gnp. exe.md", "gnp. exe.md"),
        ("100% \ud800;", "md", "100% ;.md", "100_ ;.md"),
        ("CON", "md", "_CON.md", "_CON.md"),
        ("nul.tar", "md", "_nul.tar.md", "_nul.tar.md"),
        (" . ", "md", "map.md", "map.md"),
        ("", "", "map", "map"),
        ("x" * 500, "md", "x" * 150 + ".md", "x" * 150 + ".md"),
        ("é" * 500, "md", "é" * 75 + ".md", "e" * 75 + ".md"),
        ("a", "h t/m", "a", "a"),
    ],
)
def test_names_of_downloads(stem: str, suffix: str, name: str, plain: str) -> None:
    header = attachment(stem, suffix).decode("ascii")
    assert f'filename="{plain}"' in header
    assert parsed(header) == name


@given(stem=TEXTS | st.text(), suffix=st.sampled_from(["md", "", "é", "a/b"]))
def test_any_download_name_is_safe(stem: str, suffix: str) -> None:
    header = attachment(stem, suffix).decode("ascii")
    assert header.isprintable()
    assert header.count('"') == 2
    name = parsed(header)
    assert not set(name) & set('/\\:*?"<>|\0\r\n')
    assert name.strip(" ") == name
    assert not name.startswith(".")
    assert 0 < len(name.encode()) <= 160


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a.mm", ("a", "mm")),
        ("a.mm.md", ("a.mm", "md")),
        ("a", ("a", "")),
        ("", ("", "")),
        (".mm", ("", "mm")),
        ("v1. new", ("v1. new", "")),
        ("a.", ("a.", "")),
    ],
)
def test_file_names_are_split(name: str, parts: tuple[str, str]) -> None:
    assert split_name(name) == parts
