"""Which of several equal files a new one is, is a guess. No guess makes a private file public.

What is in such a file may be public already. What somebody writes into it next must not be.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mapshelf.cli import main
from mapshelf.importer.folder_sync import FolderSync
from mapshelf.model import MapDetails, MapDraft, Visibility
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.store import Store, lost_files
from tests.importer.test_former_places import shown, visibility_of
from tests.importer.test_lost_files import LONG_AGO, make_private, map_of, old_map, take

pytestmark = pytest.mark.process

Sync = Callable[[], object]


@pytest.fixture
def maps(tmp_path: Path) -> Path:
    """A served folder with equal files: ``zoe/plan.mm``, which becomes private, and ``bob``'s."""
    for who in ("zoe", "bob"):
        old_map(tmp_path / "maps" / who / "plan.mm", "Template")
    return tmp_path / "maps"


@pytest.fixture(params=["running", "restarted"])
def sync(request: pytest.FixtureRequest, store: Store, reader: SandboxedReader, maps: Path) -> Sync:
    """Synchronize until nothing is left to do, in the same process or in another one each time."""
    first = FolderSync(store, reader, [maps])

    def run() -> None:
        folder_sync = first if request.param == "running" else FolderSync(store, reader, [maps])
        while folder_sync.sync():
            pass

    return run


def at(path: Path, seconds: int) -> Path:
    """Give a file another time, by which it can be told from equal ones."""
    os.utime(path, (LONG_AGO + seconds, LONG_AGO + seconds))
    return path


def check_secret(store: Store, sync: Sync, file: Path) -> None:
    """Write something into a file, and check that nobody else sees it."""
    assert visibility_of(store, file) is Visibility.PRIVATE
    old_map(file, "Secret", 99)
    sync()
    assert visibility_of(store, file) is Visibility.PRIVATE
    assert "Secret" not in shown(store)


def test_a_private_file_that_is_copied_and_renamed_at_once_stays_private(
    store: Store, maps: Path, sync: Sync
) -> None:
    sync()
    plan = maps / "zoe" / "plan.mm"
    before = make_private(store, plan)
    (maps / "bob" / "plan.mm").unlink()
    shutil.copy(plan, plan.with_name("backup.mm"))
    renamed = plan.rename(plan.with_name("salaries.mm"))
    sync()
    check_secret(store, sync, renamed)
    assert {one.visibility for one in store.maps(0, 9) if one.id == before.id} == {
        Visibility.PRIVATE
    }


@pytest.mark.parametrize("seconds", [0, 5], ids=["same time", "other time"])
@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_equal_files_in_renamed_folders_are_not_exchanged_to_the_harm_of_the_private_one(
    store: Store, maps: Path, sync: Sync, names: tuple[str, str], seconds: int
) -> None:
    at(maps / "zoe" / "plan.mm", seconds)
    sync()
    before = make_private(store, maps / "zoe" / "plan.mm")
    public = map_of(store, maps / "bob" / "plan.mm")
    for who, name in zip(("zoe", "bob"), names, strict=True):
        (maps / who).rename(maps / name)
    sync()
    plans = [maps / name / "plan.mm" for name in names]
    if seconds:
        assert [map_of(store, one) for one in plans] == [before, public]
    check_secret(store, sync, plans[0])


@pytest.mark.parametrize("seconds", [0, 5], ids=["same time", "other time"])
@pytest.mark.parametrize("name", ["zoe/salaries.mm", "bob/z.mm", "new/plan.mm"])
def test_a_renamed_private_file_is_not_public_because_an_equal_one_is_deleted(
    store: Store, maps: Path, sync: Sync, name: str, seconds: int
) -> None:
    plan = at(maps / "zoe" / "plan.mm", seconds)
    old_map(maps / "bob" / "keep.mm", "Keep")
    (maps / "new").mkdir()
    sync()
    before = make_private(store, plan)
    renamed = plan.rename(maps / name)
    (maps / "bob" / "plan.mm").unlink()
    sync()
    if seconds and plan.parent.exists() and any(plan.parent.iterdir()):
        assert map_of(store, renamed) == before
    check_secret(store, sync, renamed)


