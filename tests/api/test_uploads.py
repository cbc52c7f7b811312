"""Uploading map files over HTTP: formats, refusals, repeated uploads, versions and quotas."""

import asyncio
import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from PIL import Image

from mapshelf.api import uploads
from mapshelf.api.quotas import check_quotas, check_restored
from mapshelf.errors import Forbidden, TooManyUploads
from mapshelf.model import HOUR, MAP_KEYS, Usage
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.settings import Settings
from tests.api import openapi
from tests.api.publishing import ADMINISTRATOR, OTHER, OWNER, People, plan
from tests.harness import BASE_URL, Service, Shelf, copied_shelf, shelf_with
from tests.readers.hostile import hostile_readers
from tests.readers.samples import archive, archive_of, as_file, freemind, xmind_xml

pytestmark = pytest.mark.process

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
FILES: Final = sorted(
    path for folder in EXAMPLES.iterdir() if folder.is_dir() for path in folder.iterdir()
)
MAPS: Final = [path for path in FILES if path.suffix != ".txt"]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("uploads")) as shelf:
        yield shelf


@pytest.fixture(scope="module")
def people(shelf: Shelf) -> Iterator[People]:
    settings = replace(shelf.settings, uploads_per_hour=1_000_000)
    with Service(settings, "") as service:
        yield People(shelf, service)


def count(people: People, name: str = OWNER) -> int:
    """Return how many uploaded maps a user has in the store."""
    return people.shelf.store.usage(user_id(people, name)).maps


def user_id(people: People, name: str) -> int:
    return next(user.id for user in people.shelf.store.users() if user.name == name)


def versions(people: People, public_id: str) -> list[dict[str, Any]]:
    answer = people.get(OWNER, f"/maps/{public_id}/versions")
    openapi.check(answer)
    found: list[dict[str, Any]] = answer.json()
    return found


# -- accepted uploads ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", MAPS, ids=lambda path: path.name)
def test_every_format_is_published(people: People, path: Path) -> None:
    content = path.read_bytes()
    answer = people.upload(OWNER, content, file_name=path.name, title="Sent")
    openapi.check(answer)
    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert tuple(found) == (*MAP_KEYS, "url", "map")
    assert (found["Title"], found["Owner"]) == ("Sent", OWNER)
    assert found["url"] == found["map"] == found["URL"]
    address = answer.headers["Location"].removeprefix(BASE_URL)
    assert people.get(OTHER, address).json() == {name: found[name] for name in MAP_KEYS}
    assert people.get(OTHER, f"{address}/file").content == content
    assert len(people.get(OTHER, f"{address}/outline.txt").text.splitlines()) > 1


def test_missing_fields_are_taken_from_the_file(people: People) -> None:
    answer = people.upload(OWNER, plan("one", "two"), description="").json()
    assert (answer["Title"], answer["Description"]) == ("Plan", "")
    answer = people.upload(OWNER, plan("one", "two", "three"), title="", category="").json()
    assert (answer["Title"], answer["Description"]) == ("Plan", "one, two, three")


def test_all_fields_can_be_sent_with_the_file(people: People) -> None:
    said = {"title": "T", "description": "two\r\nlines", "category": "Science", "licence": "3"}
    more = {"tags": "a, b", "template": "true", "visibility": "unlisted"}
    answer = people.upload(OWNER, plan("all"), **said, **more)
    found = answer.json()
    assert (found["Title"], found["Description"]) == ("T", "two\nlines")
    assert (found["CategoryID"], found["LicenceTypeID"]) == ("21", "3")
    kept = people.shelf.store.find_map(found["ID"])
    assert kept is not None
    assert (kept.tags, kept.template, kept.visibility.value) == (("a", "b"), True, "unlisted")


