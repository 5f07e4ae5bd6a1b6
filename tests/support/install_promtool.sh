#!/bin/sh
# Makes promtool available to the tests of alerts and of Prometheus' configuration, in build/tools, where apt can fetch it.
#
# Debian's prometheus package starts a service and enables it for the next boot, so it is unpacked and not installed.
set -eu

cd "$(dirname "$0")/../.."
if command -v promtool >/dev/null || [ -x build/tools/promtool ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "No promtool here: two tests of deploy/monitoring will be skipped. It comes with Prometheus." >&2
    exit 0
fi

echo "Fetching promtool, for the tests of alerts"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fetch() {
    (cd "$folder" && apt-get download --quiet --quiet -o APT::Sandbox::User=root prometheus </dev/null >log 2>&1)
}
update() {
    [ "$(id -u)" -eq 0 ] && apt-get update --quiet --quiet >"$folder/log" 2>&1
}
if ! fetch && ! { update && fetch; }; then
    cat "$folder/log" >&2
    echo "promtool could not be fetched: two tests of deploy/monitoring will be skipped (under CI=true they fail)" >&2
    exit 0
fi
dpkg-deb --fsys-tarfile "$folder"/prometheus_*.deb | tar -x -C "$folder" ./usr/bin/promtool
mkdir -p build/tools
mv "$folder/usr/bin/promtool" build/tools/promtool