def test_a_private_file_that_is_copied_to_the_name_of_a_public_one_is_private(
    store: Store, maps: Path, sync: Sync
) -> None:
    """Its time and its name do not tell which of the two it was."""
    bob = (maps / "bob" / "plan.mm").rename(maps / "bob" / "public.mm")
    old_map(maps / "zoe" / "keep.mm", "Keep")
    old_map(maps / "bob" / "keep.mm", "Keep")
    sync()
    plan = maps / "zoe" / "plan.mm"
    make_private(store, plan)
    copy = Path(shutil.copy(plan, maps / bob.name))
    at(copy, 50)
    plan.unlink()
    bob.unlink()
    sync()
    check_secret(store, sync, copy)


def test_a_private_file_that_is_read_after_an_equal_one_is_private(
    store: Store, reader: SandboxedReader, maps: Path
) -> None:
    """It was written less than a second ago."""
    for who in ("zoe", "bob"):
        old_map(maps / who / "keep.mm", "Keep")
    synchronization = FolderSync(store, reader, [maps])
    synchronization.sync()
    plan = maps / "zoe" / "plan.mm"
    make_private(store, plan)
    at((maps / "bob" / "plan.mm").rename(maps / "1.mm"), 50)
    renamed = plan.rename(maps / "2.mm")
    os.utime(renamed)
    while synchronization.sync():
        pass
    assert visibility_of(store, renamed) is Visibility.PRIVATE


def test_a_private_file_that_was_missing_is_private_under_another_name(
    store: Store, maps: Path, tmp_path: Path, sync: Sync
) -> None:
    """A public one with the same content was missing, too, and is back, too."""
    secret = at(maps / "zoe" / "plan.mm", 5)
    (maps / "bob" / "plan.mm").rename(maps / "zoe" / "public.mm")
    old_map(maps / "zoe" / "keep.mm", "Keep")
    old_map(maps / "equal.mm", "Template")
    sync()
    make_private(store, secret)
    away = [one.rename(tmp_path / one.name) for one in (secret, maps / "zoe" / "public.mm")]
    sync()
    back = at(away[0].rename(maps / "zoe" / "1.mm"), 70)
    at(away[1].rename(maps / "zoe" / "2.mm"), 80)
    sync()
    check_secret(store, sync, back)


def test_a_private_map_goes_to_the_likeliest_copy_of_its_file(
    store: Store, maps: Path, sync: Sync
) -> None:
    """Equal files are moved between disks: they are copied first, and then deleted."""
    names = [f"p{number}" for number in range(5)]
    for name in names:
        old_map(maps / "projects" / name / "overview.mm", "Overview")
    old_map(maps / "projects" / "keep.mm", "Keep")
    sync()
    private = maps / "projects" / "p3" / "overview.mm"
    before = make_private(store, private)
    shutil.copytree(maps / "projects", maps / "archive")
    sync()
    shutil.rmtree(maps / "projects")
    sync()
    moved = maps / "archive" / "p3" / "overview.mm"
    assert map_of(store, moved) == before
    check_secret(store, sync, moved)


@pytest.mark.parametrize("rename", [lambda name: f"archive/{name}", lambda name: f"done-{name}"])
def test_equal_files_keep_their_maps_when_their_folders_are_renamed(
    store: Store, maps: Path, sync: Sync, rename: Callable[[str], str]
) -> None:
    """They were begun with ``cp -a`` from a template; some are private, and of several owners."""
    names = [f"p{number}" for number in range(5)]
    for name in names:
        old_map(maps / name / "overview.mm", "Overview")
    sync()
    found = [map_of(store, maps / name / "overview.mm") for name in names]
    ids = [one.id for one in found if one]
    make_private(store, maps / "p3" / "overview.mm")
    (maps / "archive").mkdir()
    for name in names:
        (maps / name).rename(maps / rename(name))
    sync()
    after = [map_of(store, maps / rename(name) / "overview.mm") for name in names]
    assert [one.id for one in after if one] == ids
    shown_now = [one.visibility is Visibility.PUBLISHED for one in after if one]
    # Without the names of their folders, nothing tells them apart.
    told = rename("p3") == "archive/p3"
    assert shown_now == ([True, True, True, False, True] if told else [False] * 5)


