// SPDX-License-Identifier: Apache-2.0
/*
 * Contenders that use node-redlock with ioredis.
 *
 *   node node_redlock_client.js FOLDER PACKAGE HOST:PORT…    FOLDER: with node_modules; PACKAGE: which node-redlock;
 *                                                            one server or several
 *
 * Commands, one a line:
 *   acquire NAME KEY MILLISECONDS   answers "held NAME VALUE"
 *   release NAME                    answers "released NAME"
 *   count NAME KEY FILE ROUNDS      adds one to the number in the file so often, each time under the lock and in two
 *                                   steps that the lock alone protects; answers "counted NAME"
 * Answers "ready" first; the end of the input ends the program.
 */
'use strict';

const fs = require('fs');
const readline = require('readline');
const { createRequire } = require('module');

const [folder, release, ...servers] = process.argv.slice(2);
const fetched = createRequire(folder + '/');
const Redis = fetched('ioredis');
const Redlock = fetched(release).default || fetched(release);

const connections = servers.map((server) => {
    const [host, port] = server.split(':');
    const connection = new Redis(Number(port), host, { maxRetriesPerRequest: 1, enableOfflineQueue: true });
    connection.on('error', () => {});
    return connection;
});
const retryCount = 5000;
const redlock = new Redlock(connections, { retryCount, retryDelay: 20, retryJitter: 10 });
for (const event of ['clientError', 'error']) // of version 4, of version 5
    redlock.on(event, () => {});
const held = new Map();

const say = (text) => process.stdout.write(text + '\n');
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Version 5 names both anew. It keeps the votes it won in a try that failed until it gives up altogether, and so a
// split vote stands until the leases end: here each of its tries is given up at once.
async function take(key, milliseconds) {
    if (!redlock.acquire)
        return redlock.lock(key, milliseconds);
    for (let tries = 1; ; tries++) {
        try {
            return await redlock.acquire([key], milliseconds, { retryCount: 0 });
        } catch (failure) {
            if (tries === retryCount)
                throw failure;
        }
        await pause(20 + 10 * Math.random());
    }
}
const giveBack = (lock) => (lock.release ? lock.release() : lock.unlock());

const commands = {
    async acquire(name, key, milliseconds) {
        const lock = await take(key, Number(milliseconds));
        held.set(name, lock);
        say('held ' + name + ' ' + lock.value);
    },
    async release(name) {
        await giveBack(held.get(name));
        say('released ' + name);
    },
    async count(name, key, file, rounds) {
        for (let i = 0; i < Number(rounds); i++) {
            const lock = await take(key, 30000);
            const number = Number(fs.readFileSync(file, 'utf8'));
            await pause(2);
            fs.writeFileSync(file, String(number + 1));
            await giveBack(lock);
        }
        say('counted ' + name);
    },
};

readline.createInterface({ input: process.stdin })
    .on('line', (line) => {
        const [command, ...words] = line.trim().split(/ +/);
        commands[command](...words).catch((failure) => say('failed ' + words[0] + ' ' + failure));
    })
    .on('close', () => process.exit(0));
say('ready');
