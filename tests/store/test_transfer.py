"""A catalogue moves from one kind of database to the other and back without any difference."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from mapshelf.errors import Conflict, StoreUnavailable
from mapshelf.model import (
    HOUR,
    AuthorizationCode,
    CollectionDetails,
    DecisionKind,
    LinkKind,
    MapDetails,
    MapDraft,
    MapLink,
    MapsOfClosedAccount,
    NewTokens,
    Passkey,
    Program,
    Reason,
    Refusal,
    RefusalKind,
    ReparsedMap,
    Role,
    Source,
    Visibility,
    Visit,
    VisitKind,
    Vote,
)
from mapshelf.settings import sqlite_url
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.store import Store, open_store, paged_rows, transfer
from mapshelf.store.tables import FORMER_PLACES, INHERITED, OUTDATED, TABLES
from mapshelf.store.transfer import differences, export_digest, transfer_catalogue
from tests.store.contract.suite import LATER, random_writes
from tests.store.drafts import complete, outline, source, upload

ALL = 1_000_000
KINDS = ["sqlite", "postgres"]
MIGRATIONS = files("mapshelf.store") / "migrations"

ENDED: Final = (
    "one_time_links",
    "passkey_challenges",
    "grants",
    "authorization_codes",
    "refresh_tokens",
    "device_requests",
)
"""Tables that a transfer leaves out, and empties in its target. Links and authorizations are valid
in one catalogue only: in two, each could be used twice. Those that the target has from before may
have ended meanwhile. The same goes for sessions and access tokens, which are rows of ``tokens``."""

LEFT: Final = (
    "visits",
    "salts",
    "tallies",
    "token_mark",
    "sign_in_failures",
    "known_addresses",
    "uploads",
    "audit",
    "marks",
    "last_transfer",
    "lost_files",
    "hidings",
)
"""Tables that a transfer leaves out, and leaves as they are. Pending counts are applied beforehand;
visits, salts, failures, uploads, lost files and hidings are short-lived; every catalogue has its
own token version. The audit log stays with the catalogue it describes. Only the last revision mark
is transferred, with the counters."""

New = Callable[[str], Store]


@pytest.fixture
def new(tmp_path: Path, new_catalogue: Callable[[int], str]) -> Iterator[New]:
    """Yield a function that creates a store of a kind."""
    opened: list[Store] = []

    def make(kind: str) -> Store:
        folder = tmp_path / str(len(opened))
        opened.append(open_store(sqlite_url(folder) if kind == "sqlite" else new_catalogue(0)))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


def quietly(_: int) -> None:
    """Ignore the progress."""


def fill(store: Store) -> None:
    """Write rows into every table, and delete and recreate some."""
    for _ in random_writes(store, Random(3)):
        pass
    own = source("folder/plan.mm", path=b"/maps/\xff\x00plan.mm")
    pictures = {bytes([n] * 32).hex(): b"\x00picture %d" % n for n in range(3)}
    store.put_maps(
        [
            complete(
                source=own,
                content=b"\x00packed\xff",
                owner="Straße 東",
                images=pictures,
                links=[MapLink(f"t{n}", "x" * 4000 + f"{n}.mm", f"ü{n}.mm") for n in range(3)],
            )
        ]
    )
    store.put_maps([MapDraft(title=f"m{n}", source=source(f"{n}.mm")) for n in range(450)])
    store.put_maps([MapDraft(title="own", category_id=700, category="Own", software="Own")])
    store.delete_maps([one.id for one in store.maps(0, ALL)[-400::7]])
    store.remove_sources([source(f"{n}.mm").path for n in range(0, 450, 9)])
    fill_with_copies(store)
    fill_with_places(store)
    outdated = [(found.file_id,) for found in store.maps(0, ALL)[-4:-2]]
    store.write_rows({OUTDATED: outdated}, store.catalogue_counters())
    store.add_user("Bob")
    for n in range(3):
        token = store.add_token("bob", bytes([n]) * 32, label="l", scopes="s", expires=n or None)
    store.revoke_token(token.id)
    store.touch_tokens({token.id: 77})
    store.disable_user("bob")
    fill_with_uploads(store)
    ann = store.add_user("Ann", Role.ADMINISTRATOR)
    store.set_password(ann.id, "encoded", keep=None)
    for n, secret in enumerate((None, b"\xff" * 32)):
        uris = ("http://localhost/", "com.example:/ü")[n:]
        store.add_program(Program(f"p{n}", "Prögram", secret, uris, n > 0, n))
    fill_with_folders(store)


def fill_with_folders(store: Store) -> None:
    """Write what is known of folders, and of files that are no maps."""
    for n in range(2):
        store.note_place(b"/maps/current %d" % n, b"/maps/\xff\x00v%d" % n)
        assert store.begin_import(b"/maps/\xff%d" % n, has_maps=False)
    store.finish_import(b"/maps/\xff0")
    refused = Refusal("/maps/ü.mm", "nöt a map", RefusalKind.REFUSED, 3)
    store.note_refusals([refused, replace(refused, path="/maps/é", kind=RefusalKind.SKIPPED)])
    store.dismiss_refusals(RefusalKind.REFUSED, LATER)


def fill_with_copies(store: Store) -> None:
    """Write maps that inherited that they are not published."""
    equal = [source(f"copies/{n}.mm", digest=b"e" * 32) for n in range(4)]
    drafts = [MapDraft(title=one.name, source=one, folder=b"/maps/") for one in equal]
    store.put_maps([replace(drafts[0], visibility=Visibility.PRIVATE)])
    store.put_maps(drafts[1:])
    for number in range(2):
        store.put_maps([replace(drafts[0], source=replace(equal[0], digest=bytes([number]) * 32))])


def fill_with_places(store: Store) -> None:
    """Write places that the files of unpublished maps have left."""
    files = [source(f"left/{n}.mm", digest=bytes([n]) * 32) for n in range(3)]
    private = Visibility.PRIVATE
    store.put_maps([MapDraft(title="left", source=one, visibility=private) for one in files])
    for one in files:
        assert store.move_source(one.path, replace(one, path=one.path + b"\xff"))
    assert len(store.rows(FORMER_PLACES, None, ALL)) == 3


def fill_with_uploads(store: Store) -> None:
    """Write uploads with versions, votes, edits and removals."""
    zoe, joe = (store.add_user(name).id for name in ("zoe", "joe"))
    details = MapDetails(title="uploaded", tags=("Year 2024", "予定"))
    kept, hidden, gone = (
        store.publish(upload(str(n)), replace(details, visibility=kind), zoe, bytes([n]))[0]
        for n, kind in enumerate((None, Visibility.PRIVATE, Visibility.UNLISTED))
    )
    store.replace_file(kept.file_id, upload("newer"), joe)
    store.set_vote(kept.file_id, joe, Vote.UP)
    store.set_vote(hidden.file_id, joe, Vote.DOWN)
    store.edit_map(hidden.file_id, MapDetails(description="mine"))
    store.remove_map(gone.file_id, joe)
    fill_with_collections(store, zoe, [hidden.file_id, gone.file_id, kept.file_id])


def fill_with_collections(store: Store, owner: int, file_ids: list[int]) -> None:
    """Write collections (pinned, empty, hidden, dismissed) and saved searches."""
    details = CollectionDetails("Cöllection", "<b>", Visibility.PUBLISHED)
    store.pin_collection(store.add_collection(owner, details, file_ids).id, pinned=True)
    store.add_collection(owner, CollectionDetails("none"), [])
    hidden, dismissed = (store.add_collection(owner, details, []).id for _ in range(2))
    (joe,) = (user.id for user in store.users() if user.name == "joe")
    for public_id, kind in ((hidden, DecisionKind.HIDE), (dismissed, DecisionKind.DISMISS)):
        store.report_collection(public_id, joe, Reason.SPAM, "nöte")
        store.decide_about_collection(public_id, kind, joe)
    store.report_collection(hidden, joe, Reason.OTHER, "again")
    for name in ("gone", "Söarch"):
        store.save_search(owner, name, "query=%25")


def everything(store: Store) -> dict[str, Any]:
    return {
        "rows": {table.name: store.rows(table, None, ALL) for table in TABLES},
        "changes": store.changes(0, ALL),
        "maps": store.maps(0, ALL),
        "removed": store.removed_maps(None),
        "users": store.users(),
        "tokens": store.tokens("bob"),
        "password": store.password_of("ann"),
        "programs": store.programs(),
        "credential": store.find_credentials([b"\1" * 32]),
        "counters": store.catalogue_counters(),
        "identity": store.identity(),
        "names": (store.categories(), store.software(), store.licence_types()),
        "sources": store.sources_below(b"/maps", b"", ALL),
    }


@pytest.mark.parametrize("kinds", [KINDS, KINDS[::-1]])
def test_moving_there_and_back_changes_nothing(new: New, kinds: list[str]) -> None:
    origin, there, back = new(kinds[0]), new(kinds[1]), new(kinds[0])
    fill(origin)
    transfer_catalogue(origin, there, quietly)
    transfer_catalogue(there, back, quietly)
    assert list(differences(origin, there)) == list(differences(origin, back)) == []
    assert everything(origin) == everything(there) == everything(back)
    assert export_digest(origin) == export_digest(back)
    assert there.check() == back.check() == []


@pytest.mark.parametrize("kinds", [KINDS, KINDS[::-1]])
def test_the_copy_goes_on_as_the_original_would(new: New, kinds: list[str]) -> None:
    origin, there = new(kinds[0]), new(kinds[1])
    fill(origin)
    transfer_catalogue(origin, there, quietly)
    for store in (origin, there):
        store.put_maps([MapDraft(title="next", id="next", software="next", category="next")])
        store.add_user("eve")
        store.add_token("eve", b"z" * 32, label="", scopes="", expires=None)
    assert there.maps(0, ALL)[-1].file_id == origin.maps(0, ALL)[-1].file_id
    for kind in ("users", "software", "categories", "revision"):
        pairs = [getattr(store, kind)() for store in (there, origin)]
        if kind == "users":
            pairs = [[(user.id, user.name) for user in users] for users in pairs]
        assert pairs[0] == pairs[1]


def test_a_copy_is_brought_up_to_date_and_one_interrupted_goes_on(
    new: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, there = new("sqlite"), new("postgres")
    fill(origin)
    monkeypatch.setattr(transfer, "MAPS_AT_ONCE", 50)
    moved = []

    def interrupt(count: int) -> None:
        moved.append(count)
        if len(moved) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        transfer_catalogue(origin, there, interrupt)
    assert 0 < there.revision() < origin.revision()
    marks = origin.rows(INHERITED, None, ALL)
    fill_more(origin)
    assert len(origin.rows(INHERITED, None, ALL)) == len(marks) - 1 == 2
    transfer_catalogue(origin, there, moved.append)
    assert list(differences(origin, there)) == []
    total = len(origin.changes(0, ALL))
    assert sum(moved) < total + 50, "rows that the copy already had were moved again"
    assert everything(origin) == everything(there)


def fill_more(store: Store) -> None:
    """Change, restore and delete maps, and give files to other maps without changing these."""
    first, second = (found.id for found in store.maps(0, ALL)[-2:])
    store.put_maps([MapDraft(id=first, views=99, outline=outline("new"))])
    store.put_maps([MapDraft(id=second, source=Source(source("1.mm").path, "1.mm", 9, 9, b"x"))])
    store.put_maps([MapDraft(title="again", source=source("0.mm"))])
    for old, new in ((b"left/1.mm\xff", b"left/2.mm"), (b"left/2.mm\xff", b"left/0.mm")):
        assert store.move_source(b"/maps/" + old, source(path=b"/maps/" + new))
    store.delete_maps([one.id for one in store.maps(0, ALL) if one.title == "left"][:1])
    store.replace_outlines([ReparsedMap(store.outdated(0, 1)[0].file_id)])
    store.delete_maps(["Complete"])
    store.put_maps([MapDraft(id="Complete", title="back")])
    copy = next(one for one in store.maps(0, ALL) if one.title == "copies/1.mm")
    store.put_maps([MapDraft(id=copy.id, visibility=Visibility.PRIVATE)])
    (removed,) = store.removed_maps(None)
    store.undo_removal(removed.map.file_id)
    uploaded = [one for one in store.maps(0, ALL) if one.title == "uploaded"]
    joe = next(user.id for user in store.users() if user.name == "joe")
    store.edit_map(uploaded[0].file_id, MapDetails(visibility=Visibility.PRIVATE))
    store.edit_map(uploaded[1].file_id, MapDetails(visibility=Visibility.PUBLISHED))
    store.set_vote(uploaded[1].file_id, joe, Vote.NONE)
    store.replace_file(uploaded[1].file_id, upload("newest"), joe)
    zoe = next(user.id for user in store.users() if user.name == "zoe")
    store.undo_collection_decision(store.collection_decisions(9)[0].id)
    for search in store.saved_searches_of(zoe):
        if search.name == "gone":
            store.remove_saved_search(zoe, search.id)
        else:
            store.edit_saved_search(zoe, search.id, "Other", None)
    for collection in store.collections_of(zoe):
        if collection.pinned is None:
            store.remove_collection(collection.id)
        else:
            order = [found.file_id for found in store.collected_maps(collection.id)]
            store.arrange(collection.id, order[:0:-1])


@pytest.mark.parametrize("kinds", [KINDS, KINDS[::-1]])
def test_revoked_credentials_are_revoked_in_the_copy_too(new: New, kinds: list[str]) -> None:
    origin, there = new(kinds[0]), new(kinds[1])
    ann, eve = (origin.add_user(name) for name in ("ann", "eve"))
    for n, user in enumerate((ann, ann, eve)):
        origin.link_identity(user.id, "https://id.example", f"s{n}", "n")
        origin.add_passkey(user.id, Passkey(bytes([n]), b"key", 0, "Phone", 1, None))
        origin.add_token(user.name, bytes([n]) * 32, label="l", scopes="maps", expires=None)
        origin.add_program(Program(f"p{n}", "P", None, ("http://localhost/",), False, 1))
        origin.add_collection(user.id, CollectionDetails("c"), [])
    origin.rename_tag("old", "new")
    transfer_catalogue(origin, there, quietly)
    there.add_code(AuthorizationCode(b"c" * 32, "p0", ann.id, "maps", "", "", LATER))
    granted = NewTokens(b"a" * 32, LATER, b"r" * 32, LATER, "maps")
    assert there.use_code(b"c" * 32, granted, 5) is not None
    there.add_session(ann.id, b"s" * 32, "", LATER, None)
    origin.set_password(ann.id, "encoded", keep=None)
    origin.rename_tag("new", "old")
    origin.unlink_identity(ann.id, "https://id.example", "s0")
    origin.remove_passkey(ann.id, b"\0")
    origin.remove_program("p0")
    origin.close_account(eve.id, MapsOfClosedAccount.REMOVE, None)
    transfer_catalogue(origin, there, quietly)
    assert list(differences(origin, there)) == []
    assert there.program("p0") is None
    assert there.find_credentials([b"a" * 32, b"s" * 32]) == {}, "users sign in again"
    assert [one.subject for one in there.identities(ann.id)] == ["s1"]
    assert [one.id for one in there.passkeys(ann.id)] == [b"\1"]
    assert there.find_credentials([b"\2" * 32]) == {}
    assert there.check() == []


@pytest.mark.parametrize("kinds", [KINDS, KINDS[::-1]])
def test_what_is_known_of_folders_moves_with_the_catalogue(new: New, kinds: list[str]) -> None:
    origin, there = new(kinds[0]), new(kinds[1])
    fill_with_folders(origin)
    transfer_catalogue(origin, there, quietly)
    assert there.place_of(b"/maps/current 1") == b"/maps/\xff\x00v1"
    assert not there.begin_import(b"/maps/\xff0", has_maps=False), "its first import has ended"
    assert there.begin_import(b"/maps/\xff1", has_maps=True), "this one goes on"
    refused = there.refusals_below("/maps", "", ALL)
    assert there.note_refusals(refused) == [], "they are known"
    assert [one.path for one in there.open_refusals(RefusalKind.SKIPPED, ALL)] == ["/maps/é"]
    assert there.open_refusals(RefusalKind.REFUSED, ALL) == [], "it was dismissed"
    # A repeated transfer has the last word: this is where the files of the maps are.
    origin.note_place(b"/maps/current 1", b"/maps/v2")
    origin.forget_refusals([one.path for one in refused])
    there.note_place(b"/maps/current 9", b"/maps/v9")
    transfer_catalogue(origin, there, quietly)
    assert list(differences(origin, there)) == []
    assert there.place_of(b"/maps/current 1") == b"/maps/v2"
    assert there.place_of(b"/maps/current 9") is None
    assert there.refusals_below("/maps", "", ALL) == []


@pytest.mark.parametrize("kinds", [KINDS, KINDS[::-1]])
def test_visit_counts_move_with_the_catalogue(new: New, kinds: list[str]) -> None:
    origin, there = new(kinds[0]), new(kinds[1])
    fill(origin)
    some = origin.maps(0, 3)
    kind = VisitKind.DOWNLOAD
    visits = [Visit(bytes([n]), found.file_id, kind, 7) for n, found in enumerate(some)]
    origin.count_visits(visits, 7 * HOUR, ALL)
    transfer_catalogue(origin, there, quietly)
    assert list(differences(origin, there)) == []
    assert [found.downloads for found in there.maps(0, 3)] == [one.downloads + 1 for one in some]


@pytest.mark.parametrize("kinds", [KINDS, KINDS[::-1]])
def test_sessions_links_and_failures_are_not_moved(new: New, kinds: list[str]) -> None:
    """A secret must not be valid in two places: it could be used in both, and revoked in one."""
    origin, there = new(kinds[0]), new(kinds[1])
    fill(origin)
    ann = origin.users()[-1]
    origin.add_session(ann.id, b"s" * 32, "", LATER, None)
    origin.add_link(LinkKind.PASSWORD, b"l" * 32, ann.id, LATER, None)
    origin.note_failure([b"f"], 1)
    transfer_catalogue(origin, there, quietly)
    assert list(differences(origin, there)) == []
    assert there.find_credentials([b"s" * 32]) == {}
    assert there.link(b"l" * 32, 1) is None
    assert there.failures([b"f"], 1) == {}
    there.add_session(ann.id, b"t" * 32, "", LATER, None)
    token = origin.add_token("ann", b"p" * 32, label="", scopes="maps", expires=None)
    transfer_catalogue(origin, there, quietly)  # it may get the id of the session
    assert list(differences(origin, there)) == []
    assert there.tokens("ann") == [token]
    assert len(origin.sessions(ann.id)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_is_moved_or_known_to_be_left(kind: str) -> None:
    scripts = (path for path in MIGRATIONS.iterdir() if path.name.startswith(kind))
    statements = "".join(script.read_text() for script in scripts)
    tables = set(re.findall(r"CREATE (?:UNLOGGED )?TABLE (\w+)", statements))
    known = {table.name for table in TABLES} | {*ENDED, *LEFT}
    assert tables - {"sequence", "takeovers"} == known


def test_every_column_is_moved_or_known_to_be_left(tmp_path: Path) -> None:
    open_store(sqlite_url(tmp_path)).close()
    with closing(sqlite3.connect(tmp_path / "catalogue.db")) as database:
        for table in TABLES:
            rows = database.execute(f"PRAGMA table_info({table.name})")
            left = {"grant_id"} if table.name == "tokens" else set()
            assert {row[1] for row in rows} - left == set(table.columns), table.name


def test_another_catalogue_is_not_overwritten(new: New) -> None:
    origin, other = new("sqlite"), new("postgres")
    fill(origin)
    other.put_maps([MapDraft(title="theirs")])
    with pytest.raises(Conflict, match="another catalogue"):
        transfer_catalogue(origin, other, quietly)
    assert [found.title for found in other.maps(0, ALL)] == ["theirs"]
    used = new("postgres")
    used.add_user("theirs")
    with pytest.raises(Conflict, match="another catalogue"):
        transfer_catalogue(origin, used, quietly)


def test_a_copy_that_has_gone_on_by_itself_is_not_overwritten(new: New) -> None:
    origin, there = new("sqlite"), new("postgres")
    origin.put_maps([MapDraft(title="t")])
    transfer_catalogue(origin, there, quietly)
    there.put_maps([MapDraft(title="new")])
    with pytest.raises(Conflict, match="has changes"):
        transfer_catalogue(origin, there, quietly)
    transfer_catalogue(there, origin, quietly)  # moving back works
    assert list(differences(there, origin)) == []


def test_writes_during_a_move_are_noticed(new: New) -> None:
    origin, there = new("sqlite"), new("postgres")
    origin.put_maps([MapDraft(title="t")])

    def write(_: int) -> None:
        origin.put_maps([MapDraft(title="meanwhile")])

    with pytest.raises(Conflict, match="changed while"):
        transfer_catalogue(origin, there, write)
    transfer_catalogue(origin, there, quietly)
    assert list(differences(origin, there)) == []


def test_differences_after_a_move_are_reported(new: New) -> None:
    origin, there = new("sqlite"), new("postgres")
    fill(origin)
    transfer_catalogue(origin, there, quietly)
    there.revoke_token(1)
    there.put_maps([MapDraft(id="Complete", title="Other", outline=outline("other"))])
    assert list(differences(origin, there)) == [
        "the counters differ",
        "the table tokens differs",
        "the table maps differs",
        "the table outlines differs",
        "the table links differs",
        "the exports differ",
    ]


def test_a_failed_move_can_be_continued(new: New) -> None:
    origin, there = new("sqlite"), new("postgres")
    fill(origin)
    url_is_gone = there.close
    with pytest.raises(StoreUnavailable):
        transfer_catalogue(origin, there, lambda _: url_is_gone())


@pytest.mark.parametrize("kinds", [["sqlite", "postgres"], ["postgres", "sqlite"]])
def test_large_maps_are_moved_a_few_at_a_time(
    new: New, kinds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 200 files of 10 MiB at a time, moving took too long for the server, again and again."""
    monkeypatch.setattr(transfer, "BYTES_AT_ONCE", 3 * 4096)
    monkeypatch.setattr(paged_rows, "ENOUGH", 3 * 4096)
    origin, there = map(new, kinds)
    user = origin.add_user("ann")
    for number in range(20):
        file = upload(f"{number}", content=bytes(4096), images={})
        origin.publish(file, MapDetails(str(number)), user.id, None)
    moved: list[int] = []
    transfer_catalogue(origin, there, moved.append)
    assert sum(moved) == 20
    assert max(moved) == 2, "their outlines count, too"
    assert list(differences(origin, there)) == []


def test_a_snapshot_stays_valid_after_the_move(new: New, tmp_path: Path) -> None:
    origin, there = new("sqlite"), new("postgres")
    fill(origin)
    builder = Builder(origin, SnapshotDirectory(tmp_path / "snapshots"))
    builder.advance()
    builder.close()
    transfer_catalogue(origin, there, quietly)
    again = Builder(there, SnapshotDirectory(tmp_path / "snapshots"))
    assert again.revision == there.revision()
    assert not again.advance()
    again.close()
