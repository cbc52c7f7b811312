"""Only one service can use a data folder.

``test_counting.py`` shows that a new service can start at once after a kill.
"""

import signal
from pathlib import Path

import pytest

from tests.cli.process import Mapshelf, free_port, serving, status_of, wait_for

pytestmark = pytest.mark.process


@pytest.fixture
def mapshelf(tmp_path: Path) -> Mapshelf:
    return Mapshelf(tmp_path / "data")


def test_a_second_service_is_refused_in_a_line_and_harms_nothing(mapshelf: Mapshelf) -> None:
    # Longer than any machine needs for what follows; a second signal ends it early.
    with serving(mapshelf, "--drain", "120") as service:
        service.wait_until_ready()
        wait_for(lambda: status_of(f"{service.url}/readyz") == 200)

        done = mapshelf.run("serve", "--port", str(free_port()), expect=1)

        assert done.stderr == (
            f"mapshelf: another mapshelf serve uses the data folder {mapshelf.data}:"
            " stop it, or give this one a folder of its own (--data)\n"
        )
        assert status_of(f"{service.url}/readyz") == 200
        service.process.send_signal(signal.SIGTERM)
        wait_for(lambda: status_of(f"{service.url}/readyz") == 503)
        mapshelf.run("serve", "--port", str(free_port()), expect=1)
        assert status_of(f"{service.url}/readyz") == 503  # and stays like that
