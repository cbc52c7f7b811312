"""Let a task of a worker wait until a file changes, or some time passes.

Waking up costs a worker more than what it then does, so its tasks wake up together.
"""

import asyncio
import math
from pathlib import Path
from typing import Final

from mapshelf.file_watch import FileWatch

POLL_INTERVAL: Final = 0.1
"""Seconds to wait where file changes are not reported."""

LONGEST: Final = 1.0
"""Seconds to wait at most, because some file systems do not report all changes."""


_EARLY: Final = 0.01
"""Seconds by which a timer may be early."""


async def pause(seconds: float) -> None:
    """Sleep for at most this long, together with other tasks of this worker."""
    now = asyncio.get_running_loop().time()
    await asyncio.sleep(aligned_deadline(now, seconds) - now)


def aligned_deadline(now: float, seconds: float) -> float:
    """Return the time at which at most ``seconds`` are over: that of a clock's tick, if possible.

    All times are those of the event loop; the clock ticks every second.
    """
    end = now + seconds
    tick = float(math.floor(end + _EARLY))
    return tick if seconds >= 1.0 and tick > now + _EARLY else end


class FileChanges:
    """Waits for changes of a file, or of the files in a folder (see ``FileWatch``)."""

    def __init__(self, path: Path) -> None:
        self._watch = FileWatch(path)

    async def wait(self, longest: float = LONGEST) -> bool:
        """Wait for a change since the last call, and return whether there may have been one.

        The first call, and the first after the file was missing, only knows changes during it.

        Returns ``False`` after ``longest`` seconds. Where changes are not reported, it returns
        ``True`` after ``POLL_INTERVAL`` seconds.
        """
        if not self._watch.begin():
            await asyncio.sleep(min(longest, POLL_INTERVAL))
            return True
        loop, changed = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._watch.fileno(), changed.set)
        try:
            async with asyncio.timeout_at(aligned_deadline(loop.time(), longest)):
                await changed.wait()
        except TimeoutError:
            return False
        finally:
            loop.remove_reader(self._watch.fileno())
        self._watch.clear()
        return True

    def close(self) -> None:
        """Stop watching."""
        self._watch.close()
