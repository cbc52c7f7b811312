"""Pictures that a map links to: which files are read, and which must not be."""

import os
import zipfile
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from mapshelf.formats.outline_codec import decode_outline
from mapshelf.importer.attribution import Attribution
from mapshelf.importer.lost_files import LostFiles, SeenFolders
from mapshelf.importer.map_files import import_maps
from mapshelf.importer.report import ImportReport
from mapshelf.importer.scan import scan
from mapshelf.model import Image
from mapshelf.readers import Limits
from mapshelf.readers.linked_images import linked_files
from mapshelf.readers.sandboxed_reader import ReadFile, SandboxedReader, read_file
from mapshelf.settings import sqlite_url
from mapshelf.store import open_store
from tests.readers.illustrated import illustrated, illustrated_readers, picture, within

RED = picture("red")
LIMITS = Limits()


@pytest.fixture
def maps(tmp_path: Path) -> Path:
    """An imported folder with a folder of maps in it; the files next to it are secret."""
    place = tmp_path / "Maps" / "plans"
    place.mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(RED)
    (tmp_path / "Maps secret.png").write_bytes(RED)
    return tmp_path / "Maps"


def found(maps: Path, path: str, limits: Limits = LIMITS) -> bytes | None:
    """Return the file that a map in ``plans`` gets for ``path``."""
    with linked_files(str(maps / "plans" / "a.mm"), str(maps), limits) as beside:
        assert beside is not None
        return beside(path)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("plans/a.png", "a.png"),
        ("plans/a.png", "./a.png"),
        ("plans/a.png", "none/../a.png"),
        ("plans/a.png", "../plans/a.png"),
        ("plans/deep/er/a.png", "deep/er//a.png"),
        ("plans/deep/a.png", r"deep\a.png"),
        ("top.png", "../top.png"),
        ("other/a.png", "../other/a.png"),
        ("plans/a b ü.png", "a%20b%20%C3%BC.png"),
        ("plans/a b ü.png", "a b ü.png"),
        ("plans/100%25.png", "100%25.png"),
        ("plans/a%20b.png", "a%20b.png"),
        ("plans/a.png", "file:a.png"),
        ("plans/a.png", "FILE:./a.png"),
    ],
)
def test_files_in_the_imported_folder_are_found(maps: Path, name: str, path: str) -> None:
    (maps / name).parent.mkdir(parents=True, exist_ok=True)
    (maps / name).write_bytes(RED)
    assert found(maps, path) == RED


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "file://localhost{}"])
def test_absolute_paths_into_the_imported_folder_are_found(maps: Path, form: str) -> None:
    (maps / "plans" / "a.png").write_bytes(RED)
    assert found(maps, form.format(maps / "plans" / "a.png")) == RED
    assert found(maps, form.format(maps.parent / "secret.png")) is None
    assert found(maps, form.format(maps / ".." / "secret.png")) is None


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "/",
        "none.png",
        "../../secret.png",
        "../../Maps secret.png",
        "..%2F..%2Fsecret.png",
        r"..\..\secret.png",
        "%2e%2e/%2e%2e/secret.png",
        "x/../../../secret.png",
        "~/secret.png",
        ".hidden.png",
        ".hidden/a.png",
        "../.git/a.png",
        "a.png\0",
        "%00",
        "a.png/",
        "a.png/../..",
        "a.png/b",
        "C:/a.png",
        r"C:\a.png",
        "http://127.0.0.1:9/a.png",
        "https:a.png",
        "data:image/png;base64,AAAA",
        "//server/share/a.png",
        "file://server/a.png",
        "a" * 5000,
        "\ud800.png",
        "link.png",
        "linked/b.png",
        "../linked-outside/secret.png",
        "plans",
        "deep",
        "pipe.png",
    ],
)
def test_nothing_else_is_found(maps: Path, path: str) -> None:
    place = maps / "plans"
    for folder in (place / ".hidden", maps / ".git", place / "deep"):
        folder.mkdir()
        (folder / "a.png").write_bytes(RED)
    (place / ".hidden.png").write_bytes(RED)
    (place / "b.png").write_bytes(RED)
    (place / "link.png").symlink_to(place / "b.png")
    (place / "linked").symlink_to(place)
    (maps / "linked-outside").symlink_to(maps.parent)
    os.mkfifo(place / "pipe.png")
    assert found(maps, path) is None


def test_the_imported_folder_may_be_the_file_system_root(maps: Path) -> None:
    (maps / "plans" / "a.png").write_bytes(RED)
    with linked_files(str(maps / "plans" / "a.mm"), "/", LIMITS) as beside:
        assert beside is not None
        assert beside("a.png") == RED


@pytest.mark.parametrize("folder", ["", "/elsewhere"])
def test_a_map_outside_the_imported_folder_has_no_linked_files(maps: Path, folder: str) -> None:
    with linked_files(str(maps / "plans" / "a.mm"), folder, LIMITS) as beside:
        assert beside is None


def test_a_large_file_is_not_read(maps: Path) -> None:
    with (maps / "plans" / "large.png").open("wb") as file:
        file.truncate(LIMITS.picture + 1)
    assert found(maps, "large.png") is None


def test_linked_files_share_the_size_limit_of_pictures(maps: Path) -> None:
    for number in range(4):
        (maps / "plans" / f"{number}.png").write_bytes(b"x" * 100)
    limits = Limits(pictures=250)
    with linked_files(str(maps / "plans" / "a.mm"), str(maps), limits) as beside:
        assert beside is not None
        read = [beside(f"{number % 4}.png") for number in range(8)]
    assert read == [b"x" * 100, b"x" * 100, None, None] * 2


