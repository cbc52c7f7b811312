"""Documents that take long to make do not keep others from the pages and drawings of large maps."""

from collections.abc import Iterator
from typing import Final

import pytest

from mapshelf.api import documents
from tests.api.publishing import OTHER, OWNER, People, plan
from tests.api.test_waiting_uploads import begin, context_of, statuses, wait_for_long
from tests.harness import Service, Shelf, shelf_with

pytestmark = pytest.mark.process

ORDINARY: Final = [f"Topic number {number} of a long list" for number in range(2500)]
MIXED: Final = "\u202e\u05d0\u2067a\u0627" * 400
"""Letters of two directions, mixed: drawing two hundred such topics takes over twenty seconds."""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("documents")) as shelf:
        yield shelf


@pytest.fixture
def people(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Iterator[People]:
    monkeypatch.setattr(documents, "QUICK_SECONDS", 2)
    monkeypatch.setattr(documents, "CPU_SECONDS", 6)
    with Service(shelf.settings, "") as service:
        yield People(shelf, service)


def expensive_map(people: People, name: str) -> str:
    return people.published(OTHER, plan(name, *(f"{number} {MIXED}" for number in range(200))))


def test_a_drawing_that_takes_long_does_not_delay_others(people: People) -> None:
    ordinary = people.published(OTHER, plan(*ORDINARY))
    expensive = expensive_map(people, "first")
    long = begin(people, OWNER, "GET", f"/maps/{expensive}/drawing.png")
    wait_for_long(people, "long_documents", 0, long)
    drawing = people.get(OTHER, f"/maps/{ordinary}/drawing.svg")
    assert drawing.status_code == 200
    assert "Topic number 2499" in drawing.text
    assert not long.done()
    assert statuses(people, long) == [404]


def test_a_drawing_that_takes_longer_than_is_quick_is_made(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "QUICK_SECONDS", 0.01)
    monkeypatch.setattr(documents, "CPU_SECONDS", 60)
    ordinary = people.published(OTHER, plan("slow machine", *ORDINARY))
    done = context_of(people).queues.long_documents.counts.done
    drawing = people.get(OWNER, f"/maps/{ordinary}/drawing.svg")
    assert drawing.status_code == 200
    assert context_of(people).queues.long_documents.counts.done == done + 1
