"""How long attempts are refused after failures, even if the clock of a node is or was wrong.

Nodes share the times of failures. A time in the future comes from a clock that is ahead of ours, or
was: it does not tell how long ago the failure was. Trusting it could lock people out for as long as
the clock was ahead; ignoring it would give whoever alternates between two nodes any number of
attempts. So while a time lies in the future, one attempt is let through in each period as long as
the longest wait, by our own clock.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mapshelf.accounts.attempt_limits import attempt_key
from mapshelf.model import CLOCK_TOLERANCE, Failures


@dataclass(frozen=True, slots=True)
class Throttle:
    """The waits after failures that count under one key.

    Attributes:
        key: the key.
        free: failures until attempts are refused.
        first: the first wait in milliseconds; it doubles with each further failure.
        longest: the longest wait in milliseconds.
    """

    key: bytes
    free: int
    first: int
    longest: int

    def spare_key(self, now: int) -> bytes:
        """Return the key that counts the one attempt of the present period."""
        return attempt_key(f"spare {now // self.longest} of {self.longest} of", self.key.hex())

    def needs_spare(self, failures: Mapping[bytes, Failures], now: int) -> bool:
        """Return whether attempts are limited, but the time of the last failure is unusable."""
        found = failures.get(self.key)
        return found is not None and found.count >= self.free and found.last > now + CLOCK_TOLERANCE

    def refused_until(
        self,
        failures: Mapping[bytes, Failures],
        now: int,
        claimed: Collection[bytes] | None = None,
    ) -> int:
        """Return until when attempts are refused; if that is not after ``now``, they are not.

        Args:
            failures: the earlier failures, also those of the spare key.
            now: milliseconds since 1970-01-01 UTC.
            claimed: the spare keys that this attempt has counted, ``None`` before it counts.
        """
        found = failures.get(self.key)
        if found is None or found.count < self.free:
            return 0
        if self.needs_spare(failures, now):
            spare = self.spare_key(now)
            used = spare in failures or (claimed is not None and spare not in claimed)
            return (now // self.longest + 1) * self.longest if used else 0
        # After sixty doublings, any time exceeds the longest.
        return found.last + min(self.first << min(found.count - self.free, 60), self.longest)
