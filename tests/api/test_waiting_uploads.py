"""Uploads that wait, or whose files take long to parse, do not keep those of others out.

The same holds for comparisons with former versions, whose files are parsed then.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from typing import Any, Final

import httpx
import pytest

from mapshelf.api import bodies
from mapshelf.api.context import Context
from mapshelf.api.upload_reader import PatientReader
from mapshelf.errors import TooSlow
from mapshelf.model import UploadedFile
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.sandbox import long_tasks
from tests.api.publishing import ADMINISTRATOR, OTHER, OWNER, People, plan
from tests.harness import PATIENCE, Service, Shelf, full_queue, shelf_with
from tests.readers.hostile import hostile_readers

pytestmark = pytest.mark.process

MOST_OF_ONE: Final = bodies.MOST_FILES * 3 // 4
"""How many files one user can send at a time."""

Sent = asyncio.Task[httpx.Response]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("waiting")) as shelf:
        yield shelf


@pytest.fixture
def people(shelf: Shelf) -> Iterator[People]:
    proxies = (ip_network("127.0.0.1"),)
    settings = replace(shelf.settings, uploads_per_hour=1_000_000, trusted_proxies=proxies)
    with Service(settings, "") as service:
        yield People(shelf, service)


def context_of(people: People) -> Context:
    return people.service.application.application.context


def begin(people: People, name: str, method: str, path: str, **parts: Any) -> Sent:
    """Send a request, and do not wait for the response."""
    headers = {"Authorization": f"Bearer {people.tokens[name]}", **parts.pop("headers", {})}

    async def send() -> Sent:
        asking = people.service.client.request(method, path, headers=headers, **parts)
        return asyncio.create_task(asking)

    return people.service.run(send())


def published(people: People, name: str, topic: str, address: str = "10.0.0.1") -> Sent:
    """Send a map from an address."""
    files, headers = {"map": ("plan.mm", plan(topic))}, {"X-Forwarded-For": address}
    return begin(people, name, "POST", "/maps", headers=headers, files=files)


def replaced(people: People, name: str, own: str, topic: str) -> Sent:
    """Send a new file of a map, which is the whole body."""
    headers = {"Content-Type": "application/octet-stream"}
    path, content = f"/maps/{own}/file", plan(topic)
    return begin(people, name, "PUT", path, headers=headers, content=content)


def statuses(people: People, *sent: Sent) -> list[int]:
    async def wait() -> list[int]:
        return [(await one).status_code for one in sent]

    return people.service.run(wait())


def wait_for(people: People, queue: str, waiting: int, *sent: Sent) -> None:
    """Wait until so many tasks wait in a queue, or a request has been refused."""
    found = context_of(people).queues.by_name()[queue]
    people.service.wait_until(lambda: found.waiting == waiting or any(one.done() for one in sent))
    assert found.waiting == waiting
    assert not any(one.done() for one in sent)


# -- room on the disk ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", [True, False])
def test_files_that_wait_do_not_keep_those_of_others_out(people: People, form: bool) -> None:
    own = {name: people.published(name, plan(name, str(form))) for name in (OWNER, OTHER)}

    def send(name: str, topic: str) -> Sent:
        if form:
            return published(people, name, topic)
        return replaced(people, name, own[name], topic)

    with full_queue(people.service, "uploads", 1):
        sent = [send(OWNER, f"waits {number}") for number in range(MOST_OF_ONE)]
        wait_for(people, "uploads", len(sent), *sent)
        sent.append(send(OTHER, "waits too"))
        wait_for(people, "uploads", len(sent), *sent)
    assert set(statuses(people, *sent)) == {201 if form else 200}


def test_files_that_wait_take_a_bounded_part_of_the_disk(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "LEAST_ARRIVED", bodies.MOST_ARRIVED // 4)
    with full_queue(people.service, "uploads", 1):
        addresses = ("10.0.0.1", "10.0.0.2", "10.0.0.3")
        sent = [published(people, OWNER, f"disk {one}", one) for one in addresses]
        wait_for(people, "uploads", 3, *sent)
        assert people.upload(OWNER, plan("disk")).status_code == 503
    assert statuses(people, *sent) == [201] * 3
    with full_queue(people.service, "uploads", 1):
        names = (OWNER, OTHER, OWNER, OTHER)
        sent = [published(people, name, f"more {n}", f"10.0.1.{n}") for n, name in enumerate(names)]
        wait_for(people, "uploads", 4, *sent)
        assert people.upload(ADMINISTRATOR, plan("disk")).status_code == 503
    assert statuses(people, *sent) == [201] * 4
    assert people.upload(ADMINISTRATOR, plan("disk")).status_code == 201


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_uploads_are_refused_before_they_are_parsed(people: People, method: str) -> None:
    """Otherwise they would be stored on disk first, which costs more than refusing them."""
    own = people.published(OWNER, plan("early", method))
    path = "/maps" if method == "POST" else f"/maps/{own}/file"
    form = {"headers": {"Content-Type": "multipart/form-data; boundary=b"}, "content": b"--b no"}
    assert statuses(people, begin(people, OWNER, method, path, **form)) == [400]
    with full_queue(people.service, "uploads", 17):
        assert statuses(people, begin(people, OWNER, method, path, **form)) == [503]


def test_a_full_queue_refuses_no_files_that_go_to_the_other_one(
    people: People,
) -> None:
    files = SlowFiles()
    with files.within(context_of(people).upload_reader):
        sent = [published(people, OTHER, "long, own queue")]
        wait_for_long(people, "long_uploads", 0, *sent)
        with full_queue(people.service, "uploads", 17):
            sent.append(published(people, OTHER, "waits there"))
            wait_for(people, "long_uploads", 1, *sent)
        files.going_on.set()
        assert statuses(people, *sent) == [201] * 2


# -- files that take long ------------------------------------------------------------------------


@dataclass
class SlowFiles:
    """Readers for which files with the topic ``long`` take long, until ``going_on`` is set.

    Attributes:
        tried: the files that the quick reader was to parse.
    """

    tried: list[bytes] = field(default_factory=list)
    going_on: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def within(self, reader: PatientReader) -> Iterator[None]:
        """Replace both readers of ``reader``."""
        quick, slow = reader.quick.read, reader.slow.read

        def quickly(name: str, content: bytes) -> UploadedFile:
            self.tried.append(content)
            if b"long" in content:
                raise TooSlow("it takes long")
            return quick(name, content)

        def patiently(name: str, content: bytes) -> UploadedFile:
            assert self.going_on.wait(PATIENCE)
            return slow(name, content)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reader.quick, "read", quickly)
            patch.setattr(reader.slow, "read", patiently)
            try:
                yield
            finally:
                self.going_on.set()


def wait_for_long(people: People, queue: str, waiting: int, *sent: Sent) -> None:
    """Wait until a file that takes long is parsed, and so many wait for that."""
    found = context_of(people).queues.by_name()[queue]
    people.service.wait_until(lambda: found.running == 1, 4 * PATIENCE)  # children are nice
    wait_for(people, queue, waiting, *sent)


def test_a_file_that_takes_long_does_not_delay_others(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = replace(Limits(), cpu_seconds=1)
    reader = context_of(people).upload_reader
    spinning = replace(limits, cpu_seconds=600, wall_seconds=600.0)
    with (
        SandboxedReader(1, limits, hostile_readers) as quick,
        SandboxedReader(1, spinning, hostile_readers) as slow,
        monkeypatch.context() as patch,
    ):
        patch.setattr(reader.quick, "reader", quick)
        patch.setattr(reader.slow, "reader", slow)
        long = begin(people, OTHER, "POST", "/maps", files={"map": ("long.mm", b"!spin")})
        wait_for_long(people, "long_uploads", 0, long)
        assert people.upload(OWNER, plan("spinning"), title="Good").status_code == 201
        assert not long.done()
        slow.close()
        assert statuses(people, long) == [422]


def test_who_sent_a_file_that_took_long_delays_others_no_more(people: People) -> None:
    files = SlowFiles()
    with files.within(context_of(people).upload_reader):
        sent = [published(people, OTHER, "long")]
        wait_for_long(people, "long_uploads", 0, *sent)
        sent += [published(people, OTHER, topic) for topic in ("long again", "small")]
        wait_for_long(people, "long_uploads", 2, *sent)
        assert people.upload(OWNER, plan("meanwhile")).status_code == 201
        assert files.tried == [plan("long"), plan("meanwhile")]
        files.going_on.set()
        assert statuses(people, *sent) == [201] * 3


def test_files_that_waited_delay_nobody_either_once_one_took_long(people: People) -> None:
    files = SlowFiles()
    with files.within(context_of(people).upload_reader):
        with full_queue(people.service, "uploads", 1):
            sent = [published(people, OTHER, f"long {number}") for number in range(4)]
            wait_for(people, "uploads", 4, *sent)
        wait_for_long(people, "long_uploads", 3, *sent)
        assert len(files.tried) == 1
        files.going_on.set()
        assert statuses(people, *sent) == [201] * 4


def test_after_a_while_files_of_who_sent_one_that_took_long_are_tried_quickly(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "REMEMBERED_FOR", 0.0)
    files = SlowFiles()
    with files.within(context_of(people).upload_reader):
        sent = published(people, OTHER, "long time ago")
        wait_for_long(people, "long_uploads", 0, sent)
        assert people.upload(OTHER, plan("now")).status_code == 201
        files.going_on.set()
        assert statuses(people, sent) == [201]


def test_a_version_that_takes_long_does_not_delay_other_comparisons(people: People) -> None:
    own = {}
    for name, topic in ((OWNER, "quick"), (OTHER, "long")):
        own[name] = people.published(name, plan(topic, "former"))
        sent = [replaced(people, name, own[name], f"{topic} {number}") for number in range(2)]
        assert statuses(people, *sent) == [200] * 2
    files = SlowFiles()
    with files.within(context_of(people).former_outlines.reader):
        long = [
            begin(people, OTHER, "GET", f"/maps/{own[OTHER]}/diff/{own[OTHER]}?version={number}")
            for number in (1, 2)
        ]
        wait_for_long(people, "long_versions", 1, *long)
        path = f"/maps/{own[OWNER]}/diff/{own[OWNER]}?version=1"
        assert people.get(OWNER, path).status_code == 200
        assert not any(one.done() for one in long)
        files.going_on.set()
        assert statuses(people, *long) == [200] * 2
