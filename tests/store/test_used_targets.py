"""A catalogue that has been used since it was copied is not overwritten, whatever was done there.

Revisions tell this of maps only. What the documented procedure does is not refused.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from mapshelf.errors import Conflict
from mapshelf.model import (
    AuditEntry,
    AuditEvent,
    CollectionDetails,
    DecisionKind,
    LinkKind,
    MapDraft,
    MapsOfClosedAccount,
    Passkey,
    Program,
    Reason,
    Role,
    Visibility,
    Vote,
)
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from mapshelf.store.tables import TABLES, TransferNote
from mapshelf.store.transfer import differences, transfer_catalogue
from tests.store.contract.oauth import LATER
from tests.store.drafts import source
from tests.store.two_databases import Stores, two_databases

ALL: Final = 1000
ISSUER: Final = "https://id.example"
PASSKEY: Final = Passkey(b"\1", b"key", 0, "Phone", 1, None)
DETAILS: Final = CollectionDetails("Best of", "", Visibility.PUBLISHED)

Change = Callable[[Store], Any]


@pytest.fixture(params=["sqlite", "postgres"])
def stores(
    request: pytest.FixtureRequest, tmp_path: Path, new_catalogue: Callable[[int], str]
) -> Iterator[Stores]:
    """Yield a catalogue in one database, and a copy of it in another kind of database."""
    with two_databases(request.param, tmp_path, new_catalogue) as (origin, there):
        fill(origin)
        move(origin, there)
        yield origin, there


def fill(store: Store) -> None:
    """Write a row of everything that users have. Ann has the id 2, Bob 3."""
    store.put_maps([MapDraft(title=f"m{n}", source=source(f"{n}.mm")) for n in range(3)])
    for name in ("ann", "bob"):
        store.add_user(name)
    store.set_password(2, "encoded", keep=None)
    store.add_token("ann", b"t" * 32, label="l", scopes="maps", expires=None)
    store.add_passkey(2, PASSKEY)
    store.link_identity(2, ISSUER, "ann", "")
    store.add_program(Program("p1", "P", None, ("http://localhost/",), False, 1))
    store.add_collection(2, DETAILS, [1, 2])
    store.save_search(2, "mine", "query=a")


def move(origin: Store, there: Store) -> None:
    """Transfer everything, and check that it has arrived."""
    transfer_catalogue(origin, there, quietly)
    assert list(differences(origin, there)) == []


def quietly(_: int) -> None:
    """Ignore the progress."""


def interrupt(_: int) -> None:
    """Interrupt a transfer."""
    raise KeyboardInterrupt


def refused(origin: Store, there: Store) -> str:
    """Check that a transfer is refused and changes nothing; return why."""
    before = contents(there)
    with pytest.raises(Conflict, match="has changes") as refusal:
        transfer_catalogue(origin, there, quietly)
    assert contents(there) == before
    return str(refusal.value)


def contents(store: Store) -> object:
    return [store.rows(table, None, ALL) for table in TABLES], store.catalogue_counters()


def collection(store: Store) -> str:
    return store.collections_of(2)[0].id


CHANGES: Final[tuple[tuple[str, Change], ...]] = (
    ("(users)", lambda store: store.set_password(2, "other", keep=None)),
    ("(users)", lambda store: store.set_role("bob", Role.ADMINISTRATOR)),
    ("(users)", lambda store: store.add_user("eve")),
    ("(users)", lambda store: store.disable_user("eve")),
    ("(tokens)", lambda store: store.revoke_token(1)),
    (
        "(tokens)",
        lambda store: store.add_token("ann", b"u" * 32, label="l", scopes="maps", expires=None),
    ),
    ("(passkeys)", lambda store: store.remove_passkey(2, PASSKEY.id)),
    ("(linked accounts)", lambda store: store.unlink_identity(2, ISSUER, "ann")),
    ("(programs)", lambda store: store.remove_program("p1")),
    ("(collections, maps in collections)", lambda store: store.arrange(collection(store), [2, 1])),
    ("(collections)", lambda store: store.pin_collection(collection(store), pinned=True)),
    (
        "(reports of collections)",
        lambda store: store.report_collection(collection(store), 3, Reason.SPAM, ""),
    ),
    (
        "decisions about collections",
        lambda store: store.decide_about_collection(collection(store), DecisionKind.DISMISS, 3),
    ),
    ("(saved searches)", lambda store: store.save_search(2, "other", "query=b")),
    ("(renamed tags)", lambda store: store.rename_tag("old", "new")),
    ("(reports)", lambda store: store.report_map(1, 3, Reason.SPAM, "")),
    ("decisions about reports", lambda store: store.decide(1, DecisionKind.DISMISS, 3)),
    (
        "(maps)",
        lambda store: store.move_source(
            source("1.mm").path, replace(source("1.mm"), path=b"/maps/moved.mm")
        ),
    ),
    ("(maps)", lambda store: store.put_maps([MapDraft(title="new")])),
    ("(maps)", lambda store: store.set_vote(1, 3, Vote.UP)),
)
"""What people do in a catalogue, each with what the refusal says."""


def change_everything(store: Store) -> None:
    """Make all changes."""
    for _, change in CHANGES:
        change(store)


def test_a_target_is_refused_after_any_change_and_can_be_the_source(stores: Stores) -> None:
    """The changes are made in turn in each of both catalogues, which are equal before each."""
    for number, (what, change) in enumerate(CHANGES):
        used, other = stores if number % 2 else stores[::-1]
        change(used)
        assert what in refused(other, used)
        assert what in refused(other, used), "it is refused again"
        move(used, other)
        move(other, used)


def test_what_nobody_did_on_purpose_is_not_refused(stores: Stores) -> None:
    """The old service answers readers until the nodes have started, while signing people in."""
    origin, there = stores
    origin.touch_tokens({1: 77})
    origin.add_session(2, b"s" * 32, "", LATER, None)
    origin.add_link(LinkKind.PASSWORD, b"l" * 32, 2, LATER, None)
    assert origin.note_passkey_use(PASSKEY.id, 5, 9)
    for event in (AuditEvent.SIGN_IN, AuditEvent.SIGN_IN_FAILED):
        origin.add_audit_entry(AuditEntry(event))
    there.disable_user("bob")
    move(there, origin)
    assert next(user for user in origin.users() if user.name == "bob").disabled


def test_the_source_goes_on_while_it_is_copied_several_times(stores: Stores) -> None:
    origin, there = stores
    change_everything(origin)
    move(origin, there)
    origin.close_account(2, MapsOfClosedAccount.PASS_ON, "other")
    move(origin, there)
    while origin.finish_closing():  # this frees the name
        pass
    move(origin, there)
    origin.put_maps([MapDraft(title="later")])

    def write(_: int) -> None:
        origin.put_maps([MapDraft(title="meanwhile")])
        origin.add_user("late")

    with pytest.raises(Conflict, match="changed while"):
        transfer_catalogue(origin, there, write)
    move(origin, there)


def test_a_target_that_is_used_although_the_source_was_changed_is_refused(stores: Stores) -> None:
    origin, there = stores
    origin.put_maps([MapDraft(title="later")])

    def write(_: int) -> None:
        origin.delete_maps([origin.maps(0, 1)[0].id])

    with pytest.raises(Conflict, match="changed while"):
        transfer_catalogue(origin, there, write)
    there.revoke_token(1)
    assert "(tokens)" in refused(origin, there)


@pytest.mark.parametrize("used", [False, True])
def test_an_interrupted_transfer_goes_on_unless_somebody_used_the_target(
    stores: Stores, used: bool
) -> None:
    origin, there = stores
    change_everything(origin)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            transfer_catalogue(origin, there, interrupt)
        origin.add_user(f"later {origin.revision()}")
        origin.put_maps([MapDraft(title="later")])
        there.add_audit_entry(AuditEntry(AuditEvent.SIGN_IN))
    if not used:
        move(origin, there)
        return
    with there.auditing(AuditEntry(AuditEvent.PASSWORD_CHANGED)):
        there.set_password(3, "other", keep=None)
    assert "(password.changed)" in refused(origin, there)
    there.put_maps([MapDraft(title="imported")])
    assert "(maps" in refused(origin, there)


def test_use_of_the_target_during_the_transfer_is_noticed(stores: Stores) -> None:
    origin, there = stores
    origin.put_maps([MapDraft(title="later")])

    def use(_: int) -> None:
        with there.auditing(AuditEntry(AuditEvent.TOKEN_REVOKED)):
            there.revoke_token(1)

    with pytest.raises(Conflict, match=r"token\.revoked"):
        transfer_catalogue(origin, there, use)
    assert "token.revoked" in refused(origin, there)


def test_a_user_is_not_overwritten_by_another_with_the_same_number(stores: Stores) -> None:
    origin, there = stores
    origin.add_user("mallory")
    there.add_user("boss", Role.ADMINISTRATOR)
    assert "(user 4 is mallory instead of boss)" in refused(there, origin)
    assert "(user 4 is boss instead of mallory)" in refused(origin, there)


def test_changes_that_went_to_a_third_catalogue_only_are_not_lost(
    stores: Stores, tmp_path: Path
) -> None:
    origin, there = stores
    origin.set_password(2, "other", keep=None)
    with closing(open_store(sqlite_url(tmp_path / "third"))) as third:
        move(origin, third)
        assert "(users)" in refused(there, origin)
        third.disable_user("bob")
        move(third, there)  # what it was is part of the third
        move(there, origin)
        origin.revoke_token(1)
        move(origin, third)


@pytest.mark.parametrize("unknown", [TransferNote(), TransferNote(number="another")])
def test_a_target_of_which_nothing_is_known_is_refused_unless_it_is_equal(
    stores: Stores, unknown: TransferNote
) -> None:
    origin, there = stores
    there.note_transfer(unknown)
    move(origin, there)
    there.note_transfer(unknown)
    origin.revoke_token(1)
    assert "(tokens)" in refused(origin, there)


def test_the_way_on_is_an_empty_target(stores: Stores, tmp_path: Path) -> None:
    origin, there = stores
    origin.add_user("mallory")
    assert "migrate to an empty database or a new folder" in refused(there, origin)
    with closing(open_store(sqlite_url(tmp_path / "new"))) as new:
        move(there, new)
        assert new.check() == []


@pytest.mark.parametrize(
    "use",
    [
        lambda store: store.rename_tag("old", "new"),
        lambda store: store.add_program(Program("p2", "P", None, ("http://localhost/",), False, 1)),
    ],
)
def test_a_catalogue_without_users_and_maps_may_be_in_use(
    stores: Stores, tmp_path: Path, use: Change
) -> None:
    with closing(open_store(sqlite_url(tmp_path / "other"))) as other:
        use(other)
        with pytest.raises(Conflict, match="another catalogue"):
            transfer_catalogue(stores[0], other, quietly)
