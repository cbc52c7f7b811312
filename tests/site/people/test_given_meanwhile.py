"""Maps that get another owner while a form of their former owner changes them."""

from collections.abc import Callable
from typing import Any, Final

import httpx
import pytest

from mapshelf.model import MapDetails, MapDraft, Visibility
from mapshelf.site import bulk_actions, publishing, reports
from tests.harness import Service, Shelf
from tests.person import Form, Person, forms, member
from tests.site.people.test_publishing import choose, id_in, ids_of, map_form, plan, published

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
        (module, "may_change"),
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
