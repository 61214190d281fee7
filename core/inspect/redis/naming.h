// SPDX-License-Identifier: Apache-2.0
// How names and values of Redis clients are read; how Redisson makes them: core/rules/turn.h.
#pragma once

#include "core/inspect/knownclients.h"

namespace lockscope::inspect {

// "{orders}" → "orders"; whatever is not in one pair of braces as a whole stays as it is.
[[nodiscard]] QByteArray withoutBraces(const QByteArray &name);

// "<uuid36>:<thread id>", the field of a Redisson holder; a write lock's ends in ":write".
struct RedissonHolder {
    QByteArray client;
    QByteArray thread;
    bool writes = false;
};
[[nodiscard]] std::optional<RedissonHolder> readHolder(const QByteArray &field);

[[nodiscard]] std::optional<qint64> readInteger(const QByteArray &text);

// What a Redis key's name is worth as evidence of a lock. A name alone proves nothing: it supports what the
// value, its time to live or the keys beside it say.

// The key is called a lock: "orders-lock", "lock:orders", "app:lock_17"; not "lock:settings", "user:5:lock_count",
// "dhcp:lease:…", which are about a lock, or another thing of that name.
[[nodiscard]] bool callsItselfLock(const QByteArray &key);
// "composer.lock", "web/package-lock.json": a file that says which versions of packages are used.
[[nodiscard]] bool isLockFile(const QByteArray &key);
// A lock by a name that only one client gives, without a word that says so: "…framework/schedule-<sha1>" (Laravel),
// "arq:in-progress:<job>" (arq), "qo_<module>.<task>…" (celery-once), "activejob_uniqueness:<job>:…", "dear-leader"
// (Sidekiq Enterprise).
[[nodiscard]] bool isNamedByClient(const QByteArray &key);
[[nodiscard]] bool isOfLaravelsScheduler(const QByteArray &key);
// "…framework/schedule-<sha1><hhmm>": Laravel's mark that a task ran at that time, which stays on purpose.
[[nodiscard]] bool isMarkOfClient(const QByteArray &key);
// The name says what its value is, and that is no lock: "csrf:…", "user:5:session", "page:etag".
[[nodiscard]] bool callsItselfSomethingElse(const QByteArray &key);
// It says that it belongs to a cache, as that of a framework's locks does, too.
[[nodiscard]] bool isOfCache(const QByteArray &key);
// A part of the name is random itself: what has such a name is made anew each time, nothing that many compete for.
[[nodiscard]] bool isNamedAtRandom(const QByteArray &key);

// The keys of read/write locks that are no Redisson's, and who holds them. Sources: DistributedLock.Redis
// (RedisReaderWriterLockPrimitives), Nextcloud (MemcacheLockingProvider).

// "<machine>_<process>_<32 hex digits>", what DistributedLock for .NET writes: its machine and process.
[[nodiscard]] std::optional<QByteArray> dotNetHolder(const QByteArray &text);

// Of a read/write lock X of DistributedLock for .NET: the set of its readers, and who writes or waits to.
struct DotNetKeys {
    static constexpr QByteArrayView readersSuffix{".readers"};
    static constexpr QByteArrayView writerSuffix{".writer"};
    // "X.readers" or "X.writer" → "X"; empty if none.
    [[nodiscard]] static std::optional<QByteArray> lockOf(const QByteArray &key);
};

// "<instance>/lockfiles/<32 hex digits>"
[[nodiscard]] bool isNextcloudLock(const QByteArray &key);

// Tokens that Redis lock clients write, read by their forms (core/rules/userrules.h).
struct Token {
    QString client; // empty: several write it
    ClientTraits traits;
    QString why;
    Confidence confidence = Confidence::Medium;
    bool isProof = false;               // key and value are of a form that only one client writes
    std::optional<QByteArray> identity; // what it says about its owner
    std::optional<ServerTime> madeAt;   // the moment written into the token
    QString form, file;                 // whose it is, where it is not built in
    [[nodiscard]] bool isByUser() const { return !file.isEmpty(); }
};

// By the user's forms, then by those that are built in. Empty if the value has none of them. `hasSignal`:
// python-redis-lock's list of wake-ups stands beside the key.
[[nodiscard]] std::optional<Token> readToken(const QByteArray &key, const QByteArray &value, bool hasSignal,
                                             ServerTime now);

// What a client's serializer or compressor wrapped: "…" (JSON), s:16:"…"; (PHP), or the one long run of letters and
// digits among few other bytes (igbinary, pickle, Java's, LZ4 of what is too short for it). Empty if it did not.
[[nodiscard]] QByteArray unwrapped(const QByteArray &value);

// The moment in a version 1 UUID written as 32 hex digits, if it is a plausible one.
[[nodiscard]] std::optional<ServerTime> momentInUuid(const QByteArray &hex32, ServerTime now);

} // namespace lockscope::inspect
