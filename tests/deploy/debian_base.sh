#!/bin/sh
# Makes the two base images of deploy/Dockerfile from Debian's packages, for machines that can't reach a registry of images:
# tests/deploy/debian_base.sh docker|podman. They are of the Debian that runs here, and trust the certificates that it trusts.
set -eu

engine=$1
. /etc/os-release
sources=/etc/apt/sources.list.d/debian.sources
[ -e "$sources" ] || sources=/etc/apt/sources.list
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

make_base() { # its tag, its packages
    if "$engine" image inspect "localhost/moonvale-debian:$1" >/dev/null 2>&1; then
        return
    fi
    echo "Making a base image of Debian $VERSION_CODENAME: $2"
    mmdebstrap --quiet --variant=minbase --include="$2" \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --customize-hook='copy-in /usr/local/share/ca-certificates /usr/local/share' \
        --customize-hook='chroot "$1" update-ca-certificates' \
        "$VERSION_CODENAME" "$folder/$1.tar" "$sources"
    "$engine" import "$folder/$1.tar" "localhost/moonvale-debian:$1"
    rm "$folder/$1.tar"
}

make_base build python3,python-is-python3,python3-venv,python3-dev,gcc,libc6-dev,ca-certificates
make_base run python3,python-is-python3,ca-certificates
