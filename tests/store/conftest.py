"""Lets pytest explain failed asserts in the contract suite, which is not a test module."""

import pytest

pytest.register_assert_rewrite("tests.store.contract")
