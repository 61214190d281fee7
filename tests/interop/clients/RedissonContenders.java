// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ShardedSubscriptionMode;

/**
 * Contenders that use Redisson, each a thread of its own; they share one client, as an application's do.
 *
 * <pre>
 *   RedissonContenders HOST PORT [cluster plain|sharded]     of a cluster: by which channels it waits
 *   RedissonContenders HOST PORT nodes HOST:PORT…            of several nodes: for the kind redlock
 * </pre>
 *
 * Commands, one a line:
 *   acquire NAME KIND KEY [LIMIT]       KIND: lock, fair, fenced, read, write, spin, group, multi, redlock, semaphore or permits (of
 *                                       LIMIT; a permit of the latter has no name); answers
 *                                       "held NAME KIND ID", and for a fenced lock its token behind that. ID is
 *                                       what stands in Redis. The same NAME again is the same thread.
 *   lease NAME KIND KEY MILLISECONDS    the same for so long, and not longer
 *   try NAME KIND KEY MILLISECONDS      asks for so long; answers "missed NAME" if it did not get it
 *   force NAME KIND KEY                 takes it from whoever holds it; answers "forced NAME true" if it was held
 *   release NAME                        what it took first; answers "released NAME KIND"
 *   count NAME KIND KEY FILE ROUNDS     adds one to the number in the file so often, each time under the lock and in
 *                                       two steps that the lock alone protects; answers "counted NAME"
 * Answers "ready" first; the end of the input ends the program.
 */
public class RedissonContenders {
    private static RedissonClient redisson;
    private static final List<RedissonClient> nodes = new ArrayList<>();

    private interface Work {
        void run() throws Exception;
    }

    /** What can be given back. */
    private interface Hold {
        void release() throws Exception;
    }

    /** Redisson's locks belong to the thread that took them. */
    private static final class Contender extends Thread {
        private final String name;
        private final BlockingQueue<Work> work = new LinkedBlockingQueue<>();
        private final Deque<Hold> holds = new ArrayDeque<>();

        Contender(String name) {
            this.name = name;
            setDaemon(true);
            start();
        }

        void acquire(String kind, String key, int limit) {
            work.add(() -> holds.addLast(take(kind, key, limit)));
        }

        void lease(String kind, String key, long milliseconds) {
            work.add(() -> {
                String permit = me();
                if (kind.equals("semaphore")) {
                    RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore(key);
                    semaphore.trySetPermits(1);
                    permit = semaphore.acquire(milliseconds, TimeUnit.MILLISECONDS);
                } else {
                    lockOf(kind, key).lock(milliseconds, TimeUnit.MILLISECONDS);
                }
                say("held " + name + " " + kind + " " + permit);
            });
        }

        void tryFor(String kind, String key, long milliseconds) {
            work.add(() -> {
                boolean entered = lockOf(kind, key).tryLock(milliseconds, TimeUnit.MILLISECONDS);
                say((entered ? "held " : "missed ") + name);
            });
        }

        void force(String kind, String key) {
            work.add(() -> say("forced " + name + " " + lockOf(kind, key).forceUnlock()));
        }

        void release() {
            work.add(() -> holds.removeFirst().release());
        }

        void count(String kind, String key, Path file, int rounds) {
            work.add(() -> {
                for (int i = 0; i < rounds; i++) {
                    Hold hold = enter(kind, key, 1);
                    int number = Integer.parseInt(new String(Files.readAllBytes(file)).trim());
                    Thread.sleep(2);
                    Files.write(file, Integer.toString(number + 1).getBytes());
                    hold.release();
                }
                say("counted " + name);
            });
        }

        @Override
        public void run() {
            try {
                while (true) {
                    work.take().run();
                }
            } catch (Exception failure) {
                say("failed " + name + " " + failure);
            }
        }

        private Hold take(String kind, String key, int limit) throws Exception {
            Hold hold = enter(kind, key, limit);
            say("held " + name + " " + kind + " " + hold);
            return () -> {
                hold.release();
                say("released " + name + " " + kind);
            };
        }

