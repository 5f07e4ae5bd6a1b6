#!/usr/bin/env python3
"""Prints the Secret moonvale-keys with new keys: python3 make_secret.py | kubectl apply -f - (once; keep a copy).

What is in it: docs/security.md. Whoever loses it locks everybody out of their games; whoever reads it can play for all.
"""

import base64
import json
import secrets
import sys


def key() -> str:
    """Return 32 random bytes in base64url."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode("ascii").rstrip("=")


secret = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "moonvale-keys", "namespace": "moonvale", "labels": {"app.kubernetes.io/name": "moonvale"}},
    "type": "Opaque",
    "stringData": {
        "keys": f"{key()}\n",
        "creator_key": f"mvk1.{key()}\n",
        "operator_key": f"mvo1.{key()}\n",
    },
}
json.dump(secret, sys.stdout, indent=2)
sys.stdout.write("\n")
