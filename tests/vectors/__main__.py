"""Writes the vectors anew after a change of the contract: python -m tests.vectors."""

from tests.vectors.contract import FILE, text

FILE.write_text(text(), encoding="utf-8")
