"""Exporting an account: it has all data of the user, and none of others."""

import asyncio
import io
import json
import os
import threading
import time
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from mapshelf.accounts import data_export
from mapshelf.api import exports
from mapshelf.model import (
    CollectionDetails,
    MapDetails,
    MapDraft,
    Passkey,
    Reason,
    UploadedFile,
    Visibility,
    Vote,
)
from tests.harness import BASE_URL, Service, Shelf
from tests.person import PASSWORD, Person, Start, member, user_named
from tests.store.drafts import upload as draft_of

PAGE = "/account/export"

PATIENCE = 10.0


def upload(text: str) -> UploadedFile:
    made = draft_of(text)
    return replace(made, content=zlib.compress(text.encode() * 50), size=50 * len(text))


def exported(person: Person) -> httpx.Response:
    answer = person.fill(PAGE)
    assert answer.status_code == 200
    return answer


def unpacked(answer: httpx.Response) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        assert packed.testzip() is None
        return {name: packed.read(name) for name in packed.namelist()}


def lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


def fill(shelf: Shelf, name: str) -> None:
    """Let a user do something of every kind; every text contains the name of the user."""
    store, user = shelf.store, user_named(shelf, name)
    for visibility in (Visibility.PUBLISHED, Visibility.PRIVATE, Visibility.PUBLISHED):
        file = upload(f"{name} {len(store.maps_of(user.id, 0, 10))}")
        details = MapDetails(title=f"Map of {name}", visibility=visibility)
        found, _ = store.publish(file, details, user.id, None)
    store.remove_map(found.file_id, user.id)
    first = store.maps_of(user.id, 0, 1)[0]
    store.replace_file(first.file_id, upload(f"{name} again"), user.id)
    store.put_maps([MapDraft(id=f"x{name}", title="x")])
    voted = store.find_map(f"x{name}")
    assert voted
    store.set_vote(voted.file_id, user.id, Vote.UP)
    store.report_map(voted.file_id, user.id, Reason.SPAM, f"Note of {name}")
    others = store.add_user(f"other of {name}").id
    theirs = store.add_collection(others, CollectionDetails("Theirs"), []).id
    store.report_collection(theirs, user.id, Reason.SPAM, f"Collected by {name}")
    store.save_search(user.id, f"Search of {name}", "query=a+b")
    said = CollectionDetails(f"Collection of {name}", f"Text of {name}")
    store.add_collection(user.id, said, [voted.file_id])
    shelf.token(name)


def test_an_export_has_all_data_of_the_user_and_none_of_others(site: Service, shelf: Shelf) -> None:
    ann, bob = member(site, shelf, "ann"), member(site, shelf, "bob")
    for name in ("ann", "bob"):
        fill(shelf, name)
    ann.fill("/account/tokens", name="Token of ann", scope="maps", days="30")
    bob.fill("/account/tokens", name="Token of bob", scope="maps", days="30")
    Person(site, "203.0.113.66").sign_in("ann", "not the password")
    answer = exported(ann)
    assert answer.headers["Content-Type"] == "application/zip"
    assert answer.headers["Cache-Control"] == "no-store"
    assert 'filename="mapshelf-ann.zip"' in answer.headers["Content-Disposition"]
    found = unpacked(answer)
    store, user = shelf.store, user_named(shelf, "ann")

    account = json.loads(found["account.json"])
    assert account["user"]["name"] == "ann"
    assert account["user"]["role"] == "member"
    assert [one["label"] for one in account["tokens"]] == ["test", "Token of ann"]
    assert len(account["sessions"]) == 1
    assert account["files_left_out"] == 0
    maps = store.maps_of(user.id, 0, 10)
    described = lines(found["maps.ndjson"])
    assert [one["ID"] for one in described] == [one.id for one in maps]
    assert [one["visibility"] for one in described] == ["published", "private", "removed"]
    assert [len(one["versions"]) for one in described] == [2, 1, 1]
    assert lines(found["votes.ndjson"]) == [{"map": "xann", "vote": "up"}]
    report, of_collection = lines(found["reports.ndjson"])
    assert (report["map"], report["note"]) == ("xann", "Note of ann")
    assert of_collection["note"] == "Collected by ann"
    assert len(of_collection["collection"]) == 8
    (search,) = lines(found["searches.ndjson"])
    assert (search["name"], search["parameters"]) == ("Search of ann", {"query": "a b"})
    (collection,) = lines(found["collections.ndjson"])
    assert (collection["title"], collection["maps"]) == ("Collection of ann", ["xann"])
    log = lines(found["audit.ndjson"])
    assert [one["event"] for one in log] == [
        *("password.changed", "sign_in", "token.made", "sign_in.failed", "data.exported"),
    ]
    files = {name: content for name, content in found.items() if name.startswith("files/")}
    (before,) = (name for name in files if "/versions/" in name)
    assert before == f"files/{maps[0].id}/versions/1/ann 0"
    assert files.pop(before) == b"ann 0" * 50
    assert len(files) == len(maps)
    for one in maps:
        kept = store.content(one.file_id)
        assert kept
        assert files[f"files/{one.id}/{kept.name}"] == zlib.decompress(kept.content)

    everything = b"\n".join(found.values())
    for word in (b"bob", b"203.0.113.66", PASSWORD.encode(), ann.session.encode(), b"argon2"):
        assert word not in everything
    assert not any("bob" in name for name in found)


