"""Names that no new user may have."""

import pytest

from mapshelf.accounts.names import is_unusable
from mapshelf.model import is_user_name


@pytest.mark.parametrize(
    "name",
    [
        *("/", "//", ".", "..", "...", "./", "../.."),
        *("deleted user 5", "Deleted User 12", "DELETED USER 0", "deleted user \u0665"),
        *("ann  lee", "deleted  user 5", " ann", "ann ", "", "deleted\u3164 user 5", "．"),
    ],
)
def test_unusable_names(name: str) -> None:
    assert is_unusable(name)


@pytest.mark.parametrize(
    "name",
    [
        *("ann", "Ann Lee", "a.b", "a/b", ".ann", "-", "_", "李雷", "🌳", "deleted", "5"),
        *("deleted user", "deleted user five", "undeleted user 5", "deleted user 5b"),
    ],
)
def test_usable_names(name: str) -> None:
    assert is_user_name(name)
    assert not is_unusable(name)
