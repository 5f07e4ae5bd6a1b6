"""Certificates for tests: authorities made on the spot, and files of what they have signed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import trustme


class Authority:
    """An authority, and the files of what it signs, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._authority = trustme.CA()
        self.file = folder / "ca.pem"
        self.pem = self._authority.cert_pem.bytes()
        self.file.write_bytes(self.pem)

    def sign(self, name: str = "server", *, days: int = 30) -> tuple[Path, Path]:
        """Return the files of a new certificate for this machine and of its key; ``name`` is theirs."""
        leaf = self._authority.issue_cert("localhost", "127.0.0.1", not_after=datetime.now(UTC) + timedelta(days=days))
        cert, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        cert.write_bytes(b"".join([each.bytes() for each in leaf.cert_chain_pems]))
        key.write_bytes(leaf.private_key_pem.bytes())
        key.chmod(0o600)
        return cert, key
