"""The edit forms of maps and collections save only what was changed in them."""

from typing import Final

import pytest

from mapshelf.model import CollectionDetails, MapDetails, Visibility
from mapshelf.site.form_changes import PREFIX, tags_after
from tests.harness import Service, Shelf
from tests.person import Form, Person, events, forms, member, user_named
from tests.site.people.test_publishing import id_in, map_form, published

pytestmark = pytest.mark.process

LINES: Final = "One\ntwo\n\nthree"


@pytest.fixture
def ann(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "ann")


def as_browsers_send(form: Form) -> Form:
    """Return a form with the line ends that browsers send (HTML, section 4.10.21)."""
    form.fields = {
        name: value.replace("\r\n", "\n").replace("\n", "\r\n")
        for name, value in form.fields.items()
    }
    return form


def without_shown(form: Form) -> Form:
    """Return a form as it was before forms had hidden fields with what they show."""
    form.fields = {
        name: value for name, value in form.fields.items() if not name.startswith(PREFIX)
    }
    return form


def details_form(person: Person, page: str) -> Form:
    (form,) = (one for one in forms(person.get(page)) if "title" in one.fields)
    return form


def test_an_old_form_of_a_map_saves_only_what_was_changed_in_it(ann: Person, shelf: Shelf) -> None:
    address = published(ann, "Plan", description=LINES, tags="one, two")
    old = as_browsers_send(map_form(ann.get(f"{address}/edit")))
    file_id = shelf.store.find_map(id_in(address)).file_id  # type: ignore[union-attr]
    changes = MapDetails(
        title="Better", visibility=Visibility.PRIVATE, tags=("two", "three"), template=True
    )
    now = shelf.store.edit_map(file_id, changes)
    before = events(shelf)
    # The test's browser does not send checked boxes, and the box of the old form was not checked.
    assert ann.upload(old).headers["Location"].endswith("/better")
    assert shelf.store.find_map(id_in(address)) == now, "a form without changes saved something"
    assert events(shelf) == before
    assert ann.upload(old, description="New", tags="one, two, four").status_code == 303
    found = shelf.store.find_map(id_in(address))
    assert found is not None
    assert (found.title, found.visibility, found.description, found.template) == (
        *("Better", Visibility.PRIVATE, "New"),
        True,
    )
    assert found.tags == ("two", "four", "three"), "the removed tag came back, or one was lost"


def test_everything_changed_in_a_form_of_a_map_is_saved(ann: Person, shelf: Shelf) -> None:
    address = published(ann, "Plan", description=LINES, tags="one, two", licence="3")
    form = as_browsers_send(map_form(ann.get(f"{address}/edit")))
    said = {
        "title": "Other",
        "description": "One\r\ntwo\r\nthree",
        "tags": "two, one",
        "licence": "",
        "template": "true",
        "visibility": "unlisted",
    }
    assert ann.upload(form, **said).status_code == 303
    found = shelf.store.find_map(id_in(address))
    assert found is not None
    assert (found.title, found.description, found.tags) == (
        "Other",
        "One\ntwo\nthree",
        ("two", "one"),
    )
    assert (found.licence_type_id, found.template, found.visibility) == (
        *(None, True),
        Visibility.UNLISTED,
    )
    form = map_form(ann.get(f"{address}/edit"))  # without the box, which is cleared
    assert ann.upload(form).status_code == 303
    found = shelf.store.find_map(id_in(address))
    assert found is not None
    assert not found.template


def test_a_refused_form_still_knows_what_was_changed(ann: Person, shelf: Shelf) -> None:
    address = published(ann)
    old = map_form(ann.get(f"{address}/edit"))
    file_id = shelf.store.find_map(id_in(address)).file_id  # type: ignore[union-attr]
    shelf.store.edit_map(file_id, MapDetails(visibility=Visibility.PRIVATE))
    refused = ann.upload(old, title="")
    assert refused.status_code == 400
    assert ann.upload(map_form(refused), title="Other").status_code == 303
    found = shelf.store.find_map(id_in(address))
    assert found is not None
    assert (found.title, found.visibility) == ("Other", Visibility.PRIVATE)


