"""The benchmark report: each part in its own file, and the main tables on the page."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
from benchmarks import PARTS
from benchmarks.overload.excess import KINDS
from benchmarks.report import DOCUMENT, write

PAGE: Final = (
    "# Benchmarks\n\nBy people.\n\n<!-- figures: begin -->\nold\n<!-- figures: end -->\n\n"
    "Also by people.\n\n<!-- peers: begin -->\nold\n<!-- peers: end -->\n\nThe end.\n"
)
MACHINE: Final = {
    "cpu": "A processor",
    "cores": 2,
    "memory_gib": 16.0,
    "kernel": "6.1",
    "system": "Debian 12",
    "python": "3.11.7",
    "sqlite": "3.54",
    "packages": {"granian": "2.8"},
    "commit": "abc1234",
    "wrk": "wrk 4.1 [epoll]",
    "nginx": "nginx/1.22",
}
TIMES: Final = {"calls": 9, "p50": 0.5, "p99": 1.25, "max": 2.0, "cpu_p50": 0.4, "cpu_p99": 1.0}
ANSWER: Final = {
    "requests_per_second": 1234.0,
    "requests_per_cpu_second": 2345.0,
    "p50_ms": 1.5,
    "p99_ms": 2.5,
    "failed": 0,
}
COST: Final = {"in_process": 7.0, "over_http": 50.0, "p50_ms": 3.5, "p99_ms": 4.5}
SERVED: Final = {
    "ready_seconds": 0.85,
    "memory_at_rest": {"own_mb": 43.0, "uss_mb": 50.0},
    "idle": {"cpu_ms_per_second": 3.5, "pss_mb": 160.0},
    "one page": ANSWER,
    "nginx": {**ANSWER, "body_bytes": 1000, "same_body": True, "other_headers": []},
    "share_of_nginx": 0.25,
    "share_of_nginx_by_cpu": 0.26,
    "many searches": ANSWER,
    "memory_after_load": {"own_mb": 83.5, "uss_mb": 223.0},
    "memory_of_two_workers": [{"uss_mb": 67.0}, {"uss_mb": 69.0}],
}
EXCESS: Final = {
    "outcomes": "200=3000 503=6000 timed out=2",
    "served count": 3000,
    "sent late p99": 3.0,
    "peak a second": 1000.0,
    "asked a second": 3000.0,
    "of the peak": 0.95,
    "served p50": 10.0,
    "served p99": 90.0,
    "refused count": 6000,
    "refused p50": 5.0,
    "refused p99": 40.0,
    "afterwards asked a second": 500.0,
    "afterwards served a second": 500.0,
}
AGED: Final = {"index MB": 227, "segments": 11, "records MB": 30}
MEASURED: Final[dict[str, Any]] = {
    "listing": {"list all": TIMES, "list category": TIMES},
    "searching": {"middling word": TIMES, "phrase": TIMES, "beginning, one letter": TIMES},
    "library": {
        "list folder": TIMES,
        "building": {"with_us_a_map": 900, "without_us_a_map": 800, "slower_per_cent": 12.5},
        "all twins": {"seconds": 1.5},
        "memory of a worker": {"own_mb": 90.0},
    },
    "building": {"publishing one change": TIMES, "peak memory of this process": {"megabytes": 9}},
    "serving": SERVED,
    "costs": {
        "floor: the same page, handed over": {"over_http": 40.0},
        "page again, share of the floor": {"share": 0.8},
        "library page new": COST,
        "searches, all different": COST,
    },
    "freshness": {
        "without load": TIMES,
        "under load": TIMES,
        "clients": {"requests": 100, "failed": 0},
    },
    "changing": {
        "changes": {"per_minute": 1000},
        "without changes": ANSWER,
        "with changes": ANSWER,
        "seconds until one showed": {"worst": 2.1},
    },
    "ageing": {
        "changes": {"made": 20_000, "most segments": 12},
        **dict.fromkeys(("before", "after", "built anew"), AGED),
        "rare word, after": TIMES,
    },
    "hostile": {"any Unicode": {**TIMES, "not_200": 0}},
    "overload": {
        "hang-ups: lists": {
            **dict.fromkeys(("calm p50", "p50", "calm p99", "p99", "max", "p99 ratio"), 1.0),
            "failed": 0,
            "asked": 100,
        },
        "hang-ups: attackers": {"cpu": 3},
    },
    "excess": {**dict.fromkeys(KINDS, EXCESS), "uploads": {"failed": "OSError()"}},
    "fuzzing": {"requests": {"200": 90, "404": 10}, "changes": {"made": 5}},
    "nodes": {
        **{
            name: {"requests_per_cpu_second": 4000.0}
            for name in ("first alone", "second alone", "first of both", "second of both")
        },
        "two_to_one_by_cpu": 1.9,
    },
    "peers": {
        "Mapshelf": {
            "cases": {
                "middling": {"p50": 0.9, "p99": 1.5, "maps": 300, "requests_per_second": 1000.0},
                "mixed": {"p50": 1.4, "p99": 12.0, "maps": 50, "requests_per_second": 400.0},
            },
            "build": {"seconds": 80.0, "disk_bytes": 10**8, "index_bytes": 10**7},
            "memory_after_load": {"kept_mb": 100.0, "mapped_mb": 90.0, "rss_mb": 300.0},
        },
        "about": {
            "connections": 8,
            "versions": {"datasette": "0.65"},
            "examples": {"middling": ["vu"]},
        },
    },
}


def results(*parts: str, size: str = "100000", date: str = "2026-11-24 10:00 UTC") -> Any:
    """Return a results file with these parts of one size."""
    return {
        "date": date,
        "seed": 7,
        "machine": MACHINE,
        "sizes": {
            size: {
                "load_before": [0.5, 0.4, 0.3],
                "store": {"seconds": 14.5, "store_bytes": 91 * 10**6},
                "full_build": {
                    "seconds": 129.0,
                    "merged_seconds": 140.0,
                    "cpu_seconds": 113.1,
                    "snapshot_bytes": 235 * 10**6,
                },
                **{part: MEASURED[part] for part in parts},
                "load_after": [1.5, 0.4, 0.3],
            }
        },
    }


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "docs" / "benchmarks.md"
    path.parent.mkdir()
    (tmp_path / "results").mkdir()
    path.write_text(PAGE, "utf-8")
    marks = "# Reliability\n\n<!-- excess: begin -->\n<!-- excess: end -->\n"
    path.with_name("reliability.md").write_text(marks, "utf-8")
    return path


def between(page: Path, mark: str) -> str:
    """Return what is between the marks of a name."""
    found = re.search(f"<!-- {mark}: begin -->(.*)<!-- {mark}: end -->", page.read_text(), re.S)
    assert found is not None
    return found[1]


def test_the_page_gets_the_main_tables_and_leads_to_all(page: Path, tmp_path: Path) -> None:
    write([results(*PARTS)], page, tmp_path / "results")
    figures = between(page, "figures")
    assert "Measured on 2026-11-24 (commit abc1234) on A processor" in figures
    assert re.findall("^### (.*)$", figures, re.MULTILINE) == [
        "Over HTTP, one worker on one core",
        "In process: p50 (p99) in ms",
        "Building, memory and start-up",
    ]
    assert "| 100,000 | searches, all different | 1,234 | 2,345 | 1.5 | 2.5 |" in figures
    assert "| 100,000 | library page, first request |  | 20,000 | 3.5 | 4.5 |" in figures
    assert "| medium-frequency word | 0.5 (1.25) |" in figures
    assert "| 100,000 | 129.0 | 140.0 | 113.1 | 235 MB | 91 MB | 0.5 | 83.5 | 0.85 |" in figures
    assert "(../results/2026-11-24-figures.md)" in figures
    peers = between(page, "peers")
    assert "| 100,000 | 400 |" in peers
    assert "(search.svg)" in peers
    assert "(../results/2026-11-24-search-comparison.md)" in peers
    assert page.with_name("search.svg").read_text("utf-8").startswith("<svg")


def test_text_between_the_tables_stays(page: Path, tmp_path: Path) -> None:
    for _ in range(2):
        write([results(*PARTS)], page, tmp_path / "results")
        text = page.read_text("utf-8")
        assert text.startswith("# Benchmarks\n\nBy people.\n\n<!-- figures: begin -->\n")
        assert "<!-- figures: end -->\n\nAlso by people.\n\n<!-- peers: begin -->\n" in text
        assert text.endswith("<!-- peers: end -->\n\nThe end.\n")
        assert "old" not in text


def test_every_part_has_its_tables_in_a_file(page: Path, tmp_path: Path) -> None:
    write([results(*PARTS)], page, tmp_path / "results")
    text = (tmp_path / "results" / "2026-11-24-figures.md").read_text("utf-8")
    # Building is always measured, memory with the requests, and folders have a cost, too.
    assert len(re.findall("^## ", text, re.MULTILINE)) == len(PARTS) - 1 + 3
    assert "100,000 maps: [0.5, 0.4, 0.3] and [1.5, 0.4, 0.3]" in text
    assert "| searches | 1,000 | 3,000 | 95% | 10; 90 | 6,000 | 5; 40 | 2 | 3 | 100% served" in text
    comparison = (tmp_path / "results" / "2026-11-24-search-comparison.md").read_text("utf-8")
    assert "(../docs/search.svg)" in comparison
    assert "| medium | 300 | 0.9 (1.5) |" in comparison


def test_parts_and_sizes_may_come_from_several_runs(page: Path, tmp_path: Path) -> None:
    files = [
        results("peers", date="2026-11-22 10:00 UTC"),
        results("listing", "searching", size="1000", date="2026-11-23 10:00 UTC"),
        results("serving", size="1000"),
    ]
    write(files, page, tmp_path / "results")
    figures = between(page, "figures")
    assert "Measured on 2026-11-23 and 2026-11-24" in figures
    assert "| 1,000 | one list, repeated | 1,234 |" in figures
    assert "| phrase | 0.5 (1.25) |" in figures
    assert "2026-11-22-search-comparison.md" in between(page, "peers")


def test_tables_of_unmeasured_parts_stay(page: Path, tmp_path: Path) -> None:
    write([results("listing")], page, tmp_path / "results")
    assert "library page" not in between(page, "figures")
    assert between(page, "peers") == "\nold\n"
    assert [file.name for file in (tmp_path / "results").iterdir()] == ["2026-11-24-figures.md"]


def test_the_page_of_the_documentation_has_the_marks_and_leads_to_files_that_exist() -> None:
    for mark in ("figures", "peers"):
        assert between(DOCUMENT, mark).strip()
    text = DOCUMENT.read_text("utf-8")
    linked = [found for found in re.findall(r"\]\(([^)#]+)", text) if "://" not in found]
    assert len(linked) > 5
    assert [name for name in linked if not (DOCUMENT.parent / name).exists()] == []


def test_excess_alone_leaves_the_main_tables_as_they_are(page: Path, tmp_path: Path) -> None:
    before = page.read_text("utf-8")
    write([results("excess")], page, tmp_path / "results")
    assert page.read_text("utf-8") == before
    reliability = between(page.with_name("reliability.md"), "excess")
    line = "| lists | 1,000 | 3,000 | 95% | 10; 90 | 6,000 | 5; 40 | 2 | 3 | 100% served, p99"
    assert line in reliability
