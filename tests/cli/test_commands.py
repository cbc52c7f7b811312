"""Each command does what its help says, and ends with the right exit code."""

import json
import os
import plistlib
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from mapshelf.cli import import_command, main
from mapshelf.errors import MapshelfError, SnapshotUnavailable, StoreDamaged, StoreUnavailable
from mapshelf.formats.ndjson_records import LONGEST_LINE
from mapshelf.importer import records
from mapshelf.importer.map_files import import_maps
from mapshelf.model import Map, RefusalKind
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from tests.cli.process import CORPUS, Mapshelf
from tests.examples import some

pytestmark = pytest.mark.process

MAP = '<map version="1.0.1"><node TEXT="{title}"><node TEXT="{topic}"/></node></map>'


@pytest.fixture
def mapshelf(tmp_path: Path) -> Mapshelf:
    return Mapshelf(tmp_path / "data")


def write_map(path: Path, title: str, topic: str = "a topic") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MAP.format(title=title, topic=topic), encoding="utf-8")
    return path


# -- import -------------------------------------------------------------------------------------


def test_import_takes_title_description_software_size_date_owner_and_category(
    mapshelf: Mapshelf, tmp_path: Path
) -> None:
    path = write_map(tmp_path / "maps" / "science" / "soil.mm", "Soil", "Worms")

    done = mapshelf.run_apart("import", tmp_path / "maps")

    (record,) = mapshelf.exported()
    assert done.stdout == "added 1, changed 0, unchanged 0, refused 0\n"
    assert record["Title"] == "Soil"
    assert record["Description"] == "Worms"
    assert record["Software"] == "FreeMind"
    assert record["Size"] == f"{path.stat().st_size / 1024:.2f}"
    assert record["Owner"] == "system"
    assert (record["Category"], record["CategoryID"]) == ("Science", "21")


def test_import_owner_and_category_are_what_the_operator_says(
    mapshelf: Mapshelf, tmp_path: Path
) -> None:
    write_map(tmp_path / "Science" / "soil.mm", "Soil")

    mapshelf.run("import", tmp_path / "Science", "--owner", "Zoë", "--category", "Gardening")

    (record,) = mapshelf.exported()
    assert (record["Owner"], record["Category"], record["CategoryID"]) == ("Zoë", "Gardening", "26")


def test_import_gives_new_maps_the_visibility_that_the_operator_says(
    mapshelf: Mapshelf, tmp_path: Path
) -> None:
    folder = tmp_path / "stuff"
    write_map(folder / "known.mm", "Known")
    mapshelf.run("import", folder)
    write_map(folder / "new.mm", "New")
    write_map(folder / "known.mm", "Known and changed")

    mapshelf.run("import", folder, "--visibility", "private")
    # What is known stays as it is, even if its file changes or is renamed.
    write_map(folder / "new.mm", "New and changed")
    (folder / "known.mm").rename(folder / "renamed.mm")
    mapshelf.run("import", folder, "--visibility", "unlisted")

    shown = {one["Title"]: one.get("Visibility") for one in mapshelf.exported()}
    assert shown == {"Known and changed": None, "New and changed": "private"}


def test_import_in_a_folder_of_no_known_category_is_uncategorised(
    mapshelf: Mapshelf, tmp_path: Path
) -> None:
    write_map(tmp_path / "stuff" / "soil.mm", "Soil")

    mapshelf.run("import", tmp_path / "stuff")

    (record,) = mapshelf.exported()
    assert (record["Category"], record["CategoryID"]) == ("Uncategorised", "1")


def test_import_again_changes_nothing(mapshelf: Mapshelf, tmp_path: Path) -> None:
    write_map(tmp_path / "maps" / "soil.mm", "Soil")
    mapshelf.run("import", tmp_path / "maps")
    before = mapshelf.exported()

    done = mapshelf.run("import", tmp_path / "maps")

    assert done.stdout == "added 0, changed 0, unchanged 1, refused 0\n"
    assert mapshelf.exported() == before


