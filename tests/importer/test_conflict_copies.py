"""Conflict copies of private files are private, whatever is in them."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.importer import map_files
from mapshelf.importer.conflict_copies import (
    MOST_ORIGINALS,
    ConflictCopies,
    possible_originals,
)
from mapshelf.importer.folder_sync import FolderSync
from mapshelf.model import MapDetails, Visibility
from mapshelf.readers.sandboxed_reader import Result, SandboxedReader
from mapshelf.store import Store
from tests.importer.test_former_places import shown, visibility_of
from tests.importer.test_lost_files import LONG_AGO, LateReader, make_private, map_of, old_map

COPIES = [
    "plan.sync-conflict-20261127-093015-ABCDEFG.mm",
    "plan (conflicted copy 2026-11-27 093015).mm",
    "plan (conflicted copy ann 2026-11-27 093015).mm",
    "plan_conflict-20261127-093015.mm",
    "plan (Ann's conflicted copy 2026-11-27).mm",
    "plan (Ann's conflicted copy 2026-11-27 (1)).mm",
    "plan (In Konflikt stehende Kopie von Ann 2026-11-27).mm",
    "plan (Copie en conflit de Zoé 2026-11-27).mm",
    "plan (SFConflict ann@example.org 2026-11-27-09-30-15).mm",
    "plan (ann@example.org 2026-11-27-09-30-15).mm",
    "plan_Ann-PC_Nov-27-0930-2026_Conflict_1.mm",
    "plan[conflicted].mm",
    "plan.Conflict.mm",
    "plan.Conflict2.mm",
    "plan(Ann's conflicted copy 2026-11-27).mm",
    "plan\uff08Ann 2026-11-27\uff09.mm",
    "plan (conflit de casse).mm",
    "plan (\u043a\u043e\u043d\u0444\u043b\u0438\u043a\u0442).mm",
    "plan_LOCAL_4711.mm",
    "plan_REMOTE_4711.mm",
    "plan.sync-conflict-20261127-093015-ABCDEFG.sync-conflict-20261127-093016-ABCDEFG.mm",
]
"""What synchronizing programs call conflict copies of ``plan.mm``."""

OTHERS = ["plans.mm", "plan 2.mm", "plan (2).mm", "plan 2026-11-27.mm", "other.Conflict.mm"]
"""Names that do not say that a file is one of ``plan.mm``."""


def private_plan(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> tuple[Path, Callable[[], bool]]:
    """Return a private file in a served folder, and what looks at the folder again."""
    plan = old_map(tmp_path / "maps" / "plan.mm", "Plan")
    sync = FolderSync(store, reader, [plan.parent]).sync
    sync()
    make_private(store, plan)
    return plan, sync


@pytest.mark.parametrize("name", COPIES)
def test_the_original_of_a_conflict_copy_is_recognised(name: str) -> None:
    assert "/maps/a (2026-01-01)/plan.mm" in possible_originals(f"/maps/a (2026-01-01)/{name}")


@pytest.mark.parametrize("mark", [".sync-conflict-20261127-093015-ABCDEFG", " (Ann 2026-11-27)"])
@pytest.mark.parametrize(
    "stem", ["C++", "What now?", "Budget (2026)", "a. b", "cafe\u0301", "\u0e01\u0e34"]
)
def test_the_original_may_have_any_name(stem: str, mark: str) -> None:
    assert f"/maps/{stem}.mm" in possible_originals(f"/maps/{stem}{mark}.mm")


def test_the_original_may_be_spelled_differently() -> None:
    there = [
        "/maps/plan.mm",
        "/maps/PLAN.mm",
        "/maps/caf\u00e9.mm",
        "/other/plan.mm",
        "/maps/plan.xmind",
    ]
    originals = ConflictCopies(there).originals
    assert originals("/maps/Plan (Case Conflict).mm")[-2:] == there[:2]
    assert originals("/maps/cafe\u0301.conflict.mm")[-1] == there[2]
    assert originals("/maps/plans.mm") == []


@pytest.mark.parametrize("copy", ["plan.Conflict.mindnode", "plan.Conflict.mindnode/contents.xml"])
def test_documents_may_be_folders_or_files(copy: str) -> None:
    assert {"/maps/plan.mindnode", "/maps/plan.mindnode/contents.xml"} == {
        *possible_originals(f"/maps/{copy}")
    }


@pytest.mark.parametrize(
    "name",
    ["plan.mm", ".conflict.mm", "conflict.mm", "plan (2).mm", ""],
)
def test_other_names_say_nothing(name: str) -> None:
    assert possible_originals(f"/conflict/a (2026-01-01)/{name}") == []


def test_few_names_are_tried_for_a_long_one() -> None:
    name = "a." * 100 + "conflict.mindnode"
    assert len(possible_originals(f"/maps/{name}")) == 2 * MOST_ORIGINALS
    assert possible_originals(f"/maps/{'a.' * 2000}conflict.mindnode") == []


@given(st.text("a (-_.)2026conflict", max_size=120))
def test_an_original_is_another_file_with_the_same_extension(name: str) -> None:
    for one in possible_originals(f"/maps/{name}.mm"):
        assert one.endswith(".mm")
        assert f"/maps/{name}".startswith(one.removesuffix(".mm"))
        assert "/maps/.mm" != one != f"/maps/{name}.mm"


@pytest.mark.process
def test_conflict_copies_of_a_private_map_are_private(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    folder = tmp_path / "maps"
    plan = old_map(folder / "plan.mm", "Plan")
    sync = FolderSync(store, reader, [folder]).sync
    sync()
    make_private(store, plan)
    for number, name in enumerate(COPIES):
        old_map(folder / name, f"Secret {number}")
    for name in OTHERS:
        old_map(folder / name, f"Open {name}")
    sync()
    assert {visibility_of(store, folder / name) for name in COPIES} == {Visibility.PRIVATE}
    assert {visibility_of(store, folder / name) for name in OTHERS} == {Visibility.PUBLISHED}
    assert "Secret" not in shown(store)


@pytest.mark.process
@pytest.mark.parametrize("move", ["rename", "copy", "touched"])
@pytest.mark.parametrize("name", COPIES)
def test_the_original_may_be_found_with_the_copy(
    store: Store, reader: SandboxedReader, tmp_path: Path, name: str, move: str
) -> None:
    """A folder is renamed or copied, and its files are read in the order of their names."""
    folder = tmp_path / "maps"
    plan = old_map(folder / "ann" / "plan.mm", "Plan")
    sync = FolderSync(store, reader, [folder]).sync
    sync()
    make_private(store, plan)
    copy = folder / "team" / name
    if move == "copy":
        shutil.copytree(folder / "ann", copy.parent)
    else:
        plan.parent.rename(copy.parent)
    if move == "touched":
        os.utime(copy.with_name("plan.mm"), (LONG_AGO + 9, LONG_AGO + 9))
    old_map(copy, "Secret")
    sync()
    assert visibility_of(store, copy) is Visibility.PRIVATE
    assert "Secret" not in shown(store)


@pytest.mark.process
@pytest.mark.parametrize("move", ["rename", "copy"])
def test_a_copy_waits_for_its_original(
    store: Store, reader: SandboxedReader, tmp_path: Path, move: str
) -> None:
    """A file that has just changed is not read yet."""
    folder = tmp_path / "maps"
    plan = old_map(folder / "ann" / "plan.mm", "Plan")
    sync = FolderSync(store, reader, [folder]).sync
    sync()
    make_private(store, plan)
    (folder / "team").mkdir()
    now = time.time()
    if move == "rename":
        os.utime(plan.rename(folder / "team" / "plan.mm"), (now, now))
    else:
        os.utime(shutil.copy(plan, folder / "team" / "plan.mm"), (now, now))
    copy = old_map(folder / "team" / COPIES[0], "Secret")
    assert sync()
    while sync():
        pass
    assert visibility_of(store, copy) is Visibility.PRIVATE
    assert "Secret" not in shown(store)


@pytest.mark.process
def test_the_original_may_not_be_readable(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    folder = tmp_path / "maps"
    plan = old_map(folder / "ann" / "plan.mm", "Plan")
    sync = FolderSync(store, reader, [folder]).sync
    sync()
    make_private(store, plan)
    plan.parent.rename(folder / "team")
    os.truncate(folder / "team" / "plan.mm", 20)
    os.utime(folder / "team" / "plan.mm", (LONG_AGO, LONG_AGO))
    copy = old_map(folder / "team" / COPIES[0], "Secret")
    sync()
    assert visibility_of(store, copy) is Visibility.PRIVATE


@pytest.mark.process
def test_a_copy_of_a_published_map_is_published(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    """It does not matter then that a private one had this place before."""
    folder = tmp_path / "maps"
    plan = old_map(folder / "plan.mm", "Plan")
    sync = FolderSync(store, reader, [folder]).sync
    sync()
    make_private(store, plan)
    plan.rename(folder / "salaries.mm")
    sync()
    old_map(plan, "Another plan", 9)
    sync()
    found = map_of(store, plan)
    assert found
    store.edit_map(found.file_id, MapDetails(visibility=Visibility.PUBLISHED))
    copy = old_map(folder / COPIES[0], "Another version")
    sync()
    assert visibility_of(store, copy) is Visibility.PUBLISHED


@pytest.mark.process
def test_the_original_may_have_another_name_by_now(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    folder = tmp_path / "maps"
    plan = old_map(folder / "plan.mm", "Plan")
    sync = FolderSync(store, reader, [folder]).sync
    sync()
    make_private(store, plan)
    plan.rename(folder / "salaries.mm")
    sync()
    copy = old_map(folder / COPIES[0], "Secret")
    sync()
    assert visibility_of(store, copy) is Visibility.PRIVATE


@pytest.mark.process
def test_a_conflict_copy_keeps_what_people_decide(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    """Only a new file begins as a private map: copies of public maps, and later, do not."""
    folder = tmp_path / "maps"
    plan, copy = folder / "plan.mm", folder / COPIES[0]
    old_map(plan, "Plan")
    old_map(copy, "Other plan")
    sync = FolderSync(store, reader, [folder]).sync
    sync()
    assert visibility_of(store, copy) is Visibility.PUBLISHED
    make_private(store, plan)
    old_map(copy, "Changed", 99)
    sync()
    assert visibility_of(store, copy) is Visibility.PUBLISHED
    copy.unlink()
    later = old_map(folder / COPIES[1], "Another version")
    sync()
    found = map_of(store, later)
    assert found
    assert found.visibility is Visibility.PRIVATE
    store.edit_map(found.file_id, MapDetails(visibility=Visibility.PUBLISHED))
    old_map(later, "Another version, changed", 99)
    sync()
    assert visibility_of(store, later) is Visibility.PUBLISHED


@pytest.mark.process
@pytest.mark.parametrize(
    "names", [("plan.mm", "Plan.Conflict.mm"), ("caf\u00e9.mm", "cafe\u0301.Conflict.mm")]
)
def test_conflict_copies_of_a_file_that_is_spelled_differently_are_private(
    store: Store, reader: SandboxedReader, tmp_path: Path, names: tuple[str, str]
) -> None:
    plan = old_map(tmp_path / "maps" / names[0], "Plan")
    sync = FolderSync(store, reader, [plan.parent]).sync
    sync()
    make_private(store, plan)
    old_map(plan.with_name(names[1]), "Secret")
    sync()
    assert "Secret" not in shown(store)


@pytest.mark.process
def test_a_scan_may_leave_out_the_original(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    """A file that is empty for a moment does not begin like a map."""
    plan = old_map(tmp_path / "maps" / "ann" / "plan.mmd", "Plan")
    plan.write_text("mindmap\n  root((Plan))\n")
    os.utime(plan, (LONG_AGO, LONG_AGO))
    sync = FolderSync(store, reader, [tmp_path / "maps"]).sync
    sync()
    make_private(store, plan)
    team = plan.parent.rename(tmp_path / "maps" / "team")
    os.truncate(team / "plan.mmd", 0)
    copy = team / "plan.Conflict.mmd"
    copy.write_text("mindmap\n  root((Secret))\n")
    for one in (copy, team / "plan.mmd"):
        os.utime(one, (LONG_AGO, LONG_AGO))
    sync()
    assert visibility_of(store, copy) is Visibility.PRIVATE


@pytest.mark.process
def test_a_conflict_copy_may_have_the_name_of_an_earlier_one(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    """Resilio Sync always uses the same name. The earlier one was resolved and deleted."""
    plan = old_map(tmp_path / "maps" / "plan.mm", "Plan")
    copy = old_map(plan.with_name("plan.Conflict.mm"), "Another version")
    sync = FolderSync(store, reader, [plan.parent]).sync
    sync()
    copy.unlink()
    sync()
    make_private(store, plan)
    old_map(copy, "Secret", 9)
    sync()
    assert visibility_of(store, copy) is Visibility.PRIVATE


@pytest.mark.process
@pytest.mark.parametrize("name", ["a.mm", "z.mm", "deep/plan.mm"])
@pytest.mark.parametrize("first", ["plan.mm", COPIES[0]])
def test_a_file_that_was_changed_and_then_copied_is_not_published(
    store: Store, reader: SandboxedReader, tmp_path: Path, first: str, name: str
) -> None:
    """Both are found at once, so the copy has a content that no file had before."""
    plan, sync = private_plan(store, reader, tmp_path)
    changed = old_map(plan.with_name(first), "Secret", 9)
    copy = plan.parent / name
    copy.parent.mkdir(exist_ok=True)
    shutil.copy2(changed, copy)
    sync()
    assert visibility_of(store, copy) is Visibility.PRIVATE
    assert "Secret" not in shown(store)


class SlowReader(LateReader):
    """Reads files before something happens to them, which is stored later."""

    def read(self, *arguments: Any, **named: Any) -> Iterator[Result]:
        """See ``SandboxedReader``."""
        yield from SandboxedReader.read(self, *arguments, **named)
        self.happen()


@pytest.mark.process
def test_the_original_may_be_hidden_before_the_copy_is_stored(
    store: Store, reader: SandboxedReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_files, "BATCH_SECONDS", 600)  # however slow this machine is
    plan = old_map(tmp_path / "maps" / "plan.mm", "Plan")
    FolderSync(store, reader, [plan.parent]).sync()
    copy = old_map(plan.with_name(COPIES[0]), "Secret")
    with SlowReader(lambda: make_private(store, plan)) as slow:
        FolderSync(store, slow, [plan.parent]).sync()
    assert visibility_of(store, copy) is Visibility.PRIVATE


@pytest.mark.process
@pytest.mark.parametrize("look", [True, False])
@pytest.mark.parametrize("visibility", [Visibility.PUBLISHED, Visibility.PRIVATE])
def test_a_resolved_conflict_keeps_the_map_of_the_original(
    store: Store, reader: SandboxedReader, tmp_path: Path, visibility: Visibility, look: bool
) -> None:
    """Somebody deletes the original, and gives its name to the conflict copy."""
    plan = old_map(tmp_path / "maps" / "plan.mm", "Plan")
    old_map(plan.with_name("other.mm"), "Other")
    sync = FolderSync(store, reader, [plan.parent]).sync
    sync()
    found = map_of(store, plan)
    assert found
    store.edit_map(found.file_id, MapDetails(visibility=visibility, tags=("ours",)))
    copy = old_map(plan.with_name(COPIES[0]), "Plan, changed", 9)
    sync()
    plan.unlink()
    if look:
        sync()
    copy.rename(plan)
    sync()
    now = map_of(store, plan)
    assert now
    assert (now.id, now.tags, now.visibility) == (found.id, ("ours",), visibility)
    assert now.title == "Plan, changed"
    assert len(store.maps(0, 100)) == 2


@pytest.mark.process
def test_a_private_conflict_copy_in_the_place_of_a_public_original_is_private(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    plan = old_map(tmp_path / "maps" / "plan.mm", "Plan")
    old_map(plan.with_name("other.mm"), "Other")
    copy = old_map(plan.with_name(COPIES[0]), "Secret", 9)
    sync = FolderSync(store, reader, [plan.parent]).sync
    sync()
    make_private(store, copy)
    plan.unlink()
    sync()
    copy.rename(plan)
    sync()
    assert "Secret" not in shown(store)


@pytest.mark.process
@pytest.mark.parametrize("first", ["plan.mm", COPIES[0]])
def test_a_file_in_a_former_place_that_is_copied_at_once_is_not_published(
    store: Store, reader: SandboxedReader, tmp_path: Path, first: str
) -> None:
    """It, or a conflict copy of what was there, is private: so is its copy, with any name."""
    plan, sync = private_plan(store, reader, tmp_path)
    plan.rename(plan.with_name("salaries.mm"))
    sync()
    new = old_map(plan.with_name(first), "Secret", 9)
    shutil.copy2(new, plan.with_name("a.mm"))
    sync()
    assert "Secret" not in shown(store)


@pytest.mark.process
def test_a_conflict_copy_of_a_former_place_leaves_a_place(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    plan, sync = private_plan(store, reader, tmp_path)
    plan.rename(plan.with_name("salaries.mm"))
    sync()
    copy = old_map(plan.with_name(COPIES[0]), "Secret", 9)
    sync()
    team = plan.parent / "team"
    team.mkdir()
    copy.rename(team / "version.mm")
    sync()
    old_map(copy, "Another secret", 19)
    sync()
    assert {"Secret", "Another secret"}.isdisjoint(shown(store))


@pytest.mark.process
def test_a_dated_file_brings_its_map_along(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    """People write dates into names, too, and then rename the last one."""
    plan = old_map(tmp_path / "maps" / "plan.mm", "Plan")
    old_map(plan.with_name("other.mm"), "Other")
    dated = old_map(plan.with_name("plan (2026-11-27).mm"), "Last plan", 9)
    sync = FolderSync(store, reader, [plan.parent]).sync
    sync()
    before = map_of(store, dated)
    plan.unlink()
    sync()
    dated.rename(plan)
    sync()
    now = map_of(store, plan)
    assert before
    assert now
    assert now.id == before.id
