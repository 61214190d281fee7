// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.RetryOneTime;

/**
 * Contenders that use Apache Curator, each with a session and a thread of its own.
 *
 * <pre>
 *   CuratorClient HOST:PORT
 * </pre>
 *
 * Commands, one a line: "acquire NAME KIND PATH [LIMIT]" (KIND: mutex, revocable, read, write, semaphore,
 * semaphore-mutex, latch, downgrade; answers "held NAME"), "release NAME" (answers "released NAME") and "revoke NAME
 * PATH": asks the contender with that node to let go, with the session of NAME. A revocable mutex that is asked says
 * "asked NAME". A downgrade holds the write lock, and when it is released it reads first, and says "reads NAME"; it
 * wants a second release for that. The end of the input ends the program; its
 * sessions are closed. Answers "ready" first.
 */
public class CuratorClient {
    /** Curator's locks belong to the thread that took them, so each contender keeps one. */
    private static final class Contender extends Thread {
        private final CuratorFramework client;
        private final String name;
        private final String kind;
        private final String path;
        private final int limit;
        private boolean wanted;

        Contender(String hosts, String name, String kind, String path, int limit) {
            this.client = CuratorFrameworkFactory.newClient(hosts, 10_000, 15_000, new RetryOneTime(500));
            this.name = name;
            this.kind = kind;
            this.path = path;
            this.limit = limit;
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                client.start();
                client.blockUntilConnected();
                if (kind.equals("semaphore")) {
                    InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, path, limit);
                    Lease lease = semaphore.acquire();
                    hold();
                    semaphore.returnLease(lease);
                } else if (kind.equals("latch")) {
                    LeaderLatch latch = new LeaderLatch(client, path, name);
                    latch.start();
                    latch.await();
                    hold();
                    latch.close();
                } else if (kind.equals("semaphore-mutex")) {
                    InterProcessSemaphoreMutex mutex = new InterProcessSemaphoreMutex(client, path);
                    mutex.acquire();
                    hold();
                    mutex.release();
                } else if (kind.equals("downgrade")) {
                    InterProcessReadWriteLock both = new InterProcessReadWriteLock(client, path);
                    both.writeLock().acquire();
                    hold();
                    both.readLock().acquire();
                    both.writeLock().release();
                    hold("reads");
                    both.readLock().release();
                } else {
                    InterProcessMutex mutex = mutex();
                    mutex.acquire();
                    hold();
                    mutex.release();
                }
                say("released " + name);
            } catch (Exception failure) {
                say("failed " + name + " " + failure);
            }
        }

        private InterProcessMutex mutex() {
            if (kind.equals("mutex")) {
                return new InterProcessMutex(client, path);
            }
            if (kind.equals("revocable")) {
                InterProcessMutex mutex = new InterProcessMutex(client, path);
                mutex.makeRevocable(asked -> say("asked " + name));
                return mutex;
            }
            InterProcessReadWriteLock both = new InterProcessReadWriteLock(client, path);
            return kind.equals("read") ? both.readLock() : both.writeLock();
        }

        private void hold() throws InterruptedException {
            hold("held");
        }

        private synchronized void hold(String how) throws InterruptedException {
            wanted = true;
            say(how + " " + name);
            while (wanted) {
                wait();
            }
        }

        synchronized void release() {
            wanted = false;
            notifyAll();
        }

        void revoke(String node) throws Exception {
            Revoker.attemptRevoke(client, node);
        }

        void close() {
            client.close();
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
                int limit = words.length > 4 ? Integer.parseInt(words[4]) : 1;
                Contender contender = new Contender(arguments[0], words[1], words[2], words[3], limit);
                contenders.put(words[1], contender);
                contender.start();
            } else if (words[0].equals("release")) {
                contenders.get(words[1]).release();
            } else if (words[0].equals("revoke")) {
                contenders.get(words[1]).revoke(words[2]);
            }
        }
        for (Contender contender : contenders.values()) {
            contender.close();
        }
    }
}
