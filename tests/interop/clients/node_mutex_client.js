// SPDX-License-Identifier: Apache-2.0
/*
 * Contenders that use redis-semaphore's Mutex or semaphores, and jobs that BullMQ's workers hold.
 *
 *   node node_mutex_client.js FOLDER KIND HOST:PORT…   FOLDER: with node_modules
 *   KIND: redis-semaphore, semaphore (of two permits), multi-semaphore (two of four at a time), redlock-semaphore (of
 *   two permits, on all the servers), bullmq
 *
 * Commands, one a line:
 *   acquire NAME KEY MILLISECONDS   KEY: mutex:NAME, semaphore:NAME, or bull:QUEUE:JOB:lock, where JOB is no number; answers
 *                                   "held NAME VALUE", of a semaphore its identifier
 *   release NAME                    answers "released NAME"
 * Answers "ready" first; the end of the input ends the program.
 */
'use strict';

const readline = require('readline');
const { createRequire } = require('module');

const [folder, kind, ...servers] = process.argv.slice(2);
const fetched = createRequire(folder + '/');
const optionsTo = (server) => {
    const [host, port] = server.split(':');
    return { host, port: Number(port), maxRetriesPerRequest: null };
};
const to = optionsTo(servers[0]);
const Redis = fetched('ioredis').default || fetched('ioredis');
const connections = servers.map((server) => new Redis(optionsTo(server)));
const [connection] = connections;
const held = new Map();

const say = (text) => process.stdout.write(text + '\n');

// Answers how it is given back, and what stands for it where the key has no value.
async function permits(semaphore) {
    await semaphore.acquire();
    return [() => semaphore.release(), semaphore.identifier];
}

const optionsOf = (milliseconds) => ({
    lockTimeout: milliseconds, acquireTimeout: 120000, retryInterval: 20, onLockLost() {},
});

const kinds = {
    semaphore(key, milliseconds) {
        const { Semaphore } = fetched('redis-semaphore');
        return permits(new Semaphore(connection, key.slice('semaphore:'.length), 2, optionsOf(milliseconds)));
    },
    'multi-semaphore'(key, milliseconds) {
        const { MultiSemaphore } = fetched('redis-semaphore');
        return permits(new MultiSemaphore(connection, key.slice('semaphore:'.length), 4, 2, optionsOf(milliseconds)));
    },
    'redlock-semaphore'(key, milliseconds) {
        const { RedlockSemaphore } = fetched('redis-semaphore');
        return permits(new RedlockSemaphore(connections, key.slice('semaphore:'.length), 2, optionsOf(milliseconds)));
    },
    async 'redis-semaphore'(key, milliseconds) {
        const { Mutex } = fetched('redis-semaphore');
        const mutex = new Mutex(connection, key.slice('mutex:'.length), optionsOf(milliseconds));
        await mutex.acquire();
        return [() => mutex.release()];
    },
    async bullmq(key, milliseconds) {
        const { Queue, Worker } = fetched('bullmq');
        const [, name, jobId] = key.split(':');
        const queue = new Queue(name, { connection: to });
        let worker;
        const done = await new Promise((taken) => {
            worker = new Worker(name, () => new Promise((finish) => taken(finish)),
                { connection: to, lockDuration: milliseconds, stalledInterval: 1000 });
            worker.on('error', () => {});
            queue.add('job', {}, { jobId }).catch(() => {});
        });
        return [() => new Promise((ended) => {
            worker.on('completed', () => ended());
            done();
        })];
    },
};

const commands = {
    async acquire(name, key, milliseconds) {
        const [giveBack, id] = await kinds[kind](key, Number(milliseconds));
        held.set(name, giveBack);
        say('held ' + name + ' ' + (id || (await connection.get(key))));
    },
    async release(name) {
        await held.get(name)();
        say('released ' + name);
    },
};

say('ready');
readline.createInterface({ input: process.stdin }).on('line', (line) => {
    const [command, name, ...rest] = line.trim().split(' ');
    commands[command](name, ...rest).catch((failure) => say('failed ' + name + ' ' + failure.message));
}).on('close', () => process.exit(0));
