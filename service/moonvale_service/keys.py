"""``python -m moonvale_service.keys``: makes the keys that are missing, for services that share a store.

They are the files ``keys``, ``creator_key`` and ``operator_key`` in the folder that MOONVALE_DATA names, unless other
settings name theirs. A service with an embedded store makes its own; several that share a store have to share keys.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from moonvale_service.credentials import load_keys
from moonvale_service.server import EXIT_SETTING
from moonvale_service.settings import SettingError, Settings, variable_of


def main(environment: Mapping[str, str]) -> int:
    """Make what is missing, and return the exit code."""
    try:
        settings = Settings.from_environment(environment)
        load_keys(settings, make=True)
    except SettingError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_SETTING
    except OSError as error:
        sys.stderr.write(f"{variable_of('data')}: {settings.data} can't be used: {error.strerror}\n")
        return EXIT_SETTING
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ))
