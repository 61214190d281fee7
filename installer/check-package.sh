#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries packages where nothing is there yet: in a minimal Debian, made for each of them and removed again.
set -euo pipefail
usage() {
    cat <<'TEXT'
installer/check-package.sh [deb | rpm | tarball]… [options]

  All three unless told. Each package is made, looked at by the checker of its kind (lintian, rpmlint; appstreamcli and
  desktop-file-validate), and tried in a clean root: installed in an older version with what it requires, upgraded,
  started, filled with a sandbox, and removed. Nothing of it may stay. The rpm and the tarball are tried without Qt.
  As root, some minutes and about 2 GB in a temporary folder for each. By hand, before a release.

  --release 12|13    the Debian of the roots; else this machine's. A deb for another release is built in a root of
                     it first, which takes a quarter of an hour more
  --build DIR        the build that the packages are made of; else build/release, which is made if need be
  --package FILE     try that file, of the one kind that is named
  --pictures DIR     leave the screenshots there
  --roots DIR        keep what debootstrap makes there, and use it the next time
  --mirror URL       where Debian's packages come from; else from where this machine has its own
TEXT
}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/.ci/packages.sh"
source "$root/.ci/root.sh"
source "$root/installer/trials.sh"

kinds=() release='' build=$root/build/release package='' pictures='' mirror='' roots='' keyring='' unsigned=''
while [ $# -gt 0 ]; do
    case $1 in
    deb | rpm | tarball) kinds+=("$1") ;;
    --release | --build | --package | --pictures | --roots | --mirror)
        [ -n "${2:-}" ] || { usage >&2; exit 2; }
        declare "${1#--}=$2"
        shift
        ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
    shift
done
[ ${#kinds[@]} -gt 0 ] || kinds=(deb rpm tarball)
[ "$(id -u)" = 0 ] || { say "A clean root is made as root: sudo $0"; exit 1; }
[ -z "$package" ] || [ ${#kinds[@]} = 1 ] || { say "--package FILE is of one kind: deb, rpm or tarball"; exit 2; }
here=$(sed -nE 's/^VERSION_ID="?([0-9]+).*/\1/p' /etc/os-release)
release=${release:-$here}
case $release in
12) suite=bookworm ;;
13) suite=trixie ;;
*) say "--release is 12 or 13, not $release"; exit 2 ;;
esac

# This script has started itself in namespaces, see below.
if [ -n "${CHECK_PACKAGE_FOLDER:-}" ]; then
    clean=$CHECK_PACKAGE_FOLDER/clean kind=${kinds[0]}
    "${CHECK_PACKAGE_TASK:?}"
    exit
fi

need_packages "${packages_to_package[@]}"
find_mirror
[ -z "$roots" ] || { mkdir -p "$roots" && roots=$(cd "$roots" && pwd); }
[ -z "$pictures" ] || { mkdir -p "$pictures" && pictures=$(cd "$pictures" && pwd); }

folder='' trial=''
leave() {
    trap '' INT TERM HUP
    [ -z "$trial" ] || { kill -KILL "$trial" 2>/dev/null || true; wait "$trial" 2>/dev/null || true; }
    [ -z "$folder" ] || rm -rf --one-file-system "$folder"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# in_namespaces TASK PACKAGE: mounts and processes of it cannot outlive this script, whatever ends it.
in_namespaces() {
    CHECK_PACKAGE_FOLDER=$folder CHECK_PACKAGE_TASK=$1 setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child \
        --mount-proc "$root/installer/check-package.sh" "$kind" --release "$release" --build "$build" --mirror "$mirror" \
        --package "${2:-none}" ${pictures:+--pictures "$pictures"} \
        ${roots:+--roots "$roots"} &
    trial=$!
    local status=0
    wait "$trial" || status=1
    trial=
    return $status
}

# make_package KIND: prints its file. A release of Debian that is not this one has its own build.
make_package() {
    local kind=$1 generator pattern made
    case $kind in
    deb) generator=DEB pattern='*.deb' ;;
    rpm) generator=RPM pattern='*.rpm' ;;
    tarball) generator=TGZ pattern='*.tar.gz' ;;
    esac
    made=$(mktemp -d "$folder/made.XXXXXX")
    if [ "$kind" = deb ] && [ "$release" != "$here" ]; then
        in_namespaces build_in_root >&2
        mv "$folder"/clean/srv/lockscope/build/release/lockscope_*.deb "$made/"
        rm -rf --one-file-system "$folder/clean"
    else
        if [ ! -e "$build/build.ninja" ]; then
            need_packages "${packages_to_build[@]}"
            (cd "$root" && cmake --preset release -B "$build" -DLOCKSCOPE_TESTS=OFF) >&2
        fi
        cmake --build "$build" --target lockscope lockscopectl lockscope-graph-layout >&2
        (cd "$build" && cpack -G "$generator" -B "$made") >&2
    fi
    # shellcheck disable=SC2086 # a pattern
    ls "$made"/$pattern
}

status=0
for kind in "${kinds[@]}"; do
    folder=$(mktemp -d "${TMPDIR:-/tmp}/lockscope-package.XXXXXX")
    # debootstrap does without a folder that its users cannot enter.
    chmod 755 "$folder"
    file=$package
    if [ -z "$file" ]; then
        echo "== $kind: made =="
        file=$(make_package "$kind") || { say "could not make the $kind"; exit 1; }
    fi
    file=$(cd "$(dirname "$file")" && pwd)/$(basename "$file")
    began=$SECONDS
    if "lint_$kind" "$file" && in_namespaces "try_$kind" "$file"; then
        echo "== Debian $release, $kind: $(basename "$file") installs, starts, upgrades and goes; $((SECONDS - began)) s =="
    else
        echo "== Debian $release, $kind: $(basename "$file") FAILED =="
        status=1
    fi
    rm -rf --one-file-system "$folder"
    folder=
done
exit $status
