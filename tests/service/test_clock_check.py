"""Operators are warned when the clock of a node differs from the database's."""

import json
import logging
import time
from pathlib import Path

import pytest

from mapshelf.cli import main
from mapshelf.errors import StoreUnavailable
from mapshelf.model import Figures
from mapshelf.service.clock_check import ClockCheck, clock_warning
from mapshelf.store.sqlite.sqlite_store import SQLiteStore


class Store:
    """A store with a clock of its own."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self.reachable = True
        self.compared = 0

    def clock_difference(self) -> float:
        self.compared += 1
        if not self.reachable:
            raise StoreUnavailable("away")
        return self.ahead

    def figures(self) -> Figures:
        raise AssertionError


@pytest.fixture
def store() -> Store:
    return Store()


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [f"{one.levelname} {one.getMessage()}" for one in caplog.records]
    caplog.clear()
    return found


def test_clocks_that_agree_are_not_mentioned(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for store.ahead in (0.0, 4.9, -4.9):
        ClockCheck(store).compare_due()
    assert store.compared == 3
    assert messages(caplog) == []


@pytest.mark.parametrize(
    ("ahead", "said"), [(1200.0, "1,200 seconds ahead of"), (-7.2, "7 seconds behind")]
)
def test_a_difference_is_logged_once_and_so_is_its_end(
    store: Store,
    ahead: float,
    said: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.INFO)
    passed = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0 + passed[0])
    check = ClockCheck(store)
    store.ahead = ahead
    check.compare_due()
    (line,) = messages(caplog)
    assert line.startswith("WARNING the clock of this node")
    assert said in line
    for passed[0] in (1.0, 59.0, 61.0, 3000.0):
        check.compare_due()
    assert store.compared == 3
    assert messages(caplog) == []
    passed[0] = 3601.0
    check.compare_due()
    assert messages(caplog) == [line]
    store.reachable, passed[0] = False, 4000.0
    check.compare_due()
    assert messages(caplog) == []
    store.reachable, store.ahead, passed[0] = True, 0.0, 5000.0
    check.compare_due()
    assert messages(caplog) == [
        "INFO the clock of this node agrees with that of the database again"
    ]


def test_status_shows_the_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    SQLiteStore(tmp_path / "catalogue.db").close()
    monkeypatch.setattr(SQLiteStore, "clock_difference", lambda _: 1200.04)
    assert main(["status", "--data", str(tmp_path)]) == 0
    assert "1,200 seconds ahead" in " ".join(capsys.readouterr().out.split())
    assert main(["status", "--data", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["store"]["clock_ahead_seconds"] == 1200.0


def test_the_warning_says_what_to_do() -> None:
    assert "NTP" in clock_warning(6.0)
