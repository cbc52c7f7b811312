"""The committed plots of the benchmarks agree with the committed tables."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

from benchmarks.plots import DOCS, RESULTS, pictures, write

FIGURES = """# Benchmark figures

## Building

| maps | import into the store (s) | store | full build (s) | its processor time (s) | snapshot |
| --- | ---: | ---: | ---: | ---: | ---: |
| 1,000 | 0.2 | 1 MB | 1.5 | 1.4 | 3 MB |

## Lists, in process (ms)

|  | 1,000: p50 | 1,000: p99 | 10,000: p50 | 10,000: p99 |
| --- | ---: | ---: | ---: | ---: |
| list, no filters | 0.001 | 0.003 | 0.01 | 0.03 |
"""
COMPARED = """## 10,000 maps

| search | matches | Mapshelf | Groonga | bare Tantivy |
| --- | ---: | ---: | ---: | ---: |
| medium | 300 | 1 (1.5) | 10 (12) |  |
| typo | 20 | 1 (2) | 10 (12), finds 0 | gave up |

| search | Mapshelf | Groonga | bare Tantivy |
| --- | ---: | ---: | ---: |
| mixed | 1,000 | 100 |  |
"""


def test_the_committed_plots_belong_to_the_committed_tables() -> None:
    drawn = pictures(RESULTS)
    assert sorted(drawn) == ["costs.svg", "growth.svg", "search.svg"]
    for name, picture in drawn.items():
        assert (DOCS / name).read_text("utf-8") == picture, "run python -m benchmarks.plots"


def test_the_page_shows_every_plot_with_a_text_that_stands_for_it() -> None:
    page = (DOCS / "benchmarks.md").read_text("utf-8")
    for name in pictures(RESULTS):
        (words,) = re.findall(rf"!\[([^\]]*)\]\({name}\)", page)
        assert len(words.split()) > 5


def test_a_figure_is_where_its_scale_says(tmp_path: Path) -> None:
    (tmp_path / "2026-01-01-search-comparison.md").write_text(COMPARED, "utf-8")
    (tmp_path / "2026-01-01-figures.md").write_text(FIGURES, "utf-8")
    write(tmp_path, tmp_path)
    marks = _marks(tmp_path / "growth.svg", "circle")
    # 0.001 is at the lower end of the panel, 0.01 one decade above it, at the upper end.
    low, high = sorted((y for y in marks[1:3]), reverse=True)
    assert low - high == 220
    assert not (tmp_path / "costs.svg").exists()


def test_a_peer_without_results_has_no_mark(tmp_path: Path) -> None:
    (tmp_path / "2026-01-01-search-comparison.md").write_text(COMPARED, "utf-8")
    # Mapshelf: the key, two medians, the throughput. Groonga: the typo is missing.
    ours = pictures(tmp_path)["search.svg"].count('fill="#d55e00"')
    theirs = pictures(tmp_path)["search.svg"].count('fill="#8a6d00"')
    assert (ours, theirs) == (4, 3)


def test_later_tables_override_earlier_ones(tmp_path: Path) -> None:
    (tmp_path / "2026-01-01-search-comparison.md").write_text(COMPARED, "utf-8")
    once = pictures(tmp_path)["search.svg"]
    later = COMPARED.replace("1 (1.5)", "5 (6)")
    (tmp_path / "2026-01-02-search-comparison.md").write_text(later, "utf-8")
    twice = pictures(tmp_path)["search.svg"]
    assert twice != once
    (tmp_path / "2026-01-01-search-comparison.md").unlink()
    assert pictures(tmp_path)["search.svg"] == twice


def _marks(path: Path, shape: str) -> list[float]:
    """Return the vertical positions of the marks of a shape, including those in the key."""
    found = ET.parse(path).iter(f"{{http://www.w3.org/2000/svg}}{shape}")
    return [float(mark.attrib["cy"]) for mark in found]
