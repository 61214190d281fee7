#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and opens Lockscope: without arguments on a private sandbox with
# live demo locks, else as told (./run.sh --connect zk://host:2181).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$root/build/release
source "$root/.ci/packages.sh"

need_packages "${packages_to_build[@]}" "${packages_to_run[@]}"

build_programs() {
    if [ ! -e "$build/build.ninja" ]; then
        (cd "$root" && cmake --preset release) || return 1
    fi
    cmake --build "$build" --target lockscope lockscopectl
}
# The first build takes minutes and shows its progress; later ones have nothing to say unless they fail.
if [ -x "$build/app/lockscope/lockscope" ]; then
    log=$build/last-build.log
    build_programs >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
else
    build_programs >&2
fi
# A new machine has no locale; Qt 6.8 says at every start that it wants UTF-8.
[ "$(locale charmap 2>/dev/null)" = UTF-8 ] || export LC_ALL=C.UTF-8
lockscope=$build/app/lockscope/lockscope
lockscopectl=$build/app/lockscopectl/lockscopectl

[ $# -gt 0 ] || set -- --connect sandbox: --demo
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}${QT_QPA_PLATFORM:-}" ]; then
    exec "$lockscope" "$@"
fi

# No display from here on.
export QT_QPA_PLATFORM=offscreen
for argument in "$@"; do
    case $argument in
    --screenshot | --screenshot=* | --help | -h | --version) exec "$lockscope" "$@" ;;
    esac
done

say "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set): pictures instead of a window."
# One sandbox for all pictures and the table.
if [ "$*" = "--connect sandbox: --demo" ]; then
    exec 3< <(exec "$lockscopectl" sandbox --demo)
    sandbox=$!
    trap 'kill "$sandbox" 2>/dev/null; wait "$sandbox" 2>/dev/null || true' EXIT
    set --
    # A line each for ZooKeeper and Redis, the second one without waiting if there is but one.
    while read -r -t "$([ $# = 0 ] && echo 90 || echo 5)" line <&3; do
        set -- "$@" --connect "$line"
        [ $# -lt 4 ] || break
    done
    [ $# -gt 0 ] || { say "The sandbox did not start."; exit 1; }
fi

# The table takes the connections, the pictures also what does not choose a page and its look.
connections=() view=()
while [ $# -gt 0 ]; do
    case $1 in
    --connect | --production) connections+=("$1" "${2:-}"); shift ;;
    --connect=* | --production=* | --read-only) connections+=("$1") ;;
    --page | --theme | --size | --after) shift ;;
    --page=* | --theme=* | --size=* | --after=*) ;;
    *) view+=("$1") ;;
    esac
    [ $# -eq 0 ] || shift
done

pictures=$root/build/screenshots
mkdir -p "$pictures"
pages=$("$lockscope" --page '?' 2>&1 | sed -n 's/.*pages: //; s/,//gp') || true
for theme in light dark; do
    for page in $pages; do
        "$lockscope" "${connections[@]}" "${view[@]}" --theme "$theme" --page "$page" --size 1440x900 --after 5 \
            --screenshot "$pictures/$page-$theme.png" || say "No picture of the $page page ($theme)."
    done
done
say "Screenshots of the pages, light and dark: $pictures"
"$lockscopectl" "${connections[@]}" locks
