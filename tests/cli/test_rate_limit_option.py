"""Parsing of ``--rate-limit``."""

from mapshelf.cli.rate_limit_option import rate_limits
from mapshelf.settings import RECOMMENDED_LIMITS, Budget, RateLimit


def test_later_rate_limits_override_earlier_ones() -> None:
    assert rate_limits([]) == {}
    assert rate_limits(["recommended"]) == RECOMMENDED_LIMITS
    found = rate_limits(["api=5/1", "recommended", "pages=off", "pictures=7/2"])
    expected = {**RECOMMENDED_LIMITS, Budget.PICTURES: RateLimit(7, 2)}
    del expected[Budget.PAGES]
    assert found == expected
