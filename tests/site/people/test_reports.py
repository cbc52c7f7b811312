"""Reporting maps, and decisions of administrators on reports, on pages and over the API."""

import re

import pytest

from mapshelf.model import (
    NOTE_LENGTH,
    AuditEvent,
    DecisionKind,
    MapDraft,
    Role,
    Visibility,
)
from mapshelf.site.messages import say
from mapshelf.store.moderation import REPORTS_A_DAY
from tests.harness import Service, Shelf
from tests.person import Form, Person, forms, is_signed_in, member, until, user_named

PAGE = "/account/reports"


@pytest.fixture
def bob(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "bob")


@pytest.fixture
def root(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "root", Role.ADMINISTRATOR)


@pytest.fixture
def public_id(shelf: Shelf) -> str:
    return shelf.store.maps(0, 1)[0].id


def report(person: Person, public_id: str, reason: str = "spam", note: str = "") -> None:
    answer = person.fill(f"/report/{public_id}", reason=reason, note=note)
    assert answer.status_code == 303, answer.text
    assert answer.headers["Location"].endswith(f"/report/{public_id}?done=reported")


def press(person: Person, name: str, value: str) -> str:
    """Press the button whose value starts with ``value``; return the text of the page."""
    for form in forms(person.get(PAGE)):
        for button, own in form.buttons:
            if button == name and own.startswith(value):
                answer = person.send(form, **{button: own})
                assert answer.status_code == 303
                return person.get(answer.headers["Location"]).text
    raise AssertionError(f"there is no button {name}={value}")


def buttons(person: Person) -> list[str]:
    return [own.partition(":")[0] for form in forms(person.get(PAGE)) for _, own in form.buttons]


def events(shelf: Shelf) -> list[tuple[str, str, str]]:
    found = shelf.store.audit_records(0, 0, 1000)
    return [(one.entry.event, one.entry.user, one.entry.target) for one in found]


def test_a_map_is_reported_without_a_script(
    site: Service, shelf: Shelf, bob: Person, root: Person, public_id: str
) -> None:
    page = bob.get(bob.get(f"/mindmaps/{public_id}", 308).headers["Location"]).text
    assert f'href="/report/{public_id}"' in page
    report(bob, public_id, "privacy", "My <b>address</b>\nis in it.")
    told = bob.get(f"/report/{public_id}?done=reported").text
    assert "Thank you" in told
    shown = root.get(PAGE).text
    assert "It reveals private things about somebody" in shown
    assert "My &lt;b&gt;address&lt;/b&gt;\nis in it." in shown
    assert "bob" in shown
    assert "1 map" in root.get("/account").text
    assert (AuditEvent.MAP_REPORTED, "bob", f"map {public_id}") in events(shelf)


def test_reports_from_other_sites_are_refused(shelf: Shelf, bob: Person, public_id: str) -> None:
    form = bob.form(f"/report/{public_id}")
    said = {"reason": "spam", "note": ""}
    assert bob.post(form.action, said).status_code == 403
    assert (
        bob.post(form.action, {**form.fields, **said}, Origin="https://evil.example").status_code
        == 403
    )
    assert shelf.store.count_reported_maps() == 0


def test_reporting_redirects_to_sign_in(site: Service, public_id: str) -> None:
    answer = Person(site).get(f"/report/{public_id}", 303)
    assert answer.headers["Location"].endswith(f"/signin?next=%2Freport%2F{public_id}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reason", "note"), [("", ""), ("nonsense", ""), ("spam", "x" * (NOTE_LENGTH + 1))]
)
def test_invalid_reports_show_an_error_above_the_form(
    shelf: Shelf, bob: Person, public_id: str, reason: str, note: str
) -> None:
    answer = bob.fill(f"/report/{public_id}", reason=reason, note=note)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert note in answer.text
    assert shelf.store.count_reported_maps() == 0


def test_own_and_missing_maps_cannot_be_reported(
    shelf: Shelf, bob: Person, root: Person, public_id: str
) -> None:
    shelf.store.put_maps(
        [
            MapDraft(id="own", title="Own", owner="bob"),
            MapDraft(id="hers", title="Hers", owner="cat", visibility=Visibility.PRIVATE),
        ]
    )
    assert "This is your own map" in bob.get("/report/own").text
    own = Form("/report/own", bob.form(f"/report/{public_id}").fields)
    assert bob.send(own, reason="spam", note="").status_code == 403
    for missing in ("hers", "none"):
        bob.get(f"/report/{missing}", 404)
        form = Form(f"/report/{missing}", own.fields)
        assert bob.send(form, reason="spam", note="").status_code == 404
    assert root.status("/report/hers") == 200
    assert shelf.store.count_reported_maps() == 0