@pytest.mark.parametrize("seconds", [0, 7], ids=["same time", "other time"])
def test_a_new_equal_file_does_not_make_a_renamed_private_one_public(
    store: Store, maps: Path, sync: Sync, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    """It is read first, because its path is."""
    sync()
    plan = maps / "zoe" / "plan.mm"
    before = make_private(store, plan)
    renamed = plan.rename(plan.with_name("salaries.mm"))
    new = old_map(maps / "bob" / "new.mm", "Template", seconds)
    sync()
    if seconds:
        assert map_of(store, renamed) == before
    assert visibility_of(store, new) is Visibility.PRIVATE
    check_secret(store, sync, renamed)
    # What comes later is a copy of what everybody sees.
    monkeypatch.setattr(lost_files, "LOST_WITHIN", -1)
    sync()
    later = old_map(maps / "bob" / "later.mm", "Template", 8)
    sync()
    assert visibility_of(store, later) is Visibility.PUBLISHED


@pytest.mark.parametrize("decided", ["private", "edited"])
def test_a_file_that_is_moved_to_where_an_equal_one_was_keeps_its_map(
    store: Store, maps: Path, sync: Sync, decided: str
) -> None:
    """Without that, the map that was there would come back."""
    (maps / "zoe" / "plan.mm").unlink()
    plan = maps / "bob" / "plan.mm"
    sync()
    copy = Path(shutil.copy2(plan, plan.with_name("draft.mm")))
    sync()
    plan.unlink()
    sync()
    found = map_of(store, copy)
    assert found
    details = MapDetails(
        visibility=Visibility.PRIVATE if decided == "private" else None,
        description="Two days of work" if decided == "edited" else None,
    )
    before = store.edit_map(found.file_id, details)
    copy.rename(plan)
    sync()
    assert map_of(store, plan) == before
    assert [one.id for one in store.maps(0, 9)] == [before.id]


def test_a_public_file_does_not_take_the_place_of_a_private_one_that_was_missing(
    store: Store, maps: Path, sync: Sync
) -> None:
    sync()
    plan = maps / "zoe" / "plan.mm"
    before = make_private(store, plan)
    plan.unlink()
    old_map(maps / "zoe" / "other.mm", "Other")
    sync()
    (maps / "bob" / "plan.mm").rename(plan)
    sync()
    assert map_of(store, plan) == before
    check_secret(store, sync, plan)


@pytest.mark.parametrize("way", ["import", "serve"])
def test_a_file_that_comes_back_is_no_more_public_than_one_that_may_have_been_moved(
    store: Store, reader: SandboxedReader, tmp_path: Path, way: str
) -> None:
    """Its own map was published, but that of the file in the folder that is empty now is not."""
    old_map(tmp_path / "maps" / "keep.mm", "Keep")
    plan = old_map(tmp_path / "maps" / "plan.mm", "Plan")
    board = old_map(tmp_path / "team" / "minutes.mm", "Minutes").parent / "board"
    board.mkdir()
    take(way, store, reader, plan.parent)
    moved = plan.rename(board / "plan.mm")
    FolderSync(store, reader, [plan.parent]).sync()
    take(way, store, reader, board.parent)
    found = map_of(store, moved)
    assert found
    store.put_maps([MapDraft(id=found.id, visibility=Visibility.PRIVATE)])
    moved.rename(plan)
    take(way, store, reader, plan.parent)
    assert visibility_of(store, plan) is Visibility.PRIVATE


@pytest.mark.parametrize("name", ["zoe/salaries.mm", "bob/z.mm", "zoe/new/plan.mm"])
def test_a_private_file_that_is_renamed_by_copying_it_first_is_private(
    store: Store, maps: Path, sync: Sync, name: str
) -> None:
    """Its copy is published at first, because an equal file is."""
    old_map(maps / "zoe" / "keep.mm", "Keep")
    sync()
    plan = maps / "zoe" / "plan.mm"
    make_private(store, plan)
    (maps / name).parent.mkdir(exist_ok=True)
    shutil.copy2(plan, maps / name)
    sync()
    assert visibility_of(store, maps / name) is Visibility.PUBLISHED
    plan.unlink()
    sync()
    check_secret(store, sync, maps / name)
    assert visibility_of(store, maps / "bob" / "plan.mm") is Visibility.PUBLISHED


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_equal_files_whose_folders_are_copied_and_then_deleted_are_private(
    store: Store, maps: Path, sync: Sync, names: tuple[str, str]
) -> None:
    old_map(maps / "keep.mm", "Keep")
    sync()
    make_private(store, maps / "zoe" / "plan.mm")
    for who, name in zip(("zoe", "bob"), names, strict=True):
        shutil.copytree(maps / who, maps / name)
    sync()
    for who in ("zoe", "bob"):
        shutil.rmtree(maps / who)
    sync()
    check_secret(store, sync, maps / names[0] / "plan.mm")


@pytest.mark.parametrize("way", ["running", "restarted", "imported"])
def test_equal_files_of_one_move_are_private_however_they_are_found(
    store: Store, reader: SandboxedReader, maps: Path, way: str
) -> None:
    """The file that is found first gets the private map, and only the public one is left."""
    first = FolderSync(store, reader, [maps])
    first.sync()
    make_private(store, maps / "zoe" / "plan.mm")
    parts = [maps / "a", maps / "b"]
    for part in parts:
        old_map(part / "keep.mm", f"Keep {part.name}")
    first.sync()
    for who, part in zip(("bob", "zoe"), parts, strict=True):
        (maps / who / "plan.mm").rename(maps.parent / f"{part.name}.mm")
    for part in parts:
        (maps.parent / f"{part.name}.mm").rename(part / "plan.mm")
        if way == "imported":
            assert main(["import", str(part), "--data", str(maps.parent / "data")]) == 0
        else:
            (first if way == "running" else FolderSync(store, reader, [maps])).sync()
    plan = parts[1] / "plan.mm"
    assert visibility_of(store, plan) is Visibility.PRIVATE
    old_map(plan, "Secret", 99)
    FolderSync(store, reader, [maps]).sync()
    assert "Secret" not in shown(store)


@pytest.mark.parametrize("edited", [False, True])
def test_no_kill_publishes_a_file_that_may_be_a_private_one(
    store: Store, reader: SandboxedReader, maps: Path, monkeypatch: pytest.MonkeyPatch, edited: bool
) -> None:
    """It has got the map of a public one, and the process ends before it is read."""
    old_map(maps / "keep.mm", "Keep")
    FolderSync(store, reader, [maps]).sync()
    make_private(store, maps / "zoe" / "plan.mm")
    renamed = (maps / "zoe" / "plan.mm").rename(maps / "zoe.mm")
    (maps / "bob" / "plan.mm").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(store, "put_maps", killed)
        with pytest.raises(KeyboardInterrupt):
            FolderSync(store, reader, [maps]).sync()
    if edited:
        old_map(renamed, "Secret", 99)
    FolderSync(store, reader, [maps]).sync()
    old_map(renamed, "Secret", 199)
    FolderSync(store, reader, [maps]).sync()
    assert "Secret" not in shown(store)


def killed(*_: object) -> None:
    raise KeyboardInterrupt
