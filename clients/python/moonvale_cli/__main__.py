"""`python -m moonvale_cli` is the command `moonvale`."""

import sys

from moonvale_cli.main import main

sys.exit(main())