@pytest.mark.slow
def test_reports_per_day_are_limited(shelf: Shelf, bob: Person) -> None:
    drafts = [MapDraft(id=f"m{n}", title="t", owner="cat") for n in range(REPORTS_A_DAY + 1)]
    shelf.store.put_maps(drafts)
    for number in range(REPORTS_A_DAY):
        report(bob, f"m{number}")
    answer = bob.fill(f"/report/m{REPORTS_A_DAY}", reason="spam", note="")
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 86_400
    assert "You have reported as much as you can" in answer.text


def test_programs_report_maps_too(site: Service, shelf: Shelf, bob: Person, public_id: str) -> None:
    path = f"/maps/{public_id}/reports"
    headers = {"Authorization": f"Bearer {shelf.token('bob', scopes='maps:write')}"}

    def send(**values: object) -> tuple[int, object]:
        asking = site.client.post(path, json=values, headers=headers)
        answer = site.run(asking)
        return answer.status_code, answer.json()

    assert send(reason="spam", note=" x\x00y ") == (201, {"reason": "spam", "note": "xy"})
    for wrong in ({}, {"reason": 1}, {"reason": "spam", "note": 1}, {"reason": "spam", "x": 1}):
        assert send(**wrong)[0] == 400
    assert shelf.store.reported_maps(1)[0].reports[0].note == "xy"


def test_only_administrators_see_reports(site: Service, bob: Person, public_id: str) -> None:
    report(bob, public_id)
    bob.get(PAGE, 404)
    assert "Reports" not in bob.get("/account").text
    assert bob.post(PAGE, {"decide": "hide:1"}).status_code == 404
    assert (
        Person(site)
        .get(PAGE, 303)
        .headers["Location"]
        .endswith("/signin?next=%2Faccount%2Freports")
    )


@pytest.mark.slow
def test_a_map_is_hidden_and_shown_again(
    site: Service, shelf: Shelf, bob: Person, root: Person, public_id: str
) -> None:
    owner = member(site, shelf, shelf.store.maps(0, 1)[0].owner)
    report(bob, public_id)
    assert "The map has been hidden" in press(root, "decide", "hide:")
    shelf.publish()
    page = f"/mindmaps/{public_id}"
    for person, status in ((bob, 404), (Person(site), 404), (owner, 200), (root, 200)):
        until(site, lambda: person.status(page) in (status, 308))  # noqa: B023 - used at once
    assert shelf.store.find_map(public_id).visibility is Visibility.PRIVATE  # type: ignore[union-attr]
    assert "There are no open reports" in root.get(PAGE).text
    assert len(buttons(root)) == 1
    assert "The reports are open again" in press(root, "undo", "")
    shelf.publish()
    until(site, lambda: bob.status(page) in (200, 308))
    assert {"dismiss", "hide", "delete", "disable"} <= set(buttons(root))
    noted = [one[0] for one in events(shelf)]
    assert noted[-2:] == [AuditEvent.MAP_HIDDEN, AuditEvent.DECISION_UNDONE]
    assert events(shelf)[-1] == (AuditEvent.DECISION_UNDONE, "root", f"map {public_id}")


def test_the_owner_of_a_hidden_map_cannot_show_it(
    site: Service, shelf: Shelf, bob: Person, root: Person, public_id: str
) -> None:
    owner = shelf.store.maps(0, 1)[0].owner
    report(bob, public_id)
    press(root, "decide", "hide:")
    headers = {"Authorization": f"Bearer {shelf.token(owner, scopes='maps:write')}"}
    for visibility in ("published", "unlisted"):
        asking = site.client.patch(
            f"/maps/{public_id}", json={"visibility": visibility}, headers=headers
        )
        answer = site.run(asking)
        assert answer.status_code == 409
        assert "hidden" in answer.json()["error_description"]


def test_the_owner_is_told_that_a_map_is_hidden(
    site: Service, shelf: Shelf, bob: Person, root: Person, public_id: str
) -> None:
    owner = member(site, shelf, shelf.store.maps(0, 1)[0].owner)
    page = owner.get(f"/mindmaps/{public_id}", 308).headers["Location"]
    told = say("map.hidden")
    assert told not in owner.get(page).text
    report(bob, public_id)
    press(root, "decide", "hide:")
    until(site, lambda: told in owner.get(page).text)
    assert told in owner.get(f"{page}/edit").text
    press(root, "undo", "")
    until(site, lambda: told not in owner.get(page).text)


