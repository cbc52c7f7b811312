"""The installed Granian has the private parts that ``web_server.py`` relies on."""

import inspect
import re
import socket
import tomllib
from importlib.metadata import version

import pytest
from granian.net import SocketHolder  # type: ignore[attr-defined]  # stubs lag behind
from granian.server.common import AbstractWorker
from granian.server.mp import MPServer

from mapshelf.service.web_server import (
    CALLED_METHODS,
    GRANIAN_VERSION,
    OVERRIDDEN_METHODS,
    USED_ATTRIBUTES,
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


@pytest.mark.parametrize(
    ("name", "parameters"), [*OVERRIDDEN_METHODS.items(), *CALLED_METHODS.items()]
)
def test_private_methods_are_there(name: str, parameters: tuple[str, ...]) -> None:
    method = getattr(MPServer, name, None)
    assert method is not None, f"MPServer has no {name}. {ADVICE}"
    found = tuple(inspect.signature(method).parameters)
    assert found[: len(parameters)] == parameters, f"{name} takes {found}. {ADVICE}"


def test_overridden_methods_are_called() -> None:
    source = inspect.getsource(MPServer.startup) + inspect.getsource(MPServer._serve)
    for name in OVERRIDDEN_METHODS:
        assert f"self.{name}(" in source, f"nothing calls {name} any more. {ADVICE}"


@pytest.mark.slow
@pytest.mark.parametrize("name", USED_ATTRIBUTES)
def test_attributes_of_the_server_are_there(name: str) -> None:
    classes = [one for one in MPServer.__mro__ if one.__module__.startswith("granian.")]
    source = "".join(map(inspect.getsource, classes))
    assert re.search(rf"self\.{name}\b", source), f"MPServer has no {name}. {ADVICE}"


def test_workers_inherit_the_shared_socket() -> None:
    source = inspect.getsource(MPServer._spawn_worker)
    assert "((self._ssp, self._shd), self._sso)" in source, ADVICE


@pytest.mark.parametrize("name", USED_WORKER_ATTRIBUTES)
def test_attributes_of_a_worker_are_there(name: str) -> None:
    assert f"self.{name}" in inspect.getsource(AbstractWorker), f"workers have no {name}. {ADVICE}"


def test_dead_workers_are_reported_by_index() -> None:
    source = inspect.getsource(AbstractWorker)
    for line in ("parent.interrupt_children.append(self.idx)", "parent.main_loop_interrupt.set()"):
        assert line in source, f"workers do not report their end by {line}. {ADVICE}"


def test_a_socket_of_ours_can_be_wrapped() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        holder = SocketHolder(bound.fileno(), False, 128)  # type: ignore[call-arg]  # stubs lag behind
        assert holder.get_fd() == bound.fileno(), ADVICE
