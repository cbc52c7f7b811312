"""Maps that get another owner while their former owner changes or reads them."""

import asyncio
import threading
import zlib
from collections.abc import Callable
from typing import Any, Final

import httpx
import pytest

from mapshelf.api import visible_maps
from mapshelf.model import MapDetails, MapDraft, Visibility
from mapshelf.site import bulk_actions, map_actions, publishing, reports
from tests.harness import PATIENCE, Service, Shelf, outline_of
from tests.person import Form, Person, forms, member, user_named
from tests.site.people.test_publishing import choose, id_in, ids_of, map_form, plan, published
from tests.store.drafts import upload

pytestmark = pytest.mark.process


def tag_form(ann: Person) -> tuple[str, Form, dict[str, str]]:
    public_id = id_in(published(ann))
    (form,) = (one for one in forms(ann.get(f"/tag?map={public_id}")) if "add" in one.fields)
    return public_id, form, {"add": "late"}


def draft_form(ann: Person) -> tuple[str, Form, dict[str, str]]:
    (public_id,) = ids_of(choose(ann, ("a.mm", plan("A"))))
    form = map_form(ann.get(f"/publish/preview?maps={public_id}"))
    return public_id, form, {f"{public_id}-title": "Late", f"{public_id}-category": "1"}


def discarding_form(ann: Person) -> tuple[str, Form, dict[str, str]]:
    public_id, form, _ = draft_form(ann)
    return public_id, form, {"discard": public_id}


FORMS: Final[dict[str, tuple[Any, Callable[[Person], tuple[str, Form, dict[str, str]]]]]] = {
    "tags": (bulk_actions, tag_form),
    "publishing": (publishing, draft_form),
    "discarding": (publishing, discarding_form),
}


def send_while_given(
    monkeypatch: pytest.MonkeyPatch,
    shelf: Shelf,
    public_id: str,
    place: tuple[Any, str],
    send: Callable[[], httpx.Response],
) -> httpx.Response:
    """Send a form; when the service has called a function, give the map to bob, who hides it."""
    do = getattr(*place)

    def done(*values: Any) -> Any:
        result = do(*values)
        found = shelf.store.find_map(public_id)
        if found is not None and found.owner != "bob":
            shelf.put(MapDraft(id=public_id, owner="bob"))
            details = MapDetails(visibility=Visibility.PRIVATE, description="of bob")
            shelf.store.edit_map(found.file_id, details)
        return result

    monkeypatch.setattr(*place, done)
    return send()


@pytest.mark.parametrize("name", FORMS)
def test_a_form_changes_no_map_that_belongs_to_somebody_else_now(
    site: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    ann, _ = member(site, shelf, "ann"), member(site, shelf, "bob")
    module, fill = FORMS[name]
    public_id, form, values = fill(ann)
    answer = send_while_given(
        monkeypatch,
        shelf,
        public_id,
        (module, "may_change" if name == "tags" else "permitted_store"),
        lambda: (ann.send if name == "tags" else ann.upload)(form, **values),
    )
    assert answer.status_code == 404
    assert "of bob" not in answer.text
    found = shelf.store.find_map(public_id)
    assert found is not None
    assert (found.owner, found.visibility) == ("bob", Visibility.PRIVATE)
    assert found.title != "Late"
    assert "late" not in found.tags


def test_no_map_is_reported_that_became_private(
    site: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob, carl = (member(site, shelf, name) for name in ("ann", "bob", "carl"))
    address = published(ann)
    page = f"/report/{id_in(address)}"
    (form,) = (one for one in forms(carl.get(page)) if "note" in one.fields)
    answer = send_while_given(
        monkeypatch,
        shelf,
        id_in(address),
        (reports, "find_reportable"),
        lambda: carl.send(form, reason="other", note="late"),
    )
    assert answer.status_code == 404
    assert shelf.store.count_reported_maps() == 0
    assert bob.get(address).status_code == 200


SECRET: Final = "Confidential"
PAGES: Final = {
    "/mindmaps/{}/plan": (visible_maps, "may_see"),
    "/mindmaps/{}/plan/original": (visible_maps, "may_see"),
    "/mindmaps/{}/plan/find?query=confidential": (visible_maps, "may_see"),
    "/site/maps/{}.json": (visible_maps, "may_see"),
    "/maps/{}/drawing.svg": (visible_maps, "may_see"),
    "/maps/{}/outline.md": (visible_maps, "may_see"),
    "/mindmaps/{}/plan/compare/{}": (visible_maps, "may_see"),
    "/mindmaps/{}/plan/versions": (map_actions, "may_change"),
    "/mindmaps/{}/plan/versions/2": (map_actions, "may_change"),
}
"""What is read of a private map, and the check after which it is given away."""


def give(shelf: Shelf, public_id: str) -> None:
    """Give a map to bob, who replaces its file."""
    shelf.put(MapDraft(id=public_id, owner="bob"))
    found = shelf.store.find_map(public_id)
    assert found is not None
    file = upload(
        f"{SECRET}.mm",
        content=zlib.compress(SECRET.encode()),
        outline=outline_of("root", SECRET),
    )
    shelf.store.replace_file(found.file_id, file, user_named(shelf, "bob").id)


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_read_of_a_private_map_that_belongs_to_somebody_else_now(
    site: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    ann, bob = member(site, shelf, "ann"), member(site, shelf, "bob")
    public_id = id_in(published(ann, visibility="private"))
    place = PAGES[page]
    check = getattr(*place)
    given: list[bool] = []

    def checked(*values: Any) -> Any:
        permitted = check(*values)
        if not given:
            given.append(permitted)
            give(shelf, public_id)
        return permitted

    monkeypatch.setattr(*place, checked)
    path = page.format(public_id, public_id)
    headers = {"Sec-Fetch-Site": "same-origin"}
    answer = ann.run(ann.client.get(path, headers=headers))
    assert given == [True]
    assert answer.status_code == 404
    assert SECRET not in answer.text
    assert bob.run(bob.client.get(path, headers=headers)).status_code == 200


def test_who_may_see_a_private_map_does_not_share_the_response_with_who_may_not(
    site: Service, shelf: Shelf
) -> None:
    ann, bob = member(site, shelf, "ann"), member(site, shelf, "bob")
    path = f"/site/maps/{id_in(published(ann, visibility='private'))}.json"
    queue = site.application.application.context.queues.pages
    free = threading.Event()

    async def both() -> list[httpx.Response]:
        busy = asyncio.create_task(
            queue.result(object(), lambda: free.wait(PATIENCE), owner=lambda: "somebody")
        )
        former = asyncio.create_task(ann.client.get(path))
        async with asyncio.timeout(PATIENCE):
            while not queue.waiting:
                await asyncio.sleep(0.01)
        await asyncio.to_thread(give, shelf, path.rsplit("/", maxsplit=1)[-1].removesuffix(".json"))
        present = asyncio.create_task(bob.client.get(path))
        async with asyncio.timeout(PATIENCE):
            while queue.waiting < 2 and not present.done():
                await asyncio.sleep(0.01)
        free.set()
        assert await busy
        return [await former, await present]

    former, present = site.run(both())
    assert former.status_code == 404
    assert SECRET not in former.text
    assert present.status_code == 200
    assert SECRET in present.text
