# SPDX-License-Identifier: Apache-2.0
# $1: the folder of the programs, $2: where its data is, $3: the port, $4: who is let in, then more options. Each
# line of single-user mode is a statement; what is made in template1 is in the database that is copied from it.
set -e
cd "$2"
export LC_ALL=C PGTZ=UTC
if [ ! -e made ]; then
    rm -rf data
    "$1/initdb" -D data -U keeper -A trust -E UTF8 --locale=C --no-sync --no-instructions >initdb.log 2>&1 || {
        cat initdb.log >&2; exit 1; }
    printf '%s\n' "$4" >data/pg_hba.conf
    "$1/postgres" --single -D data -c fsync=off template1 >single.log 2>&1 <<'SQL'
CREATE ROLE shop LOGIN CREATEDB
CREATE ROLE onlooker LOGIN
GRANT pg_monitor, pg_signal_backend TO shop
CREATE TABLE public.stock (id integer PRIMARY KEY, name text NOT NULL, quantity integer NOT NULL)
INSERT INTO public.stock VALUES (1, 'kettle', 40), (2, 'teapot', 12), (3, 'cup', 300), (4, 'saucer', 280)
CREATE TABLE public.jobs (id integer PRIMARY KEY, state text NOT NULL)
INSERT INTO public.jobs VALUES (1, 'ready'), (2, 'ready'), (3, 'done')
ALTER TABLE public.stock OWNER TO shop
ALTER TABLE public.jobs OWNER TO shop
CREATE DATABASE shop OWNER shop
SQL
    if grep -E 'ERROR|FATAL' single.log >&2; then exit 1; fi
    : >made
fi
rm -f data/postmaster.pid
programs=$1 port=$3
shift 4
exec "$programs/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off \
    -c synchronous_commit=off -c full_page_writes=off -c wal_level=minimal -c max_wal_senders=0 -c max_connections=300 \
    -c shared_buffers=8MB -c max_prepared_transactions=20 -c autovacuum=off -c jit=off -c lc_messages=C \
    -c log_min_messages=fatal -c max_wal_size=64MB -c min_wal_size=32MB "$@"
