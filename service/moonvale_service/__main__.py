"""`python -m moonvale_service` serves, as `moonvale serve` does."""

from __future__ import annotations

import os
import sys

from moonvale_service.supervisor import main

sys.exit(main(os.environ))
