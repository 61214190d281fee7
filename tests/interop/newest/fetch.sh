#!/usr/bin/env bash
# fetch.sh DIRECTORY: the newest releases of other people's clients, from the registries they are published in.
# Says what it got and what it did not get, and writes DIRECTORY/environment for the interop tests (see
# foreignclients.h): what is not in there stays Debian's. Fails when it got nothing.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
into=$(realpath -m "$1")
rm -rf "$into"
mkdir -p "$into"
environment=$into/environment
: >"$environment"

say() { printf '%s\n' "$*" >&2; }
# The last lines of why it failed.
failed() { say "Not fetched: $1"; tail -n 5 "$2" | sed 's/^/    /' >&2; }

python_clients() {
    local python
    for python in python3 /usr/bin/python3; do
        rm -rf "$into/venv"
        if "$python" -m venv "$into/venv" && "$into/venv/bin/pip" install --quiet --disable-pip-version-check kazoo redis; then
            "$into/venv/bin/python" -c 'import kazoo.version, redis
print("Fetched: kazoo", kazoo.version.__version__, "and redis-py", redis.__version__)' || return 1
            printf 'export LOCKSCOPE_INTEROP_PYTHON=%q\n' "$into/venv/bin/python" >>"$environment"
            return 0
        fi
    done
    return 1
}

java_clients() {
    command -v mvn >/dev/null || { echo "mvn (Debian's maven) is not installed"; return 1; }
    mvn -B -q -Dstyle.color=never -f "$here/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$into/jars" || return 1
    local jar names=()
    for jar in "$into"/jars/curator-recipes-*.jar "$into"/jars/zookeeper-[0-9]*.jar; do
        [ -e "$jar" ] || return 1
        names+=("$(basename "$jar" .jar)")
    done
    printf '\nFetched: %s\n' "${names[*]}" # Maven leaves its line open
    printf 'export LOCKSCOPE_INTEROP_JARS=%q\n' "$into/jars" >>"$environment"
}

python_clients >"$into/python.log" 2>&1 || failed "kazoo and redis-py (the tests take Debian's)" "$into/python.log"
java_clients >"$into/java.log" 2>&1 || failed "Curator (the tests take Debian's)" "$into/java.log"
grep -h '^Fetched' "$into"/*.log >&2
say "Not part of these runs: Redisson, node-redlock, redsync, and a newer ZooKeeper server than Debian's."
[ -s "$environment" ]