def test_an_export_lists_the_ways_to_sign_in(site: Service, shelf: Shelf) -> None:
    ann, user = member(site, shelf, "ann"), user_named(shelf, "ann")
    shelf.store.link_identity(user.id, "https://id.example.org", "subject-1", "Ann at work")
    shelf.store.add_passkey(user.id, Passkey(b"key-1", b"public", 0, "Phone", 0, None))
    account = json.loads(unpacked(exported(ann))["account.json"])
    (identity,), (passkey,) = account["identities"], account["passkeys"]
    assert identity.pop("created")
    assert identity == {
        "issuer": "https://id.example.org",
        "subject": "subject-1",
        "name": "Ann at work",
    }
    assert (passkey["name"], passkey["last_used"]) == ("Phone", None)


def test_an_account_without_anything(site: Service, shelf: Shelf) -> None:
    found = unpacked(exported(member(site, shelf, "ann")))
    assert set(found) == {
        *("account.json", "maps.ndjson", "votes.ndjson", "reports.ndjson", "audit.ndjson"),
        "collections.ndjson",
        "searches.ndjson",
    }
    assert found["maps.ndjson"] == b""


def test_exported_file_names_stay_in_their_folder(site: Service, shelf: Shelf) -> None:
    ann = member(site, shelf, "ann")
    user = user_named(shelf, "ann").id
    for number, name in enumerate(("../../x.mm", "C:\\x\\..", "...", "a\x01b?.mm")):
        file = replace(upload(f"n{number}"), name=name)
        shelf.store.publish(file, MapDetails(title="t"), user, None)
    names = [name for name in unpacked(exported(ann)) if name.startswith("files/")]
    ends = [name.rpartition("/")[2] for name in names]
    assert len(names) == 4
    assert all(name.count("/") == 2 for name in names)
    assert not {"..", ".", ""} & set(ends)


def test_exported_file_names_are_safe_on_every_system(site: Service, shelf: Shelf) -> None:
    ann = member(site, shelf, "ann")
    user = user_named(shelf, "ann").id
    for number, name in enumerate(("plan\u202egnp.mm", "CON.mm", "lpt1")):
        file = replace(upload(f"n{number}"), name=name)
        shelf.store.publish(file, MapDetails(title="t"), user, None)
    names = [name for name in unpacked(exported(ann)) if name.startswith("files/")]
    ends = {name.rpartition("/")[2] for name in names}
    assert ends == {"plan gnp.mm", "_CON.mm", "_lpt1"}


def test_files_beyond_the_limit_are_left_out_and_counted(shelf: Shelf) -> None:
    shelf.store.add_user("ann")
    fill(shelf, "ann")
    sizes = [len(content) for content in unpacked_pieces(shelf, 1 << 30)[1]]
    account, files = unpacked_pieces(shelf, sizes[0])
    assert account["files_left_out"] == len(sizes) - len(files) > 0


def unpacked_pieces(shelf: Shelf, most: int) -> tuple[dict[str, Any], list[bytes]]:
    pieces = data_export.export_data(shelf.store, user_named(shelf, "ann"), 0, most)
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as packed:
        files = [packed.read(name) for name in packed.namelist() if name.startswith("files/")]
        return json.loads(packed.read("account.json")), files


