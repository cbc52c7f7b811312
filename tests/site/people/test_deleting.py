"""Deleting an account on its page."""

import pytest

from mapshelf.errors import AlreadyExists
from mapshelf.model import SYSTEM_USER, AuditEvent, MapDetails, MapDraft, Role, Vote
from mapshelf.settings import Registration
from mapshelf.site.messages import say
from tests.harness import Service, Shelf
from tests.person import (
    OTHER,
    PASSWORD,
    Person,
    Start,
    is_signed_in,
    member,
    until,
    user_named,
)
from tests.store.drafts import source, upload

PAGE = "/account/delete"


def delete(person: Person, maps: str, password: str = PASSWORD) -> int:
    answer = person.fill(PAGE, present=password, maps=maps)
    assert ("Your account has been deleted" in answer.text) == (answer.status_code == 200)
    return answer.status_code


@pytest.mark.slow
@pytest.mark.parametrize(("choice", "owner"), [("remove", None), ("pass_on", SYSTEM_USER)])
def test_an_account_is_deleted_with_its_maps_or_without(
    site: Service, shelf: Shelf, choice: str, owner: str | None
) -> None:
    ann, elsewhere = member(site, shelf, "ann"), Person(site)
    elsewhere.sign_in("ann")
    user, store = user_named(shelf, "ann"), shelf.store
    mine, _ = store.publish(upload(), MapDetails(title="Mine"), user.id, None)
    others = store.maps(0, 1)[0]
    store.set_vote(others.file_id, user.id, Vote.UP)
    authorization = {"Authorization": f"Bearer {shelf.token('ann')}"}
    assert site.get("/maps", **authorization).status_code == 200
    assert delete(ann, choice) == 200
    assert not ann.session
    until(site, lambda: not is_signed_in(elsewhere))
    until(site, lambda: site.get("/maps", **authorization).status_code == 401)
    found = store.find_map(mine.id)
    assert (found.owner if found else None) == owner
    assert store.find_map(others.id) == others, "the vote still counts"
    assert "ann" not in [one.name for one in store.users()]
    assert Person(site).sign_in("ann").status_code == 403
    last = store.audit_records(0, 0, 1000)[-2].entry
    assert (last.event, last.user) == (AuditEvent.ACCOUNT_DELETED, "ann")
    assert store.add_user("ann").id != user.id
    with pytest.raises(AlreadyExists):
        store.add_user("Ann")


def test_deleting_an_account_needs_the_password_and_a_choice(site: Service, shelf: Shelf) -> None:
    ann = member(site, shelf, "ann")
    assert delete(ann, "remove", OTHER) == 403
    assert delete(ann, "remove", "") == 403
    assert delete(ann, "") == delete(ann, "all") == 400
    assert is_signed_in(ann)
    failed = shelf.store.audit_records(0, 0, 1000)[-1]
    assert (failed.entry.event, failed.entry.user) == (AuditEvent.SIGN_IN_FAILED, "ann")
    assert failed.count == 2


def test_deleting_without_a_password_needs_a_recent_session(
    site: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = shelf.store.add_user("cat")
    cat = Person(site)
    cat.client.cookies.set("__Host-mapshelf_session", shelf.session("cat"))
    assert 'name="present"' not in cat.get(PAGE).text
    monkeypatch.setattr("mapshelf.accounts.own_account.YOUNG", -1_000_000)
    assert "Sign out and in again" in cat.fill(PAGE, maps="remove").text
    assert user_named(shelf, "cat") == user
    monkeypatch.undo()
    assert "Your account has been deleted" in cat.fill(PAGE, maps="remove").text


def test_the_last_administrator_stays(site: Service, shelf: Shelf) -> None:
    root = member(site, shelf, "root", Role.ADMINISTRATOR)
    assert delete(root, "remove") == 409
    assert "You are the only administrator" in root.fill(PAGE, present=PASSWORD, maps="remove").text
    member(site, shelf, "next", Role.ADMINISTRATOR)
    assert delete(root, "remove") == 200


def test_the_name_of_a_deleted_owner_of_a_folder_cannot_be_registered(
    start: Start, shelf: Shelf
) -> None:
    site = start(registration=Registration.OPEN)
    ann, guest = member(site, shelf, "ann"), Person(site)
    draft = MapDraft(title="Board minutes", owner="ann", source=source("board.mm"))
    (outcome,) = shelf.store.put_maps([draft])
    assert say("account.delete.folders") in ann.get(PAGE).text
    assert delete(ann, "remove") == 200
    while shelf.store.finish_closing():
        pass
    found = shelf.store.find_map(outcome.id)
    assert found
    assert found.owner == SYSTEM_USER
    for name in ("ann", "Ann"):
        answer = guest.fill("/register", name=name, new=PASSWORD, again=PASSWORD)
        assert (answer.status_code, is_signed_in(guest)) == (409, False)
    assert guest.sign_in("ann").status_code == 403
    failed = shelf.store.audit_records(0, 0, 1000)[-1].entry
    assert (failed.event, failed.user) == (AuditEvent.SIGN_IN_FAILED, "")
