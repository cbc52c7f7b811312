"""Tests of ``contract.Programs``."""

from dataclasses import replace
from functools import partial

import pytest

from mapshelf.errors import AlreadyExists, Conflict, MapshelfError, NotFound, TooManyPrograms
from mapshelf.model import (
    DYNAMIC_ID,
    HOUR,
    SYSTEM_USER,
    AuthorizationCode,
    DecisionKind,
    DeviceRequest,
    Grant,
    MapDraft,
    NewTokens,
    Program,
    Role,
    TokenKind,
    User,
)
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.contract.sign_in import NOBODY, all_at_once, digest, known
from tests.store.contract.suite import Open, Suite

PROGRAM = Program("p1", "Prögram", b"\xff" * 32, ("http://localhost/", "com.example:/x"), False, 7)
PUBLIC = Program("p2", "Other", None, ("http://127.0.0.1/",), True, 8)

MINUTE = 60_000
LATER = 2**50


def code(
    user: User, number: int, *, expires: int = LATER, program: str = "p1"
) -> AuthorizationCode:
    """Return a code with the digest ``digest(number)``."""
    return AuthorizationCode(
        digest(number), program, user.id, "account maps", "http://localhost/", "challenge", expires
    )


def tokens(number: int, scopes: str = "") -> NewTokens:
    """Return tokens with the digests ``digest(number)`` and ``digest(100 + number)``."""
    return NewTokens(digest(number), LATER, digest(100 + number), LATER, scopes)


def let_in(store: Store, user: User, number: int, program: str = "p1") -> Grant:
    """Grant a program access; it gets ``tokens(number)``."""
    store.add_code(code(user, 200 + number, program=program))
    grant = store.use_code(digest(200 + number), tokens(number), 5)
    assert grant is not None
    return grant


class ProgramsContract(Suite):
    """Registered programs."""

    def test_the_number_of_programs_that_register_themselves_may_be_limited(
        self, store: Store, reopen: Open
    ) -> None:
        nodes = [store, reopen(), reopen(), reopen()]

        def add(number: int) -> None:
            nodes[number % 4].add_program(replace(PUBLIC, id=f"{DYNAMIC_ID}{number}"), 3)

        for number, node in enumerate(nodes):
            node.add_program(replace(PUBLIC, id=f"p{number}"), 3)
        made = all_at_once(*(partial(add, number) for number in range(8)))
        assert sum(isinstance(one, TooManyPrograms) for one in made) == 5
        assert sum(one.is_dynamic for one in store.programs()) == 3
        store.add_program(replace(PUBLIC, id=f"{DYNAMIC_ID}more"))
        with pytest.raises(TooManyPrograms):
            add(9)

    def test_oauth_programs(self, store: Store) -> None:
        assert store.programs() == []
        store.add_program(PUBLIC)
        store.add_program(PROGRAM)
        assert store.programs() == [PROGRAM, PUBLIC]
        assert (PROGRAM.is_public, PUBLIC.is_public) == (False, True)
        assert store.program("p1") == PROGRAM
        assert store.program("P1") is None
        with pytest.raises(AlreadyExists):
            store.add_program(PROGRAM)
        assert store.unused_programs(8) == ["p1"]
        assert store.unused_programs(9) == ["p1", "p2"]
        let_in(store, store.add_user("somebody"), 1)
        assert store.unused_programs(9) == ["p2"]
        ahead = replace(PUBLIC, id="p3", created=2**50)  # a clock was wrong
        store.add_program(ahead)
        assert store.unused_programs(9) == ["p2", "p3"]
        store.remove_program("p3")
        store.remove_program("p1")
        assert store.programs() == [PUBLIC]
        with pytest.raises(NotFound):
            store.remove_program("p1")

    def test_grants_are_deleted_with_their_program(self, store: Store) -> None:
        friend = store.add_user("Bob")
        for program in (PROGRAM, PUBLIC):
            store.add_program(program)
        let_in(store, friend, 1)
        kept = let_in(store, friend, 2, "p2")
        store.add_code(code(friend, 3))
        store.add_device_request(DeviceRequest(digest(4), "CODE", "p1", "maps", LATER), 5)
        version = store.tokens_version()
        store.remove_program("p1")
        assert store.tokens_version() != version
        assert known(store, 1, 2) == [False, True]
        assert store.grants(friend.id, 5) == [kept]
        assert store.code(digest(3)) is None
        assert store.device_request("CODE", 5) is None
        assert store.use_refresh_token(digest(101), tokens(9), 5, MINUTE) is None
        store.add_program(PROGRAM)
        assert store.use_code(digest(203), tokens(9), 5) is None
        assert store.check() == []


