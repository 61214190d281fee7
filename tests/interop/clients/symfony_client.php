<?php
// SPDX-License-Identifier: Apache-2.0
/*
 * Contenders that use Symfony's Lock component on Redis, by Predis: Debian's php-symfony-lock and php-nrk-predis.
 *
 *   php symfony_client.php HOST:PORT
 *
 * Commands, one a line:
 *   acquire NAME KEY KIND     KIND: write, read; tried every 20 ms; answers "held NAME TOKEN"
 *   release NAME              answers "released NAME", or "failed NAME WHY"
 * Answers "ready" first; the end of the input ends the program. A lock's time is three minutes.
 */
require '/usr/share/php/Symfony/Component/Lock/autoload.php';
require '/usr/share/php/Predis/autoload.php';

use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;
use Symfony\Component\Lock\Store\RedisStore;

$store = new RedisStore(new Predis\Client('tcp://' . $argv[1]), 180);
$locks = [];
$waiting = [];

function say(string $text): void
{
    fwrite(STDOUT, $text . "\n");
}

function tryOnce(string $name, Key $key, Lock $lock, string $kind): bool
{
    if (!($kind === 'read' ? $lock->acquireRead() : $lock->acquire())) {
        return false;
    }
    // The token is what the key keeps for this store.
    $state = (function () { return $this->state; })->call($key);
    say("held $name " . ($state[RedisStore::class] ?? reset($state)));
    return true;
}

say('ready');
stream_set_blocking(STDIN, false);
while (true) {
    $readable = [STDIN];
    $none = null;
    stream_select($readable, $none, $none, 0, 20000);
    while (($line = fgets(STDIN)) !== false) {
        $words = explode(' ', trim($line));
        if ($words[0] === 'acquire') {
            $key = new Key($words[2]);
            $locks[$words[1]] = new Lock($key, $store, 180.0, false);
            $waiting[$words[1]] = [$key, $words[3]];
        } else {
            try {
                $locks[$words[1]]->release();
                say("released $words[1]");
            } catch (Throwable $failure) {
                say("failed $words[1] " . get_class($failure));
            }
        }
    }
    if (feof(STDIN)) {
        exit(0);
    }
    foreach ($waiting as $name => [$key, $kind]) {
        if (tryOnce($name, $key, $locks[$name], $kind)) {
            unset($waiting[$name]);
        }
    }
}
