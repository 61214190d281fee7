#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch.sh DIRECTORY: the newest releases of other people's clients, and of ZooKeeper's server, from the registries
# they are published in. Says what it got and what it did not get, and writes DIRECTORY/environment for the tests
# (see foreignclients.h and fetched.h) with both. Of kazoo, redis-py, Curator and the server the tests then take
# Debian's; those of the others skip. Fails when it got nothing.
#
# What somebody has already, or built from its source where no registry hands it out, is taken as it is where
# LOCKSCOPE_INTEROP_NAME says so, by the names of the last lines here: LOCKSCOPE_INTEROP_SIDEKIQ=FOLDER for one that
# `gem install --install-dir FOLDER` filled, LOCKSCOPE_INTEROP_SHEDLOCK_ZOOKEEPER=FOLDER for one of jars.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
into=$(realpath -m "$1")
rm -rf "$into"
mkdir -p "$into"
environment=$into/environment
: >"$environment"
got=

say() { printf '%s\n' "$*" >&2; }
let_tests_know() { printf 'export LOCKSCOPE_INTEROP_%s=%q\n' "$1" "$2" >>"$environment"; }
# installed PROGRAM PACKAGE
installed() { command -v "$1" >/dev/null || { echo "$1 (Debian's $2) is not installed"; return 1; }; }

# fetch NAME WHAT COMMAND…: WHAT is for people, NAME for the tests; the first line of COMMAND's output that tells of
# an error is why it failed.
fetch() {
    local name=$1 what=$2 log=$into/$1.log own=LOCKSCOPE_INTEROP_$1 why
    shift 2
    if [ -n "${!own:-}" ]; then
        got=yes
        say "Not fetched, for $own says ${!own}: $what"
        # The tests run in another folder.
        [ ! -e "${!own}" ] || let_tests_know "$name" "$(realpath "${!own}")"
        return 0
    fi
    if "$@" >"$log" 2>&1; then
        got=yes
        grep -ahE '^(Fetched|Passed over)' "$log" >&2
        return 0
    fi
    why=$( (grep -aim 1 -E 'not installed|error|failed|forbidden|requires' "$log" || tail -n 1 "$log") |
        tr -d '\033\r' | cut -c 1-300)
    say "Not fetched: $what: ${why:-for a reason it did not tell}"
    let_tests_know "WITHOUT_$name" "$what: $why"
    return 1
}

python_clients() {
    local python
    for python in python3 /usr/bin/python3; do
        rm -rf "$into/venv"
        if "$python" -m venv "$into/venv" && "$into/venv/bin/pip" install --quiet --disable-pip-version-check kazoo redis; then
            "$into/venv/bin/python" -c 'import kazoo.version, redis
print("Fetched: kazoo", kazoo.version.__version__, "and redis-py", redis.__version__)' || return 1
            let_tests_know PYTHON "$into/venv/bin/python"
            return 0
        fi
    done
    return 1
}

# The public SDK of the Model Context Protocol.
python_mcp() {
    rm -rf "$into/venv-mcp"
    python3 -m venv "$into/venv-mcp" && "$into/venv-mcp/bin/pip" install --quiet --disable-pip-version-check mcp || return 1
    "$into/venv-mcp/bin/python" -c 'from importlib.metadata import version; print("Fetched: mcp", version("mcp"))' || return 1
    let_tests_know PYTHON_MCP "$into/venv-mcp/bin/python"
}

# Beside the others: they bring a redis-py of their own choice.
python_locks() {
    local python
    for python in python3 /usr/bin/python3; do
        rm -rf "$into/venv-locks"
        if "$python" -m venv "$into/venv-locks" &&
            "$into/venv-locks/bin/pip" install --quiet --disable-pip-version-check python-redis-lock django-redis redis-semaphore \
                sherlock; then
            "$into/venv-locks/bin/python" -c 'from importlib.metadata import version
print("Fetched: python-redis-lock", version("python-redis-lock"), "django-redis", version("django-redis"), "sherlock",
    version("sherlock"), "and redis-semaphore of PyPI", version("redis-semaphore"))' || return 1
            let_tests_know PYTHON_LOCKS "$into/venv-locks/bin/python"
            return 0
        fi
    done
    return 1
}

