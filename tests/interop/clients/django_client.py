# SPDX-License-Identifier: Apache-2.0
"""Contenders of Django: django-mysql's Lock (GET_LOCK) or django-pglock's advisory(), each on a connection of its own.

  django_client.py HOST:PORT DATABASE USER mysql|postgresql

Commands, one a line:
  acquire NAME LOCK     waits for two minutes at most; answers "held NAME CONNECTION [KEY]" or "refused NAME". KEY: the
                        number that django-pglock makes of the lock's name
  release NAME          answers "released NAME", or "failed NAME" when its connection was gone
Answers "ready" first; the end of the input ends the program.
"""
import os
import queue
import sys
import threading

import django
import django.conf

PATIENCE_S = 120
ADDRESS, DATABASE, USER, VENDOR = sys.argv[1:5]
HOST, PORT = ADDRESS.rsplit(":", 1)

if VENDOR == "mysql":
    import pymysql

    pymysql.version_info = (2, 2, 1, "final", 0)  # what Django asks of mysqlclient, whose place it takes
    pymysql.install_as_MySQLdb()

django.conf.settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends." + VENDOR, "HOST": HOST, "PORT": PORT, "NAME": DATABASE, "USER": USER}},
    INSTALLED_APPS=["django_mysql"] if VENDOR == "mysql" else ["pgactivity", "pglock"],
    USE_TZ=True,
)
django.setup()
from django.db import connection  # noqa: E402

saying = threading.Lock()


def say(text):
    with saying:
        print(text, flush=True)


class Contender:
    def __init__(self, name, lock):
        self.name, self.lock, self.told = name, lock, queue.Queue()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        try:
            (self.by_get_lock if VENDOR == "mysql" else self.by_advisory_lock)()
            say(f"released {self.name}")
        except Exception as why:  # whichever the driver has for a connection that was ended
            say(f"failed {self.name} {type(why).__name__}")

    def hold(self, *key):
        with connection.cursor() as cursor:
            cursor.execute("SELECT CONNECTION_ID()" if VENDOR == "mysql" else "SELECT pg_backend_pid()")
            number = cursor.fetchone()[0]
        say(" ".join(["held", self.name, str(number), *key]))
        self.told.get()

    def by_get_lock(self):
        from django_mysql.locks import Lock

        with Lock(self.lock, acquire_timeout=PATIENCE_S):
            self.hold()

    def by_advisory_lock(self):
        import pglock

        lock = pglock.advisory(self.lock, timeout=PATIENCE_S)
        with lock as acquired:
            if not acquired:
                return say(f"refused {self.name}")
            self.hold(str(lock.int_lock_id))


contenders = {}
say("ready")
for line in sys.stdin:
    words = line.split()
    if words[0] == "acquire":
        contenders[words[1]] = Contender(words[1], words[2])
    else:
        contenders.pop(words[1]).told.put(None)
os._exit(0)
