# SPDX-License-Identifier: Apache-2.0
# Minimal Debian roots for a trial. Sourced by .ci/fresh-root and installer/check-package.sh, after packages.sh, with the
# variables mirror, keyring and unsigned of their options, which may be empty. The folder `roots`, if set, keeps what
# debootstrap makes for the next root.

# Of whatever release: a mirror has them all.
find_mirror() {
    [ -z "$mirror" ] || return 0
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 'Component: main' | head -n 1)
    [ -n "$mirror" ] || { say "This machine's apt knows no mirror of Debian: --mirror URL"; exit 1; }
}

# make_root SUITE FOLDER: as a machine is before anybody installed anything on it.
make_root() {
    local suite=$1 clean=$2 options=(--variant=minbase)
    [ -z "$keyring" ] || options+=("--keyring=$keyring")
    [ -z "$unsigned" ] || options+=(--no-check-gpg)
    if [ -n "${roots:-}" ] && [ -e "$roots/$suite.tar" ]; then
        mkdir -p "$clean"
        tar -x --numeric-owner -f "$roots/$suite.tar" -C "$clean"
    else
        debootstrap "${options[@]}" "$suite" "$clean" "$mirror" >"$clean.log" 2>&1 ||
            { tail -n 20 "$clean.log" >&2; return 1; }
        if [ -n "${roots:-}" ]; then
            # If this is interrupted, the next run does not find half a root.
            local part
            part=$(mktemp "$roots/$suite.part.XXXXXX")
            tar -c --numeric-owner -f "$part" -C "$clean" . || { rm -f "$part"; return 1; }
            mv "$part" "$roots/$suite.tar"
        fi
    fi
    mount -t proc proc "$clean/proc"
    mount -t sysfs -o ro sysfs "$clean/sys"
    mkdir -p "$clean/dev/pts" "$clean/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$clean/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$clean/dev/shm"
    printf '127.0.0.1 localhost\n::1 localhost\n' >"$clean/etc/hosts"
    # The ports are those of this machine: Debian's own Redis shall not come to listen there.
    printf '#!/bin/sh\nexit 101\n' >"$clean/usr/sbin/policy-rc.d"
    chmod 755 "$clean/usr/sbin/policy-rc.d"
    # Nothing here need survive a power cut.
    echo force-unsafe-io >"$clean/etc/dpkg/dpkg.cfg.d/unsafe-io"
    # Images come without package lists.
    find "$clean/var/lib/apt/lists" -type f -delete
    printf 'deb %s%s %s main\n' "${unsigned:+[trusted=yes] }" "$mirror" "$suite" >"$clean/etc/apt/sources.list"
    # The way out is this machine's: its resolver, and how its apt gets through.
    cat /etc/resolv.conf >"$clean/etc/resolv.conf"
    apt-config dump | grep -E '^Acquire::(http|https|Retries|Check-Valid-Until|Check-Date)(:| )' |
        grep -v -i 'auto-\?detect' >"$clean/etc/apt/apt.conf.d/99way-out" || true
    if [[ $mirror = https:* ]]; then
        # The package that has them would have to be fetched first.
        install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$clean/etc/ssl/certs/ca-certificates.crt"
    fi
}
