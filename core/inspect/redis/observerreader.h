// SPDX-License-Identifier: Apache-2.0
// Reads keys the cheap way: type and time to live first (which do not count as use of a key), values
// only of what is worth reading, capped, everything of one step in one round trip.
//
// What the server refuses is no failure: it is remembered here and told as coverage. Loop thread only.
#pragma once

#include "core/async/task.h"
#include "core/inspect/pace.h"
#include "core/inspect/redis/clientlist.h"
#include "core/inspect/redis/recognise.h"

#include <set>

namespace lockscope::inspect {

// How patient the parts of the observer are with a server.

// A question to a server that is not answered within this time failed.
inline constexpr std::chrono::milliseconds redisAnswersWithin{5000};
inline constexpr Duration redisRetryAfter = std::chrono::milliseconds(500);

// What a server did not let us do, by topic: "SCAN" → "SCAN refused: …".
class Refusals {
public:
    // True if that is news.
    bool note(const QString &topic, const QString &message);
    void noteKey(const RedisKey &key);
    void say(const QString &topic, const QString &message) // empty: not any more
    {
        if (message.isEmpty())
            forget(topic);
        else
            note(topic, message);
    }
    void forget(const QString &topic) { m_byTopic.erase(topic); }
    void forgetKeys() { m_keys.clear(); }
    [[nodiscard]] bool has(const QString &topic) const { return m_byTopic.contains(topic); }
    [[nodiscard]] std::vector<QString> messages() const;

private:
    std::map<QString, QString> m_byTopic;
    std::set<RedisKey> m_keys; // whose reading was refused
};

// What of this server is not seen: what of `missing` is not empty, and what was refused.
[[nodiscard]] std::vector<Coverage> coverageOf(const ConnectionName &connection, const QStringList &missing,
                                               const Refusals &refusals);

class KeyReader {
public:
    struct Clock {
        ServerTime now{};
        std::chrono::milliseconds ahead{};
    };
    // A main key with everything that is read beside it.
    struct Gathered {
        KeyView main;
        std::vector<KeyView> companions;
        std::map<QByteArray, qint64> subscribers;
    };

    // Both must outlive the reader and its tasks.
    KeyReader(redis::Connection &connection, Refusals &refusals, Deadline deadline = Deadline::never());

    // One round trip of ours, counted, given up after 5 s or at the reader's deadline. Errors are those
    // of the connection.
    [[nodiscard]] Reply<std::vector<redis::Value>> send(std::vector<redis::Command> commands);
    template <class... Commands>
    [[nodiscard]] Reply<std::vector<redis::Value>> ask(Commands... commands)
    {
        std::vector<redis::Command> all;
        (all.push_back(std::move(commands)), ...);
        return send(std::move(all));
    }
    // Type and time to live, in the order of the keys. Refreshes clock().
    Task<Result<std::vector<KeyView>>> look(std::vector<RedisKey> keys);
    // Only the time to live, of keys that are nothing else yet; in their order, empty: never expires, or not told.
    // `asking`: they are asked for already, by askForTimes(); empty for no keys.
    using Times = std::vector<std::optional<std::chrono::milliseconds>>;
    using Asking = std::optional<Reply<std::vector<redis::Value>>>;
    [[nodiscard]] Asking askForTimes(const std::vector<RedisKey> &keys);
    Task<Result<Times>> timesToLive(std::vector<RedisKey> keys, Asking asking);
    // Of these only those that are small enough for a lock; asking does not count as use.
    Task<Result<std::vector<KeyView>>> ofLockSize(std::vector<KeyView> views);
    // Of keys that nothing is known of: strings with their values; of what is no string only that it is none. What is
    // too large to be a claim is left out.
    Task<Result<std::vector<KeyView>>> samples(std::vector<RedisKey> keys);
    // Adds the values.
    Task<Result<std::vector<KeyView>>> open(std::vector<KeyView> views);
    // Opens the mains and reads their companions and subscriber counts; those that do not go together once more.
    Task<Result<std::vector<Gathered>>> gather(std::vector<KeyView> mains, bool isSecond = false);
    // And who listens on these channels. Left out are this connection and that of `subscriber`, which is ours, too.
    Task<Result<ConnectedClients>> listClients(std::vector<QByteArray> channels, QByteArray subscriber);
    Task<Result<std::map<QByteArray, qint64>>> countSubscribers(std::vector<QByteArray> channels);

    [[nodiscard]] Loop &loop() const { return m_connection.loop(); }
    [[nodiscard]] Clock clock() const { return m_clock; }
    [[nodiscard]] qint64 requests() const { return m_requests; }

    // The shortest one that was measured on this line, and so many times as much is asked at once: a long line is
    // filled, on a short one a request need not wait behind others.
    void noteRoundTrip(Duration took) { m_roundTrip = std::min(m_roundTrip.value_or(took), took); }
    [[nodiscard]] Duration roundTrip() const { return m_roundTrip.value_or(Duration::zero()); }
    [[nodiscard]] std::size_t lineFactor() const;
    void forgetLine() { m_roundTrip.reset(); }

private:
    [[nodiscard]] Asking askForSubscribers(const std::vector<QByteArray> &channels);
    Task<Result<std::map<QByteArray, qint64>>> takeSubscribers(Asking asking);
    // Which of these may be there.
    Task<Result<std::vector<RedisKey>>> withoutMissing(std::vector<RedisKey> keys);
    // Those of them that are there, opened.
    Task<Result<std::vector<KeyView>>> readBeside(std::vector<RedisKey> keys);
    void takeClock(const redis::Value &time, std::chrono::system_clock::time_point sentAt);
    [[nodiscard]] KeyView viewOf(const RedisKey &key, const redis::Value &type, const redis::Value &ttl);

    redis::Connection &m_connection;
    Refusals &m_refusals;
    Deadline m_deadline;
    Clock m_clock;
    bool m_clockKnown = false;
    bool m_asksTogether = true; // until a server refuses it, or is a cluster
    bool m_asksExpiry = true;   // until a server before Redis 7 says that it does not know the command
    qint64 m_requests = 0;
    std::optional<Duration> m_roundTrip;
};

} // namespace lockscope::inspect
