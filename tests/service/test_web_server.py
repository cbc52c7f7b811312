"""The installed Granian has the private parts that ``web_server.py`` relies on."""

import inspect
import re
import socket
import tomllib
from importlib.metadata import version

import pytest
from granian.net import SocketHolder  # type: ignore[attr-defined]  # stubs lag behind
from granian.server.common import AbstractWorker
from granian.server.mp import MPServer, WorkerProcess

from mapshelf.service.web_server import (
    CALLED_METHODS,
    GRANIAN_VERSION,
    SET_ATTRIBUTES,
    USED_WORKER_ATTRIBUTES,
)
from tests.cli.process import REPOSITORY

ADVICE = (
    f"Granian {version('granian')} is not as src/mapshelf/service/web_server.py needs it:"
    " compare granian/server/common.py and mp.py with its module docstring, and adapt it"
)


def test_the_installed_version_is_the_one_that_was_compared() -> None:
    assert re.match(rf"{re.escape(GRANIAN_VERSION)}\.", version("granian")), ADVICE
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    (pin,) = (one for one in project["dependencies"] if one.startswith("granian"))
    major, minor = GRANIAN_VERSION.split(".")
    assert pin == f"granian>={GRANIAN_VERSION},<{major}.{int(minor) + 1}"


@pytest.mark.parametrize(("name", "parameters"), CALLED_METHODS.items())
def test_private_methods_are_there(name: str, parameters: tuple[str, ...]) -> None:
    method = getattr(MPServer, name, None)
    assert method is not None, f"MPServer has no {name}. {ADVICE}"
    found = tuple(inspect.signature(method).parameters)
    assert found[: len(parameters)] == parameters, f"{name} takes {found}. {ADVICE}"


def test_a_process_is_prepared_and_not_started() -> None:
    source = inspect.getsource(AbstractWorker.__init__) + inspect.getsource(WorkerProcess._spawn)
    assert "self._spawn(target, args)" in source, ADVICE
    assert ".start()" not in source, ADVICE


def test_workers_get_the_socket_that_was_set() -> None:
    source = inspect.getsource(MPServer._spawn_worker)
    assert "((self._ssp, self._shd), self._sso)" in source, ADVICE
    assert set(SET_ATTRIBUTES) == {"_shd", "_sso"}


@pytest.mark.parametrize("name", USED_WORKER_ATTRIBUTES)
def test_attributes_of_a_worker_are_there(name: str) -> None:
    assert f"self.{name}" in inspect.getsource(WorkerProcess), f"workers have no {name}. {ADVICE}"


def test_a_socket_of_ours_can_be_wrapped() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        holder = SocketHolder(bound.fileno(), False, 128)  # type: ignore[call-arg]  # stubs lag behind
        assert holder.get_fd() == bound.fileno(), ADVICE