def test_the_desktop_client_is_understood_byte_by_byte(people: People) -> None:
    """An upload of XMind 3.6.1: a bare token, and a form with a charset on every part."""
    file = archive(content__xml=xmind_xml("<title>Заметки</title>"), Thumbnails___thumbnail__png="")
    boundary = "-0aZ_8" + "q" * 30 + "-"
    text = (
        "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\nЗаметки"
    )
    parts = [
        f'Content-Disposition: form-data; name="{name}"\r\n{text}'.encode()
        for name in ("title", "description")
    ]
    parts.append(
        b'Content-Disposition: form-data; name="map"; '
        b'filename="4k2m9x7c1v5b3n8a6s0d2f4g6h.xmind"\r\n'
        b"Content-Type: application/octet-stream; charset=utf-8\r\n"
        b"Content-Transfer-Encoding: binary\r\n\r\n" + file
    )
    opening = f"--{boundary}\r\n".encode()
    body = b"".join(opening + part + b"\r\n" for part in parts) + f"--{boundary}--\r\n".encode()
    headers = {
        "Accept": "application/json",
        "X-Client-ID": "xmind_v3.4.1",
        "User-Agent": "Java/1.8.0_101",
        "Authorization": people.tokens[OWNER],
        "Content-Type": f"multipart/form-data; boundary={boundary}",
    }
    seen = []
    for _ in range(2):  # Java repeats the request when the connection breaks
        answer = people.send("", "POST", "/maps", content=body, headers=headers)
        assert answer.headers["content-type"] == "application/json"
        assert "content-encoding" not in answer.headers
        seen.append(answer.json())
    assert seen[0] == seen[1]
    assert (seen[0]["Title"], seen[0]["Description"]) == ("Заметки", "Заметки")
    assert seen[0]["url"].startswith("https://maps.example.org/mindmaps/")
    assert "_code" not in seen[0]


# -- refused uploads -----------------------------------------------------------------------------


def many_topics() -> bytes:
    return freemind('<node TEXT="a">' + '<node TEXT="b"/>' * 100_001 + "</node>")


def bomb() -> bytes:
    return archive_of({"content.xml": b" " * (65 << 20)})


REFUSED: Final[dict[str, tuple[bytes | Callable[[], bytes], int]]] = {
    "nothing": (b"", 415),
    "text": (b"Just words about something.", 415),
    "a page": (b"<!doctype html><html><body>words</body></html>", 415),
    "a picture": (base64.b64decode(b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"), 415),
    "cut short": (plan("a")[:-20], 422),
    "a broken archive": (b"PK\x03\x04" + b"x" * 100, 422),
    "an entity": (b'<!DOCTYPE m [<!ENTITY a "b">]><map><node TEXT="&a;"/></map>', 422),
    "too many topics": (many_topics, 413),
    "a bomb": (bomb, 413),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_upload_has_a_reason_and_leaves_nothing(people: People, name: str) -> None:
    file, status = REFUSED[name]
    content = file if isinstance(file, bytes) else file()
    before = count(people), people.shelf.store.revision()
    answer = people.upload(OWNER, content, title="Refused")
    openapi.check(answer)
    assert answer.status_code == status, answer.text
    reason = answer.json()["error_description"]
    assert reason.isprintable()
    assert reason.startswith("The file is refused: ")
    assert reason.endswith(".")
    assert (count(people), people.shelf.store.revision()) == before


@pytest.mark.parametrize("act", ["segfault", "killed", "leave", "swallow", "spin", "mistake"])
def test_a_file_that_kills_the_child_fails_only_its_upload(
    people: People, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = replace(Limits(), cpu_seconds=1, wall_seconds=10.0)
    context = people.service.application.application.context
    evil = SandboxedReader(1, limits, hostile_readers)
    with evil, monkeypatch.context() as patch:
        patch.setattr(context.upload_reader.quick, "reader", evil)
        patch.setattr(context.upload_reader.slow, "reader", evil)
        answer = people.upload(OWNER, f"!{act}".encode(), title="Evil")
        openapi.check(answer)
        assert answer.status_code == (413 if act == "swallow" else 422)
        assert people.upload(OWNER, plan("after", act), title="Good").status_code == 201


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"title": "x" * 501}, "title"),
        ({"category": "99"}, "category"),
        ({"visibility": "secret"}, "visibility"),
        ({"template": "perhaps"}, "template"),
    ],
)
def test_invalid_fields_are_refused(people: People, fields: dict[str, str], named: str) -> None:
    before = count(people)
    answer = people.upload(OWNER, plan("said", named), **fields)
    openapi.check(answer)
    assert answer.status_code == 400
    assert named in answer.json()["error_description"]
    assert count(people) == before


def test_a_form_without_a_file_is_refused(people: People) -> None:
    for files in ({"other": ("a.mm", plan("a"))}, {"title": (None, b"Plan")}):
        answer = people.send(OWNER, "POST", "/maps", files=files)
        openapi.check(answer)
        assert answer.status_code == 400
    as_text = people.send(OWNER, "POST", "/maps", content=b"x", headers={"Content-Type": "a/b"})
    openapi.check(as_text)
    assert as_text.status_code == 415


