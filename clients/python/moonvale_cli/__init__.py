"""The command `moonvale`."""