def test_a_map_is_deleted_and_brought_back(
    shelf: Shelf, bob: Person, root: Person, public_id: str
) -> None:
    report(bob, public_id)
    assert "The map has been deleted" in press(root, "decide", "delete:")
    assert shelf.store.find_map(public_id) is None
    press(root, "undo", "")
    assert shelf.store.find_map(public_id)


def test_an_owner_is_disabled_and_enabled(
    site: Service, shelf: Shelf, bob: Person, root: Person, public_id: str
) -> None:
    owner = member(site, shelf, shelf.store.maps(0, 1)[0].owner)
    report(bob, public_id)
    press(root, "decide", "disable:")
    until(site, lambda: not is_signed_in(owner))
    press(root, "undo", "")
    until(site, lambda: is_signed_in(owner))


def test_reports_are_dismissed(shelf: Shelf, bob: Person, root: Person, public_id: str) -> None:
    report(bob, public_id)
    assert "The reports have been dismissed" in press(root, "decide", "dismiss:")
    assert shelf.store.count_reported_maps() == 0


def test_a_second_decision_on_a_report_is_refused(
    shelf: Shelf, bob: Person, root: Person, public_id: str
) -> None:
    report(bob, public_id)
    (form,) = (one for one in forms(root.get(PAGE)) if one.buttons)
    value = next(own for _, own in form.buttons if own.startswith("dismiss"))
    press(root, "decide", "dismiss:")
    answer = root.send(form, decide=value)
    assert answer.headers["Location"].endswith("?done=changed")
    for nonsense in ("", "hide", "hide:", "hide:x", "burn:1", "hide:-1"):
        assert root.send(form, decide=nonsense).status_code == 400
    for missing in ("hide:99", "delete:9007199254740992"):
        answer = root.send(form, decide=missing)
        assert answer.status_code == 303, (missing, answer.text)
        assert answer.headers["Location"].endswith("?done=gone")


def test_reports_of_a_map_that_its_owner_removed_wait_until_it_is_restored(
    shelf: Shelf, bob: Person, root: Person, public_id: str
) -> None:
    report(bob, public_id)
    form = next(one for one in forms(root.get(PAGE)) if one.buttons)
    (value,) = (own for _, own in form.buttons if own.startswith("hide"))
    found = shelf.store.maps(0, 1)[0]
    owner = next(one for one in shelf.store.users() if one.name == found.owner)
    shelf.store.remove_map(found.file_id, owner.id)
    answer = root.send(form, decide=value)
    assert say("done.reports.gone") in root.get(answer.headers["Location"]).text
    assert shelf.store.count_reported_maps() == 0
    shelf.store.undo_removal(found.file_id)
    assert shelf.store.count_reported_maps() == 1
    root.send(form, decide=value)
    assert shelf.store.is_hidden(found.file_id)


def test_administrators_cannot_disable_themselves(shelf: Shelf, bob: Person, root: Person) -> None:
    shelf.store.put_maps([MapDraft(id="own", title="Own", owner="root")])
    report(bob, "own")
    assert "disable" not in buttons(root)
    file_id = shelf.store.reported_maps(1)[0].map.file_id
    form = next(one for one in forms(root.get(PAGE)) if one.buttons)
    root.send(form, decide=f"disable:{file_id}")
    assert not any(one.disabled for one in shelf.store.users())


@pytest.mark.slow
def test_decisions_beyond_the_first_page_can_be_undone(
    site: Service, shelf: Shelf, root: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mapshelf.site.reports.DECISIONS_SHOWN", 2)
    ids = shelf.put(*(MapDraft(title=f"Map {number}") for number in range(3)))
    administrator = user_named(shelf, "root").id
    for public_id in ids:
        found = shelf.store.find_map(public_id)
        assert found
        shelf.store.decide(found.file_id, DecisionKind.HIDE, administrator)
    page = root.get(PAGE)
    assert [f"Map {number}" in page.text for number in range(3)] == [False, True, True]
    earlier = re.search(f'href="({PAGE}[?]before=[0-9]+)"', page.text)
    assert earlier
    page = root.get(earlier[1])
    assert [f"Map {number}" in page.text for number in range(3)] == [True, False, False]
    (undo,) = (form for form in forms(page) if form.buttons and form.buttons[0][0] == "undo")
    root.send(undo, **dict(undo.buttons))
    found = shelf.store.find_map(ids[0])
    assert found
    assert found.visibility is Visibility.PUBLISHED
    for number in ("x", "-1", "0", "9" * 30):
        assert root.status(f"{PAGE}?before={number}") == 200