def on_disk(shelf: Shelf) -> list[Path]:
    """Return the zip files on disk, in any folder."""
    return list(shelf.settings.exports.rglob("0*/*"))


def test_an_export_lacks_what_the_next_owner_of_a_map_writes(shelf: Shelf) -> None:
    store = shelf.store
    ann, ben = store.add_user("ann"), store.add_user("ben")
    maps = [store.publish(upload(text), MapDetails(text), ann.id, None)[0] for text in ("1", "2")]
    written, given = b"", False
    for piece in data_export.export_data(store, ann, 0):
        written += piece
        if b"files/" in written and not given:
            given = True
            store.put_maps([MapDraft(id=maps[1].id, owner=ben.name)])
            store.replace_file(maps[1].file_id, upload("secret"), ben.id)
    assert given
    with zipfile.ZipFile(io.BytesIO(written)) as packed:
        files = [name for name in packed.namelist() if name.startswith("files/")]
    assert [name.split("/")[1] for name in files] == [maps[0].id]


def test_an_export_has_what_was_stored_before_it_was_requested(
    site: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if an earlier one is still being made."""
    begun, going_on, made = threading.Event(), threading.Event(), list[None]()

    def slowly(*given: Any) -> Iterable[bytes]:
        made.append(None)
        pieces = list(data_export.export_data(*given))
        begun.set()
        going_on.wait(PATIENCE)
        return pieces

    monkeypatch.setattr("mapshelf.site.data_export.export_data", slowly)
    ann = member(site, shelf, "ann")
    form = ann.form(PAGE)

    async def ask() -> list[httpx.Response]:
        async def post() -> httpx.Response:
            headers = {"Origin": BASE_URL, "Sec-Fetch-Site": "same-origin"}
            return await ann.client.post(PAGE, data=form.fields, headers=headers)

        first = asyncio.create_task(post())
        while not begun.is_set():
            await asyncio.sleep(0.01)
        shelf.store.publish(upload("late"), MapDetails("Late"), user_named(shelf, "ann").id, None)
        queue = site.application.application.context.queues.exports
        others = [asyncio.create_task(post()) for _ in range(2)]
        async with asyncio.timeout(PATIENCE):
            while not queue.waiting:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)  # the other joins it, or begins one of its own
        going_on.set()
        return await asyncio.gather(first, *others)

    found = [len([name for name in unpacked(one) if "/" in name]) for one in site.run(ask())]
    assert found == [0, 1, 1]
    assert len(made) == 2, "those that had not begun were not shared"


@pytest.mark.parametrize("page", [PAGE, "/download?map=Garden01"])
def test_exports_do_not_stay_on_disk(
    start: Start, shelf: Shelf, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setattr(exports, "CHECKED_EVERY", 0.05)
    site = start()
    ann = member(site, shelf, "ann")
    answer = exported(ann) if page == PAGE else ann.get(page)
    assert answer.headers["Content-Type"] == "application/zip"
    assert shelf.settings.exports.stat().st_mode & 0o077 == 0
    assert len(on_disk(shelf)) == 1
    monkeypatch.setattr(exports, "KEPT_FOR", 0.0)
    site.wait_until(lambda: not on_disk(shelf), 5)


def test_exports_of_a_worker_that_has_ended_are_deleted(start: Start, shelf: Shelf) -> None:
    folder = shelf.settings.exports / "00"
    folder.mkdir(parents=True)
    for name, age in (("old", 601), ("future", -86_400), ("new", 0)):
        (folder / name).write_bytes(b"zip")
        os.utime(folder / name, (time.time() - age,) * 2)
    site = start()
    site.wait_until(lambda: [one.name for one in folder.iterdir()] == ["new"], 5)


def test_a_damaged_file_is_left_out(shelf: Shelf) -> None:
    user = shelf.store.add_user("ann").id
    for file in (draft_of("damaged"), upload("sound")):
        shelf.store.publish(file, MapDetails(title="t"), user, None)
    account, files = unpacked_pieces(shelf, 1 << 30)
    assert account["files_left_out"] == 1
    assert files == [b"sound" * 50]
