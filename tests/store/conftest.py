"""Has pytest explain failed asserts in the contract suite, which is no test module itself."""

import pytest

pytest.register_assert_rewrite("tests.store.contract")
