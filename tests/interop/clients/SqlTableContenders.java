// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import liquibase.database.Database;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.lockservice.LockService;
import liquibase.lockservice.LockServiceFactory;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbc.JdbcLockProvider;

/**
 * Contenders whose locks are rows of a table: ShedLock's JDBC provider, and Liquibase, which asks again every second here.
 *
 * <pre>
 *   SqlTableContenders JDBC-URL     ShedLock's table is made there; Liquibase makes its own
 * </pre>
 *
 * Commands, one a line:
 *   acquire NAME shedlock LOCK    for three minutes at most; answers "held NAME" or "refused NAME"
 *   acquire NAME liquibase        waits; answers "held NAME"
 *   release NAME                  answers "released NAME"
 * Answers "ready" first; the end of the input ends the program.
 */
public class SqlTableContenders {
    private interface Work {
        void run() throws Exception;
    }

    private static String url;
    private static final Map<String, Work> releases = new ConcurrentHashMap<>();

    private static synchronized void say(String text) {
        System.out.println(text);
        System.out.flush();
    }

    private static void inBackground(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception failure) {
                say("failed " + name + " " + failure);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    /** A pool of none: each asking gets a connection of its own. */
    private static DataSource connections() {
        return (DataSource) Proxy.newProxyInstance(SqlTableContenders.class.getClassLoader(),
            new Class<?>[] {DataSource.class}, (self, method, arguments) -> {
                if (method.getName().equals("getConnection"))
                    return DriverManager.getConnection(url);
                throw new UnsupportedOperationException(method.getName());
            });
    }

    private static void takeShedLock(String name, String lock) throws Exception {
        Optional<SimpleLock> taken = new JdbcLockProvider(connections())
            .lock(new LockConfiguration(Instant.now(), lock, Duration.ofMinutes(3), Duration.ZERO));
        taken.ifPresent(held -> releases.put(name, held::unlock));
        say((taken.isPresent() ? "held " : "refused ") + name);
    }

    private static void takeLiquibase(String name) throws Exception {
        Database database = DatabaseFactory.getInstance()
            .findCorrectDatabaseImplementation(new JdbcConnection(DriverManager.getConnection(url)));
        LockService service = LockServiceFactory.getInstance().getLockService(database);
        service.setChangeLogLockWaitTime(5);
        service.setChangeLogLockRecheckTime(1);
        service.waitForLock();
        releases.put(name, service::releaseLock);
        say("held " + name);
    }

    public static void main(String[] arguments) throws Exception {
        url = arguments[0];
        System.setProperty("liquibase.analytics.enabled", "false");
        try (Connection connection = DriverManager.getConnection(url); Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) NOT NULL PRIMARY KEY, "
                + "lock_until TIMESTAMP(3) NOT NULL, locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), "
                + "locked_by VARCHAR(255) NOT NULL)");
        }
        say("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.trim().split(" +");
            String name = words[1];
            if (words[0].equals("release")) {
                inBackground(name, () -> {
                    releases.remove(name).run();
                    say("released " + name);
                });
            } else if (words[2].equals("shedlock")) {
                inBackground(name, () -> takeShedLock(name, words[3]));
            } else {
                inBackground(name, () -> takeLiquibase(name));
            }
        }
        System.exit(0);
    }
}
