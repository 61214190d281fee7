// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Lock;

import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.integration.redis.util.RedisLockRegistry;

/**
 * Contenders that use Spring Integration's RedisLockRegistry, each with a registry of its own, or ShedLock.
 *
 * SpringContenders KIND HOST:PORT     KIND: spring-pubsub, spring-spin, shedlock
 *
 * Commands, one a line:
 *   acquire NAME KEY MILLISECONDS   KEY: registry:path, or job-lock:environment:name; answers "held NAME VALUE"
 *   release NAME                    answers "released NAME"; "failed NAME WHY" when it was not its own any more
 * Answers "ready" first; the end of the input ends the program.
 */
public class SpringContenders {
    interface Hold {
        void take() throws Exception;

        void giveBack();
    }

    static synchronized void say(String text) {
        System.out.println(text);
        System.out.flush();
    }

    static class OfRegistry implements Hold {
        final Lock lock;

        OfRegistry(LettuceConnectionFactory factory, String kind, String key, long milliseconds) {
            int colon = key.indexOf(':');
            RedisLockRegistry registry = new RedisLockRegistry(factory, key.substring(0, colon), milliseconds);
            if (kind.equals("spring-pubsub"))
                registry.setRedisLockType(RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
            lock = registry.obtain(key.substring(colon + 1));
        }

        public void take() {
            lock.lock();
        }

        public void giveBack() {
            lock.unlock();
        }
    }

    // It tries once; its callers try again.
    static class OfShedLock implements Hold {
        final RedisLockProvider provider;
        final String name;
        final Duration atMost;
        SimpleLock lock;

        OfShedLock(LettuceConnectionFactory factory, String key, long milliseconds) {
            String[] parts = key.split(":", 3);
            provider = new RedisLockProvider(factory, parts[1]);
            name = parts[2];
            atMost = Duration.ofMillis(milliseconds);
        }

        public void take() throws InterruptedException {
            while (lock == null) {
                lock = provider.lock(new LockConfiguration(Instant.now(), name, atMost, Duration.ZERO)).orElse(null);
                if (lock == null)
                    Thread.sleep(50);
            }
        }

        public void giveBack() {
            lock.unlock();
        }
    }

    public static void main(String[] arguments) throws Exception {
        String kind = arguments[0];
        String[] server = arguments[1].split(":");
        LettuceConnectionFactory factory = new LettuceConnectionFactory(server[0], Integer.parseInt(server[1]));
        factory.afterPropertiesSet();
        factory.start();
        StringRedisTemplate values = new StringRedisTemplate(factory);
        Map<String, ExecutorService> threads = new ConcurrentHashMap<>();
        Map<String, Hold> holds = new ConcurrentHashMap<>();
        say("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.trim().split(" ");
            String name = words[1];
            if (words[0].equals("acquire")) {
                long milliseconds = Long.parseLong(words[3]);
                holds.put(name, kind.equals("shedlock") ? new OfShedLock(factory, words[2], milliseconds)
                                                       : new OfRegistry(factory, kind, words[2], milliseconds));
                threads.put(name, Executors.newSingleThreadExecutor());
                threads.get(name).submit(() -> {
                    try {
                        holds.get(name).take();
                        say("held " + name + " " + values.opsForValue().get(words[2]));
                    } catch (Throwable failure) {
                        say("failed " + name + " " + failure);
                    }
                });
            } else if (words[0].equals("release")) {
                threads.get(name).submit(() -> {
                    try {
                        holds.get(name).giveBack();
                        say("released " + name);
                    } catch (Throwable failure) {
                        say("failed " + name + " " + failure.getClass().getSimpleName());
                    }
                });
            }
        }
        System.exit(0);
    }
}
