// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.RetryOneTime;

/**
 * Counts under Curator's locks, each contender with a session and a thread of its own.
 *
 * <pre>
 *   CuratorCounter HOST:PORT
 * </pre>
 *
 * Command, one a line: "count NAME KIND PATH FILE ROUNDS" (KIND: mutex, write) adds one to the number in the file so
 * often, each time under the lock and in two steps that the lock alone protects; answers "counted NAME".
 * Answers "ready" first; the end of the input ends the program.
 */
public class CuratorCounter {
    private static void count(String hosts, String name, String kind, String lock, Path file, int rounds) {
        try (CuratorFramework client =
                CuratorFrameworkFactory.newClient(hosts, 10_000, 15_000, new RetryOneTime(500))) {
            client.start();
            client.blockUntilConnected();
            InterProcessMutex mutex = kind.equals("write")
                ? new InterProcessReadWriteLock(client, lock).writeLock()
                : new InterProcessMutex(client, lock);
            for (int i = 0; i < rounds; i++) {
                mutex.acquire();
                int number = Integer.parseInt(new String(Files.readAllBytes(file)).trim());
                Thread.sleep(2);
                Files.write(file, Integer.toString(number + 1).getBytes());
                mutex.release();
            }
            say("counted " + name);
        } catch (Exception failure) {
            say("failed " + name + " " + failure);
        }
    }

    private static synchronized void say(String text) {
        System.out.println(text);
        System.out.flush();
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        say("ready");
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.trim().split(" +");
            Thread counter = new Thread(() -> count(arguments[0], words[1], words[2], words[3], Paths.get(words[4]),
                Integer.parseInt(words[5])));
            counter.setDaemon(true);
            counter.start();
        }
    }
}
