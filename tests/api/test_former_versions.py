"""Comparisons with a former version parse its file once, and no upload waits for that."""

import asyncio
import shutil
import zlib
from collections.abc import Iterator

import httpx
import pytest

from mapshelf.api import former_outlines
from mapshelf.site import site_routes
from tests.api import openapi
from tests.api.publishing import ADMINISTRATOR, OTHER, OWNER, People, plan
from tests.harness import PATIENCE, Service, Shelf, full_queue, shelf_with
from tests.store.drafts import upload

pytestmark = pytest.mark.process

PARSING = "former_versions"
"""The queue for parsing the files of former versions."""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("former")) as shelf:
        yield shelf


@pytest.fixture(scope="module")
def people(shelf: Shelf) -> Iterator[People]:
    with Service(shelf.settings, "", site_routes) as service:
        yield People(shelf, service)


def replaced(people: People, *topics: str) -> str:
    """Publish a map with these topics, replace its file, and return its ID."""
    own = people.published(OWNER, plan(*topics))
    replace_file(people, own, plan(*topics, "new"))
    return own


def replace_file(people: People, own: str, content: bytes) -> None:
    sent = {"map": ("plan.mm", content)}
    assert people.send(OWNER, "PUT", f"/maps/{own}/file", files=sent).status_code == 200


def former(own: str, number: int = 1) -> str:
    return f"/maps/{own}/diff/{own}?version={number}"


def compared(people: People, path: str, name: str = OWNER) -> int:
    answer = people.get(name, path)
    openapi.check(answer)
    return answer.status_code


def test_uploads_do_not_wait_for_comparisons_with_versions(people: People) -> None:
    own = replaced(people, "uploads")
    with full_queue(people.service, PARSING):
        assert compared(people, former(own)) == 503
        assert people.upload(OWNER, plan("meanwhile")).status_code == 201
    with full_queue(people.service, "uploads", 17):
        assert compared(people, former(own)) == 200


def test_the_file_of_a_version_is_parsed_once(people: People) -> None:
    own = replaced(people, "once")
    assert compared(people, former(own)) == 200
    page = f"/mindmaps/{own}/plan/compare/{own}"
    with full_queue(people.service, PARSING):
        assert compared(people, former(own)) == 200
        assert compared(people, former(own), ADMINISTRATOR) == 200
        assert compared(people, f"/maps/{own}/diff/{own}?other_version=1") == 200
        for path in (f"{page}?version=1", f"{page}.svg?version=1&theme=dark"):
            assert people.get(OWNER, path).status_code == 200


def test_versions_with_the_same_file_are_parsed_once(people: People) -> None:
    own, other = replaced(people, "same"), people.published(OWNER, plan("another"))
    replace_file(people, other, plan("same"))
    replace_file(people, other, plan("another", "again"))
    assert compared(people, former(own)) == 200
    with full_queue(people.service, PARSING):
        assert compared(people, former(other)) == 503
        assert compared(people, former(other, 2)) == 200


def test_a_kept_version_is_shown_to_nobody_else(people: People) -> None:
    own = replaced(people, "mine")
    assert compared(people, former(own)) == 200
    for name in (OTHER, ""):
        assert people.get(name, f"/mindmaps/{own}/plan/compare/{own}?version=1").status_code == 404
    assert compared(people, former(own), OTHER) == 404
    with full_queue(people.service, PARSING):  # and nobody is told whether it is kept
        assert compared(people, former(replaced(people, "not kept")), OTHER) == 404


def test_a_version_that_is_deleted_is_not_kept(people: People) -> None:
    own = replaced(people, "deleted")
    assert compared(people, former(own)) == 200
    for number in range(10):
        replace_file(people, own, plan("deleted", f"{number}"))
    assert compared(people, former(own)) == 404


def with_broken_version(people: People) -> str:
    """Publish a map whose version 2 can no longer be parsed, and return its ID."""
    own = people.published(OWNER, plan("broken"))
    store = people.shelf.store
    found = store.find_map(own)
    assert found is not None
    (owner,) = (one.id for one in store.users() if one.name == OWNER)
    content = zlib.compress(b"<map><node" + own.encode())
    broken = upload("plan.mm", digest=own.encode().ljust(32), content=content, images={})
    store.replace_file(found.file_id, broken, owner)
    replace_file(people, own, plan("sound"))
    return own


def test_a_file_that_cannot_be_parsed_is_not_parsed_again(people: People) -> None:
    own = with_broken_version(people)
    first = people.get(OWNER, former(own, 2))
    with full_queue(people.service, PARSING):
        again = people.get(OWNER, former(own, 2))
        assert compared(people, former(own, 2), OTHER) == 404
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert first.status_code == 422


def test_a_file_that_could_not_be_parsed_is_tried_again_later(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(former_outlines, "TRIED_AGAIN_AFTER", 0.0)
    own = with_broken_version(people)
    assert compared(people, former(own, 2)) == 422
    with full_queue(people.service, PARSING):
        assert compared(people, former(own, 2)) == 503


def test_requests_at_the_same_time_parse_a_file_once(people: People) -> None:
    own = replaced(people, "together")
    service = people.service
    queues = service.application.application.context.queues
    parsing, finding = queues.by_name()[PARSING], queues.files.counts

    async def begin(name: str) -> asyncio.Task[httpx.Response]:
        headers, found = {"Authorization": f"Bearer {people.tokens[name]}"}, finding.done
        asked = asyncio.create_task(service.client.get(former(own), headers=headers))
        async with asyncio.timeout(PATIENCE):
            while finding.done == found or not parsing.waiting:
                await asyncio.sleep(0.001)
        return asked

    with full_queue(service, PARSING, 8):  # there is room for one more
        asked = [service.run(begin(name)) for name in (OWNER, ADMINISTRATOR)]
        assert compared(people, former(replaced(people, "no room"))) == 503
        assert not any(one.done() for one in asked)

    async def statuses() -> list[int]:
        return [(await one).status_code for one in asked]

    assert service.run(statuses()) == [200, 200]


def test_a_version_is_parsed_again_if_its_outline_was_evicted(people: People) -> None:
    own = replaced(people, "evicted")
    assert compared(people, former(own)) == 200
    shutil.rmtree(people.shelf.settings.documents)
    with full_queue(people.service, PARSING):
        assert compared(people, former(own)) == 503
    assert compared(people, former(own)) == 200


def test_a_version_is_compared_without_room_on_the_disk(people: People) -> None:
    own = replaced(people, "full")
    documents = people.shelf.settings.documents
    shutil.rmtree(documents, ignore_errors=True)
    documents.write_bytes(b"no folder")
    try:
        assert compared(people, former(own)) == 200
    finally:
        documents.unlink()