class GrantsContract(Suite):
    """Codes, grants, refresh tokens and access tokens."""

    @pytest.fixture
    def friend(self, store: Store) -> User:
        store.add_program(PROGRAM)
        store.add_program(PUBLIC)
        return store.add_user("Bob")

    def test_a_code_gives_a_grant_and_tokens(
        self, store: Store, clock: Clock, friend: User
    ) -> None:
        store.add_code(code(friend, 1))
        assert store.code(digest(1)) == code(friend, 1)
        assert store.code(digest(2)) is None
        grant = store.use_code(digest(1), tokens(2, "maps"), 5)
        assert grant == Grant(
            grant.id if grant else 0,
            friend.id,
            "p1",
            "Prögram",
            "account maps",
            clock.now,
            LATER,
            clock.now,
        )
        assert store.grants(friend.id, LATER - 1) == [grant]
        assert store.grants(friend.id, LATER) == store.grants(NOBODY, 5) == []
        credential = store.find_credentials([digest(2)])[digest(2)]
        token = credential.token
        assert credential.user == friend
        assert (token.kind, token.label, token.scopes) == (TokenKind.ACCESS, "Prögram", "maps")
        assert (token.created, token.expires) == (clock.now, LATER)
        assert store.tokens("bob") == store.sessions(friend.id) == []
        store.touch_tokens({token.id: clock.now + 3})
        assert store.grants(friend.id, 5)[0].last_used == clock.now + 3

    def test_codes_that_cannot_be_added(self, store: Store, friend: User) -> None:
        (system,) = (one for one in store.users() if one.name == SYSTEM_USER)
        for refused, error in (
            (code(friend, 1, program="none"), NotFound),
            (AuthorizationCode(digest(1), "p1", NOBODY, "", "", "", LATER), NotFound),
            (code(system, 1), Conflict),
        ):
            with pytest.raises(error):
                store.add_code(refused)
        store.disable_user("bob")
        with pytest.raises(Conflict):
            store.add_code(code(friend, 1))
        assert store.code(digest(1)) is None

    def test_expired_codes_and_those_of_disabled_users_are_refused(
        self, store: Store, friend: User
    ) -> None:
        store.add_code(code(friend, 1, expires=LATER))
        assert store.use_code(digest(1), tokens(2), LATER) is None
        store.disable_user("bob")
        assert store.use_code(digest(1), tokens(2), LATER - 1) is None
        assert store.use_code(digest(9), tokens(2), 5) is None
        assert known(store, 2) == [False]
        store.enable_user("bob")
        assert store.use_code(digest(1), tokens(2), LATER - 1) is not None

    def test_a_code_used_twice_revokes_its_grant(self, store: Store, friend: User) -> None:
        let_in(store, friend, 1)
        other = let_in(store, friend, 2)
        assert store.use_refresh_token(digest(101), tokens(3), 6, MINUTE) is not None
        assert known(store, 1, 2, 3) == [True] * 3
        version = store.tokens_version()
        for number in (4, 5):
            assert store.use_code(digest(201), tokens(number), 7) is None
        assert store.tokens_version() != version
        assert known(store, *range(1, 6)) == [False, True, False, False, False]
        assert store.use_refresh_token(digest(103), tokens(6), 7, MINUTE) is None
        assert store.grants(friend.id, 5) == [other]

    def test_a_code_may_be_repeated_within_a_grace_period(
        self, store: Store, reopen: Open, clock: Clock, friend: User
    ) -> None:
        now, stores = clock.now, [store, reopen()]
        for turn, many in enumerate((2, 4)):
            store.add_code(code(friend, turn, expires=now + 500))
            numbers = range(10 * (turn + 1), 10 * (turn + 1) + many)
            got = all_at_once(
                *(
                    partial(stores[n % 2].use_code, digest(turn), tokens(n), now, MINUTE)
                    for n in numbers
                )
            )
            given = [one.id for one in got if isinstance(one, Grant)]
            assert given == [given[0]] * 2, "both uses give tokens of the same grant"
            assert known(store, *numbers) == [many == 2] * many, "a third use revokes the grant"
        assert store.use_code(digest(0), tokens(30), now + 500, MINUTE) is None
        assert known(store, 10, 11, 30) == [False] * 3, (
            "a use too many revokes the grant, even of an expired code"
        )

    def test_a_code_is_not_repeated_late_or_after_a_refresh(
        self, store: Store, clock: Clock, friend: User
    ) -> None:
        now = clock.now
        store.add_code(code(friend, 1, expires=now + 500))
        assert store.use_code(digest(1), tokens(10), now, MINUTE) is not None
        assert store.use_code(digest(1), tokens(11), now + 500, MINUTE) is None
        assert known(store, 10, 11) == [True, False], "the code has expired meanwhile"
        assert store.use_code(digest(1), tokens(11), now + MINUTE + 1, MINUTE) is None
        assert known(store, 10, 11) == [False, False]
        store.add_code(code(friend, 3))
        assert store.use_code(digest(3), tokens(20), 5, MINUTE) is not None
        assert store.use_refresh_token(digest(120), tokens(21), 6, MINUTE) is not None
        assert store.use_code(digest(3), tokens(22), 7, MINUTE) is None
        assert known(store, 20, 21, 22) == [False] * 3
        store.add_code(code(friend, 2))
        assert store.use_code(digest(2), tokens(30), 5) is not None
        store.withdraw_grants(friend.id, "p1")
        assert store.use_code(digest(2), tokens(31), 5, MINUTE) is None

    def test_used_codes_are_remembered_for_an_hour(
        self, store: Store, clock: Clock, friend: User
    ) -> None:
        end = clock.now + MINUTE
        for number in (1, 2):
            store.add_code(code(friend, number, expires=end))
        store.use_code(digest(1), tokens(10), clock.now)
        for now, used, unused in ((end, True, False), (end + HOUR, False, False)):
            clock.now = now
            store.add_code(code(friend, 3 + used))
            assert [store.code(digest(n)) is not None for n in (1, 2)] == [used, unused]
        assert known(store, 10) == [True]

    def test_refresh_tokens_rotate(self, store: Store, friend: User) -> None:
        granted = let_in(store, friend, 1)
        found = store.refreshed_grant(digest(101))
        assert found == granted
        assert store.refreshed_grant(digest(1)) is None
        longer = NewTokens(digest(2), LATER, digest(102), LATER + 9, "maps")
        grant = store.use_refresh_token(digest(101), longer, 6, MINUTE)
        assert grant is not None
        assert (grant.id, grant.scopes, grant.expires) == (granted.id, "account maps", LATER + 9)
        assert store.find_credentials([digest(2)])[digest(2)].token.scopes == "maps"
        assert known(store, 1, 2) == [True, True]
        assert store.use_refresh_token(digest(102), tokens(3), LATER + 9, MINUTE) is None
        store.disable_user("bob")
        assert store.use_refresh_token(digest(102), tokens(3), 7, MINUTE) is None
        assert store.use_refresh_token(digest(9), tokens(3), 7, MINUTE) is None
        store.enable_user("bob")
        assert store.use_refresh_token(digest(102), tokens(3), 7, MINUTE) is not None

    def test_a_refresh_token_may_be_repeated_soon(self, store: Store, friend: User) -> None:
        """Both refresh tokens that it may have received are valid, whichever response arrived."""
        let_in(store, friend, 1)
        for number in (2, 3):
            assert store.use_refresh_token(digest(101), tokens(number), 6, MINUTE)
        assert known(store, 1, 2, 3) == [True] * 3
        assert store.use_refresh_token(digest(101), tokens(4), 6 + MINUTE, MINUTE)
        far = 6 + 10 * MINUTE
        assert store.use_refresh_token(digest(102), tokens(5), far, MINUTE)
        # It has shown that it has this token: the others were lost, or somebody copied them.
        assert store.use_refresh_token(digest(103), tokens(6), far + MINUTE, MINUTE)
        assert store.use_refresh_token(digest(104), tokens(7), far + MINUTE + 1, MINUTE) is None
        assert known(store, *range(1, 8)) == [False] * 7

    def test_a_refresh_token_repeated_late_ends_the_grant(self, store: Store, friend: User) -> None:
        let_in(store, friend, 1)
        other = let_in(store, friend, 4)
        assert store.use_refresh_token(digest(101), tokens(2), 6, MINUTE)
        version = store.tokens_version()
        assert store.use_refresh_token(digest(101), tokens(3), 7 + MINUTE, MINUTE) is None
        assert store.tokens_version() != version
        assert known(store, 1, 2, 3, 4) == [False, False, False, True]
        assert store.use_refresh_token(digest(102), tokens(3), 8 + MINUTE, MINUTE) is None
        assert store.refreshed_grant(digest(102)) is None
        assert store.grants(friend.id, 5) == [other]

    def test_a_refresh_token_repeated_after_the_next_one_was_used_ends_the_grant(
        self, store: Store, friend: User
    ) -> None:
        """The program has received the next token, so somebody else repeats the request."""
        let_in(store, friend, 1)
        for number in (2, 3):
            assert store.use_refresh_token(digest(101), tokens(number), 6, MINUTE)
        assert store.use_refresh_token(digest(103), tokens(4), 8, MINUTE)
        assert store.use_refresh_token(digest(103), tokens(5), 9, MINUTE), "its response was lost"
        assert store.use_refresh_token(digest(102), tokens(6), 9, MINUTE), "so was its response"
        assert known(store, *range(1, 7)) == [True] * 6
        assert store.use_refresh_token(digest(101), tokens(7), 10, MINUTE) is None
        assert known(store, *range(1, 8)) == [False] * 7
        assert store.refreshed_grant(digest(106)) is None

    def test_a_clock_that_is_set_back_takes_no_grace_from_repeated_requests(
        self, store: Store, friend: User
    ) -> None:
        let_in(store, friend, 1)
        assert store.use_refresh_token(digest(101), tokens(2), HOUR, MINUTE)
        for number in (3, 4):
            assert store.use_refresh_token(digest(102), tokens(number), 9, MINUTE)
        assert store.use_refresh_token(digest(104), tokens(5), 10, MINUTE)
        assert store.use_refresh_token(digest(102), tokens(6), 11, MINUTE) is None

    def test_a_request_that_waited_for_the_database_does_not_end_the_grant(
        self, store: Store, friend: User
    ) -> None:
        """Meanwhile, the program repeated it and used the next token."""
        let_in(store, friend, 1)
        assert store.use_refresh_token(digest(101), tokens(2), 2_000, MINUTE)
        assert store.use_refresh_token(digest(102), tokens(3), 5_000, MINUTE)
        for number, arrived in ((5, 1_000), (6, 5_000)):
            assert store.use_refresh_token(digest(101), tokens(number), arrived, MINUTE)
        assert known(store, 1, 2, 3) == [True] * 3
        assert store.use_refresh_token(digest(101), tokens(4), 5_001, MINUTE) is None

    def test_a_refresh_token_used_in_the_future_is_not_repeated(
        self, store: Store, friend: User
    ) -> None:
        """The node that saw its first use was ahead, so that may be long ago."""
        for number, behind in ((1, MINUTE), (4, MINUTE + 1)):
            let_in(store, friend, number)
            assert store.use_refresh_token(digest(100 + number), tokens(number + 1), HOUR, MINUTE)
            again = store.use_refresh_token(
                digest(100 + number), tokens(number + 2), HOUR - behind, MINUTE
            )
            assert (again is not None) is (behind == MINUTE)
        assert known(store, 1, 2, 3, 4, 5) == [True] * 3 + [False] * 2
        # Tokens that nobody has used are good, whatever the clock was.
        assert store.use_refresh_token(digest(102), tokens(7), 5, MINUTE)

    def test_a_code_used_in_the_future_is_not_repeated(self, store: Store, friend: User) -> None:
        store.add_code(code(friend, 1))
        now = LATER - 1
        assert store.use_code(digest(1), tokens(1), now, MINUTE)
        assert store.use_code(digest(1), tokens(2), now - MINUTE - 1, MINUTE) is None
        assert known(store, 1) == [False]

    def test_withdrawing(self, store: Store, friend: User) -> None:
        eve = store.add_user("Eve")
        for number in (1, 2):
            let_in(store, friend, number)
        let_in(store, friend, 3, "p2")
        let_in(store, eve, 4)
        store.add_code(code(friend, 9))
        version = store.tokens_version()
        store.withdraw_grants(friend.id, "p1")
        assert store.tokens_version() != version
        assert known(store, 1, 2, 3, 4) == [False, False, True, True]
        assert [grant.program_id for grant in store.grants(friend.id, 5)] == ["p2"]
        assert store.use_code(digest(9), tokens(5), 5) is None
        for program in ("p1", "none"):
            with pytest.raises(NotFound):
                store.withdraw_grants(friend.id, program)

    def test_pending_codes_and_devices_are_withdrawn_too(self, store: Store, friend: User) -> None:
        eve = store.add_user("Eve")
        for number, user in enumerate((friend, eve)):
            asked = DeviceRequest(digest(number), f"CODE{number}", "p1", "maps", LATER)
            store.add_device_request(asked, 5)
            store.decide_device_request(asked.user_code, user.id, 5, allow=True)
            store.add_code(code(user, 10 + number))
        store.withdraw_grants(friend.id, "p1")
        assert store.use_device_request(digest(0), tokens(5), 5) is None
        assert store.use_code(digest(10), tokens(5), 5) is None
        assert store.use_device_request(digest(1), tokens(6), 5) is not None
        assert store.use_code(digest(11), tokens(7), 5) is not None

    def test_revoking_a_token(self, store: Store, friend: User) -> None:
        let_in(store, friend, 1)
        let_in(store, friend, 2)
        store.add_token("bob", digest(50), label="", scopes="", expires=None)
        for number, program in ((1, "p2"), (101, "p2"), (50, "p1"), (51, "p1")):
            assert not store.revoke_program_token(digest(number), program)
        assert known(store, 1, 2, 50) == [True] * 3
        assert store.revoke_program_token(digest(1), "p1")
        assert not store.revoke_program_token(digest(1), "p1")
        assert known(store, 1, 2, 50) == [False, True, True]
        assert store.use_refresh_token(digest(101), tokens(3), 5, MINUTE) is not None
        assert store.revoke_program_token(digest(101), "p1")
        assert known(store, 1, 2, 3, 50) == [False, True, False, True]
        assert store.refreshed_grant(digest(103)) is None

    def test_grants_and_tokens_are_limited(
        self, store: Store, friend: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for kind in ("sqlite", "postgres"):
            for name in ("GRANTS_OF_USER", "ACCESS_TOKENS_OF_GRANT"):
                monkeypatch.setattr(f"mapshelf.store.{kind}.grants.{name}", 3)
        for number in range(1, 6):
            let_in(store, friend, number)
        assert known(store, *range(1, 6)) == [False, False, True, True, True]
        assert len(store.grants(friend.id, 5)) == 3
        for number in range(5, 10):
            assert store.use_refresh_token(digest(100 + number), tokens(number + 1), 5, MINUTE)
        assert known(store, *range(3, 11)) == [*[True] * 2, *[False] * 3, *[True] * 3]
        assert all(store.refreshed_grant(digest(100 + number)) for number in range(5, 11))

    def test_a_stolen_refresh_token_is_noticed_however_often_the_thief_refreshes(
        self, store: Store, friend: User
    ) -> None:
        let_in(store, friend, 1)
        for number in range(1, 120):
            used, new = digest(100 + number), tokens(number + 1)
            assert store.use_refresh_token(used, new, 5, MINUTE) is not None
        assert store.use_refresh_token(digest(101), tokens(130), 6 + MINUTE, MINUTE) is None
        assert store.refreshed_grant(digest(220)) is None

    def test_a_grant_ends_when_a_program_asks_for_too_many_tokens(
        self, store: Store, clock: Clock, friend: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for kind in ("sqlite", "postgres"):
            monkeypatch.setattr(f"mapshelf.store.{kind}.grants.REFRESH_TOKENS_OF_GRANT", 3)
        store.add_code(code(friend, 1))
        now = clock.now
        short = NewTokens(digest(2), now + 9, digest(3), now + 1)
        assert store.use_code(digest(1), short, now) is not None
        for number in (4, 6):
            more = NewTokens(digest(number), now + 9, digest(number + 1), now + 9)
            assert store.use_refresh_token(digest(3), more, now, MINUTE) is not None
        clock.now += 2
        more = NewTokens(digest(8), now + 9, digest(9), now + 9)
        assert store.use_refresh_token(digest(5), more, now, MINUTE), "the first token has expired"
        more = NewTokens(digest(10), now + 9, digest(11), now + 9)
        assert store.use_refresh_token(digest(9), more, now, MINUTE) is None
        assert known(store, 2, 4, 6, 8, 10) == [False] * 5
        assert store.grants(friend.id, now) == []

    def test_expired_grants_are_deleted(self, store: Store, clock: Clock, friend: User) -> None:
        store.add_code(code(friend, 1))
        short = NewTokens(digest(2), clock.now + 1, digest(3), clock.now + 2)
        store.use_code(digest(1), short, clock.now)
        clock.now += 2
        let_in(store, friend, 5)
        assert known(store, 2, 5) == [False, True]
        assert store.refreshed_grant(digest(3)) is None

    def test_simultaneous_uses_of_a_code_revoke_its_grant(
        self, store: Store, reopen: Open, friend: User
    ) -> None:
        stores = [store, reopen()]
        for turn in range(5):
            store.add_code(code(friend, turn))
            got = all_at_once(
                *(
                    partial(stores[n % 2].use_code, digest(turn), tokens(10 + 4 * turn + n), 5)
                    for n in range(4)
                )
            )
            assert sum(isinstance(one, Grant) for one in got) == 1
            assert sum(one is None for one in got) == 3
            assert not any(known(store, *range(10 + 4 * turn, 14 + 4 * turn)))
        assert store.grants(friend.id, 5) == []

    def test_simultaneous_refreshes_count_as_repeated_requests(
        self, store: Store, reopen: Open, friend: User
    ) -> None:
        stores = [store, reopen()]
        let_in(store, friend, 1)
        got = all_at_once(
            *(
                partial(stores[n % 2].use_refresh_token, digest(101), tokens(10 + n), 5, MINUTE)
                for n in range(4)
            )
        )
        assert all(isinstance(one, Grant) for one in got)
        assert known(store, 1, *range(10, 14)) == [True] * 5
        late = all_at_once(
            *(
                partial(
                    stores[n % 2].use_refresh_token, digest(101), tokens(20 + n), 2 * MINUTE, MINUTE
                )
                for n in range(4)
            )
        )
        assert late == [None] * 4
        assert not any(known(store, 1, *range(10, 14), *range(20, 24)))

    def test_withdrawing_a_grant_in_use_leaves_nothing(
        self, store: Store, reopen: Open, friend: User
    ) -> None:
        other = reopen()
        for turn in range(10):
            let_in(store, friend, 1)
            store.add_code(code(friend, 9))
            outcomes = all_at_once(
                partial(store.use_refresh_token, digest(101), tokens(2), 5, MINUTE),
                partial(other.withdraw_grants, friend.id, "p1"),
                partial(store.use_code, digest(9), tokens(3), 5),
                partial(other.remove_program, "p1" if turn % 2 else "none"),
            )
            errors = [one for one in outcomes if isinstance(one, MapshelfError)]
            assert all(isinstance(error, NotFound) for error in errors), errors
            if turn % 2:
                assert not any(known(store, 1, 2, 3))
                store.add_program(PROGRAM)
            else:
                assert not any(known(store, 1, 2))
                if isinstance(outcomes[2], Grant):
                    left = [grant.id for grant in store.grants(friend.id, 5)]
                    assert left in ([], [outcomes[2].id])
                    assert known(store, 3) == [bool(left)]
            for remaining in store.grants(friend.id, 5)[:1]:
                store.withdraw_grants(friend.id, remaining.program_id)
            store.remove_program("p1")
            store.add_program(PROGRAM)


class DeviceRequestsContract(Suite):
    """Devices without a browser."""

    @pytest.fixture
    def asker(self, store: Store) -> User:
        store.add_program(PROGRAM)
        return store.add_user("Bob")

    def request(self, number: int, expires: int = LATER) -> DeviceRequest:
        return DeviceRequest(digest(number), f"CODE{number}", "p1", "account maps", expires)

    def test_a_request_is_allowed_once(self, store: Store, asker: User) -> None:
        asked = self.request(1)
        store.add_device_request(asked, 5)
        assert store.device_request("CODE1", LATER - 1) == asked
        assert store.device_request("CODE1", LATER) is None
        assert store.device_request("CODE2", 5) is None
        assert store.use_device_request(digest(1), tokens(2), 5) is None
        with pytest.raises(NotFound):
            store.decide_device_request("CODE1", asker.id, LATER, allow=True)
        store.decide_device_request("CODE1", asker.id, 5, allow=True)
        for allow in (True, False):
            with pytest.raises(NotFound):
                store.decide_device_request("CODE1", asker.id, 5, allow=allow)
        assert store.device_request("CODE1", 5) is None
        polled = store.poll_device_request(digest(1), 5, 10)
        assert polled is not None
        assert (polled[0].user_id, polled[0].denied) == (asker.id, False)
        assert store.use_device_request(digest(1), tokens(2), LATER) is None
        grant = store.use_device_request(digest(1), tokens(2), 5)
        assert grant is not None
        assert (grant.user_id, grant.scopes) == (asker.id, "account maps")
        assert known(store, 2) == [True]
        assert store.use_device_request(digest(1), tokens(3), 5) is None
        assert store.poll_device_request(digest(1), 5, 10) is None

    def test_disabling_a_user_ends_what_the_user_allowed(self, store: Store, asker: User) -> None:
        store.put_maps([MapDraft(id="plan", title="Plan", owner="Bob")])
        found = store.find_map("plan")
        assert found is not None
        root = store.add_user("root", Role.ADMINISTRATOR)
        for number in (1, 2):
            store.add_device_request(self.request(number), 5)
        store.decide_device_request("CODE1", asker.id, 5, allow=True)
        store.disable_user("bob")
        assert store.use_device_request(digest(1), tokens(3), 5) is None
        store.enable_user("bob")
        assert store.use_device_request(digest(1), tokens(3), 5) is None, "the device was let in"
        assert store.poll_device_request(digest(1), 5, 10) is None
        store.decide_device_request("CODE2", asker.id, 5, allow=True)
        store.decide(found.file_id, DecisionKind.DISABLE, root.id)
        store.enable_user("bob")
        assert store.use_device_request(digest(2), tokens(3), 5) is None, "the device was let in"

    def test_a_request_is_denied(self, store: Store, asker: User) -> None:
        store.add_device_request(self.request(1), 5)
        store.decide_device_request("CODE1", asker.id, 5, allow=False)
        polled = store.poll_device_request(digest(1), 5, 10)
        assert polled is not None
        assert (polled[0].user_id, polled[0].denied) == (None, True)
        assert store.use_device_request(digest(1), tokens(2), 5) is None
        with pytest.raises(NotFound):
            store.decide_device_request("CODE1", asker.id, 5, allow=True)

    def test_polling(self, store: Store, asker: User) -> None:
        store.add_device_request(self.request(1), 5)
        times = [(100, False), (109, True), (118, True), (128, False), (138, False)]
        for now, soon in times:
            assert store.poll_device_request(digest(1), now, 10) == (self.request(1), soon)
        assert store.poll_device_request(digest(2), 5, 10) is None

    def test_requests_that_cannot_be_added(self, store: Store, asker: User) -> None:
        store.add_device_request(self.request(1), 5)
        same = DeviceRequest(digest(2), "CODE1", "p1", "", LATER)
        with pytest.raises(AlreadyExists):
            store.add_device_request(same, 5)
        with pytest.raises(NotFound):
            store.add_device_request(DeviceRequest(digest(3), "C", "none", "", LATER), 5)
        (system,) = (one for one in store.users() if one.name == SYSTEM_USER)
        for user, error in ((system.id, Conflict), (NOBODY, NotFound)):
            with pytest.raises(error):
                store.decide_device_request("CODE1", user, 5, allow=True)
        store.disable_user("bob")
        with pytest.raises(Conflict):
            store.decide_device_request("CODE1", asker.id, 5, allow=True)

    def test_expired_and_excess_device_requests_are_deleted(
        self, store: Store, asker: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for kind in ("sqlite", "postgres"):
            monkeypatch.setattr(f"mapshelf.store.{kind}.device_requests.MOST_DEVICES", 3)
        for number, expires in enumerate((50, 100, 101, 102, 103)):
            store.add_device_request(self.request(number, expires), 10)
        found = [store.device_request(f"CODE{number}", 10) is not None for number in range(5)]
        assert found == [False, False, True, True, True]
        store.add_device_request(self.request(9, 200), 102)
        found = [store.device_request(f"CODE{n}", 10) is not None for n in (2, 3, 4, 9)]
        assert found == [False, False, True, True]

    def test_of_simultaneous_decisions_and_polls_one_succeeds(
        self, store: Store, reopen: Open, asker: User
    ) -> None:
        stores = [store, reopen()]
        store.add_device_request(self.request(1), 5)
        decided = all_at_once(
            *(
                partial(stores[n % 2].decide_device_request, "CODE1", asker.id, 5, allow=True)
                for n in range(4)
            )
        )
        assert decided.count(None) == 1
        got = all_at_once(
            *(
                partial(stores[n % 2].use_device_request, digest(1), tokens(10 + n), 5)
                for n in range(4)
            )
        )
        assert sum(isinstance(one, Grant) for one in got) == 1
        assert got.count(None) == 3
        assert sum(known(store, *range(10, 14))) == 1