def test_a_file_over_the_limit_is_413(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LIMITS", replace(uploads.LIMITS, file=1000))
    answer = people.upload(OWNER, plan("x" * 1000))
    openapi.check(answer)
    assert answer.status_code == 413


# -- repeated uploads ----------------------------------------------------------------------------


def test_the_same_file_or_key_returns_the_existing_map(people: People) -> None:
    first = people.upload(OWNER, plan("again"), title="First", key="k-1")
    before = count(people), people.shelf.store.revision()
    for content, key in ((plan("again"), "k-1"), (plan("again"), ""), (plan("other"), "k-1")):
        answer = people.upload(OWNER, content, title="Second", key=key)
        openapi.check(answer)
        assert (answer.status_code, answer.json()) == (200, first.json())
        assert answer.headers["Location"] == first.headers["Location"]
    assert (count(people), people.shelf.store.revision()) == before
    other = people.upload(OTHER, plan("again"), title="Second", key="k-1")
    assert other.status_code == 201
    assert other.json()["ID"] != first.json()["ID"]


@pytest.mark.parametrize("key", ["a b", "x" * 256, "\xe9"])
def test_a_malformed_idempotency_key_is_refused(people: People, key: str) -> None:
    headers = {b"Idempotency-Key": key.encode("latin-1")}
    answer = people.send(
        OWNER, "POST", "/maps", headers=headers, files={"map": ("a.mm", plan("key"))}
    )
    openapi.check(answer)
    assert answer.status_code == 400


def test_simultaneous_equal_uploads_make_one_map(people: People, shelf: Shelf) -> None:
    """Two workers get the same upload at the same moment: here, two services of one store."""

    async def send(service: Service, number: int) -> httpx.Response:
        headers = {"Authorization": f"Bearer {people.tokens[OWNER]}", "Idempotency-Key": "race"}
        files = {"map": ("a.mm", plan("race", *(["more"] * (number % 2))))}
        return await service.client.post("/maps", headers=headers, files=files)

    before = count(people)
    settings = replace(shelf.settings, uploads_per_hour=1_000_000)
    with Service(settings, "") as another:

        async def race(service: Service) -> list[httpx.Response]:
            return await asyncio.gather(*(send(service, number) for number in range(4)))

        with ThreadPoolExecutor(2) as pool:
            services = (people.service, another)
            racing = [pool.submit(service.run, race(service)) for service in services]
        answers = [answer for one in racing for answer in one.result()]
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.json()["ID"] for answer in answers}) == 1
    assert count(people) == before + 1


# -- versions ------------------------------------------------------------------------------------


def test_a_file_is_replaced_and_restored(people: People) -> None:
    public_id = people.published(OWNER, plan("v1"), title="Versions", description="said")
    path = f"/maps/{public_id}"
    form = people.send(OWNER, "PUT", f"{path}/file", files={"map": ("second.mm", plan("v2"))})
    openapi.check(form)
    assert form.status_code == 200
    assert (form.json()["Title"], form.json()["Description"]) == ("Versions", "said")
    raw = {
        "Content-Type": "application/octet-stream",
        "Content-Disposition": "attachment; filename*=UTF-8''dritte%20%C3%A4.mm",
    }
    third = people.send(OWNER, "PUT", f"{path}/file", content=plan("v3"), headers=raw)
    openapi.check(third)
    again = people.send(OWNER, "PUT", f"{path}/file", content=plan("v3"), headers=raw)
    assert again.json() == third.json()
    assert [
        (one["number"], one["name"], one["current"]) for one in versions(people, public_id)
    ] == [
        (3, "dritte ä.mm", True),
        (2, "second.mm", False),
        (1, "plan.mm", False),
    ]
    assert "v3" in people.get(OTHER, f"{path}/outline.md").text
    restored = people.send(OWNER, "POST", f"{path}/versions/1/restore")
    openapi.check(restored)
    assert people.get(OTHER, f"{path}/file").content == plan("v1")
    assert "v1" in people.get(OTHER, f"{path}/outline.md").text
    newest = versions(people, public_id)[0]
    assert (newest["number"], newest["name"], newest["created_by"]) == (4, "plan.mm", OWNER)
    assert newest["sha256"] == hashlib.sha256(plan("v1")).hexdigest()
    for number in ("9", "999999999"):
        missing = people.send(OWNER, "POST", f"{path}/versions/{number}/restore")
        openapi.check(missing)
        assert missing.status_code == 404
    assert people.send(OWNER, "POST", f"{path}/versions/0/restore").status_code == 404


