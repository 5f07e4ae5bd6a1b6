"""Whether this is CI, and what that means for programs that a machine may lack."""

from __future__ import annotations

import os
from typing import Final, NoReturn

import pytest

UNDER_CI: Final = os.environ.get("CI", "") == "true"


def do_without(missing: str) -> NoReturn:
    """Skip a test for want of something; under CI, where all of it can be had, the test fails."""
    (pytest.fail if UNDER_CI else pytest.skip)(missing)
