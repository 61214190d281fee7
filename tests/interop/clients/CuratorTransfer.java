// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/**
 * One thread that takes two of Curator's mutexes, the second when it is told so.
 *
 * <pre>
 *   CuratorTransfer HOST:PORT FIRST SECOND
 * </pre>
 *
 * Answers "held SESSION" with the first; any line on its input lets it go for the second, and it answers "both" if it
 * gets that. The end of the input ends the program.
 */
public class CuratorTransfer {
    public static void main(String[] args) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(args[0], 10_000, 15_000, new RetryOneTime(500));
        client.start();
        client.blockUntilConnected();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        InterProcessMutex first = new InterProcessMutex(client, args[1]);
        InterProcessMutex second = new InterProcessMutex(client, args[2]);
        Thread worker = new Thread(() -> transfer(client, first, second, input), "worker");
        worker.setDaemon(true);
        worker.start();
        while (!Thread.currentThread().isInterrupted()) {
            Thread.sleep(200);
            if (done)
                break;
        }
    }

    private static volatile boolean done;

    private static void transfer(CuratorFramework client, InterProcessMutex first, InterProcessMutex second,
            BufferedReader input) {
        try {
            first.acquire();
            System.out.println("held 0x" + Long.toHexString(client.getZookeeperClient().getZooKeeper().getSessionId()));
            input.readLine();
            Thread ending = new Thread(() -> waitForEnd(input), "ending");
            ending.setDaemon(true);
            ending.start();
            second.acquire();
            System.out.println("both");
        } catch (Exception problem) {
            problem.printStackTrace();
        }
    }

    private static void waitForEnd(BufferedReader input) {
        try {
            input.readLine();
        } catch (java.io.IOException closed) {
            // The end as well.
        }
        done = true;
    }
}
