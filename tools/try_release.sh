#!/usr/bin/env bash
# Tries the two commands in a chroot of the Debian release that this machine does not run, or of the
# one that is named, from the files of this tree as a fresh clone has them. Needs root and
# debootstrap (installed when it can be had); exits with 77 and the reason when it cannot be tried
# here.

set -eu
cd "$(dirname "$0")/.."
running=$(. /etc/os-release && echo "${VERSION_CODENAME:-unknown}")
release=${1:-$([ "$running" = bookworm ] && echo trixie || echo bookworm)}
root=build/chroot/$release

skip()
{
    echo "Debian $release not tried: $1"
    exit 77
}

[ "$(id -u)" -eq 0 ] || skip "needs root"
git rev-parse --git-dir >/dev/null 2>&1 || skip "not a git checkout"
unshare --mount --pid --fork true 2>/dev/null || skip "no mount namespaces here"
command -v debootstrap >/dev/null ||
    { apt-get install -y -q debootstrap || { apt-get update -q && apt-get install -y -q debootstrap; }; } ||
    skip "debootstrap cannot be had"

rm -rf --one-file-system "$root"
mkdir -p "$root"
debootstrap --variant=minbase --include=ca-certificates,git,make,gcc,libc6-dev,python3 "$release" "$root" ||
    skip "debootstrap failed"

# The way to the outside is this machine's own: name resolution, certificates, package tool settings.
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-)' >"$root/etc/apt/apt.conf.d/99host" || true
git ls-files -z --cached --others --exclude-standard |
    tar --null --files-from=- --ignore-failed-read -c | tar -x -C "$root" --one-top-level=tree

settings=$(env | grep -E '^(https?_proxy|no_proxy|PIP_CERT|PIP_INDEX_URL|PIP_DEFAULT_TIMEOUT)=' || true)
unshare --mount --pid --fork --kill-child bash -euc '
    mount -t proc proc "$1/proc"
    mount -t tmpfs tmpfs "$1/dev/shm"
    mount -t devpts devpts "$1/dev/pts"
    root=$1
    shift
    exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@" sh -ec "
        cd /tree
        make demo
        make demo
        make test"
' chroot "$root" $settings
rm -rf --one-file-system "$root"
