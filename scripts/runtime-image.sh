#!/usr/bin/env bash
# runtime-image.sh IMAGE ensures that the base image of the Dockerfile exists. The build
# itself pulls images of a registry; relabel/runtime:bookworm is made here in a second:
# relabel is static and needs certificates, a user and /tmp.
set -euo pipefail
image=$1
stand_in=relabel/runtime:bookworm
certificates=/etc/ssl/certs/ca-certificates.crt

if [ "$image" != "$stand_in" ] || docker image inspect "$image" >/dev/null 2>&1; then
    exit
fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/etc/ssl/certs" "$root/tmp"
chmod 755 "$root"
chmod 1777 "$root/tmp"
[ -e "$certificates" ] || certificates=/etc/ssl/cert.pem
cp "$certificates" "$root/etc/ssl/certs/ca-certificates.crt"
echo 'nonroot:x:65532:65532:nonroot:/var/lib/relabel:/sbin/nologin' >"$root/etc/passwd"
echo 'nonroot:x:65532:' >"$root/etc/group"
tar -C "$root" --owner=0 --group=0 --numeric-owner -c . |
    docker import --change 'ENV PATH=/usr/local/bin' --change 'LABEL relabel.runtime=1' - "$image" >/dev/null
echo "runtime image: $image made" >&2
