"""The sample maps are readable, match their table, and are built from their sources."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from mapshelf.model import Outline, Topic
from mapshelf.readers import READERS, Limits, Reader, read
from mapshelf.readers.parsing.content import Content
from mapshelf.store.seed import CATEGORIES

EXAMPLES: Final = Path(__file__).resolve().parent.parent / "examples"
ROW: Final = re.compile(
    r"^\| \[[^]]+\]\(<(?P<path>[^>]+)>\)[^|]*"
    r"\| (?P<software>[A-Za-z ]+?)(?: (?P<version>[\d.]+))? `(?P<suffix>\.[\w.]+)`[^|]*"
    r"\| (?P<language>\w+) \| (?P<topics>\d+) \|",
    re.MULTILINE,
)
ROWS: Final = {
    row["path"]: row for row in ROW.finditer((EXAMPLES / "README.md").read_text("utf-8"))
}
SUFFIXES: Final = tuple(
    suffix for reader in READERS for suffix in (*reader.suffixes, *reader.shared)
)
SAMPLES: Final = sorted(path for path in EXAMPLES.glob("*/*.*") if path.name.endswith(SUFFIXES))

SENTENCES: Final = {
    "Arabic": ("الحروف العربية", "نكتب من اليمين إلى اليسار", "ض: ضفدع"),
    "Chinese": ("读书笔记方法", "用自己的话写", "下一本读什么？"),
    "English": (),
    "French": ("Débuter aux échecs", "La dame se place sur sa couleur", "L'échiquier"),
    "German": ("Klassenfahrt planen", "Schwimmfähigkeit", "Feste Schuhe"),
    "Japanese": ("はじめての山歩き", "沢に下りない", "高尾山(東京都、599 m)"),
    "Russian": ("Простые числа", "Двойка — единственное чётное простое"),
    "Spanish": ("Aprender a cocinar arroz", "¿Qué salió mal?", "Añadir el agua caliente y la sal"),
}
"""Topics that must come out letter by letter."""


def outline_of(path: str) -> Outline:
    return read((EXAMPLES / path).read_bytes(), Limits(), name=Path(path).name)


def topics_of(path: str) -> list[Topic]:
    return [topic for _, topic in outline_of(path).topics()]


def find(path: str, text: str) -> Topic:
    (found,) = (topic for topic in topics_of(path) if topic.text == text)
    return found


def test_the_table_lists_every_sample() -> None:
    assert sorted(ROWS) == sorted(path.relative_to(EXAMPLES).as_posix() for path in SAMPLES)


@pytest.mark.parametrize("path", ROWS)
def test_a_sample_is_what_the_table_says(path: str) -> None:
    row = ROWS[path]
    outline = outline_of(path)
    topics = topics_of(path)
    assert len(topics) == int(row["topics"])
    assert all(topic.text for topic in topics)
    assert path.endswith(row["suffix"])
    assert outline.software == row["software"]
    if row["software"] != "XMind":  # nobody uses the version names of XMind
        assert f"{outline.software_version}.".startswith(f"{row['version'] or ''}.")
    assert {topic.text for topic in topics}.issuperset(SENTENCES[row["language"]])


@pytest.mark.parametrize("path", ROWS)
def test_a_sample_lies_in_a_category(path: str) -> None:
    assert Path(path).parent.name in {category.name for category in CATEGORIES}


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_every_reader_has_a_sample(reader: Reader) -> None:
    contents = (Content(path.read_bytes(), Limits(), path.name) for path in SAMPLES)
    assert any(
        next((each for each in READERS if each.sniff(content)), None) is reader
        for content in contents
    )


def test_notes_links_sheets_and_rich_text() -> None:
    licences = "Computers and Software/Open-source licences compared.mm"
    assert outline_of(licences).roots[0].note.startswith("What may I do")
    assert find(licences, "MPL 2.0").attributes == (("SPDX", "MPL-2.0"),)
    assert find(licences, "What goes together\na choice of frequent questions").children
    (spdx,) = find(licences, "Name it in every file with an SPDX line").links
    assert spdx == "https://spdx.org/licenses/"
    assert find("Computers and Software/Unicode in one page.xmind", "Normalization").links
    trip = outline_of("Projects and Planning/Klassenfahrt planen.xmind")
    assert [root.text for root in trip.roots] == ["Klassenfahrt planen", "Packliste"]
    early = find("Sports and Leisure/はじめての山歩き.xmind", "早出早着")
    assert early.note.startswith("午後三時までに下山")


def test_all_elements_are_there() -> None:
    texts = (topic.text for topic in topics_of("Science/The chemical elements.mm"))
    numbers = [
        int(found[1])
        for found in map(re.compile(r".+ \([A-Z][a-z]?, (\d+)\)$").match, texts)
        if found
    ]
    assert sorted(numbers) == list(range(1, 119))


@pytest.mark.process
def test_the_archives_are_made_of_their_sources(tmp_path: Path) -> None:
    subprocess.run([sys.executable, EXAMPLES / "make.py", tmp_path], check=True)
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.*")}
    kept = {path.relative_to(EXAMPLES): path.read_bytes() for path in SAMPLES}
    archives = {path for path, data in kept.items() if data.startswith(b"PK")}
    assert archives <= made.keys()
    assert made == {path: kept.get(path) for path in made}
