"""No history of a folder publishes what is in a private file.

Files are created, changed, renamed, copied, deleted and put back at random, as people, backups and
synchronizing programs do it. Now and then, Mapshelf looks at the folder. After each look, no
published map may show what was written into a file after its map was hidden, or into a copy of it.

Not everything can be told from what is in the folder. So between two looks, a history does nothing
that makes a new map according to docs/operating.md: for instance, it does not change a file that it
has just renamed or copied, nor rename one that it has just changed.

    pytest --hypothesis-profile thorough tests/importer/test_histories.py    # a few minutes
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from mapshelf.errors import StoreError, StoreUnavailable
from mapshelf.importer.folder_sync import FolderSync
from mapshelf.model import Map, MapDetails, Visibility
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from tests.examples import examples
from tests.importer.test_former_places import shown
from tests.importer.test_lost_files import old_map

pytestmark = pytest.mark.process

KEPT = "keep.mm"
"""A file that is always there, so that the folder is never empty."""

PLACES = ("a.mm", "b.mm", "c.mm", "x/a.mm", "x/b.mm", "y/a.mm", "y/b.mm")
DISK = "x/"
"""A disk may be mounted here."""

MARKS = (".sync-conflict-20261127-093015-ABCDEFG", " (Ann's conflicted copy 2026-11-27)")
HIDDEN = (Visibility.PRIVATE, Visibility.UNLISTED, Visibility.REMOVED)
STEPS = 24

Data = st.DataObject


@dataclass(slots=True)
class File:
    """What is known of a file that is in the folder.

    Attributes:
        title: of the map in it; it stands for the content.
        hidden: whether its map was hidden, or that of a file it was copied from.
        new: whether it came to its place after the last look.
        changed: whether something was written into it after the last look.
        needed: whether it must stay until the next look, because it tells what another one is.
        former: the titles that it had since it was hidden.
    """

    title: str = ""
    hidden: bool = False
    new: bool = True
    changed: bool = True
    needed: bool = False
    former: list[str] = field(default_factory=list)

    @property
    def is_settled(self) -> bool:
        return not (self.new or self.changed or self.needed)

    @property
    def may_change(self) -> bool:
        return not (self.new or self.needed)

    @property
    def may_move(self) -> bool:
        return not (self.changed or self.needed)


class FailingStore:
    """A store that fails when it has been called a number of times, as if the process ended."""

    def __init__(self, store: Store, calls: int) -> None:
        self._store = store
        self._left = calls

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, name)

        def call(*given: Any, **named: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise StoreUnavailable("the process has ended")
            return method(*given, **named)

        return call


class FolderHistory(RuleBasedStateMachine):
    """A random history of one folder, and what must not be published in it."""

    reader: ClassVar[SandboxedReader]

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.folder = self.place / "maps"
        self.store = open_store(sqlite_url(self.place / "data"))
        self.user = self.store.add_user("admin").id
        self.files: dict[str, File] = {}
        self.secrets: set[str] = set()
        self.away = False
        self.left: set[str] = set()
        self.decided: set[str] = set()
        self.written = 0

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.place)

    @initialize()
    def begin(self) -> None:
        for place in (KEPT, *PLACES[:3]):
            self._write(place, File())
        self.follow()
        self.look()

    # -- what Mapshelf does ------------------------------------------------------------------------

    @rule()
    def follow(self) -> None:
        """Follow the folder as a new process does."""
        self.sync = FolderSync(self.store, self.reader, [self.folder])

    @rule()
    def look(self) -> None:
        self.sync.sync()
        for place, one in self.files.items():
            if not self._is_away(place):
                one.new = one.changed = one.needed = False
        self.left.clear()
        self._check()

    @rule(calls=st.integers(1, 30))
    def look_and_end(self, calls: int) -> None:
        """Look at the folder, but end in the middle of it."""
        failing = cast("Store", FailingStore(self.store, calls))
        with contextlib.suppress(StoreError):
            FolderSync(failing, self.reader, [self.folder]).sync()
        self._check()
        self.follow()

    # -- what people decide ------------------------------------------------------------------------

    @rule(data=st.data(), visibility=st.sampled_from(HIDDEN))
    def hide(self, data: Data, visibility: Visibility) -> None:
        place = self._any(data, lambda one: not one.new and not one.changed)
        found = self._map_of(place)
        if found is None:
            return
        if visibility is Visibility.REMOVED:
            self.store.remove_map(found.file_id, self.user)
        else:
            self.store.edit_map(found.file_id, MapDetails(visibility=visibility))
        file = self.files[place]
        file.hidden = True
        file.former.clear()
        if file.title not in shown(self.store):  # by another map
            self.secrets.add(file.title)

    @rule(data=st.data())
    def publish(self, data: Data) -> None:
        """Publish what is in a file, and what has been in it."""
        self.look()  # new copies are as visible as the file is when they are found
        place = self._any(data, lambda one: one.hidden)
        found = self._map_of(place)
        if found is None:
            return
        self.store.edit_map(found.file_id, MapDetails(visibility=Visibility.PUBLISHED))
        file = self.files[place]
        file.hidden = False
        self.decided.add(place)
        self.secrets -= {file.title, *file.former}

    # -- what happens in the folder ----------------------------------------------------------------

    @rule(place=st.sampled_from(PLACES))
    def create(self, place: str) -> None:
        if place not in self.files and not self._is_away(place):
            self._write(place, File())

    @rule(data=st.data())
    def change(self, data: Data) -> None:
        if place := self._any(data, lambda one: one.may_change):
            self._write(place, self.files[place])

    @rule(data=st.data(), to=st.sampled_from(PLACES))
    def rename(self, data: Data, to: str) -> None:
        place = self._any(data, lambda one: one.may_move)
        if place and place != to and self._is_free(to):
            self._move(place, to)

    @rule(data=st.data(), to=st.sampled_from(PLACES), same_time=st.booleans())
    def copy(self, data: Data, to: str, same_time: bool) -> None:
        place = self._any(data, lambda _: True)
        if place and place != to and self._is_free(to):
            self._copy(place, to, same_time=same_time)

    @rule(data=st.data())
    def delete(self, data: Data) -> None:
        if place := self._any(data, lambda one: not one.needed):
            (self.folder / place).unlink()
            del self.files[place]
            self.left.add(place)

    @rule(data=st.data())
    def back_up(self, data: Data) -> None:
        """Change a file, and keep the former version beside it."""
        place = self._any(data, lambda one: one.is_settled)
        backup = f"{place.removesuffix('.mm')} old.mm"
        if place and self._is_free(backup):
            self._copy(place, backup, same_time=True)
            self._write(place, self.files[place])

    @rule(data=st.data())
    def put_back(self, data: Data) -> None:
        """Restore a former version of a file."""
        if place := self._any(data, lambda one: one.may_change and bool(one.former)):
            file = self.files[place]
            self._write(place, file, data.draw(st.sampled_from(file.former)))

    @rule(data=st.data(), mark=st.sampled_from(MARKS), ours=st.booleans())
    def conflict(self, data: Data, mark: str, ours: bool) -> None:
        """Somebody else has changed a file, too: our version becomes a conflict copy, or theirs."""
        place = self._any(data, lambda one: one.may_change)
        copy = f"{place.removesuffix('.mm')}{mark}.mm"
        if not place or "conflict" in place or copy in self.files or copy in self.left:
            return
        file = self.files[place]
        if ours:
            self._copy(place, copy, same_time=True)
            self.files[copy].hidden = file.hidden
            self._write(place, file)
        else:
            self._write(copy, File(hidden=file.hidden))
        file.needed = self.files[copy].needed = True

    @rule(data=st.data(), mark=st.sampled_from(MARKS))
    def resolve_conflict(self, data: Data, mark: str) -> None:
        """Give the name of the original to its conflict copy."""
        if copy := self._any(data, lambda one: one.may_move, mark):
            place = copy.replace(mark, "")
            if self._is_free(place):
                self._move(copy, place)

    @rule()
    def rename_folder(self) -> None:
        moved = [one for one in self.files if one.startswith("x/")]
        taken = any(one.startswith("y/") for one in self.files)
        if not taken and not self.away and all(self.files[one].may_move for one in moved):
            for one in moved:
                self._move(one, one.replace("x/", "y/"))

    @rule(folder_stays=st.booleans())
    def disconnect(self, folder_stays: bool) -> None:
        there = [file for place, file in self.files.items() if place.startswith(DISK)]
        if there and not self.away and all(one.is_settled for one in there):
            self.away = True
            (self.folder / DISK).rename(self.place / "disk")
            if folder_stays:
                (self.folder / DISK).mkdir()

    @rule()
    def connect(self) -> None:
        if self.away:
            self.away = False
            with contextlib.suppress(FileNotFoundError):
                (self.folder / DISK).rmdir()
            (self.place / "disk").rename(self.folder / DISK)

    # -- parts of these ----------------------------------------------------------------------------

    def _check(self) -> None:
        assert not shown(self.store) & self.secrets

    def _any(self, data: Data, fits: Callable[[File], bool], part: str = "") -> str:
        """Draw the place of a file, empty if none fits."""
        some = [
            place
            for place, one in self.files.items()
            if place != KEPT and part in place and fits(one) and not self._is_away(place)
        ]
        return data.draw(st.sampled_from(sorted(some))) if some else ""

    def _map_of(self, place: str) -> Map | None:
        """Return the map of a file, unless it is removed."""
        known = self.store.sources([os.fsencode(self.folder / place)]).values()
        names = {one.name for one in known}
        maps = self.store.maps(0, 100)
        return next((one for one in maps if self.store.origin(one.file_id)[0] in names), None)

    def _is_away(self, place: str) -> bool:
        return self.away and place.startswith(DISK)

    def _is_free(self, place: str) -> bool:
        """Return whether a file may be put in a place.

        Whoever overwrites a file whose map somebody has published, publishes the new content.
        """
        there = self.files.get(place)
        needed = there is not None and there.needed
        return not (needed or place in self.decided or self._is_away(place))

    def _write(self, place: str, file: File, title: str = "") -> None:
        self.written += 1
        if file.title:
            file.former.append(file.title)
        file.title = title or f"Version {self.written}"
        file.changed = True
        if file.hidden and not title:
            self.secrets.add(file.title)
        self.files[place] = file
        old_map(self.folder / place, file.title, self.written)

    def _move(self, place: str, to: str) -> None:
        (self.folder / to).parent.mkdir(exist_ok=True)
        (self.folder / place).rename(self.folder / to)
        self.files[to] = self.files.pop(place)
        self.files[to].new = True
        self.left.add(place)
        if place in self.decided:
            self.decided.add(to)

    def _copy(self, place: str, to: str, *, same_time: bool) -> None:
        (self.folder / to).parent.mkdir(exist_ok=True)
        shutil.copy2(self.folder / place, self.folder / to)
        if not same_time:
            self.written += 1
            later = (self.folder / place).stat().st_mtime + self.written
            os.utime(self.folder / to, (later, later))
        file = self.files[place]
        file.needed = not file.is_settled
        # A copy of what another map shows is published.
        hidden = file.hidden and file.title in self.secrets
        self.files[to] = replace(
            file, hidden=hidden, new=True, changed=False, needed=False, former=[*file.former]
        )


def test_no_history_publishes_what_is_in_a_private_file(reader: SandboxedReader) -> None:
    history = type("FolderHistory", (FolderHistory,), {"reader": reader})
    run_state_machine_as_test(
        history,
        settings=settings(max_examples=examples(200), stateful_step_count=STEPS),
    )
