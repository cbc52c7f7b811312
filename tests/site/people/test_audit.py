"""The audit log: which actions on pages it records, and that it has no secrets."""

from ipaddress import ip_network

import pytest

from mapshelf.accounts.sign_in import FREE_TRIES
from mapshelf.errors import StoreUnavailable
from mapshelf.model import AuditEvent, Role
from mapshelf.settings import Registration
from tests.api.publishing import OWNER, People, plan
from tests.harness import Service, Shelf
from tests.person import OTHER, PASSWORD, Person, Start, forms, link_of, member


def noted(shelf: Shelf) -> list[tuple[str, str, str, str]]:
    found = (one.entry for one in shelf.store.audit_records(0, 0, 10_000))
    return [(one.event, one.user, one.target, one.address) for one in found]


def test_actions_on_pages_are_logged(site: Service, shelf: Shelf) -> None:
    root = member(site, shelf, "root", Role.ADMINISTRATOR)
    root.fill("/account/tokens", name="Portal", scope="maps", days="30")
    (form,) = (one for one in forms(root.get("/account/tokens")) if one.buttons)
    root.send(form, revoke=form.buttons[0][1])
    root.fill("/account/password", present=PASSWORD, new=OTHER, again=OTHER)
    root.post("/account/invitations", root.form("/account/tokens").fields)
    (form,) = (one for one in forms(root.get("/account/invitations")) if one.buttons)
    root.send(form, withdraw=form.buttons[0][1])
    root.send(form, withdraw=form.buttons[0][1])
    person = Person(site, "198.51.100.7")
    person.sign_in("root", OTHER)
    here, there = "192.0.2.1", "198.51.100.7"
    assert noted(shelf) == [
        ("password.changed", "root", "", here),
        ("sign_in", "root", "", here),
        ("token.made", "root", "token Portal", here),
        ("token.revoked", "root", "token Portal", here),
        ("password.changed", "root", "", here),
        ("invitation.made", "root", "", here),
        ("invitation.withdrawn", "root", "", here),
        ("sign_in", "root", "", there),
    ]


def test_ended_sessions(site: Service, shelf: Shelf) -> None:
    ann, other = member(site, shelf, "ann"), Person(site)
    other.sign_in("ann")
    before = len(noted(shelf))
    page = ann.get("/account")
    ends = [form for form in forms(page) if form.buttons]
    ((name, value),) = ends[0].buttons
    for _ in range(2):
        ann.send(ends[0], **{name: value})
    ann.fill("/signout")
    assert [one[:3] for one in noted(shelf)[before:]] == [("session.ended", "ann", "")] * 2


def test_failed_sign_ins_log_the_account_and_no_typed_text(site: Service, shelf: Shelf) -> None:
    person = member(site, shelf, "ann")
    before = len(noted(shelf))
    stranger = Person(site, "198.51.100.7")
    stranger.sign_in("ANN", OTHER)
    stranger.sign_in(PASSWORD, OTHER)  # a password typed into the name field
    stranger.sign_in("nobody", OTHER)
    assert noted(shelf)[before:] == [
        ("sign_in.failed", "ann", "", "198.51.100.7"),
        ("sign_in.failed", "", "", "198.51.100.7"),
    ]
    assert person.session


def test_throttled_attempts_are_not_logged(site: Service, shelf: Shelf) -> None:
    member(site, shelf, "ann")
    before = len(noted(shelf))
    stranger = Person(site, "198.51.100.7")
    for _ in range(FREE_TRIES + 5):
        stranger.sign_in("ann", OTHER)
    (record,) = shelf.store.audit_records(0, 0, 10_000)[before:]
    assert record.count == FREE_TRIES


def test_an_unwritable_audit_log_does_not_change_a_refusal(
    site: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise StoreUnavailable("away")

    member(site, shelf, "ann")
    monkeypatch.setattr(type(shelf.store), "add_audit_entry", failing)
    answer = Person(site).sign_in("ann", OTHER)
    assert answer.status_code == 403
    assert "Wrong username or password" in answer.text


def test_the_address_is_the_one_behind_a_trusted_proxy(start: Start, shelf: Shelf) -> None:
    site = start(trusted_proxies=(ip_network("192.0.2.1"),))
    path = link_of(shelf, "ann")
    person = Person(site)
    form = person.form(path)
    fields = {**form.fields, "new": PASSWORD, "again": PASSWORD}
    answer = person.post(form.action, fields, X_Forwarded_For="203.0.113.9")
    assert answer.status_code == 303
    assert {one[3] for one in noted(shelf)} == {"203.0.113.9"}


@pytest.mark.slow
def test_actions_on_maps_are_logged(start: Start, shelf: Shelf) -> None:
    people = People(shelf, start())
    public_id = people.published(OWNER, plan("a"))
    people.upload(OWNER, plan("a"))
    people.edit(OWNER, public_id, title="Other")
    people.edit(OWNER, public_id, title="Other")
    people.edit(OWNER, public_id, title="Third")
    files = {"map": ("plan.mm", plan("b"))}
    people.send(OWNER, "PUT", f"/maps/{public_id}/file", files=files)
    people.send(OWNER, "POST", f"/maps/{public_id}/versions/1/restore")
    people.send(OWNER, "DELETE", f"/maps/{public_id}")
    people.send(OWNER, "DELETE", f"/maps/{public_id}")
    target = f"map {public_id}"
    found = [(one.entry.event, one.count) for one in shelf.store.audit_records(0, 0, 1000)]
    assert found == [
        (AuditEvent.MAP_PUBLISHED, 1),
        (AuditEvent.MAP_CHANGED, 2),
        (AuditEvent.MAP_REPLACED, 2),
        (AuditEvent.MAP_REMOVED, 1),
    ]
    assert {(one[1], one[2]) for one in noted(shelf)} == {(OWNER, target)}


@pytest.mark.slow
def test_registering(start: Start, shelf: Shelf) -> None:
    site = start(registration=Registration.OPEN)
    guest = Person(site)
    guest.fill("/register", name="guest", new=PASSWORD, again=PASSWORD)
    assert [one[:3] for one in noted(shelf)] == [
        ("user.registered", "guest", "user guest"),
        ("sign_in", "guest", ""),
    ]
