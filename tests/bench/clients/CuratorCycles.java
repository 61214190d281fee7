// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/**
 * How many times a second contenders of Curator's mutex get in and out.
 *
 * <pre>
 *   CuratorCycles HOST:PORT PATH CONTENDERS
 * </pre>
 *
 * Each contender has a session and a thread of its own. For each line "run MILLISECONDS" the contenders take and
 * release the lock for so long, and it answers "did COUNT NANOSECONDS". Answers "ready" first; the end of the input
 * ends the program.
 */
public class CuratorCycles {
    public static void main(String[] arguments) throws Exception {
        List<InterProcessMutex> locks = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(arguments[2]); ++i) {
            CuratorFramework client = CuratorFrameworkFactory.newClient(arguments[0], 30_000, 15_000, new RetryOneTime(500));
            client.start();
            client.blockUntilConnected();
            locks.add(new InterProcessMutex(client, arguments[1]));
        }
        System.out.println("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine())
            run(locks, Long.parseLong(line.split(" ")[1]));
        System.exit(0);
    }

    private static void run(List<InterProcessMutex> locks, long milliseconds) throws Exception {
        AtomicLong cycles = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        long began = System.nanoTime();
        long end = began + milliseconds * 1_000_000;
        for (InterProcessMutex lock : locks) {
            Thread thread = new Thread(() -> {
                try {
                    while (System.nanoTime() < end) {
                        lock.acquire();
                        cycles.incrementAndGet();
                        lock.release();
                    }
                } catch (Exception failure) {
                    failure.printStackTrace();
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads)
            thread.join();
        System.out.println("did " + cycles.get() + " " + (System.nanoTime() - began));
    }
}