def test_each_linked_file_is_read_once_and_attempts_are_limited(
    maps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (maps / "plans" / "a.png").write_bytes(RED)
    limits = Limits(most_pictures=10)
    opened = []
    real = os.open

    def counting(path: str, *rest: int, **more: int) -> int:
        opened.append(path)
        return real(path, *rest, **more)

    with linked_files(str(maps / "plans" / "a.mm"), str(maps), limits) as beside:
        assert beside is not None
        monkeypatch.setattr(os, "open", counting)
        read = [beside("a.png") for _ in range(1000)]
        assert all(data is read[0] for data in read)
        assert len(opened) == 3, "expected the imported folder, the folder of the map, the file"
        for number in range(1000):
            assert beside(f"{number}.png") is None
        assert opened.count("plans") == 40


# -- in a zip archive -------------------------------------------------------------------------


def zipped(folder: Path, **members: bytes) -> str:
    path = folder / "maps.zip"
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return str(path)


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("a.png", True),
        ("../other/b.png", True),
        ("../../secret.png", False),
        ("../.hidden.png", False),
        ("large.png", False),
        ("none.png", False),
    ],
)
def test_a_map_in_an_archive_finds_files_of_the_archive(
    maps: Path, path: str, *, there: bool
) -> None:
    archive = zipped(
        maps.parent,
        plans__a_dot_mm=b"",
        plans__a_dot_png=RED,
        plans__large_dot_png=bytes(LIMITS.picture + 1),
        other__b_dot_png=RED,
        _dot_hidden_dot_png=RED,
    )
    with linked_files(f"{archive}/plans/a.mm", archive, LIMITS) as beside:
        assert beside is not None
        assert beside(path) == (RED if there else None)


def test_a_damaged_archive_has_no_linked_files(maps: Path) -> None:
    archive = zipped(maps, a_dot_mm=b"", a_dot_png=RED)
    whole = Path(archive).read_bytes()
    Path(archive).write_bytes(whole.replace(RED[:20], b"x" * 20))
    with linked_files(f"{archive}/a.mm", archive, LIMITS) as beside:
        assert beside is not None
        assert beside("a.png") is None
    Path(archive).write_bytes(whole[:100])
    with linked_files(f"{archive}/a.mm", archive, LIMITS) as beside:
        assert beside is not None
        assert beside("a.png") is None


# -- from the file to the store ---------------------------------------------------------------


def images_of(result: object) -> list[Image]:
    assert isinstance(result, ReadFile)
    outline = decode_outline(result.outline)
    return [image for _, topic in outline.topics() for image in topic.images]


def test_a_file_is_read_with_its_pictures(maps: Path) -> None:
    blue = picture("blue", (2, 9))
    (maps / "plans" / "a.png").write_bytes(RED)
    (maps / "plans" / "notes.png").write_bytes(b"no picture at all")
    path = maps / "plans" / "a.mm"
    lines = ("beside a.png", within(blue), "beside notes.png", "beside none.png", "beside a.png")
    path.write_bytes(illustrated(*lines))
    result = read_file(str(path), LIMITS, illustrated_readers(), str(maps))
    first = Image(sha256(RED).hexdigest(), 4, 3, "a.png")
    assert images_of(result) == [
        first,
        Image(sha256(blue).hexdigest(), 2, 9),
        Image("", alt="notes.png"),
        Image("", alt="none.png"),
        first,
    ]
    assert isinstance(result, ReadFile)
    assert result.images == {sha256(data).hexdigest(): data for data in (RED, blue)}


def test_the_number_of_pictures_is_limited(maps: Path) -> None:
    path = maps / "a.mm"
    many = [within(picture(size=(n, 1))) for n in range(1, 4)]
    path.write_bytes(illustrated(*many))
    limits = Limits(most_pictures=2)
    result = read_file(str(path), limits, illustrated_readers(), "")
    assert [bool(image.digest) for image in images_of(result)] == [True, True, False]
    assert isinstance(result, ReadFile)
    assert len(result.images) == 2


@pytest.fixture
def reader() -> Iterator[SandboxedReader]:
    with SandboxedReader(workers=1, readers=illustrated_readers) as reader:
        yield reader


@pytest.mark.process
def test_linked_files_depend_on_the_imported_path(maps: Path, reader: SandboxedReader) -> None:
    (maps / "plans" / "a.png").write_bytes(RED)
    path = maps / "plans" / "a.mm"
    path.write_bytes(illustrated("beside a.png"))
    archive = zipped(maps, a_dot_mm=illustrated("beside b.png"), b_dot_png=RED)
    digest = sha256(RED).hexdigest()

    def imported(*named: Path) -> list[bool]:
        with closing(
            open_store(sqlite_url(maps.parent / str(len(list(maps.parent.iterdir())))))
        ) as store:
            candidates = list(scan(named, ImportReport(), reader.members))
            import_maps(
                store,
                candidates,
                reader,
                Attribution(),
                ImportReport(),
                lost=LostFiles(set(), {}, SeenFolders(), store.unpublished_sources),
            )
            return [store.image(one.file_id, digest) == RED for one in store.maps(0, 9)]

    assert imported(maps) == [True]
    assert imported(maps / "plans") == [True]
    assert imported(path) == [False]
    assert imported(Path(archive)) == [True]
    assert imported(path, maps) == [False], "the first path named decides"
