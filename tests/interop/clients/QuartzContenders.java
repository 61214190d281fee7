// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Date;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;

import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.impl.jdbcjobstore.StdRowLockSemaphore;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;

/**
 * Contenders that use Quartz's JDBC job store: its lock in a transaction that stays open, and a whole scheduler.
 *
 * <pre>
 *   QuartzContenders JDBC-URL     its tables are made there; the scheduler is called "shop"
 * </pre>
 *
 * Commands, one a line:
 *   acquire NAME LOCK    by Quartz's own semaphore on a connection of its own; answers "held NAME CONNECTION-ID"
 *   release NAME         commits; answers "released NAME", or "failed NAME WHY"
 *   schedule NAME        stores a job of that name, for which the scheduler takes TRIGGER_ACCESS; answers
 *                        "scheduled NAME"
 * Answers "ready" first; the end of the input ends the program.
 */
public class QuartzContenders {
    private static String url;

    public static class Nothing implements Job {
        @Override
        public void execute(JobExecutionContext context) {}
    }

    private interface Work {
        void run() throws Exception;
    }

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

    private static Connection connect() throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        connection.setAutoCommit(false);
        return connection;
    }

    private static void makeTables() throws Exception {
        try (InputStream text = Scheduler.class.getResourceAsStream("/org/quartz/impl/jdbcjobstore/tables_mysql_innodb.sql");
                Connection connection = connect(); Statement statement = connection.createStatement()) {
            String script = new String(text.readAllBytes(), StandardCharsets.UTF_8).replaceAll("(?m)^(#|--).*$", "");
            for (String one : script.split(";")) {
                if (!one.isBlank() && !one.trim().equalsIgnoreCase("commit"))
                    statement.execute(one);
            }
        }
    }

    private static Scheduler makeScheduler() throws Exception {
        DBConnectionManager.getInstance().addConnectionProvider("shop", new ConnectionProvider() {
            @Override
            public Connection getConnection() throws SQLException {
                return connect();
            }

            @Override
            public void shutdown() {}

            @Override
            public void initialize() {}
        });
        Properties properties = new Properties();
        properties.put("org.quartz.scheduler.instanceName", "shop");
        properties.put("org.quartz.scheduler.skipUpdateCheck", "true");
        properties.put("org.quartz.threadPool.threadCount", "1");
        properties.put("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
        properties.put("org.quartz.jobStore.driverDelegateClass", "org.quartz.impl.jdbcjobstore.StdJDBCDelegate");
        properties.put("org.quartz.jobStore.dataSource", "shop");
        properties.put("org.quartz.jobStore.useDBLocks", "true");
        return new StdSchedulerFactory(properties).getScheduler();
    }

    public static void main(String[] arguments) throws Exception {
        url = arguments[0];
        makeTables();
        Scheduler scheduler = makeScheduler();
        Map<String, Connection> holding = new ConcurrentHashMap<>();
        say("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.trim().split(" +");
            String name = words[1];
            if (words[0].equals("acquire")) {
                inBackground(name, () -> {
                    Connection connection = connect();
                    holding.put(name, connection);
                    new StdRowLockSemaphore("QRTZ_", "shop", null).obtainLock(connection, words[2]);
                    try (Statement statement = connection.createStatement();
                            ResultSet id = statement.executeQuery("SELECT CONNECTION_ID()")) {
                        id.next();
                        say("held " + name + " " + id.getLong(1));
                    }
                });
            } else if (words[0].equals("release")) {
                inBackground(name, () -> {
                    holding.get(name).commit();
                    say("released " + name);
                });
            } else {
                inBackground(name, () -> {
                    scheduler.scheduleJob(JobBuilder.newJob(Nothing.class).withIdentity(name).build(),
                        TriggerBuilder.newTrigger().startAt(new Date(System.currentTimeMillis() + 86_400_000)).build());
                    say("scheduled " + name);
                });
            }
        }
        System.exit(0);
    }
}
