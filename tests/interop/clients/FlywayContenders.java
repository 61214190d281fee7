// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.MigrationVersion;
import org.flywaydb.core.api.migration.Context;
import org.flywaydb.core.api.migration.JavaMigration;

/**
 * Contenders that migrate a database with Flyway, each for itself: the lock is the one that it takes for each migration.
 *
 * <pre>
 *   FlywayContenders JDBC-URL USER
 * </pre>
 *
 * Commands, one a line:
 *   acquire NAME LOCK     runs one migration, which is not over before NAME is told; waits for others; answers "held NAME".
 *                         LOCK says nothing: the database and its table of migrations do
 *   release NAME          answers "released NAME", or "failed NAME" when it had no lock any more
 * Answers "ready" first; the end of the input ends the program.
 */
public class FlywayContenders {
    private static String url;
    private static String user;
    private static final Map<String, CountDownLatch> told = new ConcurrentHashMap<>();

    private static synchronized void say(String text) {
        System.out.println(text);
        System.out.flush();
    }

    /** Each has a version of its own, so that who comes after another has something to do. */
    private record Held(String name, int number, CountDownLatch end) implements JavaMigration {
        @Override
        public MigrationVersion getVersion() {
            return MigrationVersion.fromVersion(String.valueOf(number));
        }

        @Override
        public String getDescription() {
            return name;
        }

        @Override
        public Integer getChecksum() {
            return number;
        }

        @Override
        public boolean canExecuteInTransaction() {
            return true;
        }

        @Override
        public void migrate(Context context) throws Exception {
            say("held " + name);
            end.await();
        }
    }

    private static void migrate(Held migration) {
        try {
            Flyway.configure().dataSource(url, user, "").locations(new String[0]).javaMigrations(migration)
                .baselineOnMigrate(true).baselineVersion("0").ignoreMigrationPatterns("*:missing", "*:future")
                .outOfOrder(true).lockRetryCount(200).load().migrate();
            say("released " + migration.name());
        } catch (RuntimeException failure) {
            say("failed " + migration.name() + " " + failure.getMessage().replace('\n', ' '));
        }
    }

    public static void main(String[] arguments) throws Exception {
        url = arguments[0];
        user = arguments[1];
        say("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        int number = 0;
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.trim().split(" +");
            if (words[0].equals("release")) {
                told.get(words[1]).countDown();
                continue;
            }
            Held migration = new Held(words[1], ++number, new CountDownLatch(1));
            told.put(words[1], migration.end());
            Thread thread = new Thread(() -> migrate(migration));
            thread.setDaemon(true);
            thread.start();
        }
        System.exit(0);
    }
}
