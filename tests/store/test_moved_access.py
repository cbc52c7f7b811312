"""Access that a transfer does not copy has ended when the catalogue moves back.

The former catalogue still has it, from when it was copied. What its users ended meanwhile, they
ended elsewhere.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mapshelf.errors import Conflict, NotFound
from mapshelf.model import DeviceRequest, MapDraft, User
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from mapshelf.store.all_access import ENDED_AT_ONCE
from mapshelf.store.transfer import differences, transfer_catalogue
from tests.store.contract.oauth import LATER, PROGRAM, code, let_in, tokens
from tests.store.contract.sign_in import add_link, begin, digest, known
from tests.store.test_transfer import ENDED
from tests.store.two_databases import Stores, two_databases


@pytest.fixture(params=["sqlite", "postgres"])
def stores(
    request: pytest.FixtureRequest, tmp_path: Path, new_catalogue: Callable[[int], str]
) -> Iterator[Stores]:
    """Yield a catalogue in one database, and an empty one in another kind of database."""
    with two_databases(request.param, tmp_path, new_catalogue) as (origin, there):
        origin.put_maps([MapDraft(title=f"m{n}") for n in range(3)])
        origin.add_program(PROGRAM)
        yield origin, there


def move(source: Store, target: Store) -> None:
    """Transfer everything, and check that it has arrived."""
    transfer_catalogue(source, target, lambda _: None)
    assert list(differences(source, target)) == []
    assert target.check() == []


def give_access(store: Store, user: User) -> None:
    """Let a user have all access that is not copied.

    1 is a session, 2 a program, 3 and 4 are links, 5 is a code, 6 a device, 7 a challenge.
    """
    begin(store, user, 1)
    let_in(store, user, 2)
    add_link(store, 3, user, LATER)
    add_link(store, 4, None, LATER)
    store.add_code(code(user, 5))
    store.add_device_request(DeviceRequest(digest(6), "CODE", "p1", "maps", LATER), 5)
    store.decide_device_request("CODE", user.id, 5, allow=True)
    store.add_device_request(DeviceRequest(digest(16), "OTHER", "p1", "maps", LATER), 5)
    store.add_challenge(digest(7), 5, LATER)


def remaining_access(store: Store, user: User) -> list[object]:
    """Return what of ``give_access`` is still good, using it up."""
    return [
        *(number for number, good in zip((1, 2), known(store, 1, 2), strict=True) if good),
        *store.grants(user.id, 5),
        *(number for number in (3, 4) if store.link(digest(number), 9)),
        *(number for number in (5, 202) if store.use_code(digest(number), tokens(8), 9)),
        *filter(None, [store.use_refresh_token(digest(102), tokens(9), 9, 0)]),
        *filter(None, [store.use_device_request(digest(6), tokens(10), 9)]),
        *filter(None, [store.device_request("OTHER", 9)]),
        *(number for number in (7,) if store.use_challenge(digest(number), 9, LATER)),
    ]


def test_all_access_that_is_not_copied_has_ended_after_moving_back(stores: Stores) -> None:
    origin, there = stores
    ann = origin.add_user("ann")
    give_access(origin, ann)
    move(origin, there)
    give_access(there, ann)
    there.set_password(ann.id, "encoded", keep=None)
    version = origin.tokens_version()
    move(there, origin)
    assert origin.tokens_version() != version, "workers forget the tokens that they know"
    assert remaining_access(origin, ann) == []
    assert origin.password_of("ann") == there.password_of("ann")
    move(origin, there)
    assert remaining_access(there, ann) == []
    give_access(there, ann)  # it is given again as before
    assert len(remaining_access(there, ann)) > 7


def test_more_access_ends_than_is_deleted_in_one_transaction(stores: Stores) -> None:
    origin, there = stores
    challenges = [number.to_bytes(32) for number in range(ENDED_AT_ONCE + 1)]
    for challenge in challenges:
        there.add_challenge(challenge, 5, LATER)
    move(origin, there)
    assert not any(there.use_challenge(challenge, 9, LATER) for challenge in challenges[::100])


def test_access_ends_even_if_nothing_else_has_changed(stores: Stores) -> None:
    origin, there = stores
    ann = origin.add_user("ann")
    move(origin, there)
    give_access(there, ann)
    move(origin, there)
    assert remaining_access(there, ann) == []


def test_the_source_keeps_its_access_and_both_their_failed_sign_ins(stores: Stores) -> None:
    origin, there = stores
    ann = origin.add_user("ann")
    move(origin, there)
    for store in stores:
        give_access(store, ann)
        store.note_failure([b"f"], 1)
        store.note_success(b"k", [], 1)
    move(there, origin)
    assert len(remaining_access(there, ann)) > 7
    for store in stores:
        assert store.failures([b"f"], 1)
        assert store.is_known_address(b"k", 1)


def test_access_has_ended_although_the_move_is_interrupted(stores: Stores) -> None:
    origin, there = stores
    ann = origin.add_user("ann")
    give_access(origin, ann)
    move(origin, there)
    there.put_maps([MapDraft(title="new")])

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        transfer_catalogue(there, origin, interrupt)
    assert remaining_access(origin, ann) == []
    begin(origin, ann, 11)  # somebody serves it all the same
    move(there, origin)
    assert known(origin, 11) == [False]


def test_access_that_is_given_during_the_move_has_ended(stores: Stores) -> None:
    origin, there = stores
    ann = origin.add_user("ann")
    move(origin, there)
    there.put_maps([MapDraft(title="new")])
    transfer_catalogue(there, origin, lambda _: give_access(origin, ann))
    assert remaining_access(origin, ann) == []
    assert origin.check() == []


def test_a_refused_move_ends_no_access(stores: Stores) -> None:
    origin, there = stores
    ann = origin.add_user("ann")
    move(origin, there)
    there.put_maps([MapDraft(title="new")])
    give_access(there, ann)
    with pytest.raises(Conflict, match="has changes"):
        transfer_catalogue(origin, there, lambda _: None)
    assert len(remaining_access(there, ann)) > 7


def test_access_of_disabled_and_of_deleted_users_does_not_come_back(stores: Stores) -> None:
    origin, there = stores
    ann, bob = (origin.add_user(name) for name in ("ann", "bob"))
    begin(origin, ann, 1)
    let_in(origin, ann, 2)
    move(origin, there)
    there.disable_user("ann")
    move(there, origin)
    origin.enable_user("ann")
    assert known(origin, 1, 2) == [False, False]
    eve = origin.add_user("eve")
    begin(origin, eve, 3)
    move(origin, there)
    begin(there, eve, 4)
    move(origin, there)
    assert known(there, 3, 4) == [False] * 2
    begin(there, bob, 6)
    assert known(there, 6) == [True]
    # A user of the copy that the source has somebody else instead of.
    begin(there, there.add_user("mallory"), 5)
    joe = origin.add_user("joe")
    with pytest.raises(Conflict, match=f"user {joe.id} is mallory instead of joe"):
        transfer_catalogue(origin, there, lambda _: None)
    assert known(there, 5) == [True], "nothing has happened"


def test_a_token_does_not_belong_to_the_program_whose_token_had_its_id(stores: Stores) -> None:
    origin, there = stores
    ann, bob = (origin.add_user(name) for name in ("ann", "bob"))
    access = let_in(origin, bob, 1)
    move(origin, there)
    made = [
        there.add_token("ann", digest(number), label="l", scopes="maps", expires=None)
        for number in (2, 3)
    ]
    assert made[0].id == 1, "it has the id of the access token"
    move(there, origin)
    assert origin.grants(bob.id, 5) == []
    with pytest.raises(NotFound):
        origin.withdraw_grants(bob.id, access.program_id)
    let_in(origin, bob, 4)
    origin.withdraw_grants(bob.id, access.program_id)
    assert known(origin, 1, 2, 3, 4) == [False, True, True, False]
    assert origin.tokens(ann.name) == made


def test_a_token_that_was_given_to_a_program_by_a_former_version_is_so_no_longer(
    tmp_path: Path,
) -> None:
    data = tmp_path / "origin"
    with closing(open_store(sqlite_url(data))) as origin:
        origin.add_program(PROGRAM)
        let_in(origin, origin.add_user("bob"), 1)
        origin.add_user("ann")
        token = origin.add_token("ann", digest(2), label="", scopes="maps", expires=None)
    with closing(sqlite3.connect(data / "catalogue.db")) as database, database:
        database.execute("UPDATE tokens SET grant_id = 1")
    with (
        closing(open_store(sqlite_url(data))) as origin,
        closing(open_store(sqlite_url(tmp_path / "there"))) as there,
    ):
        move(origin, there)
        move(there, origin)
        assert known(origin, 1, 2) == [False, True]
        assert origin.tokens("ann") == [token]


def test_a_removed_program_is_removed_with_its_access(stores: Stores) -> None:
    origin, there = stores
    ann = origin.add_user("ann")
    give_access(origin, ann)
    move(origin, there)
    there.remove_program("p1")
    move(there, origin)
    assert origin.programs() == []
    origin.add_program(PROGRAM)
    assert remaining_access(origin, ann) == []


def test_no_id_of_ended_access_is_given_again(stores: Stores) -> None:
    """A write that waits checks by its id that a session is still valid."""
    origin, there = stores
    ann = origin.add_user("ann")
    origin.add_token("ann", digest(1), label="", scopes="maps", expires=None)
    move(origin, there)
    ended = [begin(there, ann, number).id for number in (2, 3)]
    move(origin, there)
    added = there.add_token("ann", digest(4), label="", scopes="maps", expires=None)
    assert added.id > max(ended)


def test_every_table_of_access_that_is_not_copied_is_emptied(tmp_path: Path) -> None:
    data = tmp_path / "origin"
    with closing(open_store(sqlite_url(data))) as origin:
        origin.add_program(PROGRAM)
        give_access(origin, origin.add_user("ann"))
    assert filled_tables(data) == set(ENDED)
    with (
        closing(open_store(sqlite_url(data))) as origin,
        closing(open_store(sqlite_url(tmp_path / "there"))) as there,
    ):
        move(origin, there)
        move(there, origin)
    assert filled_tables(data) == set()


def filled_tables(data: Path) -> set[str]:
    """Return the tables of ``ENDED`` that have rows. The store must be closed."""
    with closing(sqlite3.connect(data / "catalogue.db")) as database:
        return {name for name in ENDED if database.execute(f"SELECT 1 FROM {name}").fetchone()}
