"""The administrators' page of files that imports refused."""

import pytest

from mapshelf.import_status import ImportStatus, StatusFile
from mapshelf.model import Refusal, RefusalKind, Role
from mapshelf.site.messages import say
from mapshelf.site.refused_files import FILES_SHOWN
from tests.harness import Service, Shelf
from tests.person import Person, forms, member

PAGE = "/account/imports"
REFUSED, SKIPPED = RefusalKind


@pytest.fixture
def root(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "root", Role.ADMINISTRATOR)


def press(person: Person, name: str, number: int = 0) -> str:
    """Press one of the buttons with this name; return the text of the next page."""
    found = [
        (form, value)
        for form in forms(person.get(PAGE))
        for own, value in form.buttons
        if own == name
    ]
    form, value = found[number]
    answer = person.send(form, **{name: value})
    assert answer.status_code == 303, answer.text
    return person.get(answer.headers["Location"]).text


def test_refused_files_are_listed_with_their_reasons(shelf: Shelf, root: Person) -> None:
    assert say("imports.none") in root.get(PAGE).text
    shelf.store.note_refusals(
        [
            Refusal("/maps/<b>.mm", "it has <a DOCTYPE>", REFUSED),
            Refusal("/maps/Readme.md", "it does not begin like a map", SKIPPED),
        ]
    )
    page = root.get(PAGE).text
    assert "/maps/&lt;b&gt;.mm" in page
    assert "it has &lt;a DOCTYPE&gt;" in page
    assert "/maps/Readme.md" in page
    assert ("1 refused file" in page, "1 skipped file" in page) == (True, True)
    assert "1 file" in root.get("/account").text


def test_a_file_is_dismissed_alone(shelf: Shelf, root: Person) -> None:
    shelf.store.note_refusals([Refusal(f"/maps/{n}.mm", "why", REFUSED) for n in "ab"])
    page = press(root, "dismiss")
    assert say("done.imports.one") in page
    assert ("/maps/a.mm" in page, "/maps/b.mm" in page) == (False, True)


def test_all_files_of_a_kind_are_dismissed_together(shelf: Shelf, root: Person) -> None:
    many = [Refusal(f"/maps/{n}.mm", "why", REFUSED) for n in range(FILES_SHOWN + 3)]
    shelf.store.note_refusals([*many, Refusal("/maps/Readme.md", "no map", SKIPPED)])
    assert "and 3 more files" in root.get(PAGE).text
    page = press(root, "until")
    assert say("imports.none") in page
    assert "/maps/Readme.md" in page
    press(root, "until")
    assert shelf.store.count_open_refusals() == {REFUSED: 0, SKIPPED: 0}


def test_the_imports_page_shows_the_progress(shelf: Shelf, root: Person) -> None:
    StatusFile(shelf.settings.data).write(ImportStatus(1, 2))
    assert say("importing", done=1, total=2) in root.get(PAGE).text
    StatusFile(shelf.settings.data).clear()


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        {"dismiss": "no digest"},
        {"kind": "other", "until": "1"},
        {"kind": "refused", "until": "soon"},
        {"kind": "refused", "until": "9" * 40},
        {},
    ],
    ids=str,
)
def test_unknown_decisions_on_imports_are_refused(
    shelf: Shelf, root: Person, said: dict[str, str]
) -> None:
    shelf.store.note_refusals([Refusal("/maps/a.mm", "why", REFUSED)])
    form = forms(root.get(PAGE))[0]
    fields = {"csrf_token": form.fields["csrf_token"], **said}
    assert root.post(PAGE, fields).status_code == 400
    assert "/maps/a.mm" in root.get(PAGE).text


def test_members_do_not_see_refused_files(site: Service, shelf: Shelf) -> None:
    bob = member(site, shelf, "bob")
    assert bob.status(PAGE) == 404
    assert PAGE not in bob.get("/account").text
