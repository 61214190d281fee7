// SPDX-License-Identifier: Apache-2.0
// Reads keys the cheap way: type and time to live first (which do not count as use of a key), values
// only of what is worth reading, capped, everything of one step in one round trip.
//
// What the server refuses is no failure: it is remembered here and told as coverage. Loop thread only.
#pragma once

#include "core/base/text.h"
#include "core/inspect/pace.h"
#include "core/inspect/redis/recognise.h"
#include "core/inspect/state/statesnapshot.h"
#include "core/redis/connection.h"

#include <set>

namespace lockscope::inspect {

// CLIENT LIST, read; and which of a lock's contenders is which connection, where that can be told. Pure.

struct RedisClient {
    QString id;
    QString endpoint;      // empty: not told
    QByteArray name;       // CLIENT SETNAME; empty: none
    bool isNameIts = true; // not one that its library gives to many
    qint64 channels = 0;   // that it listens on
    friend bool operator==(const RedisClient &, const RedisClient &) = default;
};

// "id=7 addr=10.0.3.7:56332 name=worker …", one line per client. Those whose ids are `ours` are left out: nobody
// looks for a lock in its inspector.
[[nodiscard]] std::vector<RedisClient> readClientList(const QByteArray &list, const QByteArrayList &ours);
[[nodiscard]] std::vector<SessionSnapshot> sessionsOf(const std::vector<RedisClient> &clients,
                                                      const ConnectionName &name);

using ChannelCounts = std::map<QByteArray, qint64>; // who listens there
[[nodiscard]] ChannelCounts readChannelCounts(const redis::Value &numsub);

// The channels on which this lock's named waiters listen, each on its own (Redisson's fair lock).
[[nodiscard]] std::vector<QByteArray> waiterChannels(const LockSnapshot &lock);
// The same, and those on which somebody listens of whom no more is known.
[[nodiscard]] std::vector<QByteArray> channelsOf(const LockSnapshot &lock, const ChannelCounts &subscribers);

// Who is connected, and how many of them listen on some channels: both asked in one go.
//
// A token says nothing about a connection, so a contender is one only where nothing else can be meant. It waits on
// a channel: all clients that listen anywhere are as many as listen there. What it wrote is the address of a
// connection, or the name of a single one, perhaps with a UUID behind it.
class ConnectedClients {
public:
    ConnectedClients() = default;
    ConnectedClients(std::vector<RedisClient> clients, ChannelCounts listeners);

    // The same lock with its contenders' connections as they are now; empty if it has them already. `subscribers`:
    // of the lock's channels, as they were counted with it.
    [[nodiscard]] std::optional<LockSnapshot> told(const LockSnapshot &lock, const ChannelCounts &subscribers) const;
    // With what each is known to hold and to wait for.
    [[nodiscard]] std::vector<SessionSnapshot> sessions(const ConnectionName &name, const SnapshotStore &locks) const;
    // Whether as many listen there as did when the clients were listed; or they are too many to be listed each time.
    [[nodiscard]] bool isUpToDate(const ChannelCounts &subscribers) const
    {
        constexpr std::size_t many = 200;
        return m_clients.size() > many || std::ranges::all_of(subscribers, [this](const auto &one) {
                   const auto then = m_listeners.find(one.first);
                   return one.second == (then == m_listeners.end() ? 0 : then->second);
               });
    }

    friend bool operator==(const ConnectedClients &, const ConnectedClients &) = default;

private:
    struct Connection {
        std::optional<QString> session, endpoint;
        std::optional<QByteArray> program;
    };
    [[nodiscard]] std::vector<const RedisClient *> listenersOn(const QByteArray &channel) const
    {
        const auto count = m_listeners.find(channel);
        if (count == m_listeners.end() || count->second != static_cast<qint64>(m_listening.size()))
            return {};
        return mapped<std::vector<const RedisClient *>>(m_listening, [this](const auto i) { return &m_clients[i]; });
    }
    // A connection that listens for several locks is several threads', of which any may hold what its namesake holds.
    [[nodiscard]] Connection byChannel(const RedisClient &client) const
    {
        Connection found{client.id, client.endpoint, {}};
        if (client.channels == 1 && isOfOneHost(client.name))
            found.program = client.name;
        return found;
    }
    [[nodiscard]] Connection byText(const Contender &one) const;
    [[nodiscard]] bool isOfOneHost(const QByteArray &name) const;

