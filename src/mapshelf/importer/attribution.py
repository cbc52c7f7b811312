"""Owner and category for all maps of an import.

This is a separate module so that commands can use it without loading the map readers.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attribution:
    """Owner and category that the operator gives to all maps of an import, or ``None``."""

    owner: str | None = None
    category: str | None = None
