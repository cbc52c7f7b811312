"""A private file that is changed and moved at the same time is not published where it is found."""

import itertools
import os
import shutil
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from mapshelf.errors import StoreUnavailable
from mapshelf.importer import folder_sync, same_names, scan
from mapshelf.importer.folder_sync import FolderSync
from mapshelf.model import MapDetails, MapDraft, Outcome, Visibility
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.store import Store
from mapshelf.store.lost_files import LOST_WITHIN
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from tests.importer.test_documents import write as write_document
from tests.importer.test_former_places import shown, visibility_of
from tests.importer.test_lost_files import LONG_AGO, make_private, map_of, old_map
from tests.store.clock import Clock

pytestmark = pytest.mark.process

CAFE = "caf\u00e9.mm"
MY_PLAN = tuple(
    f"{name}.mm"
    for name in (
        "\u043c\u043e\u0439 \u043f\u043b\u0430\u043d",
        "\u041c\u043e\u0439 \u043f\u043b\u0430\u043d",
        "\u041c\u043e\u0439 \u041f\u043b\u0430\u043d",
        "\u041c\u041e\u0419 \u041f\u041b\u0410\u041d",
    )
)
"""A name in Russian, with the usual ways to use capital letters."""


class Library:
    """A served folder with a private file ``a/plan.mm``, and others."""

    def __init__(self, store: Store, reader: SandboxedReader, folder: Path) -> None:
        self.store = store
        self.folder = folder
        self.plan = old_map(folder / "a" / "plan.mm", "Plan")
        self.beside = old_map(folder / "a" / "beside.mm", "Beside")
        old_map(folder / "keep.mm", "Keep")
        self.reader = reader
        self.follow()
        make_private(store, self.plan)

    def follow(self, folder: Path | None = None) -> None:
        """Follow a folder as a new process does."""
        self.sync = FolderSync(self.store, self.reader, [folder or self.folder]).sync
        self.sync()

    def write(self, path: Path, title: str = "Changed") -> Path:
        return old_map(path, title, 60)


@pytest.fixture
def library(store: Store, reader: SandboxedReader, tmp_path: Path) -> Library:
    return Library(store, reader, tmp_path / "maps")