    std::vector<RedisClient> m_clients;
    ChannelCounts m_listeners;
    std::map<QByteArray, std::vector<std::size_t>> m_named;
    std::map<QByteArray, std::size_t> m_at; // by endpoint
    std::vector<std::size_t> m_listening;
};

// How patient the parts of the observer are with a server.

// A question to a server that is not answered within this time failed.
inline constexpr std::chrono::milliseconds redisAnswersWithin{5000};
inline constexpr Duration redisRetryAfter = std::chrono::milliseconds(500);

// What a server did not let us do, by topic: "SCAN" → "SCAN refused: …".
class Refusals {
public:
    // True if that is news.
    bool note(const QString &topic, const QString &message)
    {
        return std::exchange(m_byTopic[topic], message) != message;
    }
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
    KeyReader(redis::Connection &connection, Refusals &refusals, Deadline deadline = Deadline::never())
        : m_connection(connection), m_refusals(refusals), m_deadline(deadline)
    {
    }

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
    [[nodiscard]] Asking askForTimes(const std::vector<RedisKey> &keys)
    {
        if (keys.empty())
            return std::nullopt;
        return send(mapped<std::vector<redis::Command>>(keys, [](const RedisKey &key) {
            return redis::Command{"PTTL", key.bytes()};
        }));
    }
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

// Asks a Redis once a second whether it answers, by how often databases were swapped: no invalidation message reports
// that all keys are others since. Every few times also how many commands it was sent, to know how large a share of
// them the observer's are, and which databases have keys. Loop thread only.

// From INFO stats: how many commands the server was sent so far. Empty where it does not say, or where many nodes do:
// what all of them are asked is one request of ours.
[[nodiscard]] std::optional<qint64> commandsServedIn(const QByteArray &info);

// Reads from INFO what a connection to one database of a Redis does not show: keys in the other databases, and that
// two databases were swapped, which no invalidation message reports.

// From the answer to INFO keyspace: which databases but `own` have keys. Empty: none. Of a cluster all nodes count.
// `withCounts`: how many keys, too. They change all the time, so that a view that lasts leaves them out.
[[nodiscard]] QString otherDatabasesIn(const redis::Value &keyspace, int own, bool withCounts);
// Says so among what is not seen.
class OtherDatabases {
public:
    OtherDatabases(Refusals &refusals, int own, bool withCounts)
        : m_refusals(refusals), m_own(own), m_withCounts(withCounts)
    {
    }
    void note(const redis::Value &keyspace)
    {
        m_refusals.say(QStringLiteral("databases"), otherDatabasesIn(keyspace, m_own, m_withCounts));
    }

private:
    Refusals &m_refusals;
    const int m_own;
    const bool m_withCounts;
};
// From the answer to INFO commandstats: how often SWAPDB was called. Empty: the server does not say, or is a cluster,
// which has no SWAPDB.
[[nodiscard]] std::optional<qint64> swapsIn(const redis::Value &commandStats);

class ServerPulse {
public:
    // All outlive the tasks. `wentSilent`: some seconds after an answer is due.
    ServerPulse(Loop &loop, KeyReader &reader, OtherDatabases &databases, std::function<void()> wentSilent)
        : m_loop(loop), m_reader(reader), m_databases(databases), m_wentSilent(std::move(wentSilent))
    {
    }

    struct Heard {
        bool isAnswered = false;
        bool isSwapped = false; // a database, since the last beat that was answered
    };

    void connected() // rights may have changed, and the server may be another one
    {
        m_tellsServed = m_tellsSwaps = true;
        m_swaps.reset();
        broke();
    }
    void broke() // what is out is not waited for
    {
        m_silence.cancel();
        m_isSilent = false;
    }
    // Connected, and does not answer: keys may have ended since.
    [[nodiscard]] bool isSilent() const { return m_isSilent; }
    Task<Heard> beat();
    [[nodiscard]] Cost cost() const
    {
        Cost cost;
        m_asked.putInto(cost);
        return cost;
    }

private:
    [[nodiscard]] std::vector<redis::Command> questions(bool isCount) const;

    Loop &m_loop;
    KeyReader &m_reader;
    OtherDatabases &m_databases;
    const std::function<void()> m_wentSilent;
    Timer m_silence;
    bool m_isSilent = false;
    AskedRate m_asked;
    int m_beats = 0;
    bool m_tellsServed = true; // until it was asked and did not
    bool m_tellsSwaps = true;
    std::optional<qint64> m_swaps; // as told last
};

} // namespace lockscope::inspect
