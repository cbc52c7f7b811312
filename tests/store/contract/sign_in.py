"""Tests of ``contract.Passwords``."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import pytest

from mapshelf.errors import AlreadyExists, Conflict, MapshelfError, NotFound
from mapshelf.model import (
    SYSTEM_USER,
    Access,
    AuthorizationCode,
    DeviceRequest,
    LinkKind,
    MapsOfClosedAccount,
    NewTokens,
    OneTimeLink,
    Passkey,
    PasswordRecord,
    Program,
    Role,
    Token,
    User,
)
from mapshelf.store import Store, lookalikes
from mapshelf.store.tables import USERS
from tests.store.clock import Clock
from tests.store.contract.suite import Open, Suite, title

T = TypeVar("T")

NOBODY = 12345
"""The id of no user and no session."""


def digest(number: int) -> bytes:
    return bytes([number]) * 32


def begin(store: Store, user: User, number: int, *, expires: int = 2**50) -> Token:
    """Begin a session whose secret has the digest ``digest(number)``."""
    return store.add_session(user.id, digest(number), f"browser {number}", expires, None)


def known(store: Store, *numbers: int) -> list[bool]:
    """Return for each of these sessions and tokens whether the store knows it."""
    found = store.find_credentials([digest(number) for number in numbers])
    return [digest(number) in found for number in numbers]


def add_link(store: Store, number: int, user: User | None, expires: int) -> None:
    kind = LinkKind.INVITATION if user is None else LinkKind.PASSWORD
    store.add_link(kind, digest(number), user.id if user else None, expires, None)


def all_at_once(*calls: Callable[[], T]) -> list[T | MapshelfError]:
    """Make the calls at the same moment; return what they return or raise."""
    start = threading.Barrier(len(calls))

    def made(call: Callable[[], T]) -> T | MapshelfError:
        start.wait()
        try:
            return call()
        except MapshelfError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(made, calls))


class PasswordsContract(Suite):
    """Passwords, and links for choosing them."""

    def test_passwords(self, store: Store) -> None:
        bob = store.add_user("Bob")
        assert store.password_of("bob") == PasswordRecord(bob, None)
        store.set_password(bob.id, "one", keep=None)
        store.set_password(bob.id, "two", keep=None)
        assert store.password_of("BOB") == PasswordRecord(bob, "two")
        disabled = store.disable_user("bob")
        assert store.password_of("bob") == PasswordRecord(disabled, "two")
        assert store.password_of("nobody") is None
        with pytest.raises(NotFound):
            store.set_password(NOBODY, "x", keep=None)

    def test_a_password_that_was_checked_is_changed_as_long_as_it_is_the_present_one(
        self, store: Store
    ) -> None:
        bob = store.add_user("Bob")
        store.set_password(bob.id, "one", keep=None)
        store.set_password(bob.id, "two", keep=None, checked="one")
        for former in ("one", "three"):
            with pytest.raises(Conflict):
                store.set_password(bob.id, "three", keep=None, checked=former)
        store.disable_user("bob")
        with pytest.raises(Conflict):
            store.set_password(bob.id, "three", keep=None, checked="two")
        record = store.password_of("bob")
        assert record is not None
        assert record.encoded == "two"

    def test_of_simultaneous_password_changes_one_succeeds(self, store: Store) -> None:
        bob = store.add_user("Bob")
        store.set_password(bob.id, "old", keep=None)
        results = all_at_once(
            *(
                partial(store.set_password, bob.id, f"new {n}", keep=None, checked="old")
                for n in range(4)
            )
        )
        assert sum(not isinstance(one, Conflict) for one in results) == 1

    def test_a_first_password_is_for_those_who_have_none(self, store: Store) -> None:
        bob = store.add_user("bob")
        kept, other = begin(store, bob, 1), begin(store, bob, 2)
        store.add_link(LinkKind.PASSWORD, digest(3), bob.id, 2**50, None)
        store.set_first_password(bob.id, "first", keep=kept.id)
        assert store.password_of("bob") == PasswordRecord(bob, "first")
        assert [one.id for one in store.sessions(bob.id)] == [kept.id] != [other.id]
        assert store.link(digest(3), 0) is None
        with pytest.raises(Conflict):
            store.set_first_password(bob.id, "second", keep=kept.id)
        store.add_user("eve")
        eve = store.disable_user("eve")
        with pytest.raises(Conflict):
            store.set_first_password(eve.id, "x", keep=kept.id)
        assert store.password_of("bob") == PasswordRecord(bob, "first")
        with pytest.raises(NotFound):
            store.set_first_password(NOBODY, "x", keep=kept.id)

    def test_a_new_password_ends_other_sessions_and_voids_links(
        self, store: Store, clock: Clock
    ) -> None:
        bob, eve = store.add_user("Bob"), store.add_user("Eve")
        store.add_token("bob", digest(9), label="", scopes="", expires=None)
        kept = begin(store, bob, 1)
        begin(store, bob, 2)
        begin(store, eve, 3)
        add_link(store, 4, bob, clock.now + 1)
        add_link(store, 5, eve, clock.now + 1)
        add_link(store, 6, None, clock.now + 1)
        version = store.tokens_version()
        store.set_password(bob.id, "new", keep=kept.id)
        assert known(store, 1, 2, 3, 9) == [True, False, True, True]
        assert store.tokens_version() != version
        assert [store.link(digest(n), clock.now) is not None for n in (4, 5, 6)] == [
            False,
            True,
            True,
        ]
        store.set_password(bob.id, "newer", keep=None)
        assert known(store, 1, 3) == [False, True]

    @pytest.mark.parametrize("way", ["password", "first", "link"])
    @pytest.mark.parametrize("ending", [(), ("programs",), ("ways",), ("programs", "ways")])
    def test_a_new_password_ends_sessions_and_grants(
        self, store: Store, clock: Clock, way: str, ending: tuple[str, ...]
    ) -> None:
        store.add_program(Program("p", "P", None, ("http://localhost/",), legacy=False, created=1))
        bob, eve = store.add_user("Bob"), store.add_user("Eve")
        for n, user in enumerate((bob, eve)):
            store.add_token(user.name, digest(10 + n), label="", scopes="", expires=None)
            store.link_identity(user.id, "https://id.example", user.name, "n")
            store.add_passkey(user.id, Passkey(bytes([n]), b"key", 0, "Phone", 1, None))
            for secret in (20 + n, 30 + n):
                known_as = AuthorizationCode(digest(secret), "p", user.id, "", "", "", 2**50)
                store.add_code(known_as)
            granted = NewTokens(digest(40 + n), 2**50, digest(50 + n), 2**50, "")
            assert store.use_code(digest(20 + n), granted, 1) is not None
            store.add_device_request(DeviceRequest(digest(60 + n), f"C{n}", "p", "", 2**50), 1)
            store.decide_device_request(f"C{n}", user.id, 1, allow=True)
        kept = begin(store, bob, 1)
        add_link(store, 4, bob, clock.now + 1)
        version, ended = store.tokens_version(), [Access(one) for one in ending]
        if way == "link":
            store.use_link(digest(4), "new", clock.now, ended)
        elif way == "first":
            store.set_first_password(bob.id, "new", keep=kept.id, ending=ended)
        else:
            store.set_password(bob.id, "new", keep=kept.id, ending=ended)
        programs, ways = ("programs" in ending), ("ways" in ending)
        assert known(store, 1) == [way != "link"], (
            "the user's own session goes on, unless a link was used"
        )
        assert bool(store.tokens("bob")[0].revoked) is programs
        assert known(store, 40, 41) == [not programs, True]
        assert (store.tokens_version() != version) is (programs or way == "link")
        assert bool(store.grants(bob.id, 1)) is not programs
        assert (store.code(digest(30)) is None) is programs
        more = NewTokens(digest(70), 2**50, digest(71), 2**50, "")
        assert (store.use_device_request(digest(60), more, 1) is None) is programs
        left = (len(store.passkeys(bob.id)), len(store.identities(bob.id)))
        assert left == ((0, 0) if ways else (1, 1))
        assert store.tokens("eve")[0].revoked is None
        assert len(store.grants(eve.id, 1)) == len(store.passkeys(eve.id)) == 1
        assert len(store.identities(eve.id)) == 1
        assert store.code(digest(31)) is not None

    def test_nobody_signs_in_as_system(self, store: Store) -> None:
        system = store.users()[0]
        for refused in (
            lambda: store.set_password(system.id, "x", keep=None),
            lambda: add_link(store, 1, system, 2**50),
            lambda: begin(store, system, 1),
        ):
            with pytest.raises(Conflict):
                refused()
        assert store.password_of(SYSTEM_USER) == PasswordRecord(system, None)
        with pytest.raises(AlreadyExists):
            store.register(None, "System", "x", 0)

    def test_a_link_sets_a_password_once(self, store: Store, clock: Clock) -> None:
        bob, ann = store.add_user("Bob"), store.add_user("Ann", Role.ADMINISTRATOR)
        store.add_link(LinkKind.PASSWORD, digest(1), bob.id, clock.now + 9, ann.id)
        begin(store, bob, 2)
        given = OneTimeLink(LinkKind.PASSWORD, digest(1), bob, clock.now, clock.now + 9, "Ann")
        for _ in range(2):  # reading a link does not use it up
            assert store.link(digest(1), clock.now + 8) == given
        assert store.link(digest(1), clock.now + 9) is None
        assert store.link(digest(3), clock.now) is None
        for spent in (digest(1), digest(3)):
            with pytest.raises(NotFound):
                store.use_link(spent, "late", clock.now + 9)
        assert store.use_link(digest(1), "chosen", clock.now + 8) == bob
        assert store.password_of("bob") == PasswordRecord(bob, "chosen")
        assert known(store, 2) == [False]
        with pytest.raises(NotFound):
            store.use_link(digest(1), "again", clock.now)
        assert store.link(digest(1), clock.now) is None
        assert store.password_of("bob") == PasswordRecord(bob, "chosen")

    def test_links_need_a_user_and_one_that_is_not_disabled(
        self, store: Store, clock: Clock
    ) -> None:
        with pytest.raises(NotFound):
            store.add_link(LinkKind.PASSWORD, digest(1), NOBODY, clock.now + 1, None)
        bob = store.add_user("Bob")
        add_link(store, 1, bob, clock.now + 1)
        store.disable_user("bob")
        assert store.link(digest(1), clock.now) is None
        with pytest.raises(NotFound):
            store.use_link(digest(1), "x", clock.now)
        assert store.enable_user("BOB") == bob
        assert store.use_link(digest(1), "x", clock.now) == bob

    def test_of_two_simultaneous_uses_of_a_link_one_succeeds(
        self, store: Store, reopen: Open, clock: Clock
    ) -> None:
        other = reopen()
        bob = store.add_user("Bob")
        for turn in range(8):
            add_link(store, turn, bob, clock.now + 1)
            outcomes = all_at_once(
                *(
                    partial(one.use_link, digest(turn), f"{turn} of {number}", clock.now)
                    for number, one in enumerate([store, other, store, other])
                )
            )
            (winner,) = (n for n, outcome in enumerate(outcomes) if outcome == bob)
            assert sum(isinstance(outcome, NotFound) for outcome in outcomes) == 3
            assert store.password_of("bob") == PasswordRecord(bob, f"{turn} of {winner}")

    def test_changing_a_password_in_every_way_at_once_never_locks_up(
        self, store: Store, reopen: Open, clock: Clock
    ) -> None:
        other = reopen()
        bob = store.add_user("Bob")
        for turn in range(8):
            for number in range(3):
                add_link(store, 3 * turn + number, bob, clock.now + 1)
                begin(store, bob, 100 + 3 * turn + number)
            outcomes = all_at_once(
                partial(store.use_link, digest(3 * turn), "l", clock.now),
                partial(other.use_link, digest(3 * turn + 1), "l", clock.now),
                partial(store.set_password, bob.id, "s", keep=None),
                partial(other.end_sessions, bob.id, None),
                partial(begin, other, bob, 200 + turn),
            )
            for outcome in outcomes:
                assert not isinstance(outcome, MapshelfError) or isinstance(outcome, NotFound)
            assert all(store.link(digest(3 * turn + n), clock.now) is None for n in range(3))


class InvitationsContract(Suite):
    """Registration, with and without an invitation."""

    def test_registering_by_invitation(self, store: Store, clock: Clock) -> None:
        ann = store.add_user("Ann", Role.ADMINISTRATOR)
        store.add_link(LinkKind.INVITATION, digest(1), None, clock.now + 9, ann.id)
        first = OneTimeLink(LinkKind.INVITATION, digest(1), None, clock.now, clock.now + 9, "Ann")
        clock.now += 1
        add_link(store, 2, None, clock.now + 1)
        add_link(store, 3, ann, clock.now + 9)
        second = OneTimeLink(LinkKind.INVITATION, digest(2), None, clock.now, clock.now + 1, None)
        assert store.link(digest(1), clock.now) == first
        assert store.invitations(clock.now) == [first, second]
        assert store.invitations(clock.now + 1) == [first]
        with pytest.raises(NotFound):
            store.use_link(digest(1), "x", clock.now)  # an invitation sets nobody's password
        with pytest.raises(AlreadyExists):
            store.register(digest(1), "ann", "x", clock.now)
        for number in (2, 3, 4):  # expired; for a password; unknown
            with pytest.raises(NotFound):
                store.register(digest(number), "bob", "x", clock.now + 1)
        bob = store.register(digest(1), "Bob", "encoded", clock.now)
        assert (bob.name, bob.registered, bob.disabled, bob.role) == (
            "Bob",
            clock.now,
            False,
            Role.MEMBER,
        )
        assert store.password_of("bob") == PasswordRecord(bob, "encoded")
        with pytest.raises(NotFound):
            store.register(digest(1), "carl", "x", clock.now)
        assert [user.name for user in store.users()] == [SYSTEM_USER, "Ann", "Bob"]
        assert store.link(digest(3), clock.now) is not None

    def test_nobody_registers_a_name_that_looks_like_that_of_a_user(self, store: Store) -> None:
        store.add_user("Bob.Smith")
        for name in ("bob.smith", "bob\u2024smith", "BOB\ufe52SMITH", "b\u043eb.smith"):
            with pytest.raises(AlreadyExists):
                store.register(None, name, "x", 5)
        looks_like_system = "\u0455\u0443\u0455\u0442\u0435\u043c"  # but for one letter
        store.register(None, looks_like_system, "x", 5)
        store.register(None, "\u0441\u043e\u0441\u043e", "x", 5)
        for name in ("coco", "\u03f2\u03bf\u03f2\u03bf"):
            with pytest.raises(AlreadyExists):
                store.register(None, name, "x", 5)
        # Names from commands and files are what somebody else has decided; they count from then on.
        store.add_user("coco")
        store.put_maps([title("t", owner="niko")])
        with pytest.raises(AlreadyExists):
            store.register(None, "\u039d\u0399\u039a\u039f", "x", 5)

    def test_the_name_of_a_deleted_user_is_free_again(self, store: Store) -> None:
        gone = store.register(None, "bob.smith", "x", 5)
        store.close_account(gone.id, MapsOfClosedAccount.REMOVE, "x")
        with pytest.raises(AlreadyExists):
            store.register(None, "bob\u2024smith", "x", 5)
        while store.finish_closing():
            pass
        store.register(None, "bob\u2024smith", "x", 5)

    def test_of_simultaneous_registrations_of_names_that_look_alike_one_succeeds(
        self, store: Store, reopen: Open
    ) -> None:
        stores = [store, reopen()]
        alike = ("coco", "\u0441\u043e\u0441\u043e", "\u03f2\u03bf\u03f2\u03bf", "COCO")
        got = all_at_once(
            partial(stores[0].register, None, alike[0], "x", 5),
            partial(stores[1].register, None, alike[1], "x", 5),
            partial(stores[0].register_by_identity, alike[2], "https://a.test", "1", ""),
            partial(stores[1].register_by_identity, alike[3], "https://a.test", "2", ""),
        )
        assert sum(isinstance(one, User) for one in got) == 1
        assert sum(isinstance(one, AlreadyExists) for one in got) == 3

    def test_users_without_a_skeleton_count_and_get_one(self, store: Store) -> None:
        """As those that a node of a former version has added."""
        store.register(None, "Bob", "x", 5)
        forget_skeletons(store, "Bob")
        with pytest.raises(AlreadyExists):
            store.register(None, "B\u043eb", "x", 5)
        store.register(None, "Eve", "x", 5)
        assert all(skeletons(store).values())

    def test_skeletons_are_added_a_few_at_a_time(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """So that the first registration after an upgrade need not wait for all."""
        monkeypatch.setattr(lookalikes, "ROWS_AT_ONCE", 2)
        assert not store.add_skeletons()
        names = ("Ann", "Bob", "Cid", "Dot", "Eve")
        for name in names:
            store.register(None, name, "x", 5)
        before, revision = skeletons(store), store.revision()
        forget_skeletons(store, *names)
        for rest in (3, 1, 0):
            assert store.add_skeletons()
            assert sum(one is None for one in skeletons(store).values()) == rest
        assert not store.add_skeletons()
        assert (skeletons(store), store.revision()) == (before, revision)

    def test_invitations_of_disabled_users_are_refused(self, store: Store, clock: Clock) -> None:
        root = store.add_user("root", Role.ADMINISTRATOR)
        later = clock.now + 1
        store.add_link(LinkKind.INVITATION, digest(1), None, later, root.id)
        store.add_link(LinkKind.INVITATION, digest(2), None, later, None)
        store.disable_user("root")
        assert store.link(digest(1), clock.now) is None
        assert [one.digest for one in store.invitations(clock.now)] == [digest(2)]
        with pytest.raises(NotFound):
            store.register(digest(1), "Eve", "x", clock.now)
        store.enable_user("root")
        assert store.register(digest(1), "Eve", "x", clock.now).name == "Eve"

    def test_links_of_former_administrators_are_refused(self, store: Store, clock: Clock) -> None:
        store.add_user("chief", Role.ADMINISTRATOR)
        root, bob = store.add_user("root", Role.ADMINISTRATOR), store.add_user("bob")
        later = clock.now + 1
        store.add_link(LinkKind.INVITATION, digest(1), None, later, root.id)
        store.add_link(LinkKind.PASSWORD, digest(2), bob.id, later, root.id)
        store.add_link(LinkKind.INVITATION, digest(3), None, later, None)
        store.add_link(LinkKind.PASSWORD, digest(4), bob.id, later, None)

        def checked() -> list[int]:
            return [one for one in (1, 2, 3, 4) if store.link(digest(one), clock.now)]

        assert checked() == [1, 2, 3, 4]
        store.set_role("root", Role.MEMBER)
        assert checked() == [3, 4], "a link of a former administrator is valid"
        assert [one.digest for one in store.invitations(clock.now)] == [digest(3)]
        with pytest.raises(NotFound):
            store.register(digest(1), "Eve", "x", clock.now)
        with pytest.raises(NotFound):
            store.use_link(digest(2), "x", clock.now)
        assert store.password_of("bob") == PasswordRecord(bob, None)
        store.set_role("root", Role.ADMINISTRATOR)
        assert checked() == [1, 2, 3, 4]
        assert store.use_link(digest(4), "x", clock.now) == bob

    def test_registering_without_an_invitation(self, store: Store, clock: Clock) -> None:
        bob = store.register(None, "Bob", "encoded", clock.now)
        assert store.users()[-1] == bob
        with pytest.raises(AlreadyExists):
            store.register(None, "BOB", "other", clock.now)
        assert store.password_of("bob") == PasswordRecord(bob, "encoded")

    def test_withdrawing_an_invitation(self, store: Store, clock: Clock) -> None:
        bob = store.add_user("Bob")
        add_link(store, 1, None, clock.now + 1)
        add_link(store, 2, bob, clock.now + 1)
        store.withdraw_invitation(digest(1))
        assert store.invitations(clock.now) == []
        for number in (1, 2, 3):
            with pytest.raises(NotFound):
                store.withdraw_invitation(digest(number))
        assert store.link(digest(2), clock.now) is not None

    def test_an_invitation_is_good_for_one_account_and_a_name_for_one_user(
        self, store: Store, reopen: Open, clock: Clock
    ) -> None:
        stores = [store, reopen()]
        for turn in range(6):
            add_link(store, turn, None, clock.now + 1)
            outcomes = all_at_once(
                *(
                    partial(
                        stores[number % 2].register,
                        digest(turn),
                        f"user {turn} {number}",
                        "x",
                        clock.now,
                    )
                    for number in range(4)
                )
            )
            assert sorted(isinstance(one, NotFound) for one in outcomes) == [False, *[True] * 3]
        outcomes = all_at_once(
            *(partial(one.register, None, "same", "x", clock.now) for one in stores)
        )
        assert sorted(isinstance(one, AlreadyExists) for one in outcomes) == [False, True]
        assert len(store.users()) == 1 + 6 + 1

    def test_expired_links_are_deleted(self, store: Store, clock: Clock) -> None:
        add_link(store, 1, None, clock.now + 1)
        clock.now += 1
        add_link(store, 2, None, clock.now + 1)
        assert [one.digest for one in store.invitations(0)] == [digest(2)]


def skeletons(store: Store) -> dict[str, str | None]:
    """Return what is noted of the names of all users."""
    name, skeleton = (USERS.columns.index(one) for one in ("name", "skeleton"))
    return {row[name]: row[skeleton] for row in store.rows(USERS, None, 10)}


def forget_skeletons(store: Store, *names: str) -> None:
    """Make users what a node of a former version adds."""
    name, skeleton = (USERS.columns.index(one) for one in ("name", "skeleton"))
    rows = [row for row in store.rows(USERS, None, 10) if row[name] in names]
    former = [(*row[:skeleton], None, *row[skeleton + 1 :]) for row in rows]
    store.write_rows({USERS: former}, store.catalogue_counters())
