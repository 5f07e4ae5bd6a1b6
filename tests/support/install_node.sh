#!/bin/sh
# Makes Node.js available to the tests of the TypeScript client where Debian has one that is new enough.
set -eu

if command -v node >/dev/null && command -v npm >/dev/null; then
    exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "No Node.js with npm here: tests of the TypeScript client will be skipped. It is in Debian and Ubuntu: nodejs npm" >&2
    exit 0
fi

echo "Installing nodejs and npm, for the tests of the TypeScript client"
install() {
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --quiet --no-install-recommends nodejs npm \
        </dev/null >"$log" 2>&1
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! install && ! { apt-get update --quiet --quiet >"$log" 2>&1 && install; }; then
    cat "$log" >&2
    echo "Node.js could not be installed: tests of the TypeScript client will be skipped (under CI=true they fail)" >&2
fi