def test_a_bad_file_does_not_replace_a_good_one(people: People) -> None:
    public_id = people.published(OWNER, plan("good"), title="Kept")
    before = versions(people, public_id)
    for content, status in ((b"words", 415), (plan("a")[:-20], 422)):
        answer = people.send(
            OWNER, "PUT", f"/maps/{public_id}/file", files={"map": ("a.mm", content)}
        )
        openapi.check(answer)
        assert answer.status_code == status
    assert versions(people, public_id) == before


# -- quotas --------------------------------------------------------------------------------------


def test_quotas(tmp_path: Path) -> None:
    with copied_shelf(tmp_path) as own:
        few = replace(own.settings, quota_maps=2, uploads_per_hour=3)
        with Service(few, "") as service:
            people = People(own, service)
            first = people.published(OWNER, plan("1"))
            people.published(OWNER, plan("2"))
            full = people.upload(OWNER, plan("3"))
            openapi.check(full)
            assert (full.status_code, full.json()["error"]) == (403, "forbidden")
            assert people.upload(OWNER, plan("2")).status_code == 200, (
                "the same file is not a new map"
            )
            file = {"map": ("a.mm", plan("4"))}
            assert people.send(OWNER, "PUT", f"/maps/{first}/file", files=file).status_code == 200
            people.send(OWNER, "DELETE", f"/maps/{first}")
            fast = people.upload(OWNER, plan("5"))
            openapi.check(fast)
            assert (fast.status_code, fast.json()["error"]) == (429, "rate_limited")
            assert 3500 < int(fast.headers["retry-after"]) <= 3600
            for number in range(5):
                people.published(ADMINISTRATOR, plan("of an administrator", str(number)))
            assert people.upload(OTHER, plan("5")).status_code == 201


def test_refused_files_count_in_the_quota(tmp_path: Path) -> None:
    with copied_shelf(tmp_path) as own:
        few = replace(own.settings, uploads_per_hour=2)
        with Service(few, "") as service:
            people = People(own, service)
            for status in (415, 415, 429):
                answer = people.upload(OWNER, b"no map")
                openapi.check(answer)
                assert answer.status_code == status, answer.text
            assert people.upload(OWNER, plan("a good one")).status_code == 429
            assert people.upload(OTHER, plan("of another")).status_code == 201


def test_uploads_at_the_same_moment_do_not_overshoot_a_quota(tmp_path: Path) -> None:
    with copied_shelf(tmp_path) as own:
        few = replace(own.settings, quota_maps=3)
        with Service(few, "") as first, Service(few, "") as second:
            token = People(own, first).tokens[OWNER]

            async def race(service: Service, name: str) -> list[int]:
                sending = (
                    service.client.post(
                        "/maps",
                        headers={"Authorization": f"Bearer {token}"},
                        files={"map": ("a.mm", plan(f"{name} {number}"))},
                    )
                    for number in range(4)
                )
                return [answer.status_code for answer in await asyncio.gather(*sending)]

            with ThreadPoolExecutor(2) as pool:
                races = [
                    pool.submit(service.run, race(service, name))
                    for service, name in ((first, "a"), (second, "b"))
                ]
            statuses = [status for one in races for status in one.result()]
    assert sorted(statuses) == [201] * 3 + [403] * 5


def test_uploads_can_be_turned_off(people: People, shelf: Shelf) -> None:
    public_id = people.published(OWNER, plan("off"), title="Off")
    with Service(replace(shelf.settings, uploads=False), "") as service:
        closed = People(shelf, service)
        for answer in (
            closed.upload(OWNER, plan("x")),
            closed.send(OWNER, "PUT", f"/maps/{public_id}/file", files={"map": ("a", plan("x"))}),
        ):
            openapi.check(answer)
            assert answer.status_code == 403
        assert closed.edit(OWNER, public_id, title="Still").status_code == 200


def test_restoring_versions_does_not_bypass_quotas(tmp_path: Path) -> None:
    with copied_shelf(tmp_path) as own:
        few = replace(own.settings, quota_maps=1, uploads_per_hour=4)
        with Service(few, "") as service:
            people = People(own, service)
            first = people.published(OWNER, plan("1"))
            people.send(OWNER, "DELETE", f"/maps/{first}")
            second = people.published(OWNER, plan("2"))
            back = people.send(OWNER, "POST", f"/maps/{first}/restore")
            openapi.check(back)
            assert (back.status_code, back.json()["error"]) == (403, "forbidden")
            assert people.get(OWNER, f"/maps/{first}").status_code == 404
            file = {"map": ("a.mm", plan("3"))}
            assert people.send(OWNER, "PUT", f"/maps/{second}/file", files=file).status_code == 200
            again = f"/maps/{second}/versions/{{}}/restore"
            assert people.send(OWNER, "POST", again.format(1)).status_code == 200
            fast = people.send(OWNER, "POST", again.format(2))
            openapi.check(fast)
            assert fast.status_code == 429, "its file is read again, like any upload"
            assert people.send(OWNER, "POST", again.format(3)).status_code == 200, (
                "this version is current already"
            )
            assert people.send(ADMINISTRATOR, "POST", again.format(2)).status_code == 200


