"""Tests of names that stay reserved after an account is deleted that owned imported maps."""

import unicodedata
from contextlib import suppress
from dataclasses import replace
from typing import Literal

import pytest

from mapshelf.errors import AlreadyExists, MapshelfError, NotFound
from mapshelf.model import (
    SYSTEM_USER,
    LinkKind,
    Map,
    MapDetails,
    MapsOfClosedAccount,
    Role,
    Visibility,
)
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.contract.publishing import PeopleSuite, published
from tests.store.contract.suite import UNCHANGED, present, put, title
from tests.store.drafts import source, upload

REMOVE, PASS_ON = MapsOfClosedAccount


def close(store: Store, user: int) -> None:
    """Delete an account, with all that follows."""
    store.close_account(user, REMOVE, None)
    while store.finish_closing():
        pass


def names(store: Store) -> list[str]:
    return [one.name for one in store.users()]


class ReservedNamesContract(PeopleSuite):
    """The name of a deleted user whom imports may name again."""

    @pytest.fixture
    def imported(self, store: Store, ann: int) -> Map:
        """A map that was in a folder of ann's, who has deleted her account."""
        found = put(store, title("t", owner="ann", source=source()))
        close(store, ann)
        return found

    @pytest.mark.usefixtures("imported")
    def test_nobody_can_register_the_name_or_one_that_looks_like_it(self, store: Store) -> None:
        for name in ("ann", "ANN", "\u0430nn"):
            with pytest.raises(AlreadyExists):
                store.register(None, name, "encoded", 5)
            with pytest.raises(AlreadyExists):
                store.register_by_identity(name, "https://a.test", "1", "")
        with pytest.raises(AlreadyExists):
            store.add_user("Ann")
        assert store.is_reserved("Ann")
        assert not store.is_reserved("bob")
        assert not store.is_reserved(SYSTEM_USER)

    def test_the_name_is_taken_until_it_is_reserved(
        self, store: Store, ann: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("mapshelf.store.account_deletion.MAPS_AT_ONCE", 2)
        for number in range(5):
            put(store, title("t", owner="ann", source=source(f"{number}.mm")))
            published(store, ann, upload(f"n{number}"))
        store.close_account(ann, PASS_ON, None)
        left = []
        while True:
            with pytest.raises(AlreadyExists):
                store.register(None, "ann", "encoded", 5)
            if not store.finish_closing():
                break
            left.append(sum(one.owner == "ann" for one in store.maps(0, 100)))
        assert left == [8, 6, 4, 2, 0]
        assert {one.owner for one in store.maps(0, 100)} == {SYSTEM_USER}
        assert store.is_reserved("ann")

    def test_maps_of_records_and_of_missing_files_count(
        self, store: Store, ann: int, bob: int
    ) -> None:
        put(store, title("record", owner="ann"))
        put(store, title("missing", owner="bob", source=source()))
        store.remove_sources([source().path])
        for user in (ann, bob):
            close(store, user)
        assert store.is_reserved("ann")
        assert store.is_reserved("bob")

    def test_uploaded_maps_do_not_count(self, store: Store, ann: int) -> None:
        published(store, ann)
        store.close_account(ann, PASS_ON, None)
        while store.finish_closing():
            assert not store.is_reserved("ann")
        assert not store.is_reserved("ann")
        store.register(None, "ann", "encoded", 5)

    @pytest.mark.usefixtures("imported")
    def test_nobody_has_a_reserved_name(self, store: Store, clock: Clock) -> None:
        assert names(store) == [SYSTEM_USER]
        assert store.password_of("ann") is None
        for late in (
            lambda: store.disable_user("ann"),
            lambda: store.enable_user("ann"),
            lambda: store.set_role("ann", Role.ADMINISTRATOR),
            lambda: store.tokens("ann"),
            lambda: store.add_token("ann", b"t" * 32, label="", scopes="maps", expires=None),
        ):
            with pytest.raises(NotFound):
                late()
        for user in range(20):  # whatever the id of its row is
            with suppress(MapshelfError):
                store.set_password(user, "encoded", keep=None)
            with suppress(MapshelfError):
                store.add_link(LinkKind.PASSWORD, bytes([user]) * 32, user, 2**50, None)
            with suppress(MapshelfError):
                store.use_link(bytes([user]) * 32, "encoded", clock.now)
            with suppress(MapshelfError):
                store.add_session(user, bytes([user]) * 32, "", 2**50, None)
        assert store.password_of("ann") is None
        assert store.find_credentials([bytes([user]) * 32 for user in range(20)]) == {}
        assert names(store) == [SYSTEM_USER]
        assert store.check() == []

    def test_imports_that_name_it_mean_system(self, store: Store, imported: Map) -> None:
        theirs = replace(imported, owner=SYSTEM_USER)
        folder = b"/maps"
        assert present(store) == {imported.id: theirs}
        assert store.maps_attributed_otherwise(folder, "ANN", None, 0, 10) == []
        again = title("t", owner="Ann", source=source())
        assert [one.verdict for one in store.put_maps([again])] == [UNCHANGED]
        assert put(store, title("new", owner="ann", source=source("new.mm"))).owner == SYSTEM_USER
        assert put(store, title("record", owner="ann")).owner == SYSTEM_USER
        assert names(store) == [SYSTEM_USER]
        assert store.is_reserved("ann")

    @pytest.mark.parametrize("form", ["NFC", "NFD"])
    def test_imports_may_name_it_in_another_unicode_form(
        self, store: Store, form: Literal["NFC", "NFD"]
    ) -> None:
        zoe = store.add_user("Zo\u00eb").id
        put(store, title("t", owner="Zo\u00eb", source=source()))
        close(store, zoe)
        name = unicodedata.normalize(form, "Zo\u00eb")
        assert store.is_reserved(name)
        assert put(store, title("new", owner=name, source=source("new.mm"))).owner == SYSTEM_USER
        assert names(store) == [SYSTEM_USER]

    def test_copies_of_private_files_are_private_as_those_of_system(
        self, store: Store, imported: Map
    ) -> None:
        store.edit_map(imported.file_id, MapDetails(visibility=Visibility.PRIVATE))
        copy = source("b.mm", path=b"/other/b.mm", digest=source().digest)
        draft = title("t", owner="ann", source=copy, folder=b"/other/", other_folders=(b"/maps/",))
        assert put(store, draft).visibility is Visibility.PRIVATE

    def test_it_can_be_given_to_a_new_user(self, store: Store, ann: int, imported: Map) -> None:
        again = store.add_user("Ann", Role.ADMINISTRATOR, even_if_reserved=True)
        assert again.id != ann
        assert (again.name, again.disabled, again.role) == ("Ann", False, Role.ADMINISTRATOR)
        assert names(store) == [SYSTEM_USER, "Ann"]
        assert not store.is_reserved("ann")
        with pytest.raises(AlreadyExists):
            store.add_user("ann", even_if_reserved=True)
        store.set_password(again.id, "encoded", keep=None)
        record = store.password_of("ann")
        assert record
        assert (record.user, record.encoded) == (again, "encoded")
        assert store.find_map(imported.id) == replace(imported, owner=SYSTEM_USER)
        put(store, title("t", owner="ann", source=source()))
        assert store.find_map(imported.id) == replace(imported, owner="Ann")
        store.add_user("root", Role.ADMINISTRATOR)
        store.close_account(again.id, REMOVE, "encoded")
        while store.finish_closing():
            pass
        assert store.is_reserved("ann")

    def test_a_name_that_is_not_reserved_is_given_as_any_other(self, store: Store) -> None:
        assert store.add_user("bob", even_if_reserved=True).name == "bob"
        with pytest.raises(AlreadyExists):
            store.add_user("BOB", even_if_reserved=True)
