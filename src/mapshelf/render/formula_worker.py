"""Render the formulas of small maps in a sandboxed child process, and cache them.

The pages of small maps are rendered in threads of a server process, which must not interpret
untrusted LaTeX. Therefore a child process renders their formulas. For larger maps this is not
needed: the child that renders the whole page (``api.documents``) also renders the formulas, and the
child of ``render_worker`` those in thumbnails.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from time import monotonic
from typing import Any, Final, Generic, NamedTuple, TypeVar

import orjson
import xxhash

from mapshelf.disk_cache import DiskCache
from mapshelf.model import Outline
from mapshelf.render.formula_drawing import FormulaDrawing
from mapshelf.render.formulas import formulas_of
from mapshelf.sandbox.failures import TaskFailures
from mapshelf.sandbox.pool import FAILURES, ConfinedChild, processor_time

T = TypeVar("T")

MEMORY: Final = 256 << 20
"""Maximum memory for the formulas of a map, in bytes; the largest maps take 30 MiB."""

CPU_SECONDS: Final = 5  # of CPU time for the formulas of a map
WALL_SECONDS: Final = 20.0  # of wall-clock time

TRIED_AGAIN_AFTER: Final = 120.0
"""Seconds after which the formulas of a map are tried again if they failed because of the
machine."""

_VERSION: Final = 2
"""Part of the cache key: increase it with every change of the output."""

_DESCRIPTORS: Final = 64

MakeFormulas = Callable[[Sequence[str]], dict[str, Any]]

log = logging.getLogger(__name__)


class Rendered(NamedTuple, Generic[T]):
    """The formulas of a map that could be rendered.

    Attributes:
        formulas: the rendered formulas, by their LaTeX.
        complete: false if the formulas are missing for now, because the machine was too busy.
    """

    formulas: Mapping[str, T]
    complete: bool = True


class FormulaWorker:
    """Renders formulas and caches them. It is thread-safe."""

    def __init__(self, cache: DiskCache, now: Callable[[], float] = monotonic) -> None:
        """Prepare to render; the child starts with the first formula.

        Args:
            cache: the cache for the formulas.
            now: returns the time in seconds.
        """
        self._cache = cache
        self._child = ConfinedChild(MEMORY, _DESCRIPTORS)
        self._making = Lock()
        self._failures = TaskFailures(TRIED_AGAIN_AFTER, now)

    def drawings(self, outline: Outline) -> Rendered[FormulaDrawing]:
        """Return the drawings of a map's formulas, without those that cannot be drawn.

        Raises:
            StoreUnavailable: this worker has been closed.
        """
        made, complete = self._made("drawings", _drawings, outline)
        drawn = {formula: FormulaDrawing(*drawing) for formula, drawing in made.items()}
        return Rendered(drawn, complete)

    def mathml(self, outline: Outline) -> Rendered[str]:
        """Return a map's formulas as MathML, without those that cannot be converted.

        Raises:
            StoreUnavailable: this worker has been closed.
        """
        return self._made("mathml", _mathml, outline)

    def close(self) -> None:
        """Kill the child, even if it is working, and reject further calls."""
        self._child.close()

    def _made(self, kind: str, make: MakeFormulas, outline: Outline) -> Rendered[Any]:
        formulas = formulas_of(topic for _, topic in outline.topics())
        if not formulas:
            return Rendered({})
        facts = (_VERSION, kind, formulas)
        key = xxhash.xxh3_128_hexdigest(repr(facts).encode("utf-8", "replace"))
        with self._making:
            failure = self._failures.get(key)
            if failure is not None:
                return Rendered({}, complete=not failure.is_temporary)
            cached = self._cache.get(key)
            return self._by_child(key, make, formulas) if cached is None else _decoded(cached)

    def _by_child(self, key: str, make: MakeFormulas, formulas: list[str]) -> Rendered[Any]:
        try:
            made = self._child.call(_encoded, (make, formulas), WALL_SECONDS)
        except FAILURES as error:
            failure = self._failures.add(key, error)
            log.warning("the formulas of a map cannot be made: %s", failure.reason)
            return Rendered({}, complete=not failure.is_temporary)
        self._cache.put(key, made)
        return _decoded(made)


def _decoded(made: bytes) -> Rendered[Any]:
    return Rendered(orjson.loads(made))


# --- Code that runs in the child; only the child imports the formula libraries --------------------


def _encoded(make: MakeFormulas, formulas: Sequence[str]) -> bytes:
    with processor_time(CPU_SECONDS):
        return orjson.dumps(make(formulas), default=tuple)


def _drawings(formulas: Sequence[str]) -> dict[str, Any]:
    from mapshelf.render.formulas import drawings  # noqa: PLC0415

    return drawings(formulas)


def _mathml(formulas: Sequence[str]) -> dict[str, Any]:
    from mapshelf.render.formulas import mathml  # noqa: PLC0415

    return mathml(formulas)
