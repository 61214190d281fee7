// SPDX-License-Identifier: Apache-2.0
// The pieces that all snapshots of Redis locks share.
#pragma once

#include "core/base/result.h"
#include "core/inspect/knownclients.h"
#include "core/inspect/redis/recognise.h"
#include "core/rules/turn.h"

namespace lockscope::inspect {

// One main key, what was read beside it, and the context: what every rule is asked about.
struct Case {
    const KeyView &main;
    const std::vector<KeyView> &companions;
    const RedisContext &context;

    [[nodiscard]] const QByteArray &name() const { return main.key.bytes(); }
    [[nodiscard]] redis::RedissonKeys redissonKeys() const { return redis::RedissonKeys(name()); }
    [[nodiscard]] const KeyView *companion(const QByteArray &key) const; // null if missing
    [[nodiscard]] std::optional<qint64> subscribers(const QByteArray &channel) const;
    [[nodiscard]] Behaviour behaviour() const;
    [[nodiscard]] std::optional<ServerTime> expiry(const KeyView &key) const;
};

// `client` is null where several write the same.
[[nodiscard]] LockSnapshot snapshotOf(const Case &about, const QByteArray &recipe, const KnownClient *client,
                                      Confidence confidence, QString why);
// A holder whose id is `value`; expires with the key, held since we saw it come.
[[nodiscard]] Contender holderOf(const Case &about, const QByteArray &value);
// For a value that the next holder may write as well: it names this hold only with the moment at which it ends.
void distinguishByExpiry(Contender &holder, const KeyView &main);
// "subscriber 1" …: known to wait, not known by name.
void addSubscribers(LockSnapshot &lock, const Case &about, const QByteArray &channel, Mode mode);
void addNoTtl(LockSnapshot &lock, const Case &about, Severity severity = Severity::Critical);
void addNoTtlOf(LockSnapshot &lock, const KeyView &key, Severity severity = Severity::Critical);
// Decades: a time since 1970 that was given to EXPIRE as a number of seconds. As good as no time to live.
[[nodiscard]] bool isMistakenTtl(std::chrono::milliseconds ttl);
// By its name, and a lease without a word more by its end, too: what is let to a tenant is called so, and stays.
[[nodiscard]] bool isCalledLock(const KeyView &view);
[[nodiscard]] bool isLeaseWithoutEnd(const KeyView &view);
// "1700000000", "1700000000.25" or "1700000000123", as core/rules/turn.h reads them.
[[nodiscard]] std::optional<ServerTime> momentIn(const QByteArray &value, ServerTime now);
// A hash that is a session and, if its field `lock` is above zero, the lock of it.
[[nodiscard]] bool isSessionWithLock(const KeyView &view);

} // namespace lockscope::inspect
