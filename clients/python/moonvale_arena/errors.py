"""The error of the arena: one line that says what is wrong and what would be right."""


class ArenaError(Exception):
    """The event can't begin, or can't go on; the message is for people."""


def fail_without(package: str) -> ArenaError:
    """Return the error that says what to install."""
    return ArenaError(f"needs {package}, which is not installed: pip install 'moonvale[arena]'")
