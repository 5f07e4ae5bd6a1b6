"""The error of the command: one line that says what is wrong and what would be right."""


class CommandError(Exception):
    """The command can't go on; the message is for people."""


def service_missing(error: ImportError) -> CommandError:
    """Return the error for a service that can't be imported, since a package that it needs is not installed."""
    return CommandError(
        f"the service needs the package {error.name}, which is not installed: pip install 'moonvale[service]'"
    )
