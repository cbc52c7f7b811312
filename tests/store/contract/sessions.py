"""Tests of ``contract.Sessions`` and ``contract.SignInFailures``."""

from functools import partial

import pytest

from mapshelf.errors import Conflict, MapshelfError, NotFound
from mapshelf.model import DAY, HOUR, Access, Failures, Passkey, Role, SignInProof, TokenKind
from mapshelf.store import Store, sign_in
from mapshelf.tokens import SCOPES
from tests.store.clock import Clock
from tests.store.contract.sign_in import NOBODY, all_at_once, begin, digest, known
from tests.store.contract.suite import Open, Suite


class SessionsContract(Suite):
    """Sessions, and the permissions that they give."""

    def test_a_session_is_a_credential_with_all_scopes(self, store: Store, clock: Clock) -> None:
        bob, eve = store.add_user("Bob"), store.add_user("Eve")
        first = store.add_session(bob.id, digest(1), "Firefox on Linux", clock.now + 5, None)
        clock.now += 1
        second = begin(store, bob, 2)
        begin(store, eve, 3)
        assert (first.user, first.label, first.kind) == ("Bob", "Firefox on Linux", "session")
        assert first.kind is TokenKind.SESSION
        assert first.scopes.split() == list(SCOPES)
        assert (first.created, first.expires) == (clock.now - 1, clock.now + 4)
        assert (first.revoked, first.last_used) == (None, None)
        store.touch_tokens({second.id: 70})
        second = store.sessions(bob.id)[0]
        assert second.last_used == 70
        assert store.sessions(bob.id) == [second, first]
        assert store.tokens("bob") == []  # lists only personal tokens
        credential = store.find_credentials([digest(1)])[digest(1)]
        assert (credential.token, credential.user) == (first, bob)
        assert store.sessions(NOBODY) == []
        with pytest.raises(NotFound):
            store.add_session(NOBODY, digest(4), "", 5, None)

    def test_ending_sessions(self, store: Store) -> None:
        bob, eve = store.add_user("Bob"), store.add_user("Eve")
        sessions = [begin(store, bob, number) for number in range(4)]
        hers = begin(store, eve, 9)
        token = store.add_token("bob", digest(8), label="", scopes="", expires=None)
        versions = [store.tokens_version()]
        store.end_session(bob.id, sessions[0].id)
        versions.append(store.tokens_version())
        for other in (sessions[0].id, hers.id, token.id, NOBODY):
            with pytest.raises(NotFound):
                store.end_session(bob.id, other)
        assert known(store, 0, 1, 2, 3, 8, 9) == [False, *[True] * 5]
        assert store.end_sessions(bob.id, sessions[2].id) == 2
        versions.append(store.tokens_version())
        assert store.sessions(bob.id) == [sessions[2]]
        assert store.end_sessions(bob.id, sessions[2].id) == 0
        assert store.tokens_version() == versions[-1]
        assert store.end_sessions(bob.id, None) == 1
        assert known(store, 2, 8, 9) == [False, True, True]
        assert len(set(versions)) == 3

    def test_a_new_session_ends_the_one_that_it_replaces(self, store: Store) -> None:
        bob, eve = store.add_user("Bob"), store.add_user("Eve")
        begin(store, bob, 1)
        store.add_token("bob", digest(8), label="", scopes="", expires=None)
        version = store.tokens_version()
        store.add_session(eve.id, digest(2), "", 2**50, digest(1))
        assert known(store, 1, 2) == [False, True]
        assert store.tokens_version() != version
        store.add_session(eve.id, digest(3), "", 2**50, digest(1))  # which has ended
        store.add_session(eve.id, digest(4), "", 2**50, digest(8))  # which never existed
        assert known(store, 2, 3, 4, 8) == [True] * 4

    def test_ids_of_ended_sessions_are_not_reused(self, store: Store) -> None:
        bob = store.add_user("Bob")
        first = begin(store, bob, 1)
        store.end_session(bob.id, first.id)
        assert begin(store, bob, 2).id > first.id

    def test_expired_and_excess_sessions_are_deleted(
        self, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for kind in ("sqlite", "postgres"):
            monkeypatch.setattr(f"mapshelf.store.{kind}.sessions.SESSIONS_OF_USER", 3)
        bob, eve = store.add_user("Bob"), store.add_user("Eve")
        for number in range(1, 6):
            begin(store, bob, number)
        begin(store, eve, 6, expires=clock.now + 1)
        store.add_token("eve", digest(7), label="", scopes="", expires=clock.now + 1)
        assert known(store, *range(1, 8)) == [False, False, *[True] * 5]
        clock.now += 1
        begin(store, bob, 8)
        assert known(store, *range(1, 9)) == [*[False] * 3, True, True, False, True, True]

    def test_no_session_begins_with_a_password_that_has_changed(self, store: Store) -> None:
        bob = store.add_user("Bob")
        store.set_password(bob.id, "now", keep=None)
        for encoded in ("before", ""):
            with pytest.raises(Conflict):
                store.add_session(bob.id, digest(1), "", 2**50, None, proof=SignInProof(encoded))
        store.add_session(bob.id, digest(2), "", 2**50, None, proof=SignInProof("now"))
        store.disable_user("bob")
        with pytest.raises(Conflict):
            begin(store, bob, 3)
        assert known(store, 1, 2, 3) == [False, True, False]

    def test_no_session_begins_with_a_way_that_was_removed(self, store: Store) -> None:
        bob, eve = store.add_user("Bob"), store.add_user("Eve")
        store.set_password(bob.id, "encoded", keep=None)
        store.add_passkey(bob.id, Passkey(b"id", b"key", 0, "name", 5, None))
        store.link_identity(bob.id, "https://issuer.example", "subject", "Bob")
        proofs = (
            SignInProof(passkey=b"id"),
            SignInProof(identity=("https://issuer.example", "subject")),
        )
        for number, proof in enumerate(proofs):
            store.add_session(bob.id, digest(number), "", 2**50, None, proof=proof)
            with pytest.raises(Conflict):
                store.add_session(eve.id, digest(5), "", 2**50, None, proof=proof)
        store.set_password(bob.id, "new", keep=None, ending=[Access.WAYS])
        for proof in proofs:
            with pytest.raises(Conflict):
                store.add_session(bob.id, digest(6), "", 2**50, None, proof=proof)
        assert store.sessions(bob.id) == []

    def test_no_session_outlives_a_password_changed_at_the_same_moment(
        self, store: Store, reopen: Open
    ) -> None:
        other = reopen()
        bob = store.add_user("Bob")
        for turn in range(10):
            store.set_password(bob.id, f"old {turn}", keep=None)
            all_at_once(
                partial(store.set_password, bob.id, f"new {turn}", keep=None),
                partial(
                    other.add_session,
                    bob.id,
                    digest(turn),
                    "",
                    2**50,
                    None,
                    proof=SignInProof(f"old {turn}"),
                ),
            )
            assert store.sessions(bob.id) == []

    def test_roles(self, store: Store) -> None:
        bob = store.add_user("Bob")
        ann = store.add_user("Ann", Role.ADMINISTRATOR)
        assert (bob.role, ann.role) == (Role.MEMBER, Role.ADMINISTRATOR)
        begin(store, ann, 1)
        versions = [store.tokens_version()]
        demoted = store.set_role("ANN", Role.MEMBER)
        versions.append(store.tokens_version())
        assert demoted.role is Role.MEMBER
        assert store.find_credentials([digest(1)])[digest(1)].user == demoted
        assert store.set_role("bob", Role.ADMINISTRATOR).role is Role.ADMINISTRATOR
        assert [user.role for user in store.users()[1:]] == [Role.ADMINISTRATOR, Role.MEMBER]
        assert len(set(versions)) == 2
        with pytest.raises(NotFound):
            store.set_role("nobody", Role.MEMBER)

    def test_enabling(self, store: Store) -> None:
        bob = store.add_user("Bob")
        begin(store, bob, 1)
        assert store.disable_user("bob").disabled
        assert store.find_credentials([digest(1)])[digest(1)].user.disabled
        assert store.enable_user("BOB") == store.enable_user("bob") == bob
        assert store.find_credentials([digest(1)])[digest(1)].user == bob
        with pytest.raises(NotFound):
            store.enable_user("nobody")


class SignInFailuresContract(Suite):
    """Failed sign-ins."""

    def test_failures_are_counted_and_forgotten(self, store: Store) -> None:
        a, b, c = digest(1), digest(2), digest(3)
        assert store.failures([a, b], 5) == store.failures([], 5) == {}
        assert store.note_failure([a, b], 5) == {}
        assert store.note_failure([b, c, b], 7) == {b: Failures(1, 5)}
        assert store.failures([c, b, a], 7) == {
            a: Failures(1, 5),
            b: Failures(2, 7),
            c: Failures(1, 7),
        }
        assert store.note_failure([b], 6) == {b: Failures(2, 7)}
        # The clock of another node is behind: that must not make the failure look older.
        assert store.failures([b], 7) == {b: Failures(3, 7)}
        assert set(store.failures([a, b, c], 5 + DAY)) == {c}
        assert store.note_failure([b], 5 + DAY) == {}
        assert store.failures([a, b, c], 5) == {b: Failures(1, 5 + DAY), c: Failures(1, 7)}

    def test_a_clock_that_is_far_behind_says_that_the_other_was_wrong(self, store: Store) -> None:
        a = digest(1)
        store.note_failure([a], 5 + HOUR)
        store.note_failure([a], 5)
        assert store.failures([a], 5) == {a: Failures(2, 5 + HOUR)}
        store.note_failure([a], 4)
        assert store.failures([a], 5) == {a: Failures(3, 4)}
        assert store.failures([a], 4 + DAY) == {}  # forgotten as soon as by a clock that was right

    def test_attempts_are_counted_and_forgotten(self, store: Store) -> None:
        a, b = digest(1), digest(2)
        assert store.attempts(a, 5) == 0
        assert [store.note_attempt(a, 5 + n) for n in range(3)] == [0, 1, 2]
        assert (store.attempts(a, 8), store.attempts(b, 8)) == (3, 0)
        assert store.attempts(a, 5 + DAY) == 0
        assert store.note_attempt(a, 5 + DAY) == 0
        assert store.attempts(a, 6 + DAY) == 1

    def test_success_clears_failures_of_one_key_and_subtracts_one_from_others(
        self, store: Store
    ) -> None:
        a, b, c, d = (digest(number) for number in range(4))
        for keys in ([a, b], [a, b], [c], [d]):
            store.note_failure(keys, 5)
        assert not store.is_known_address(a, 5)
        store.note_success(a, [b, c, digest(9)], 6)
        assert store.failures([a, b, c, d], 6) == {b: Failures(1, 5), d: Failures(1, 5)}
        assert store.is_known_address(a, 6)
        assert not store.is_known_address(b, 6)
        store.note_success(a, [], 8)
        assert store.is_known_address(a, 7 + 90 * DAY)
        assert not store.is_known_address(a, 8 + 90 * DAY)

    def test_sign_in_failures_are_limited(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for kind in ("sqlite", "postgres"):
            monkeypatch.setattr(f"mapshelf.store.{kind}.sign_in_failures.MOST_KEYS", 10)
        assert sign_in.MOST_KEYS > 10_000
        keys = [digest(number) for number in range(30)]
        for now, key in enumerate(keys):
            store.note_failure([key], now)
            store.note_success(key, [], now)
            store.note_failure([key], now)
        assert sorted(store.failures(keys, 30)) == keys[20:]
        assert [store.is_known_address(key, 30) for key in keys] == [False] * 20 + [True] * 10

    def test_of_simultaneous_failures_each_sees_the_earlier_ones(
        self, store: Store, reopen: Open
    ) -> None:
        stores = [store, reopen()]
        keys = [digest(number) for number in range(3)]

        def note(number: int) -> list[dict[bytes, Failures]]:
            order = keys if number % 2 else keys[::-1]
            return [stores[number % 2].note_failure(order, 5) for _ in range(10)]

        seen = all_at_once(*(partial(note, number) for number in range(4)))
        counts = [
            before[keys[0]].count if before else 0
            for found in seen
            if not isinstance(found, MapshelfError)
            for before in found
        ]
        assert sorted(counts) == list(range(40))
        assert store.failures(keys, 5) == dict.fromkeys(keys, Failures(40, 5))
