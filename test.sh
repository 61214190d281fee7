#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs the tests. Arguments go to ctest: ./test.sh -L unit
# Without any, every test is run, and nothing is measured: that wants a quiet machine (./test.sh -L bench).
# With --soak N, the recipes are held against N seeds each in the simulated world, after the other tests.
# With --build-only, nothing is run.
# With --interop, the interop tests run once more, against the newest clients and ZooKeeper server that can be fetched,
# and some of the others against newer servers of the other kinds.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$root/.ci/packages.sh"
# ASan+UBSan with LOCKSCOPE_PRESET=asan.
preset=${LOCKSCOPE_PRESET:-release}
build=$root/build/$preset

interop= soak= build_only=
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    --interop) interop=yes ;;
    --build-only) build_only=yes ;;
    --soak)
        soak=${2:-}
        [[ $soak =~ ^[1-9][0-9]*$ ]] || { echo "test.sh: --soak wants a number of seeds" >&2; exit 2; }
        shift
        ;;
    *) arguments+=("$1") ;;
    esac
    shift
done

# Messages and encodings do not depend on whose machine this is.
export LC_ALL=C.UTF-8

need_packages "${packages_to_build[@]}" "${packages_to_run[@]}" "${packages_to_test[@]}"
# clang compiles for the sanitizers in two thirds of GCC's time, and what it makes for TSan runs in as much. It is done
# without where it is not to be had, and where somebody chose a compiler or has begun with one.
compiler=()
if [[ $preset = @(asan|tsan) ]] && [ -z "${CXX:-}" ] && [ ! -e "$build/CMakeCache.txt" ]; then
    need_packages "${packages_to_sanitize[@]}" || say "Going on with the compiler there is."
    if clang++-16 -fsanitize=address,undefined -x c++ -o /dev/null - <<<'int main() {}' 2>/dev/null; then
        compiler=(-DCMAKE_CXX_COMPILER=clang++-16)
    fi
fi
(cd "$root" && cmake --preset "$preset" "${compiler[@]}" -DLOCKSCOPE_TESTS=ON \
    ${LOCKSCOPE_WERROR:+-DLOCKSCOPE_WERROR="$LOCKSCOPE_WERROR"})
cmake --build "$build"
[ -z "$build_only" ] || exit 0

# The tests write settings and audit records of their own, not those of whoever runs them.
export XDG_CONFIG_HOME=$build/home/config XDG_STATE_HOME=$build/home/state
export XDG_DATA_HOME=$build/home/data XDG_CACHE_HOME=$build/home/cache
rm -rf "$build/home"
mkdir -p "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" "$XDG_DATA_HOME" "$XDG_CACHE_HOME"
# Most of them wait for servers, so more of them at a time than there are cores; what computes says so to ctest
# (PROCESSORS), and what measures is alone. LOCKSCOPE_TEST_JOBS says otherwise.
run_tests() {
    local result=0
    ctest --test-dir "$build" -j "${LOCKSCOPE_TEST_JOBS:-$(($(nproc) * 3))}" --output-on-failure --no-tests=error "$@" \
        </dev/null || result=$?
    # ctest counts as passed what skipped itself, and keeps the reason in its log. That a promise is none of a recipe's
    # is said a thousand times there, and counted here.
    local log=$build/Testing/Temporary/LastTest.log skipped none
    skipped=$(sed -nE 's/^SKIP +: ([^:]+)::[^(]+\([^)]*\) /  \1: /p' "$log" 2>/dev/null | sort | uniq)
    none=$(grep -c 'does not \(apply\|hold\)' <<<"$skipped" || true)
    skipped=$(grep -v 'does not \(apply\|hold\)' <<<"$skipped" || true)
    [ -z "$skipped" ] || printf 'Skipped in part:\n%s\n' "$skipped"
    [ "$none" = 0 ] || echo "And where a recipe does not promise what is asked of others: $none times, each with its reason in $log"
    return $result
}

[ "${#arguments[@]}" -gt 0 ] || arguments=(-LE '^bench$')
status=0
run_tests "${arguments[@]}" || status=$?
if [ -n "$soak" ]; then
    say "Holding every recipe against $soak seeds"
    LOCKSCOPE_SEEDS=$soak QTEST_FUNCTION_TIMEOUT=2147483647 "$build/tests/simulate/tests_simulate" tst_seeds || status=$?
fi
if [ -n "$interop" ]; then
    say "Fetching the newest clients and the newest ZooKeeper server"
    if "$root/tests/interop/newest/fetch.sh" "$root/build/interop"; then
        source "$root/build/interop/environment"
        run_tests -L interop || status=$?
    else
        say "None of them could be fetched: --interop tested nothing more."
        status=1
    fi
    say "Fetching newer servers"
    if "$root/tests/interop/newest/servers.sh" "$root/build/interop-servers"; then
        while IFS=$'\t' read -r what programs tests; do
            say "Against $what"
            PATH=$programs:$PATH run_tests -R "$tests" || status=$?
        done <"$root/build/interop-servers/list"
    fi
fi
exit "$status"
