"""A log that nobody reads stops nothing."""

import fcntl
import io
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from mapshelf.service.log_handler import UnblockedHandler
from tests.cli.process import EXAMPLES, Mapshelf, serving
from tests.service.processes import descendants

LONG: Final = "x" * 100_000


class Piped:
    """A logger that writes to a pipe. Nobody reads it until ``read``."""

    def __init__(self) -> None:
        self._reading, writing = os.pipe()
        self._stream = os.fdopen(writing, "w")
        self.logger = logging.Logger("piped")
        self.logger.addHandler(UnblockedHandler(self._stream, 0.01))

    def read(self) -> list[str]:
        """Read what is in the pipe."""
        os.set_blocking(self._reading, False)
        found = b""
        while True:
            try:
                found += os.read(self._reading, 1 << 20)
            except BlockingIOError:
                return found.decode().splitlines()

    def close(self) -> None:
        os.close(self._reading)
        self._stream.close()


@pytest.fixture
def piped() -> Iterator[Piped]:
    made = Piped()
    yield made
    made.close()


def test_lines_that_nobody_reads_are_counted(piped: Piped) -> None:
    for number in range(10_000):
        piped.logger.info("line %d", number)
    read = piped.read()
    assert 1000 < len(read) < 10_000
    assert read == [f"line {number}" for number in range(len(read))]
    piped.logger.info("after")
    lost = 10_000 - len(read)
    assert piped.read() == [f"{lost} lines of the log were lost: nobody read them", "after"]


def test_a_long_line_is_cut_where_nobody_reads_on(piped: Piped) -> None:
    piped.logger.info(LONG)
    (cut,) = piped.read()
    assert set(cut) == {"x"}
    piped.logger.info("after")
    assert piped.read() == ["", "1 line of the log was lost: nobody read them", "after"]


def test_a_long_line_that_is_read_is_whole(piped: Piped) -> None:
    writer = threading.Thread(target=piped.logger.info, args=(LONG,))
    writer.start()
    found: list[str] = []
    while writer.is_alive() or sum(map(len, found)) < len(LONG):
        found += piped.read()
    writer.join()
    assert "".join(found) == LONG


def test_long_lines_of_two_writers_do_not_mix_in_a_file(tmp_path: Path) -> None:
    """A file is written at once, however long the line."""
    path = tmp_path / "log"
    with path.open("a") as one, path.open("a") as other:
        loggers = [logging.Logger("one"), logging.Logger("other")]
        for logger, stream in zip(loggers, (one, other), strict=True):
            logger.addHandler(UnblockedHandler(stream))
        writers = [
            threading.Thread(target=lambda logger=logger: [logger.info(LONG) for _ in range(50)])
            for logger in loggers
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
    assert path.read_text().splitlines() == [LONG] * 100


def test_a_stream_in_memory_is_written() -> None:
    stream = io.StringIO()
    logger = logging.Logger("memory")
    logger.addHandler(UnblockedHandler(stream))
    logger.info("a")
    assert stream.getvalue() == "a\n"


@pytest.mark.process
def test_a_service_whose_log_nobody_reads_answers_and_stops(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    try:
        with os.fdopen(writing, "wb") as log:
            mapshelf = Mapshelf(tmp_path)
            with serving(mapshelf, EXAMPLES, "--access-log", log=log) as service:
                service.wait_until_ready()
                for _ in range(100):
                    service.get("/maps")
    finally:
        os.close(reading)


@pytest.mark.process
@pytest.mark.parametrize("streams", ["2>/dev/full", "2>&-", "<&- >&- 2>&-"])
def test_a_service_whose_log_cannot_be_written_answers(tmp_path: Path, streams: str) -> None:
    under = ["sh", "-c", f'exec "$@" {streams}', "sh"]
    with serving(Mapshelf(tmp_path), EXAMPLES, "--access-log", under=under) as service:
        service.wait_until_ready()
        assert service.get("/maps")
        for process in (service.process.pid, *descendants(service.process.pid)):
            for descriptor in range(3):
                file = Path(f"/proc/{process}/fd/{descriptor}").readlink()
                assert not file.is_relative_to(tmp_path), "the log would be written into it"