# Its drivers are those that are published ready to be used: none is compiled here.
django() {
    local python
    for python in python3 /usr/bin/python3; do
        rm -rf "$into/venv-django"
        if "$python" -m venv "$into/venv-django" &&
            "$into/venv-django/bin/pip" install --quiet --disable-pip-version-check django django-mysql django-pglock \
                'psycopg[binary]' pymysql; then
            "$into/venv-django/bin/python" -c 'from importlib.metadata import version
print("Fetched: Django", version("django"), "with django-mysql", version("django-mysql"), "and django-pglock",
    version("django-pglock"))' || return 1
            let_tests_know DJANGO "$into/venv-django/bin/python"
            return 0
        fi
    done
    return 1
}

# jars FILE FOLDER [OPTION…]: what FILE.xml names.
jars() {
    installed mvn maven || return 1
    mvn -B -q -Dstyle.color=never -f "$here/$1.xml" dependency:copy-dependencies "-DoutputDirectory=$into/$2" "${@:3}"
}

# newest_jars FILE FOLDER GROUP BELOW: the newest release below BELOW. A registry may list one of GROUP that it does
# not hand out yet, or not in full: then the one before that.
newest_jars() {
    local below=$4 log attempt broken
    log=$(mktemp)
    for attempt in 1 2 3; do
        jars "$1" "$2" "-Dbelow=$below" >"$log" 2>&1 && break
        broken=$(grep -aoE "$3:[a-z-]+:(pom|jar):[0-9][0-9.]*" "$log" | head -n 1)
        if [ -z "$broken" ] || [ "$below" = "${broken##*:}" ]; then
            cat "$log"
            rm -f "$log"
            return 1
        fi
        below=${broken##*:}
        echo "Passed over: ${broken%%:*} $below, which cannot be had in full"
    done
    rm -f "$log"
    [ -n "$(ls "$into/$2" 2>/dev/null)" ]
}

# The names of these jars, as of what was fetched.
tell_jars() {
    local jar names=()
    for jar in "$@"; do
        [ -e "$jar" ] || return 1
        names+=("$(basename "$jar" .jar)")
    done
    printf '\nFetched: %s\n' "${names[*]}" # Maven leaves its line open
}

curator() {
    newest_jars curator jars org.apache.curator 6 || return 1
    tell_jars "$into"/jars/curator-recipes-*.jar "$into"/jars/zookeeper-[0-9]*.jar || return 1
    let_tests_know JARS "$into/jars"
}

redisson() {
    newest_jars redisson redisson org.redisson 99 || return 1
    tell_jars "$into"/redisson/redisson-[0-9]*.jar || return 1
    let_tests_know REDISSON "$into/redisson"
}

spring() {
    jars spring spring || return 1
    tell_jars "$into"/spring/spring-integration-redis-*.jar "$into"/spring/shedlock-provider-redis-spring-*.jar || return 1
    let_tests_know SPRING "$into/spring"
}

shedlock_zookeeper() {
    jars shedlock-zookeeper shedlock-zookeeper || return 1
    tell_jars "$into"/shedlock-zookeeper/shedlock-provider-zookeeper-curator-*.jar || return 1
    let_tests_know SHEDLOCK_ZOOKEEPER "$into/shedlock-zookeeper"
}

quartz() {
    jars quartz quartz || return 1
    tell_jars "$into"/quartz/quartz-[0-9]*.jar "$into"/quartz/mariadb-java-client-*.jar || return 1
    let_tests_know QUARTZ "$into/quartz"
}

sql_tables() {
    jars sqltables sqltables || return 1
    tell_jars "$into"/sqltables/shedlock-provider-jdbc-[0-9]*.jar "$into"/sqltables/liquibase-core-*.jar || return 1
    let_tests_know SQL_TABLES "$into/sqltables"
}

flyway() {
    newest_jars flyway flyway org.flywaydb 99 || return 1
    tell_jars "$into"/flyway/flyway-core-*.jar || return 1
    let_tests_know FLYWAY "$into/flyway"
}

zookeeper_server() {
    newest_jars zookeeper server org.apache.zookeeper 3.10 || return 1
    local jar version
    jar=$(basename "$into"/server/zookeeper-[0-9]*.jar .jar)
    version=${jar#zookeeper-}
    jars zookeeper-server server "-Dzookeeper=$version" || return 1
    printf '\nFetched: ZooKeeper server %s\n' "$version"
    let_tests_know ZOOKEEPER "$version"
    printf 'export LOCKSCOPE_ZOOKEEPER_CLASSPATH=%q\n' "$into/server/*" >>"$environment"
}

# The release that is called the latest, and the beta that many run; the newest ioredis that this Node takes.
node_redlock() {
    installed node nodejs && installed npm npm || return 1
    local ioredis options=(--no-save --engine-strict --no-audit --no-fund --loglevel=error)
    for ioredis in ioredis ioredis@5; do
        rm -rf "$into/node"
        mkdir -p "$into/node"
        npm install --prefix "$into/node" "${options[@]}" redlock redlock-5@npm:redlock@5.0.0-beta.2 "$ioredis" && break
    done
    (cd "$into/node/node_modules" && node -p "const version = (name) => require('./' + name + '/package.json').version;
        'Fetched: node-redlock ' + version('redlock') + ' and ' + version('redlock-5') + ' with ioredis '
            + version('ioredis')") || return 1
    let_tests_know NODE_REDLOCK "$into/node"
}

node_locks() {
    installed node nodejs && installed npm npm || return 1
    mkdir -p "$into/node-locks"
    npm install --prefix "$into/node-locks" --no-save --engine-strict --no-audit --no-fund --loglevel=error \
        redis-semaphore bullmq ioredis@5 || return 1
    (cd "$into/node-locks/node_modules" && node -p "const version = (name) => JSON.parse(require('fs').readFileSync(
        name + '/package.json')).version;
        'Fetched: redis-semaphore ' + version('redis-semaphore') + ' and BullMQ ' + version('bullmq')") || return 1
    let_tests_know NODE_LOCKS "$into/node-locks"
}

sidekiq() {
    installed gem ruby || return 1
    gem install --quiet --no-document --install-dir "$into/gems" sidekiq-unique-jobs || return 1
    printf 'Fetched: %s\n' "$(cd "$into/gems/gems" && ls -d sidekiq-* | paste -sd ' ')"
    let_tests_know SIDEKIQ "$into/gems"
}

# As Debian has it: its drivers would have to be compiled.
rails() {
    installed ruby ruby || return 1
    ruby -e 'require "logger"; require "active_record"; require "pg"; require "mysql2"
        puts "Fetched: ActiveRecord #{ActiveRecord.version} (Debian\x27s)"' ||
        { echo "not installed: Debian's ruby-activerecord, ruby-pg and ruby-mysql2"; return 1; }
    let_tests_know RAILS ruby
}

# redsync_of VERSION REDIGO
redsync_of() {
    rm -rf "$into/redsync"
    mkdir -p "$into/redsync"
    cp "$here/../clients/redsync_client.go" "$into/redsync/main.go"
    (cd "$into/redsync" && export GOFLAGS=-mod=mod GOWORK=off && go mod init redsync_client &&
        go get "github.com/go-redsync/redsync/v4@$1" "github.com/gomodule/redigo@$2" &&
        go build -o redsync_client . &&
        go list -m -f 'Fetched: redsync {{.Version}}' github.com/go-redsync/redsync/v4)
}

# The second is the newest that Debian 12's own Go can build.
redsync() {
    installed go golang-go || return 1
    redsync_of latest latest || redsync_of v4.13.0 v1.9.2 || return 1
    let_tests_know REDSYNC "$into/redsync/redsync_client"
}

# bsm_of VERSION GO-REDIS
bsm_of() {
    rm -rf "$into/bsm"
    mkdir -p "$into/bsm"
    cp "$here/../clients/bsm_client.go" "$into/bsm/main.go"
    (cd "$into/bsm" && export GOFLAGS=-mod=mod GOWORK=off && go mod init bsm_client &&
        go get "github.com/bsm/redislock@$1" "github.com/redis/go-redis/v9@$2" &&
        go build -o bsm_client . &&
        go list -m -f 'Fetched: bsm/redislock {{.Version}}' github.com/bsm/redislock)
}

# The second is one that Debian 12's own Go can build.
bsm() {
    installed go golang-go || return 1
    bsm_of latest latest || bsm_of v0.9.4 v9.0.3 || return 1
    let_tests_know BSM "$into/bsm/bsm_client"
}

# rust_program NAME CRATE [OPTION…]: clients/NAME.rs, with what `cargo add` takes for the crate.
rust_program() {
    local name=$1 crate=$2
    shift 2
    installed cargo cargo || return 1
    rm -rf "${into:?}/$name"
    mkdir -p "$into/$name"
    (cd "$into/$name" && cargo init --quiet --vcs none --name "$name" && cp "$here/../clients/$name.rs" src/main.rs &&
        cargo add --quiet "$crate" "$@" && cargo add --quiet tokio --features rt,time && cargo build --quiet &&
        cargo tree --quiet --depth 1 --prefix none |
        sed -n "s/^$crate v\\([0-9.]*\\).*/Fetched: Rust's $crate \\1/p")
}

rust_latch() {
    rust_program latch_client zookeeper || return 1
    let_tests_know RUST_LATCH "$into/latch_client/target/debug/latch_client"
}

rust_zookeeper() {
    rust_program zookeeper_client zookeeper-client --features tokio || return 1
    let_tests_know RUST_ZOOKEEPER "$into/zookeeper_client/target/debug/zookeeper_client"
}

rslock() {
    rust_program rslock_client rslock --features tokio-comp || return 1
    let_tests_know RSLOCK "$into/rslock_client/target/debug/rslock_client"
}

# etcd_of VERSION
etcd_of() {
    rm -rf "$into/etcd"
    mkdir -p "$into/etcd"
    cp "$here/../clients/etcd_client.go" "$into/etcd/main.go"
    (cd "$into/etcd" && export GOFLAGS=-mod=mod GOWORK=off && go mod init etcd_client &&
        go get "go.etcd.io/etcd/client/v3@$1" &&
        go build -o etcd_client . &&
        go list -m -f 'Fetched: the Go client of etcd {{.Version}}' go.etcd.io/etcd/client/v3)
}

# The second is one that Debian 12's own Go can build.
etcd() {
    installed go golang-go || return 1
    etcd_of latest || etcd_of v3.5.9 || return 1
    let_tests_know ETCD "$into/etcd/etcd_client"
}

fetch PYTHON "kazoo and redis-py (the tests take Debian's)" python_clients
fetch JARS "Curator (the tests take Debian's)" curator
fetch ZOOKEEPER "ZooKeeper server 3.9 (the tests take Debian's)" zookeeper_server
fetch REDISSON "Redisson" redisson
fetch NODE_REDLOCK "node-redlock" node_redlock
fetch REDSYNC "redsync" redsync
fetch BSM "bsm/redislock" bsm
fetch RUST_LATCH "Rust's zookeeper" rust_latch
fetch RUST_ZOOKEEPER "Rust's zookeeper-client" rust_zookeeper
fetch RSLOCK "Rust's rslock" rslock
fetch ETCD "etcd's Go client" etcd
fetch PYTHON_LOCKS "python-redis-lock, django-redis, sherlock and redis-semaphore" python_locks
fetch PYTHON_MCP "the Python SDK of the Model Context Protocol" python_mcp
fetch SPRING "Spring Integration and ShedLock" spring
fetch SHEDLOCK_ZOOKEEPER "ShedLock on ZooKeeper" shedlock_zookeeper
fetch QUARTZ "Quartz" quartz
fetch SQL_TABLES "ShedLock's JDBC provider and Liquibase" sql_tables
fetch DJANGO "Django" django
fetch FLYWAY "Flyway" flyway
fetch RAILS "Rails' migrations" rails
fetch NODE_LOCKS "redis-semaphore and BullMQ" node_locks
fetch SIDEKIQ "sidekiq-unique-jobs" sidekiq
[ -n "$got" ]
