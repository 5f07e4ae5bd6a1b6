"""The error of the command: one line that says what is wrong and what would be right."""


class CommandError(Exception):
    """The command can't go on; the message is for people."""
