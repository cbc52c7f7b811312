"""Log lines that repeat too often are counted instead of written; no others are left out."""

import io
import logging
import threading
from collections.abc import Iterator

import pytest

from mapshelf.errors import StoreDamaged, StoreUnavailable
from mapshelf.service.log_limit import LimitedHandler
from tests.cli.process import wait_for


class Log:
    """A log that writes at most three lines of a kind in a period."""

    def __init__(self, period: float) -> None:
        self._stream = io.StringIO()
        self._handler = LimitedHandler(self._stream, lines=3, period=period)
        self._handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        self._loggers: list[logging.Logger] = []

    def logger(self, name: str) -> logging.Logger:
        logger = logging.getLogger(name)
        logger.addHandler(self._handler)
        logger.propagate = False
        self._loggers.append(logger)
        return logger

    def close(self) -> None:
        for logger in self._loggers:
            logger.removeHandler(self._handler)
            logger.propagate = True

    @property
    def lines(self) -> list[str]:
        return self._stream.getvalue().splitlines()


@pytest.fixture
def log() -> Iterator[Log]:
    """A log whose period is longer than any test."""
    made = Log(period=600)
    yield made
    made.close()


@pytest.fixture
def brief() -> Iterator[Log]:
    """A log with a very short period."""
    made = Log(period=0.5)
    yield made
    made.close()


def fail(logger: logging.Logger, number: int, error: Exception) -> None:
    logger.error("request %d: %s", number, error)


def test_errors_of_one_kind_are_a_few_lines(log: Log) -> None:
    logger = log.logger("mapshelf.trial")
    for number in range(1000):
        fail(logger, number, StoreUnavailable(f"gone {number}"))
    assert log.lines == [f"ERROR mapshelf.trial: request {n}: gone {n}" for n in range(3)]


def test_other_errors_are_written_all_the_same(log: Log) -> None:
    logger = log.logger("mapshelf.trial")
    for number in range(100):
        fail(logger, number, StoreUnavailable("gone"))
    fail(logger, 100, StoreDamaged("broken"))
    logger.warning("something else")
    log.logger("mapshelf.other").error("request %d: %s", 101, StoreUnavailable("gone"))
    assert [line.rpartition(": ")[2] for line in log.lines[3:]] == [
        "broken",
        "something else",
        "gone",
    ]


def accounted(log: Log) -> int:
    """Return how many lines were logged, including those left out."""
    lines = [line.split() for line in log.lines]
    return sum(int(words[2]) if "left" in words else 1 for words in lines)


@pytest.mark.slow
def test_left_out_lines_are_counted_and_each_period_starts_at_zero(brief: Log) -> None:
    logger = brief.logger("mapshelf.trial")
    for number in range(50):
        fail(logger, number, StoreUnavailable("gone"))
    wait_for(lambda: accounted(brief) == 50)
    assert len(brief.lines) < 20
    assert "lines like this one were left out: request 3: gone" in brief.lines[3]
    assert brief.lines[3].startswith("ERROR mapshelf.trial: ")
    fail(logger, 50, StoreUnavailable("gone again"))
    assert brief.lines[-1] == "ERROR mapshelf.trial: request 50: gone again"


def test_faults_are_distinguished_by_their_place_in_the_code(log: Log) -> None:
    logger = log.logger("mapshelf.trial")
    nothing: dict[str, int] = {}
    for number in range(100):
        try:
            nothing["key"]
        except KeyError:
            logger.exception("fault %d", number)
        try:
            nothing["key"]
        except KeyError:
            logger.exception("fault %d", number)
    assert sum("Traceback" in line for line in log.lines) == 3 * 2


def test_lines_about_each_file_of_an_import_are_all_written(log: Log) -> None:
    logger = log.logger("mapshelf.importer.folder_sync")
    for number in range(100):
        logger.warning("%s is refused: %s", number, "broken")
    assert len(log.lines) == 100


@pytest.mark.slow
def test_threads_write_and_count_together(brief: Log) -> None:
    logger = brief.logger("mapshelf.trial")

    def complain() -> None:
        for number in range(200):
            fail(logger, number, StoreUnavailable("gone"))

    threads = [threading.Thread(target=complain) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    wait_for(lambda: accounted(brief) == 8 * 200)
