// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;

/**
 * Contenders that use the lock recipe that comes with ZooKeeper, each with a session of its own.
 *
 * <pre>
 *   RecipeClient HOST:PORT
 * </pre>
 *
 * Commands as CuratorClient's; the only KIND is "lock".
 */
public class RecipeClient {
    private static final class Contender implements LockListener {
        private final String name;
        private final ZooKeeper session;
        private final WriteLock lock;

        Contender(String hosts, String name, String path) throws Exception {
            this.name = name;
            CountDownLatch connected = new CountDownLatch(1);
            this.session = new ZooKeeper(hosts, 10_000, event -> connected.countDown());
            connected.await();
            this.lock = new WriteLock(session, path, ZooDefs.Ids.OPEN_ACL_UNSAFE, this);
            lock.lock();
        }

        @Override
        public void lockAcquired() {
            say("held " + name);
        }

        @Override
        public void lockReleased() {
            say("released " + name);
        }
    }

    private static synchronized void say(String text) {
        System.out.println(text);
        System.out.flush();
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Contender> contenders = new HashMap<>();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        say("ready");
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.trim().split(" +");
            if (words[0].equals("acquire")) {
                contenders.put(words[1], new Contender(arguments[0], words[1], words[3]));
            } else if (words[0].equals("release")) {
                contenders.get(words[1]).lock.unlock();
            }
        }
        for (Contender contender : contenders.values()) {
            contender.session.close();
        }
    }
}
