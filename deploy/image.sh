#!/bin/sh
# Builds the image with whichever of docker, podman and buildah is there: deploy/image.sh NAME:TAG [option of build]...
#
# PIP_CONFIG: a pip.conf that says which index to use, if it isn't the public one.
set -eu

image=$1
shift
cd "$(dirname "$0")/.."

if docker info >/dev/null 2>&1; then
    set -- docker build "$@"
elif command -v podman >/dev/null; then
    set -- podman build --format docker "$@" # the OCI format has no health checks
elif command -v buildah >/dev/null; then
    set -- buildah build --format docker "$@"
else
    echo "An image is built by docker, podman or buildah, and none of them is here (Debian: apt-get install podman)." >&2
    exit 1
fi
if [ -n "${PIP_CONFIG:-}" ]; then
    set -- "$@" --secret "id=pip.conf,src=$PIP_CONFIG"
fi
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
exec "$@" \
    --file deploy/Dockerfile \
    --tag "$image" \
    --build-arg "VERSION=$version" \
    --build-arg "REVISION=$(git rev-parse HEAD 2>/dev/null || echo unknown)" \
    --build-arg "CREATED=$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
    .
