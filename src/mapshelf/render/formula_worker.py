"""Render the formulas of small maps in a sandboxed child process, and cache them.

The pages of small maps are rendered in threads of a server process, which must not interpret
untrusted LaTeX. Therefore a child process renders their formulas. For larger maps this is not
needed: the child that renders the whole page (``api.documents``) also renders the formulas, and the
child of ``render_worker`` those in thumbnails.
"""

import logging
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Final

import orjson
import xxhash

from mapshelf.disk_cache import DiskCache
from mapshelf.model import Outline
from mapshelf.render.formula_drawing import FormulaDrawing
from mapshelf.render.formulas import Drawings, Mathml, formulas_of
from mapshelf.sandbox.pool import FAILURES, ConfinedChild, processor_time

MEMORY: Final = 256 << 20
"""Maximum memory for the formulas of a map, in bytes; the largest maps take 30 MiB."""

CPU_SECONDS: Final = 5  # of CPU time for the formulas of a map
WALL_SECONDS: Final = 20.0  # of wall-clock time

_VERSION: Final = 2
"""Part of the cache key: increase it with every change of the output."""

_DESCRIPTORS: Final = 64
_REFUSED: Final = 1000  # maximum cache keys to remember of formulas that could not be rendered

MakeFormulas = Callable[[Sequence[str]], dict[str, Any]]

log = logging.getLogger(__name__)


class FormulaWorker:
    """Renders formulas and caches them. It is thread-safe."""

    def __init__(self, cache: DiskCache) -> None:
        self._cache = cache
        self._child = ConfinedChild(MEMORY, _DESCRIPTORS)
        self._making = Lock()
        self._refused: set[str] = set()

    def drawings(self, outline: Outline) -> Drawings:
        """Return the drawings of a map's formulas, without those that cannot be drawn.

        Raises:
            StoreUnavailable: this worker has been closed.
        """
        made = self._made("drawings", _drawings, outline)
        return {formula: FormulaDrawing(*drawing) for formula, drawing in made.items()}

    def mathml(self, outline: Outline) -> Mathml:
        """Return a map's formulas as MathML, without those that cannot be converted.

        Raises:
            StoreUnavailable: this worker has been closed.
        """
        return self._made("mathml", _mathml, outline)

    def close(self) -> None:
        """Kill the child, even if it is working, and reject further calls."""
        self._child.close()

    def _made(self, kind: str, make: MakeFormulas, outline: Outline) -> dict[str, Any]:
        formulas = formulas_of(topic for _, topic in outline.topics())
        if not formulas:
            return {}
        facts = (_VERSION, kind, formulas)
        key = xxhash.xxh3_128_hexdigest(repr(facts).encode("utf-8", "replace"))
        with self._making:
            if key in self._refused:
                return {}
            cached = self._cache.get(key)
            if cached is None:
                cached = self._by_child(key, make, formulas)
        found: dict[str, Any] = orjson.loads(cached)
        return found

    def _by_child(self, key: str, make: MakeFormulas, formulas: list[str]) -> bytes:
        try:
            made = self._child.call(_encoded, (make, formulas), WALL_SECONDS)
        except FAILURES as error:
            cause = str(error) or type(error).__name__
            log.warning("the formulas of a map cannot be made: %s", cause)
            if len(self._refused) >= _REFUSED:
                self._refused.clear()
            self._refused.add(key)
            return b"{}"
        self._cache.put(key, made)
        return made


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