        private Hold enter(String kind, String key, int limit) throws Exception {
            if (kind.equals("semaphore")) {
                RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore(key);
                semaphore.trySetPermits(limit);
                String permit = semaphore.acquire();
                return named(() -> semaphore.release(permit), permit);
            }
            if (kind.equals("permits")) {
                RSemaphore semaphore = redisson.getSemaphore(key);
                semaphore.trySetPermits(limit);
                semaphore.acquire();
                return named(semaphore::release, "-");
            }
            if (kind.equals("fenced")) {
                RFencedLock lock = redisson.getFencedLock(key);
                long token = lock.lockAndGetToken();
                return named(lock::unlock, me() + " " + token);
            }
            RLock lock = lockOf(kind, key);
            lock.lock();
            return named(lock::unlock, kind.equals("write") ? me() + ":write" : me());
        }

        private static String me() {
            return redisson.getId() + ":" + Thread.currentThread().getId();
        }

        private static RLock lockOf(String kind, String key) {
            return kind.equals("lock") ? redisson.getLock(key)
                : kind.equals("fair") ? redisson.getFairLock(key)
                : kind.equals("fenced") ? redisson.getFencedLock(key)
                : kind.equals("spin") ? redisson.getSpinLock(key)
                : kind.equals("multi") ? redisson.getMultiLock(redisson.getLock(key + ":a"), redisson.getFairLock(key + ":b"),
                    redisson.getReadWriteLock(key + ":c").writeLock())
                : kind.equals("redlock") ? new RedissonRedLock(
                    nodes.stream().map(node -> node.getLock(key)).toArray(RLock[]::new))
                : kind.equals("group") ? redisson.getMultiLock(key, List.of("a", "b"))
                : kind.equals("read") ? redisson.getReadWriteLock(key).readLock()
                : redisson.getReadWriteLock(key).writeLock();
        }

        private static Hold named(Hold hold, String id) {
            return new Hold() {
                @Override
                public void release() throws Exception {
                    hold.release();
                }

                @Override
                public String toString() {
                    return id;
                }
            };
        }
    }

    private static synchronized void say(String text) {
        System.out.println(text);
        System.out.flush();
    }

    private static Config newConfig() {
        Config config = new Config();
        config.setThreads(4);
        config.setNettyThreads(2);
        // Longer than a test is patient: who is woken sooner has heard a message.
        config.setLockWatchdogTimeout(180_000);
        return config;
    }

    private static RedissonClient connect(String address) {
        Config config = newConfig();
        config.useSingleServer().setAddress("redis://" + address);
        return Redisson.create(config);
    }

    public static void main(String[] arguments) throws Exception {
        Config config = newConfig();
        String address = "redis://" + arguments[0] + ":" + arguments[1];
        if (arguments.length > 2 && arguments[2].equals("cluster")) {
            config.useClusterServers().addNodeAddress(address).setShardedSubscriptionMode(
                arguments[3].equals("sharded") ? ShardedSubscriptionMode.ON : ShardedSubscriptionMode.OFF);
        } else {
            config.useSingleServer().setAddress(address);
        }
        redisson = Redisson.create(config);
        nodes.add(redisson);
        for (int i = 3; i < arguments.length && arguments[2].equals("nodes"); ++i) {
            nodes.add(connect(arguments[i]));
        }
        Map<String, Contender> contenders = new HashMap<>();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        say("ready");
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.trim().split(" +");
            Contender contender = contenders.computeIfAbsent(words[1], Contender::new);
            if (words[0].equals("acquire")) {
                contender.acquire(words[2], words[3], words.length > 4 ? Integer.parseInt(words[4]) : 1);
            } else if (words[0].equals("count")) {
                contender.count(words[2], words[3], Paths.get(words[4]), Integer.parseInt(words[5]));
            } else if (words[0].equals("lease")) {
                contender.lease(words[2], words[3], Long.parseLong(words[4]));
            } else if (words[0].equals("try")) {
                contender.tryFor(words[2], words[3], Long.parseLong(words[4]));
            } else if (words[0].equals("force")) {
                contender.force(words[2], words[3]);
            } else {
                contender.release();
            }
        }
        System.exit(0);
    }
}