def test_pictures_count_in_the_quota_of_bytes(tmp_path: Path) -> None:
    """A file of two kilobytes may contain half a megabyte of pictures."""

    def painted(colour: str) -> bytes:
        picture = as_file(Image.new("RGB", (400, 400), colour), "BMP")
        topic = {"title": colour, "image": {"src": "xap:resources/a.bmp"}}
        content = json.dumps([{"rootTopic": topic}])
        return archive_of({"content.json": content, "resources/a.bmp": picture})

    assert len(painted("red")) < 5000
    with copied_shelf(tmp_path) as own:
        few = replace(own.settings, quota_megabytes=1)
        with Service(few, "") as service:
            people = People(own, service)
            ids = [people.published(OWNER, painted(colour)) for colour in ("red", "green")]
            assert own.store.usage(user_id(people, OWNER)).size > 2 * 400 * 400 * 3
            full = people.upload(OWNER, painted("blue"))
            openapi.check(full)
            assert (full.status_code, full.json()["error"]) == (403, "forbidden")
            assert count(people) == 2
            file = {"map": ("a.xmind", painted("blue"))}
            path = f"/maps/{ids[0]}/file"
            assert people.send(OWNER, "PUT", path, files=file).status_code == 200, (
                "a new file replaces the old one in the quota"
            )
            assert people.upload(OWNER, plan("a small one")).status_code == 201


def test_what_quotas_count(tmp_path: Path) -> None:
    settings = Settings(
        data=tmp_path,
        database="",
        base_url="",
        quota_maps=3,
        quota_megabytes=1,
        uploads_per_hour=2,
    )
    now = 10 * HOUR
    check_quotas(settings, Usage(2, 0, 1, now - 5), 1 << 20, now, new=True)
    check_quotas(settings, Usage(3, 0, 1, now - 5), 1 << 20, now, new=False)
    check_quotas(settings, Usage(0, 0, 0, None, removed=1 << 20), 1 << 20, now, new=True)
    check_quotas(settings, Usage(1, 0, 0, None, removed_maps=4), 1, now, new=True)
    check_restored(settings, Usage(3, 1 << 20, 9, now))
    for usage in (Usage(4, 0, 0, None), Usage(1, (1 << 20) + 1, 0, None)):
        with pytest.raises(Forbidden):
            check_restored(settings, usage)
    for usage, size in (
        (Usage(3, 0, 0, None), 1),
        (Usage(0, 1, 0, None), 1 << 20),
        (Usage(0, 0, 0, None, removed=(1 << 20) + 1), 1 << 20),
        (Usage(1, 0, 0, None, removed_maps=5), 1),
    ):
        with pytest.raises(Forbidden):
            check_quotas(settings, usage, size, now, new=True)
    for first, seconds in ((now - HOUR + 1500, 2), (now - HOUR + 1, 1), (now, 3600)):
        with pytest.raises(TooManyUploads) as caught:
            check_quotas(settings, Usage(0, 0, 2, first), 1, now, new=True)
        assert caught.value.retry_after == seconds


def test_a_new_file_of_a_hidden_map_is_never_shown(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Until the next snapshot, readers still see the map, and its outline comes from the store.
    public_id = people.published(OWNER, plan("for everybody"), title="Open")
    people.shelf.publish()
    people.service.wait_until(lambda: "Open" in people.get(OTHER, "/maps?query=open").text)
    assert people.edit(OWNER, public_id, visibility="private").status_code == 200
    monkeypatch.setattr("mapshelf.api.visible_maps.HIDDEN_WITHIN", 0.1)
    file = {"map": ("a.mm", plan("for nobody"))}
    path = f"/maps/{public_id}"
    refused = people.send(OWNER, "PUT", f"{path}/file", files=file)
    openapi.check(refused)
    assert refused.status_code == 503
    monkeypatch.undo()
    people.shelf.publish()
    assert people.send(OWNER, "PUT", f"{path}/file", files=file).status_code == 200
    assert people.get(OTHER, f"{path}/outline.txt").status_code == 404
    assert people.send(OWNER, "POST", f"{path}/versions/1/restore").status_code == 200