def test_too_many_tags_of_both_are_refused(ann: Person, shelf: Shelf) -> None:
    address = published(ann)
    old = map_form(ann.get(f"{address}/edit"))
    file_id = shelf.store.find_map(id_in(address)).file_id  # type: ignore[union-attr]
    shelf.store.edit_map(file_id, MapDetails(tags=tuple("abcdefghijklmnopqrst")))
    refused = ann.upload(old, tags="zebra")
    assert refused.status_code == 400
    assert map_form(refused).fields["tags"] == "zebra"


def test_a_form_from_before_an_update_saves_nothing_at_first(ann: Person, shelf: Shelf) -> None:
    address = published(ann, "Plan", description="Kept")
    old = without_shown(map_form(ann.get(f"{address}/edit")))
    file_id = shelf.store.find_map(id_in(address)).file_id  # type: ignore[union-attr]
    now = shelf.store.edit_map(file_id, MapDetails(visibility=Visibility.PRIVATE))
    refused = ann.upload(old, title="Typed")
    assert refused.status_code == 409
    assert "nothing was saved yet" in refused.text
    assert shelf.store.find_map(id_in(address)) == now
    again = map_form(refused)
    assert (again.fields["title"], again.fields["visibility"]) == ("Typed", "private")
    assert ann.upload(again).status_code == 303
    found = shelf.store.find_map(id_in(address))
    assert found is not None
    assert (found.title, found.description, found.visibility) == (
        *("Typed", "Kept"),
        Visibility.PRIVATE,
    )


def test_an_old_form_of_a_collection_saves_only_what_was_changed_in_it(
    ann: Person, shelf: Shelf
) -> None:
    details = CollectionDetails("Java", LINES, Visibility.PUBLISHED)
    public_id = shelf.store.add_collection(user_named(shelf, "ann").id, details, []).id
    page = f"/collected/{public_id}/java/edit"
    old, older = details_form(ann, page), without_shown(details_form(ann, page))
    old, old.files, older.files = as_browsers_send(old), [""], [""]
    changes = CollectionDetails(title="Coffee", visibility=Visibility.PRIVATE)
    now = shelf.store.edit_collection(public_id, changes)
    before = events(shelf)
    assert ann.upload(old).status_code == 303
    assert shelf.store.find_collection(public_id) == now
    assert events(shelf) == before
    refused = ann.upload(older, text="Typed")
    assert (refused.status_code, "nothing was saved yet" in refused.text) == (409, True)
    assert shelf.store.find_collection(public_id) == now
    (again,) = (one for one in forms(refused) if "title" in one.fields)
    assert (again.fields["text"], again.fields["visibility"]) == ("Typed", "private")
    refused = ann.upload(old, text="x" * 5001)
    assert refused.status_code == 400
    (again,) = (one for one in forms(refused) if "title" in one.fields)
    again.files = [""]
    assert ann.upload(again, text="One\r\ntwo").status_code == 303
    found = shelf.store.find_collection(public_id)
    assert found is not None
    assert (found.title, found.text, found.visibility) == (
        *("Coffee", "One\ntwo"),
        Visibility.PRIVATE,
    )


@pytest.mark.parametrize(
    ("current", "shown", "said", "after"),
    [
        ("b a", "b, a", "a b", "a b"),
        ("a b c", "a, b", "b", "b c"),
        ("A c", "a", "a d", "a d c"),
        ("", "a, b", "a b d", "d"),
        ("x", "", "", "x"),
    ],
)
def test_tags_changed_in_two_places_are_merged(
    current: str, shown: str, said: str, after: str
) -> None:
    assert tags_after(current.split(), shown, said.split()) == tuple(after.split())
