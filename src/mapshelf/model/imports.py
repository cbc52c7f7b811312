"""Files that imports refused, and the reasons."""

from dataclasses import dataclass
from enum import StrEnum


class RefusalKind(StrEnum):
    """Whether a refused file was certainly or only possibly a map."""

    REFUSED = "refused"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that an import refused.

    Attributes:
        path: path for display.
        reason: one-line reason.
        kind: see ``RefusalKind``.
        modified: modification time in nanoseconds, 0 if unknown.
    """

    path: str
    reason: str
    kind: RefusalKind
    modified: int = 0


@dataclass(frozen=True, slots=True)
class NotedRefusal:
    """A refused file as recorded in the store.

    Attributes:
        digest: identifies the path in forms.
        path: see ``Refusal``.
        reason: see ``Refusal``.
        noted: when it was recorded, in milliseconds since 1970-01-01 UTC.
    """

    digest: bytes
    path: str
    reason: str
    noted: int
