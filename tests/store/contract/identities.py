"""Tests of ``contract.Identities``."""

from functools import partial

import pytest

from mapshelf.errors import AlreadyExists, Conflict, LastWayToSignIn, NotFound
from mapshelf.model import SYSTEM_USER, Identity, User
from mapshelf.store import Store
from mapshelf.store.sign_in import IDENTITIES_OF_USER
from tests.store.clock import Clock
from tests.store.contract.sign_in import all_at_once
from tests.store.contract.suite import Open, Suite

ISSUER = "https://id.example"
OTHER = "https://other.example"


class IdentitiesContract(Suite):
    """Identities at OpenID providers."""

    def test_a_subject_of_an_issuer_is_one_user(self, store: Store, clock: Clock) -> None:
        ann, bob = store.add_user("ann"), store.add_user("bob")
        linked = store.link_identity(ann.id, ISSUER, "1", "Ann")
        assert linked == Identity(ISSUER, "1", "Ann", clock.now)
        assert store.user_of_identity(ISSUER, "1") == ann
        for issuer, subject in ((OTHER, "1"), (ISSUER, "2"), (ISSUER, ""), (ISSUER + "/", "1")):
            assert store.user_of_identity(issuer, subject) is None
        with pytest.raises(AlreadyExists):
            store.link_identity(bob.id, ISSUER, "1", "Bob")
        clock.now += 5
        store.link_identity(bob.id, OTHER, "1", "Bob")
        further = store.link_identity(ann.id, OTHER, "A", "")
        assert store.identities(ann.id) == [linked, further]
        assert store.user_of_identity(OTHER, "1") == bob
        assert store.user_of_identity(OTHER, "a") is None, "subjects are case-sensitive"

    def test_linking_again_changes_nothing(self, store: Store, clock: Clock) -> None:
        ann = store.add_user("ann")
        linked = store.link_identity(ann.id, ISSUER, "1", "Ann")
        clock.now += 5
        assert store.link_identity(ann.id, ISSUER, "1", "Anna") == linked
        assert store.identities(ann.id) == [linked]

    def test_identities_that_cannot_be_linked(self, store: Store) -> None:
        (system,) = (one for one in store.users() if one.name == SYSTEM_USER)
        with pytest.raises(Conflict):
            store.link_identity(system.id, ISSUER, "1", "")
        with pytest.raises(NotFound):
            store.link_identity(system.id + 100, ISSUER, "1", "")
        ann = store.add_user("ann")
        for number in range(IDENTITIES_OF_USER):
            store.link_identity(ann.id, ISSUER, str(number), "")
        with pytest.raises(Conflict):
            store.link_identity(ann.id, ISSUER, "more", "")
        store.link_identity(ann.id, ISSUER, "0", "")
        store.unlink_identity(ann.id, ISSUER, "0")
        store.disable_user("ann")
        with pytest.raises(Conflict):
            store.link_identity(ann.id, ISSUER, "0", "")
        found = store.user_of_identity(ISSUER, "1")
        assert found is not None
        assert found.disabled, "the caller must see it, and start no session"

    def test_unlinking(self, store: Store) -> None:
        ann, bob = store.add_user("ann"), store.add_user("bob")
        store.set_password(ann.id, "hash", keep=None)
        store.link_identity(ann.id, ISSUER, "1", "")
        for user, subject in ((bob, "1"), (ann, "2")):
            with pytest.raises(NotFound):
                store.unlink_identity(user.id, ISSUER, subject)
        store.unlink_identity(ann.id, ISSUER, "1")
        assert store.user_of_identity(ISSUER, "1") is None
        assert store.identities(ann.id) == []
        store.link_identity(bob.id, ISSUER, "1", "")
        assert store.user_of_identity(ISSUER, "1") == bob

    def test_the_last_way_to_sign_in_stays(self, store: Store, reopen: Open) -> None:
        ann = store.register_by_identity("ann", ISSUER, "1", "")
        with pytest.raises(LastWayToSignIn):
            store.unlink_identity(ann.id, ISSUER, "1")
        assert store.user_of_identity(ISSUER, "1") == ann
        store.link_identity(ann.id, OTHER, "1", "")
        stores = [store, reopen()]
        all_at_once(
            *(
                partial(one.unlink_identity, ann.id, issuer, "1")
                for one, issuer in zip(stores, (ISSUER, OTHER), strict=True)
            )
        )
        assert len(store.identities(ann.id)) == 1

    def test_registering(self, store: Store, clock: Clock) -> None:
        store.add_user("Ann")
        with pytest.raises(AlreadyExists):
            store.register_by_identity("ann", ISSUER, "1", "")
        with pytest.raises(AlreadyExists):
            store.register_by_identity("\ua4ee\ua4e0\ua4e0", ISSUER, "1", "")  # looks like ANN
        assert store.user_of_identity(ISSUER, "1") is None
        user = store.register_by_identity("ann-2", ISSUER, "1", "Ann")
        assert (user.name, user.registered, user.disabled) == ("ann-2", clock.now, False)
        assert store.identities(user.id) == [Identity(ISSUER, "1", "Ann", clock.now)]
        record = store.password_of("ann-2")
        assert record is not None
        assert record.encoded is None
        assert store.register_by_identity("another", ISSUER, "1", "") == user
        assert store.password_of("another") is None

    def test_simultaneous_registrations_make_one_account(self, store: Store, reopen: Open) -> None:
        stores = [store, reopen()]
        before = len(store.users())
        got = all_at_once(
            *(
                partial(stores[n % 2].register_by_identity, f"ann{n}", ISSUER, "1", "")
                for n in range(4)
            )
        )
        users = [one for one in got if isinstance(one, User)]
        assert len(users) == 4
        assert len({one.id for one in users}) == 1
        assert len(store.users()) == before + 1

    def test_simultaneous_links_of_an_identity_link_one_user(
        self, store: Store, reopen: Open
    ) -> None:
        stores = [store, reopen()]
        users = [store.add_user(f"ann{n}") for n in range(4)]
        got = all_at_once(
            *(
                partial(stores[n % 2].link_identity, user.id, ISSUER, "1", "")
                for n, user in enumerate(users)
            )
        )
        assert len([one for one in got if isinstance(one, Identity)]) == 1
        assert len([one for one in got if isinstance(one, AlreadyExists)]) == 3