class MeanwhileStore:
    """A store before whose first write something else happens."""

    def __init__(self, store: Store, meanwhile: Callable[[], None]) -> None:
        self._store = store
        self._meanwhile = [meanwhile]

    def put_maps(self, drafts: Sequence[MapDraft]) -> list[Outcome]:
        while self._meanwhile:
            self._meanwhile.pop()()
        return self._store.put_maps(drafts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_a_private_file_may_be_moved_while_another_process_reads_it(library: Library) -> None:
    moved = library.folder / "moved.mm"

    def move() -> None:
        library.plan.rename(moved)
        library.follow()

    os.utime(library.plan, (LONG_AGO + 9, LONG_AGO + 9))  # so that it is read again
    store = cast("Store", MeanwhileStore(library.store, move))
    with SandboxedReader(workers=1) as reader:
        late = FolderSync(store, reader, [library.folder])
        assert late.sync()
        late.sync()
    assert [found.visibility for found in library.store.maps(0, 9) if found.title == "Plan"] == [
        Visibility.PRIVATE
    ]
    assert visibility_of(library.store, moved) is Visibility.PRIVATE


def test_a_file_in_a_renamed_folder_may_have_changed(library: Library) -> None:
    moved = library.plan.parent.rename(library.folder / "b")
    new = library.write(moved / "plan.mm")
    library.sync()
    assert visibility_of(library.store, new) is Visibility.PRIVATE
    assert shown(library.store) == {"Beside", "Keep"}
    library.write(new, "Later")
    library.sync()
    assert visibility_of(library.store, new) is Visibility.PRIVATE


@pytest.mark.parametrize("copy", ["a/copy.mm", "z/copy.mm", "z/plan.mm"])
def test_it_may_have_been_copied_at_once(library: Library, copy: str) -> None:
    moved = library.plan.parent.rename(library.folder / "b")
    library.write(moved / "plan.mm")
    library.write(library.folder / copy)
    library.sync()
    assert shown(library.store) == {"Beside", "Keep"}


@pytest.mark.parametrize("name", ["Vie\u0302\u0323t.mm", "\u212b.mm", "PLAN.mm", "\udcff.mm"])
def test_its_name_may_be_any(library: Library, name: str) -> None:
    """Some are in neither of the usual forms of Unicode, or no text at all."""
    file = old_map(library.folder / "a" / name, "Any")
    library.sync()
    make_private(library.store, file)
    moved = library.plan.parent.rename(library.folder / "b")
    library.write(moved / name)
    library.sync()
    assert shown(library.store) == {"Beside", "Keep"}


def test_a_served_folder_may_have_moved_and_its_files_changed(library: Library) -> None:
    moved = library.folder.rename(library.folder.parent / "elsewhere")
    library.write(moved / "a" / "plan.mm")
    library.follow(moved)
    assert shown(library.store) == {"Beside", "Keep"}


@pytest.mark.parametrize("removed", [True, False])
def test_a_served_folder_may_have_been_copied(library: Library, removed: bool) -> None:
    """The copy is on a larger disk, and the former one stays where it is for a while."""
    if removed:
        found = map_of(library.store, library.plan)
        assert found
        library.store.remove_map(found.file_id, library.store.add_user("admin").id)
    copy = library.folder.parent / "elsewhere"
    shutil.copytree(library.folder, copy)
    library.follow(copy)
    library.write(copy / "a" / "plan.mm")
    library.sync()
    assert shown(library.store) == {"Beside", "Keep"}


def test_only_the_same_path_tells_that_a_folder_was_copied(library: Library) -> None:
    """Whoever imports another folder has other files."""
    copy = library.folder.parent / "elsewhere" / "b" / "plan.mm"
    copy.parent.mkdir(parents=True)
    shutil.copy2(library.plan, copy)
    library.follow(library.folder.parent / "elsewhere")
    assert "Plan" in shown(library.store)


def test_a_file_may_come_back_into_the_renamed_folder(library: Library) -> None:
    library.plan.unlink()
    library.sync()
    moved = library.plan.parent.rename(library.folder / "b")
    library.sync()
    new = library.write(moved / "plan.mm")
    library.sync()
    assert visibility_of(library.store, new) is Visibility.PRIVATE


@pytest.mark.parametrize("there", [True, False], ids=["beside it", "in its place"])
@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Plan.mm", "plan.mm"),
        ("plan.mm", "PLAN.mm"),
        (CAFE, unicodedata.normalize("NFD", CAFE)),
        (unicodedata.normalize("NFD", CAFE), CAFE.upper()),
        ("\u00dcber.mm", "\u00fcber.mm"),
        ("Mein \u00dcberblick.mm", "mein \u00fcberblick.mm"),
        ("\u041f\u041b\u0410\u041d.mm", "\u043f\u043b\u0430\u043d.mm"),
        *itertools.permutations(MY_PLAN, 2),
        *itertools.permutations(("\u03bf\u03b4\u03cc\u03c2.mm", "\u039f\u0394\u038c\u03a3.mm")),
        *itertools.permutations(
            ("L'\u00e9t\u00e9 \u00c0 Paris.mm", "l'\u00e9t\u00e9 \u00e0 paris.mm")
        ),
    ],
)
def test_a_changed_file_may_be_spelled_differently(
    library: Library, name: str, other: str, there: bool
) -> None:
    private = library.write(library.folder / name, "Private")
    library.sync()
    make_private(library.store, private)
    if not there:
        private.unlink()
    new = library.write(library.folder / other)
    library.sync()
    assert visibility_of(library.store, new) is Visibility.PRIVATE