def test_import_of_an_edited_file_changes_its_map_in_place(
    mapshelf: Mapshelf, tmp_path: Path
) -> None:
    path = write_map(tmp_path / "maps" / "soil.mm", "Soil")
    mapshelf.run("import", path)
    (before,) = mapshelf.exported()
    write_map(path, "Soil and water")

    done = mapshelf.run("import", path)

    (after,) = mapshelf.exported()
    assert done.stdout == "added 0, changed 1, unchanged 0, refused 0\n"
    assert after["Title"] == "Soil and water"
    assert (after["ID"], after["File_ID"]) == (before["ID"], before["File_ID"])


def test_import_of_a_renamed_file_keeps_its_map(mapshelf: Mapshelf, tmp_path: Path) -> None:
    path = write_map(tmp_path / "stuff" / "soil.mm", "Soil")
    mapshelf.run("import", tmp_path)
    (before,) = mapshelf.exported()
    (tmp_path / "Science").mkdir()
    path.rename(tmp_path / "Science" / "earth.mm")

    mapshelf.run("import", tmp_path)

    (after,) = mapshelf.exported()
    assert after["ID"] == before["ID"]
    assert after["Category"] == "Science"


def test_a_named_file_costs_no_query_for_each_other_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each folder that files are from costs a query for each new file."""
    inner = write_map(tmp_path / "maps" / "inner" / "a.mm", "A").parent
    files = [write_map(tmp_path / f"{n}.mm", f"Map {n}") for n in range(3)]
    archive = tmp_path / "maps.zip"
    with zipfile.ZipFile(archive, "w") as written:
        written.write(files[0], "in.mm")
    given: list[object] = []

    def note(*values: Any, folders: list[str], **others: Any) -> None:
        given.extend(folders)
        import_maps(*values, folders=folders, **others)

    monkeypatch.setattr(import_command, "import_maps", note)
    words = ["import", *files, inner, archive, inner.parent, "--data", tmp_path / "data"]
    assert main(list(map(str, words))) == 0
    assert given == [str(inner.parent), str(archive)]


def test_import_refuses_files_that_are_no_maps_and_goes_on(
    mapshelf: Mapshelf, tmp_path: Path
) -> None:
    folder = tmp_path / "maps"
    write_map(folder / "z.mm", "Last")
    (folder / "a.mm").write_text("#import <Cocoa/Cocoa.h>\n@interface A : NSObject\n@end\n")
    (folder / "b.mm").write_text("<map version='1.0.1'><node TEXT='cut")
    (folder / "c.mm").symlink_to("/etc/passwd")

    done = mapshelf.run_apart("import", folder, expect=1)

    assert done.stdout == "added 1, changed 0, unchanged 0, refused 3\n"
    assert f"refused {folder}/a.mm: not a mind map" in done.stderr
    assert f"refused {folder}/b.mm: " in done.stderr
    assert f"refused {folder}/c.mm: it is a symbolic link" in done.stderr
    assert "Traceback" not in done.stderr
    assert [record["Title"] for record in mapshelf.exported()] == ["Last"]


def test_import_writes_a_report_of_what_it_did_not_take(mapshelf: Mapshelf, tmp_path: Path) -> None:
    folder, report = tmp_path / "maps", tmp_path / "report.tsv"
    write_map(folder / "soil.mm", "Soil")
    (folder / "a.mm").write_text("nothing")
    (folder / "Readme.md").write_text("Only prose.")

    mapshelf.run("import", folder, "--report", report, expect=1)

    rows = [line.split("\t") for line in report.read_text("utf-8").splitlines()]
    assert [row[:2] for row in rows] == [
        ["refused", f"{folder}/a.mm"],
        ["skipped", f"{folder}/Readme.md"],
    ]
    assert rows[0][2].startswith("not a mind map")
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    with closing(mapshelf.store()) as store:
        assert store.count_open_refusals() == {RefusalKind.REFUSED: 1, RefusalKind.SKIPPED: 1}
    write_map(folder / "a.mm", "Air")
    (folder / "Readme.md").unlink()
    mapshelf.run("import", folder, "--report", report)
    assert report.read_text("utf-8") == ""
    with closing(mapshelf.store()) as store:
        assert set(store.count_open_refusals().values()) == {0}


def test_import_with_a_report_that_cannot_be_written_imports_nothing(
    mapshelf: Mapshelf, tmp_path: Path
) -> None:
    write_map(tmp_path / "soil.mm", "Soil")

    done = mapshelf.run("import", tmp_path, "--report", tmp_path / "no" / "where", expect=1)

    assert done.stderr == f"mapshelf: {tmp_path}/no/where: No such file or directory\n"
    assert not mapshelf.data.exists()


def test_import_of_a_missing_path(mapshelf: Mapshelf, tmp_path: Path) -> None:
    done = mapshelf.run("import", tmp_path / "nowhere", expect=1)

    assert done.stderr == f"mapshelf: {tmp_path}/nowhere does not exist\n"


def test_import_gives_new_records_the_visibility_that_the_operator_says(
    mapshelf: Mapshelf, tmp_path: Path
) -> None:
    records = tmp_path / "maps.ndjson"
    records.write_text('{"Title": "one"}\n{"Title": "two", "Visibility": "unlisted"}\n')
    mapshelf.run("import", records, "--visibility", "private")
    shown = {one["Title"]: one.get("Visibility") for one in mapshelf.exported()}
    assert shown == {"one": "private", "two": "unlisted"}


def test_import_of_records_reports_bad_lines_by_number(mapshelf: Mapshelf, tmp_path: Path) -> None:
    path = tmp_path / "maps.ndjson"
    good = json.dumps({"Title": "One", "Views": "7", "Mood": "happy"})
    path.write_text(f'\ufeff{good}\n\n{{"Title": "Two", "Views": "many"}}\n[]\n{{"Views": "1"}}\n')

    done = mapshelf.run("import", path, expect=1)

    assert done.stdout == "added 1, changed 0, unchanged 0, refused 3\n"
    assert f"{path}, line 3: Views must be a whole number" in done.stderr
    assert f"{path}, line 4: not a JSON object" in done.stderr
    assert f"{path}, line 5: a new map needs a Title" in done.stderr
    assert "ignored the unknown key 'Mood' of 1 record" in done.stderr


def test_import_of_a_record_with_a_known_id_updates_it(mapshelf: Mapshelf, tmp_path: Path) -> None:
    path = tmp_path / "maps.ndjson"
    path.write_text('{"ID": "abc", "Title": "One", "Views": "7"}\n')
    mapshelf.run("import", path)
    path.write_text('{"ID": "abc", "Views": "8"}\n')

    done = mapshelf.run("import", path)

    (record,) = mapshelf.exported()
    assert done.stdout == "added 0, changed 1, unchanged 0, refused 0\n"
    assert (record["Title"], record["Views"]) == ("One", "8")


def test_maps_made_private_by_records_stay_private_when_their_files_change(
    mapshelf: Mapshelf, tmp_path: Path
) -> None:
    """An equal older file is not their original: nobody has copied anything."""
    folder, records = tmp_path / "maps", tmp_path / "records.ndjson"
    for name in ("a", "b", "c"):
        write_map(folder / f"{name}.mm", "Salaries")
    mapshelf.run("import", folder)
    lines = [{"ID": one["ID"], "Visibility": "private"} for one in mapshelf.exported()]
    records.write_text("".join(json.dumps(one) + "\n" for one in lines))
    mapshelf.run("import", records)
    write_map(folder / "b.mm", "Salaries of next year")
    shutil.copy2(folder / "a.mm", folder / "copy.mm")
    mapshelf.run("import", folder)
    write_map(folder / "copy.mm", "Another map")

    mapshelf.run("import", folder)

    titles = {one["Title"]: one.get("Visibility") for one in mapshelf.exported()}
    assert titles == {
        "Salaries": "private",
        "Salaries of next year": "private",
        "Another map": "private",
    }


def test_a_record_with_a_value_too_long_is_refused_alone(
    mapshelf: Mapshelf, tmp_path: Path
) -> None:
    path = tmp_path / "maps.ndjson"
    path.write_text(json.dumps({"Title": "x" * 3_000_000}) + '\n{"Title": "One"}\n')

    done = mapshelf.run("import", path, expect=1)

    assert done.stdout == "added 1, changed 0, unchanged 0, refused 1\n"
    assert "line 1: Title is longer than" in done.stderr


def test_an_overlong_line_is_refused_alone(mapshelf: Mapshelf, tmp_path: Path) -> None:
    """The rest of the line is not a record. The last line needs no line break."""
    path = tmp_path / "maps.ndjson"
    overlong = b'{"Title": "' + b"x" * 2 * LONGEST_LINE + b'"}'
    path.write_bytes(b"\n".join([b'{"Title": "One"}', overlong, b'{"Title": "Last"}']))

    done = mapshelf.run("import", path, expect=1)

    assert done.stdout == "added 2, changed 0, unchanged 0, refused 1\n"
    assert done.stderr.count("line ") == 1
    assert "line 2: " in done.stderr
    assert {record["Title"] for record in mapshelf.exported()} == {"One", "Last"}


def zip_of(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def test_import_of_a_zip_works_like_a_folder(mapshelf: Mapshelf, tmp_path: Path) -> None:
    soil = MAP.format(title="Soil", topic="Worms").encode()
    members = {"Science/soil.mm": soil, "notes.txt": b"-", ".hidden/a.mm": soil, "b.mm": b"no map"}
    path = zip_of(tmp_path / "maps.zip", **members)

    first = mapshelf.run("import", path, expect=1)
    again = mapshelf.run("import", path, expect=1)

    (record,) = mapshelf.exported()
    assert (record["Title"], record["Category"]) == ("Soil", "Science")
    assert first.stdout == "added 1, changed 0, unchanged 0, refused 1\n"
    assert again.stdout == "added 0, changed 0, unchanged 1, refused 1\n"
    assert f"refused {path}/b.mm: not a mind map" in first.stderr


def test_import_of_a_document_that_is_a_folder_in_a_zip(mapshelf: Mapshelf, tmp_path: Path) -> None:
    trip = plistlib.dumps({"mindMap": {"mainNodes": [{"title": "Rome"}]}})
    inside = {"contents.xml": trip, "resources/other.mm": b"no map of its own"}
    members = {f"Education/Trip.mindnode/{name}": data for name, data in inside.items()}

    done = mapshelf.run("import", zip_of(tmp_path / "maps.zip", **members))

    (record,) = mapshelf.exported()
    assert (record["Title"], record["Category"]) == ("Rome", "Education")
    assert done.stdout == "added 1, changed 0, unchanged 0, refused 0\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04 cut short", "the archive is damaged or cut short"),
        (b"", "the archive is damaged or cut short"),
    ],
)
def test_import_of_a_broken_zip(
    mapshelf: Mapshelf, tmp_path: Path, data: bytes, reason: str
) -> None:
    path = tmp_path / "maps.zip"
    path.write_bytes(data)

    done = mapshelf.run("import", path, expect=1)

    assert f"refused {path}: {reason}" in done.stderr


def test_import_of_a_zip_whose_names_lead_out_of_it(mapshelf: Mapshelf, tmp_path: Path) -> None:
    outside = write_map(tmp_path / "secret.mm", "Secret")
    path = zip_of(tmp_path / "maps.zip", **{"../secret.mm": outside.read_bytes()})

    done = mapshelf.run("import", path, expect=1)

    assert "leads out of it" in done.stderr
    assert not mapshelf.exported()


def test_import_of_a_zip_bomb(mapshelf: Mapshelf, tmp_path: Path) -> None:
    soil = MAP.format(title="Soil", topic="Worms").encode()
    path = zip_of(tmp_path / "maps.zip", **{"a.mm": b" " * 40_000_000, "b.mm": soil})

    done = mapshelf.run("import", path, expect=1)

    assert f"refused {path}/a.mm: it unpacks to more than" in done.stderr
    assert [record["Title"] for record in mapshelf.exported()] == ["Soil"]


def test_import_that_fails_half_way_tells_what_went_in(mapshelf: Mapshelf, tmp_path: Path) -> None:
    mapshelf.run("user", "add", "alice")
    database = apsw.Connection(str(mapshelf.data / "catalogue.db"))
    database.execute(
        "CREATE TRIGGER full BEFORE INSERT ON maps WHEN new.title = 'boom'"
        " BEGIN SELECT RAISE(ABORT, 'no room'); END"
    )
    database.close()
    path = tmp_path / "maps.ndjson"
    titles = [*("fine" for _ in range(1200)), "boom"]
    path.write_text("".join(json.dumps({"Title": title}) + "\n" for title in titles))

    done = mapshelf.run("import", path, expect=1)

    assert done.stdout == "added 1000, changed 0, unchanged 0, refused 0\n"
    assert done.stderr == "mapshelf: the SQLite database refused: no room\n"
    assert len(mapshelf.exported()) == 1000


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that reads as EIO")
def test_import_of_records_that_cannot_be_read(mapshelf: Mapshelf, tmp_path: Path) -> None:
    path = tmp_path / "maps.ndjson"
    path.symlink_to("/proc/self/mem")

    done = mapshelf.run("import", path, expect=1)

    assert done.stderr == f"mapshelf: {path} cannot be read: Input/output error\n"


def test_import_without_a_terminal_prints_nothing_but_its_report(
    mapshelf: Mapshelf, tmp_path: Path
) -> None:
    done = mapshelf.run("import", write_map(tmp_path / "soil.mm", "Soil"))

    assert done.stderr == ""


def test_the_progress_bar_is_loaded_only_on_a_terminal(mapshelf: Mapshelf, tmp_path: Path) -> None:
    words = mapshelf.command("import", write_map(tmp_path / "soil.mm", "Soil"))
    listing = [words[0], "-X", "importtime", *words[1:]]
    done = subprocess.run(listing, capture_output=True, text=True, timeout=60, check=True)

    assert "mapshelf.importer.progress_bar" in done.stderr
    assert "rich" not in {line.split("|")[-1].strip() for line in done.stderr.splitlines()}


def test_import_shows_its_progress_on_a_terminal(mapshelf: Mapshelf, tmp_path: Path) -> None:
    words = mapshelf.command("import", write_map(tmp_path / "soil.mm", "Soil"))
    screen, terminal = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=terminal, env=environment
    ) as process:
        os.close(terminal)
        # Read while it runs, because a terminal buffers only a few lines.
        shown = read_screen(screen)
        assert process.stdout is not None
        said = process.stdout.read()
    os.close(screen)

    assert process.returncode == 0
    assert said == b"added 1, changed 0, unchanged 0, refused 0\n"
    assert "Reading maps" in shown
    assert "1/1" in shown


def read_screen(screen: int) -> str:
    """Return everything that is written to a terminal until it is closed."""
    written = b""
    with suppress(OSError):  # raised by Linux at the end
        while piece := os.read(screen, 1 << 16):
            written += piece
    return written.decode()


def test_import_through_a_link_is_the_same_folder(mapshelf: Mapshelf, tmp_path: Path) -> None:
    write_map(tmp_path / "maps" / "soil.mm", "Soil")
    (tmp_path / "link").symlink_to("maps")
    mapshelf.run("import", tmp_path / "maps")

    done = mapshelf.run("import", tmp_path / "link", os.path.relpath(tmp_path / "maps"))

    assert done.stdout == "added 0, changed 0, unchanged 1, refused 0\n"


# -- export -------------------------------------------------------------------------------------


def test_export_into_an_empty_catalogue_gives_the_same_export(
    samples: Mapshelf, tmp_path: Path
) -> None:
    samples.run("export", tmp_path / "all.ndjson")
    other = Mapshelf(tmp_path / "other")

    other.run("import", tmp_path / "all.ndjson")

    assert other.run_apart("export").stdout == (tmp_path / "all.ndjson").read_text("utf-8")
    assert not (tmp_path / "all.ndjson.unfinished").exists()


def test_export_to_a_place_that_cannot_be_written(mapshelf: Mapshelf, tmp_path: Path) -> None:
    mapshelf.run("user", "add", "alice")

    done = mapshelf.run("export", tmp_path / "nowhere" / "all.ndjson", expect=1)

    assert "cannot be written" in done.stderr


def test_a_failed_export_leaves_the_previous_file_and_no_other(
    samples: Mapshelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, maps = tmp_path / "all.ndjson", SQLiteStore.maps
    file.write_text("before")

    def failing(self: SQLiteStore, after: int, limit: int) -> list[Map]:
        if after:
            raise StoreUnavailable("the database is away")
        return maps(self, after, limit)

    monkeypatch.setattr(records, "PAGE_SIZE", 1)
    monkeypatch.setattr(SQLiteStore, "maps", failing)
    done = samples.run("export", file, expect=1)

    assert done.stderr == "mapshelf: the database is away\n"
    assert file.read_text() == "before"
    assert [*tmp_path.iterdir()] == [file]


def test_an_export_can_be_read_by_its_owner_only(mapshelf: Mapshelf, tmp_path: Path) -> None:
    mapshelf.run("user", "add", "alice")
    file = tmp_path / "all.ndjson"
    file.write_text("before")
    file.chmod(0o644)

    mapshelf.run("export", file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_export_to_a_pipe_or_a_link_does_not_replace_it(
    samples: Mapshelf, tmp_path: Path
) -> None:
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    link.symlink_to(target)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        samples.run("export", pipe)
        samples.run("export", link)
        expected = samples.run("export").stdout
        assert os.read(reading, len(expected.encode()) + 1).decode() == expected
    finally:
        os.close(reading)

    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink()
    assert target.read_text("utf-8") == expected
    assert sorted(tmp_path.iterdir()) == sorted([pipe, link, target])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make devices")
def test_an_export_does_not_replace_a_device(mapshelf: Mapshelf, tmp_path: Path) -> None:
    mapshelf.run("user", "add", "alice")
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:  # in some containers
        pytest.skip("devices cannot be made here")

    mapshelf.run("export", device)

    assert stat.S_ISCHR(device.stat().st_mode)


def test_an_export_does_not_follow_a_link_that_somebody_put_beside_it(
    samples: Mapshelf, tmp_path: Path
) -> None:
    file, precious = tmp_path / "all.ndjson", tmp_path / "precious"
    precious.write_text("precious")
    tmp_path.joinpath("all.ndjson.unfinished").symlink_to(precious)

    done = samples.run("export", file, expect=1)

    assert "cannot be written" in done.stderr
    assert precious.read_text() == "precious"
    assert not file.exists()


@pytest.mark.parametrize("name", ["/", ""])
def test_an_export_to_a_folder_is_refused_in_a_line(mapshelf: Mapshelf, name: str) -> None:
    mapshelf.run("user", "add", "alice")

    (line,) = mapshelf.run("export", name, expect=1).stderr.splitlines()

    assert "Is a directory" in line


# -- check --------------------------------------------------------------------------------------


@pytest.fixture
def faulty(mapshelf: Mapshelf, monkeypatch: pytest.MonkeyPatch) -> Mapshelf:
    """A catalogue whose database has a fault."""
    mapshelf.run("user", "add", "alice")
    monkeypatch.setattr(SQLiteStore, "check", lambda _: ["a row is lost"])
    return mapshelf


@pytest.mark.parametrize(
    ("where", "name", "error"),
    [
        (SnapshotDirectory, "current", SnapshotUnavailable("the snapshot cannot be read")),
        (SQLiteStore, "revision", StoreDamaged("the database is damaged")),
    ],
)
def test_check_reports_store_faults_even_if_later_checks_fail(
    faulty: Mapshelf,
    monkeypatch: pytest.MonkeyPatch,
    where: type,
    name: str,
    error: MapshelfError,
) -> None:
    def failing(_: object) -> str:
        raise error

    monkeypatch.setattr(where, name, failing)
    done = faulty.run("check", expect=1)

    assert done.stderr.splitlines() == ["mapshelf: a row is lost", f"mapshelf: {error}"]


# -- usage --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["bogus"],
        ["user", "add", " alice"],
        ["user", "role", "alice", "king"],
        ["user", "link", "alice", "--base-url", "ftp://x"],
        ["token", "create", "alice", "--scope", "read"],
        ["token", "create", "alice", "--expires", "0"],
        ["token", "create", "alice", "--expires", "soon"],
        ["token", "revoke", "msh_secret"],
        ["import"],
        ["import", ".", "--owner", "two\nlines"],
        ["serve", "--port", "0"],
        ["serve", "--workers", "none"],
        ["serve", "--base-url", "maps.example.org"],
        ["serve", "/etc/passwd"],
        ["serve", "--host", "nowhere.invalid"],
        ["serve", "--host", ""],
        ["serve", "--host", "a" * 70],
        ["serve", "--base-url", "http://[::1"],
        ["serve", "--base-url", "http://[::g]"],
        ["serve", "--base-url", "https://x/?"],
        ["serve", "--base-url", "https://x#"],
        ["serve", "--base-url", "http://x:99999"],
        ["serve", "--base-url", "http://x:0"],
        ["serve", "--base-url", "http://x:abc"],
        ["serve", "--base-url", "http://:80"],
        ["serve", "--base-url", "http://x/%zz"],
        ["serve", "--base-url", "http://x/\n"],
        ["serve", "--owner", "ann"],
        ["serve", "--visibility", "private"],
        ["import", ".", "--visibility", "removed"],
        ["serve", "--base-url", "http://me:secret@x"],
        ["token", "create", "alice", "--label", "x\ty\nz"],
        ["check", "--database", "mysql://localhost/maps"],
        ["check", "--database", "sqlite://[x"],
        ["check", "--database", "sqlite:///x%00"],
        ["check", "--database", "sqlite:///%ff"],
        ["check", "--database", ""],
        ["serve", ""],
        ["serve", "--config", ""],
        ["serve", "--config="],
        ["migrate", "--from", "host=h password=x", "--to", "x"],
        ["serve", "--backup-dir", ""],
        ["import", ""],
    ],
    ids=lambda words: ascii(" ".join(words)),
)
def test_wrong_usage_ends_with_2_and_says_why(mapshelf: Mapshelf, arguments: list[str]) -> None:
    done = mapshelf.run(*arguments, expect=2)

    assert done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("folder", ["", "\udcff", "~nobody-is-called-so/maps"], ids=ascii)
def test_an_unusable_data_folder_is_refused(tmp_path: Path, folder: str) -> None:
    command = [sys.executable, "-m", "mapshelf", "user", "add", "alice", "--data", folder]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["export"],
        ["user", "list"],
        ["user", "disable", "alice"],
        ["user", "enable", "alice"],
        ["user", "link", "alice"],
        ["user", "role", "alice", "member"],
        ["token", "list", "system"],
        ["token", "create", "system"],
        ["token", "revoke", "1"],
    ],
    ids=" ".join,
)
def test_no_catalogue_is_created_by_accident(mapshelf: Mapshelf, arguments: list[str]) -> None:
    done = mapshelf.run(*arguments, expect=1)

    assert done.stderr == f"mapshelf: there is no catalogue in {mapshelf.data}/catalogue.db\n"
    assert done.stdout == ""
    assert not mapshelf.data.exists()


def test_data_folder_may_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mapshelf.cli import main  # noqa: PLC0415 - not as a process, to set its environment

    monkeypatch.setenv("MAPSHELF_DATA", str(tmp_path / "elsewhere"))

    assert main(["user", "add", "alice"]) == 0
    assert main(["user", "list"]) == 0
    assert "alice" in capsys.readouterr().out
    assert (tmp_path / "elsewhere" / "catalogue.db").exists()


def test_an_empty_variable_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mapshelf.cli import main  # noqa: PLC0415 - not as a process, to set its environment

    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MAPSHELF_DATA", "")
    monkeypatch.setenv("MAPSHELF_DATABASE", "")

    assert main(["user", "add", "alice"]) == 0
    assert not list((tmp_path / "here").iterdir())


def test_options_override_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mapshelf.cli import main  # noqa: PLC0415 - not as a process, to set its environment

    files = {name: tmp_path / name for name in ("environment", "explicit")}
    monkeypatch.setenv("MAPSHELF_DATA", str(tmp_path / "unused"))
    monkeypatch.setenv("MAPSHELF_DATABASE", f"sqlite://{files['environment']}")

    assert main(["user", "add", "alice", "--data", str(tmp_path / "data")]) == 0
    assert [found.name for found in tmp_path.iterdir()] == ["data"]
    assert main(["user", "add", "alice"]) == 0
    assert files["environment"].exists()
    database = ["--database", f"sqlite://{files['explicit']}"]
    assert main(["user", "add", "alice", "--data", str(tmp_path / "unused"), *database]) == 0
    assert files["explicit"].exists()
    assert not (tmp_path / "unused").exists()


# -- check --------------------------------------------------------------------------------------


def test_check_of_a_sound_catalogue(mapshelf: Mapshelf) -> None:
    mapshelf.run("user", "add", "alice")

    done = mapshelf.run_apart("check")

    assert "snapshot: none yet" in done.stdout


def test_check_of_a_damaged_store(mapshelf: Mapshelf) -> None:
    mapshelf.run("user", "add", "alice")
    (mapshelf.data / "catalogue.db").write_bytes(b"This is no database. " * 500)

    done = mapshelf.run_apart("check", expect=1)

    assert "damaged" in done.stderr
    assert "Traceback" not in done.stderr


# -- real files ---------------------------------------------------------------------------------


@pytest.mark.skipif(not CORPUS.exists(), reason=f"no corpus of real maps at {CORPUS}")
def test_import_of_the_corpus_takes_every_true_map_and_refuses_every_impostor(
    mapshelf: Mapshelf,
) -> None:
    """A part of the corpus is enough: ``tests/readers/test_corpus.py`` reads all files."""
    names = ("freemind", "freeplane", "xmind-old", "xmind-zen")
    true = sorted(path for name in names for path in (CORPUS / "dev" / name).iterdir())
    impostors = set((CORPUS / "dev" / "not-mm").iterdir())
    conflicts = {path for path in true if b"<<<<<<< " in path.read_bytes()}
    files = {*some(true, 200), *impostors, *conflicts}

    first = mapshelf.run("import", *files, expect=1)
    again = mapshelf.run("import", *files, expect=1)

    refused = re.findall(r"^mapshelf: refused (.*?): (.*)$", first.stderr, re.MULTILINE)
    reasons = {Path(name): reason for name, reason in refused}
    assert set(reasons) == impostors | conflicts
    assert all(reasons[path].startswith("not a mind map") for path in impostors)
    assert all("git merge conflict" in reasons[path] for path in conflicts)
    taken, left = len(files) - len(refused), len(refused)
    assert first.stdout == f"added {taken}, changed 0, unchanged 0, refused {left}\n"
    assert again.stdout == f"added 0, changed 0, unchanged {taken}, refused {left}\n"


def test_output_that_cannot_be_written_is_reported_in_a_line(samples: Mapshelf) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no device that is always full")
    with full.open("wb") as output:
        done = subprocess.run(
            samples.command("export"), stdout=output, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert done.stderr == b"mapshelf: No space left on device\n"
