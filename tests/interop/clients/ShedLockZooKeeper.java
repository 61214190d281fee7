// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.zookeeper.curator.ZookeeperCuratorLockProvider;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;

/**
 * Contenders that use ShedLock on ZooKeeper, which asks once and never waits.
 *
 * <pre>
 *   ShedLockZooKeeper HOST:PORT
 * </pre>
 *
 * Commands, one a line: "acquire NAME JOB SECONDS" (for so long at most; answers "held NAME", or "missed NAME" where
 * somebody has it) and "release NAME" (answers "released NAME"). Answers "ready" first; the end of the input ends the
 * program, and what it holds stays held.
 */
public class ShedLockZooKeeper {
    private static void say(String text) {
        System.out.println(text);
        System.out.flush();
    }

    public static void main(String[] arguments) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(arguments[0], new RetryOneTime(500));
        client.start();
        client.blockUntilConnected();
        ZookeeperCuratorLockProvider provider = new ZookeeperCuratorLockProvider(client);
        Map<String, SimpleLock> locks = new HashMap<>();
        say("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.trim().split(" +");
            if (words[0].equals("acquire")) {
                Duration atMost = Duration.ofSeconds(Long.parseLong(words[3]));
                Optional<SimpleLock> lock =
                    provider.lock(new LockConfiguration(Instant.now(), words[2], atMost, Duration.ZERO));
                lock.ifPresent(taken -> locks.put(words[1], taken));
                say((lock.isPresent() ? "held " : "missed ") + words[1]);
            } else if (words[0].equals("release")) {
                locks.remove(words[1]).unlock();
                say("released " + words[1]);
            }
        }
        System.exit(0);
    }
}
