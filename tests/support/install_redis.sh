#!/bin/sh
# Makes Redis available to the tests where that takes one package and leaves no service behind.
#
# Debian's redis-server package starts a service and enables it for the next boot. redis-tools brings the same program
# (redis-check-rdb is the server under another name; tests/support/servers.py calls it by its first) and nothing that runs.
set -eu

if command -v redis-server >/dev/null || command -v redis-check-rdb >/dev/null; then
    exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "No redis-server here: tests on Redis will be skipped. On Debian and Ubuntu, as root: apt-get install redis-tools" >&2
    exit 0
fi

echo "Installing redis-tools, for the tests that run on Redis too"
install() {
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --quiet --no-install-recommends redis-tools \
        </dev/null >"$log" 2>&1
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! install && ! { apt-get update --quiet --quiet >"$log" 2>&1 && install; }; then
    cat "$log" >&2
    echo "redis-tools could not be installed: tests on Redis will be skipped (under CI=true they fail)" >&2
fi