def test_it_may_be_changed_and_moved_during_a_scan(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scan finds it at both places."""
    new = library.folder / "z" / "plan.mm"
    new.parent.mkdir()

    def slow(*arguments: Any) -> Iterator[Any]:
        for found in scan.scan(*arguments):
            yield found
            if found.path == str(library.plan):
                library.plan.unlink()
                library.write(new)

    monkeypatch.setattr(folder_sync, "scan", slow)
    library.follow()
    assert visibility_of(library.store, new) is Visibility.PRIVATE


@pytest.mark.parametrize(("most", "expected"), [(2, Visibility.PRIVATE), (3, Visibility.PUBLISHED)])
def test_of_very_many_files_with_one_name_any_may_be_gone(
    library: Library, monkeypatch: pytest.MonkeyPatch, most: int, expected: Visibility
) -> None:
    monkeypatch.setattr(same_names, "MOST_NAMED", most)
    other = library.write(library.folder / "c" / "plan.mm", "Other")
    library.sync()
    make_private(library.store, other)
    new = library.write(library.folder / "b" / "plan.mm")
    library.sync()
    assert visibility_of(library.store, new) is expected


def test_an_unlisted_file_that_comes_back_changed_stays_unlisted(library: Library) -> None:
    found = map_of(library.store, library.plan)
    assert found
    library.store.edit_map(found.file_id, MapDetails(visibility=Visibility.UNLISTED))
    library.plan.unlink()
    library.sync()
    library.write(library.plan)
    library.sync()
    assert visibility_of(library.store, library.plan) is Visibility.UNLISTED


def test_it_may_have_been_moved_from_another_folder_that_is_followed(
    library: Library, tmp_path: Path
) -> None:
    private = old_map(tmp_path / "other" / "diary.mm", "Diary")
    old_map(tmp_path / "other" / "keep.mm", "Keep")
    other = FolderSync(library.store, library.reader, [private.parent])
    other.sync()
    make_private(library.store, private)
    private.unlink()
    other.sync()
    new = library.write(library.folder / "diary.mm")
    library.sync()
    assert visibility_of(library.store, new) is Visibility.PRIVATE


@pytest.mark.parametrize(
    ("place", "is_shown"), [("a/x.mm", False), ("A/X.mm", False), ("b/x.mm", True)]
)
def test_its_whole_folder_may_have_been_moved_without_being_missed(
    library: Library, tmp_path: Path, place: str, is_shown: bool
) -> None:
    private = old_map(tmp_path / "once" / "a" / "x.mm", "Private")
    library.follow(tmp_path / "once")
    make_private(library.store, private)
    shutil.rmtree(tmp_path / "once")
    library.write(tmp_path / "again" / place)
    library.follow(tmp_path / "again")
    assert ("Changed" in shown(library.store)) is is_shown


def test_a_file_that_is_still_in_another_folder_was_not_moved(
    library: Library, tmp_path: Path
) -> None:
    private = old_map(tmp_path / "once" / "x.mm", "Private")
    library.follow(tmp_path / "once")
    make_private(library.store, private)
    library.write(tmp_path / "again" / "x.mm")
    library.follow(tmp_path / "again")
    assert "Changed" in shown(library.store)


def test_the_name_of_a_file_in_a_document_tells_nothing(library: Library) -> None:
    """It is the same in all documents of this kind."""
    diary = library.folder / "Diary.mindnode"
    write_document(diary, "folder", "Diary")
    library.sync()
    (found,) = (one for one in library.store.maps(0, 100) if one.title == "Diary")
    library.store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
    shutil.rmtree(diary)
    write_document(library.folder / "Trip.mindnode", "folder", "Trip")
    library.sync()
    assert "Trip" in shown(library.store)


def test_files_with_another_name_or_content_are_published(library: Library) -> None:
    library.plan.unlink()
    other = library.write(library.folder / "b" / "plans.mm", "Other")
    copied = library.write(library.folder / "b" / "plan.mm", "Keep")
    library.sync()
    for one in (other, copied):
        assert visibility_of(library.store, one) is Visibility.PUBLISHED


def test_a_file_with_the_name_of_one_that_is_there_is_published(library: Library) -> None:
    new = library.write(library.folder / "b" / "plan.mm")
    library.sync()
    assert visibility_of(library.store, new) is Visibility.PUBLISHED


def test_a_file_with_the_name_of_a_published_one_is_published(library: Library) -> None:
    library.beside.unlink()
    new = library.write(library.folder / "b" / "beside.mm")
    library.sync()
    assert visibility_of(library.store, new) is Visibility.PUBLISHED


@pytest.mark.parametrize("late", [False, True])
def test_a_file_that_is_gone_is_remembered_for_an_hour(
    reader: SandboxedReader, tmp_path: Path, late: bool
) -> None:
    clock = Clock()
    with closing(SQLiteStore(tmp_path / "catalogue.db", clock)) as store:
        library = Library(store, reader, tmp_path / "maps")
        library.plan.unlink()
        library.sync()
        clock.now += LOST_WITHIN + (0 if late else -1)
        new = library.write(library.folder / "b" / "plan.mm")
        library.sync()
        expected = Visibility.PUBLISHED if late else Visibility.PRIVATE
        assert visibility_of(store, new) is expected


def test_a_file_that_nobody_misses_does_not_hide_others_for_ever(
    library: Library, tmp_path: Path
) -> None:
    """Its folder was imported once, and deleted."""
    private = old_map(tmp_path / "once" / "untitled.mm", "Private")
    FolderSync(library.store, library.reader, [private.parent]).sync()
    make_private(library.store, private)
    shutil.rmtree(private.parent)
    library.write(library.folder / "untitled.mm")
    library.sync()
    assert "Changed" in shown(library.store)


def test_what_people_decide_about_such_a_file_stays(library: Library) -> None:
    moved = library.plan.parent.rename(library.folder / "b")
    new = library.write(moved / "plan.mm")
    library.sync()
    found = map_of(library.store, new)
    assert found
    library.store.edit_map(found.file_id, MapDetails(visibility=Visibility.PUBLISHED))
    library.write(new, "Public")
    library.sync()
    assert "Public" in shown(library.store)


@pytest.mark.parametrize("visibility", [Visibility.PRIVATE, Visibility.UNLISTED])
@pytest.mark.parametrize("look", [True, False])
def test_a_published_file_that_gets_the_name_of_a_private_one_has_its_map(
    library: Library, visibility: Visibility, look: bool
) -> None:
    """Somebody deletes the old version, and gives its name to the new one."""
    before = map_of(library.store, library.plan)
    assert before
    library.store.edit_map(before.file_id, MapDetails(visibility=visibility))
    new = library.write(library.plan.with_name("plan (1).mm"))
    library.sync()
    library.plan.unlink()
    if look:
        library.sync()
    new.rename(library.plan)
    library.sync()
    library.write(library.plan, "Later")
    library.sync()
    found = map_of(library.store, library.plan)
    assert found
    assert (found.id, found.visibility) == (before.id, visibility)
    assert "Later" not in shown(library.store)


def test_a_published_file_in_the_former_place_of_a_private_one_is_private(
    library: Library,
) -> None:
    """The folder is put aside, and another one gets its name."""
    library.plan.parent.rename(library.folder / "old")
    new = library.write(library.folder / "new" / "plan.mm")
    library.sync()
    assert visibility_of(library.store, new) is Visibility.PUBLISHED
    new.parent.rename(library.plan.parent)
    library.sync()
    assert visibility_of(library.store, library.plan) is Visibility.PRIVATE


@pytest.mark.parametrize("name", ["plan.mm", "diary.mm"])
def test_a_private_file_that_is_moved_by_copying_does_not_become_a_deleted_public_one(
    library: Library, name: str
) -> None:
    """Both were begun from one template, which is published."""
    template = old_map(library.folder / "template.mm", "Plan")
    public = old_map(library.folder / "public.mm", "Plan")
    library.sync()
    store = library.store
    for one in (template, public):
        found = map_of(store, one)
        assert found
        store.edit_map(found.file_id, MapDetails(visibility=Visibility.PUBLISHED))
    public.unlink()
    library.sync()
    copy = old_map(library.folder / "x" / name, "Plan")
    library.sync()
    library.plan.unlink()
    library.sync()
    library.write(copy, "Secret")
    library.sync()
    assert "Secret" not in shown(store)


@pytest.mark.parametrize("look", [True, False], ids=["copied and deleted", "renamed"])
@pytest.mark.parametrize("visibility", [Visibility.UNLISTED, Visibility.PRIVATE])
def test_a_file_that_is_moved_keeps_its_map_as_visible_as_it_was(
    library: Library, visibility: Visibility, look: bool
) -> None:
    """Even if the process that moves the map ends before it has read the file."""
    before = map_of(library.store, library.plan)
    assert before
    library.store.edit_map(before.file_id, MapDetails(visibility=visibility))
    copy = library.plan.with_name("copy.mm")
    if look:
        shutil.copy(library.plan, copy)
        os.utime(copy, (LONG_AGO + 9, LONG_AGO + 9))
        library.sync()
        library.plan.unlink()
        library.sync()
    else:
        library.plan.rename(copy)
        failing = cast("Store", Failing(library.store))
        with pytest.raises(StoreUnavailable):
            FolderSync(failing, library.reader, [library.folder]).sync()
    library.follow()
    found = map_of(library.store, copy)
    assert found
    assert (found.id, found.visibility) == (before.id, visibility)


class Failing:
    """A store that writes no maps, as if the process ended before that."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put_maps(self, drafts: Sequence[MapDraft]) -> None:
        assert drafts
        raise StoreUnavailable("the process has ended")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
def case_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all disks ignore case, as most do on macOS: a stand-in, because few do on Linux."""
    look = os.lstat

    def lstat(path: os.PathLike[str] | str | bytes) -> os.stat_result:
        try:
            return look(path)
        except FileNotFoundError:
            folder, name = os.path.split(os.fsdecode(path))
            alike = (one for one in os.listdir(folder) if one.lower() == name.lower())
            if there := next(alike, None):
                return look(os.path.join(folder, there))
            raise

    monkeypatch.setattr(os, "lstat", lstat)


@pytest.mark.usefixtures("case_is_ignored")
def test_a_file_keeps_its_map_when_letters_of_its_name_change(library: Library) -> None:
    before = map_of(library.store, library.plan)
    new = library.plan.rename(library.plan.with_name("PLAN.mm"))
    library.sync()
    assert map_of(library.store, new) == before
    assert not library.store.sources([os.fsencode(library.plan)])


@pytest.mark.usefixtures("case_is_ignored")
def test_a_file_may_change_when_letters_of_its_name_do(library: Library) -> None:
    new = library.write(library.plan.rename(library.plan.with_name("PLAN.mm")))
    library.sync()
    assert visibility_of(library.store, new) is Visibility.PRIVATE
    assert shown(library.store) == {"Beside", "Keep"}
