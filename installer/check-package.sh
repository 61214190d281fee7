#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian package and tries it in a clean root: it installs with what it depends on, both
# programs start, the sandbox works with what it recommends, and removing it leaves nothing of it.
# As root, with debootstrap, some minutes and about 2 GB in a temporary folder. By hand, before a release.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/.ci/packages.sh"
[ "$(id -u)" = 0 ] || { say "A clean root is made as root: sudo $0"; exit 1; }
need_packages "${packages_to_build[@]}" debootstrap dpkg-dev

build=$root/build/release
[ -e "$build/build.ninja" ] || (cd "$root" && cmake --preset release)
cmake --build "$build"
rm -f "$build"/lockscope_*.deb
(cd "$build" && cpack -G DEB)
package=$(ls "$build"/lockscope_*.deb)
dpkg-deb --info "$package"
dpkg-deb --contents "$package"

suite=${1:-bookworm}
# Where this machine's own packages come from, unless told.
mirror=${2:-$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" | head -n 1)}
clean=$(mktemp -d)
leave() {
    umount "$clean/root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$clean"
}
trap leave EXIT
debootstrap --variant=minbase "$suite" "$clean/root" "$mirror"
mount -t proc proc "$clean/root/proc"
# The machine's own way out.
cp /etc/resolv.conf "$clean/root/etc/resolv.conf"
apt-config dump Acquire::http::Proxy >"$clean/root/etc/apt/apt.conf.d/99proxy"
printf '#!/bin/sh\nexit 101\n' >"$clean/root/usr/sbin/policy-rc.d"
chmod +x "$clean/root/usr/sbin/policy-rc.d"
cp "$package" "$clean/root/tmp/lockscope.deb"

inside() { chroot "$clean/root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive QT_QPA_PLATFORM=offscreen "$@"; }

inside apt-get -qq update
echo "== with what it depends on =="
inside apt-get -qq -y --no-install-recommends install /tmp/lockscope.deb
inside lockscopectl --version
inside lockscopectl recipes >/dev/null
inside lockscope --version
inside test -x /usr/libexec/lockscope/lockscope-graph-layout
# A machine without the servers says which packages it wants.
if inside lockscopectl sandbox 2>"$clean/said"; then
    say "A sandbox started without servers?"
    exit 1
fi
grep -q default-jre-headless "$clean/said" && grep -q redis-server "$clean/said"

echo "== with what it recommends =="
recommended=$(dpkg-deb --field "$package" Recommends | tr -d ',')
# shellcheck disable=SC2086 # one word per package
inside apt-get -qq -y --no-install-recommends install $recommended
inside lockscopectl --connect sandbox: --json locks
inside timeout 60 lockscope --connect sandbox: --demo --screenshot /tmp/locks.png --after 20
[ -s "$clean/root/tmp/locks.png" ]

echo "== removed =="
inside apt-get -qq -y purge lockscope
! find "$clean/root/usr" -name '*lockscope*' | grep .
echo "The package installs, starts and goes."
