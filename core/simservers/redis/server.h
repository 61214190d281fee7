// SPDX-License-Identifier: Apache-2.0
// A simulated Redis: one server as a state machine in the simulated world.
//
// It speaks the protocol over the world's links, answers as a Redis 7 does (the commands that locks and their
// inspectors use; database 0 only), runs the real scripts in an embedded Lua, and can fail
// as a real one does. World's thread only; it must outlive what is queued in the world, as its network must.
#pragma once

#include "core/redis/resp.h"
#include "core/simservers/network.h"

struct lua_State;

namespace lockscope::sim {

// The keys of one simulated Redis: what they hold, when they expire, and what they held a moment ago, for
// the replica that is behind.
//
// Everything is in the order of its bytes, so that no order of a hash table can leak into a run. World's thread only.

using RedisText = QByteArray;
using RedisHash = std::map<QByteArray, QByteArray>;
using RedisList = std::deque<QByteArray>;
struct RedisSortedSet {
    std::map<QByteArray, double> scores;
    std::set<std::pair<double, QByteArray>> order;

    // True when the member is new.
    bool put(const QByteArray &member, double score);
    bool take(const QByteArray &member);
};
using RedisContent = std::variant<RedisText, RedisList, RedisSortedSet, RedisHash>;

class Keyspace {
public:
    using Millis = std::chrono::milliseconds; // since 1970, by the server's clock
    struct Entry {
        RedisContent content;
        std::optional<Millis> expiresAt;
    };

    // Null when there is no such key.
    [[nodiscard]] const Entry *look(const QByteArray &key) const;
    // For changing it in place; null when there is no such key.
    [[nodiscard]] RedisContent *change(const QByteArray &key);
    // Without a time to live.
    RedisContent &put(const QByteArray &key, RedisContent content);
    bool remove(const QByteArray &key);
    // The key must be there.
    void expireAt(const QByteArray &key, std::optional<Millis> when);
    // Takes out what has expired.
    void purge(Millis now);
    void clear();

    [[nodiscard]] std::vector<QByteArray> keys() const;
    [[nodiscard]] std::size_t size() const { return m_entries.size(); }

    // How far back rewind() can go; zero (nothing is kept) to begin with.
    void setMemory(Duration memory) { m_memory = memory; }
    // The moment of the changes that follow.
    void setMoment(Instant now);
    // As it was at that moment; no further back than the memory reaches.
    void rewind(Instant moment);

private:
    struct Change {
        Instant at;
        QByteArray key;
        std::optional<Entry> before;
    };
    void remember(const QByteArray &key);
    void forgetExpiry(const QByteArray &key, const Entry &entry);

    std::map<QByteArray, Entry> m_entries;
    std::set<std::pair<Millis, QByteArray>> m_expiring;
    std::deque<Change> m_changes;
    Duration m_memory{};
    Instant m_now{};
};

// The patterns of KEYS, SCAN and PSUBSCRIBE: *, ?, [a-z], [^a] and a backslash before what is meant as it is.
[[nodiscard]] bool matchesGlob(QByteArrayView pattern, QByteArrayView text);

// Cuts what a client sends into commands.
//
// A client of the simulated world sends whole commands, which need no parser that can stop anywhere: they are cut out
// as they stand. From the first byte on that is otherwise, a connection is read by the parser of the real clients.
class RequestReader {
public:
    // A single request may take `limitBytes`.
    explicit RequestReader(qint64 limitBytes) : m_reader(limitBytes) {}

    void feed(const QByteArray &bytes);
    // The next command, which may be without a word; none when more bytes are needed, or when what came cannot be
    // followed.
    [[nodiscard]] std::optional<redis::Command> next();

private:
    [[nodiscard]] std::optional<redis::Command> takeWhole();

    QByteArray m_bytes; // fed last; from `m_at` on they are to be read
    qsizetype m_at = 0;
    bool m_isParsed = false;
    redis::RespReader m_reader;
};

// What it knows of one of its clients.
struct RedisSession {
    using Deliver = std::function<void(const QByteArray &)>;
    RedisSession(qint64 number, int itsProcess, Deliver howToReachIt, qint64 limitBytes)
        : id(number), process(itsProcess), deliver(std::make_shared<const Deliver>(std::move(howToReachIt))),
          reader(limitBytes)
    {
    }

    const qint64 id;
    const int process;
    const std::shared_ptr<const Deliver> deliver; // kept by who calls it: the session may end by that
    RequestReader reader;                         // of what it sends
    QByteArray name;
    std::vector<QByteArray> channels, patterns; // in the order it subscribed

    [[nodiscard]] std::size_t subscriptions() const { return channels.size() + patterns.size(); }
};

// The clients of a simulated Redis, and who of them listens to which channel.
//
// Listeners hear in the order in which they subscribed, those of patterns last. World's thread only.
class Publisher {
public:
    using Topics = std::map<QByteArray, std::vector<RedisSession *>>;
    enum class Kind { Channel, Pattern };

    // False when it did so already (or did not, in remove()).
    bool add(RedisSession &session, Kind kind, const QByteArray &name);
    bool remove(RedisSession &session, Kind kind, const QByteArray &name);
    void removeAll(RedisSession &session);

    struct Copy {
        qint64 session = 0;
        redis::Value message;
    };
    [[nodiscard]] std::vector<Copy> copiesOf(const QByteArray &channel, const QByteArray &payload) const;
    [[nodiscard]] const Topics &topics(Kind kind) const { return kind == Kind::Channel ? m_channels : m_patterns; }

private:
    Topics m_channels, m_patterns;
};

// The Lua that runs a simulated Redis' scripts: the very files that the real one is sent, in an embedded
// Lua 5.1 that sees what Redis shows a script, and no more.
//
// One per server; compiled once per text. World's thread only.
class ScriptEngine {
public:
    // Runs one command of a script.
    using Call = std::function<redis::Value(const redis::Command &)>;

    explicit ScriptEngine(Call call);
    ~ScriptEngine();
    Q_DISABLE_COPY(ScriptEngine)

    // Compiles it; the SHA-1 of the text in hex, or an Error value as Redis words it.
    [[nodiscard]] redis::Value load(const QByteArray &text);
    [[nodiscard]] bool knows(const QByteArray &sha) const { return m_known.contains(sha); }
    void forgetAll();
    // A script that it knows. What it returned, as Redis would reply it.
    [[nodiscard]] redis::Value run(const QByteArray &sha, const QByteArrayList &keys, const QByteArrayList &args);

    // For what the scripts call.
    [[nodiscard]] redis::Value call(const redis::Command &command) const { return m_call(command); }
    // False when the script has used up what a script may take.
    [[nodiscard]] bool mayGoOn() { return --m_slicesLeft > 0; }

private:
    void open();
    [[nodiscard]] redis::Value failure(const QByteArray &sha);

    Call m_call;
    lua_State *m_lua = nullptr;        // made with the first script
    int m_explain = 0;                 // what makes a table of an error: its number in the registry
    std::map<QByteArray, int> m_known; // by SHA-1, the same of each function
    int m_slicesLeft = 0;
};

class RedisServer {
public:
    struct Counts {
        qint64 commands = 0; // of clients, with EVAL and what logs in; not what scripts call
        qint64 fromScripts = 0;
        qint64 published = 0;
        qint64 delivered = 0; // messages sent to subscribers
        qint64 lost = 0;      // messages that loseNextPublishes() took
        qint64 bytesIn = 0, bytesOut = 0;
    };

    // `number` is the server's in the network.
    RedisServer(Network &network, int number);
    ~RedisServer();
    Q_DISABLE_COPY(RedisServer)

    [[nodiscard]] int number() const { return m_number; }
    [[nodiscard]] Network &network() const { return m_network; }

    // A client of this process has connected; the id, which only grows, is for what it sends and for its end.
    qint64 accept(int process, std::function<void(const QByteArray &)> deliver);
    void received(qint64 session, const QByteArray &bytes);
    void ended(qint64 session);

    // Called for every command of a client, before it is executed, with the number of its process.
    void onCommand(std::function<void(int process, const redis::Command &)> listener)
    {
        m_onCommand = std::move(listener);
    }
    [[nodiscard]] const Counts &counts() const { return m_counts; }
    // Every key that is there now, by name.
    [[nodiscard]] std::vector<QByteArray> keys();
    // What is there, without looking at it as a client does: nothing changes by that. And how long it has to live.
    struct Seen {
        QByteArray key;
        RedisContent content;
        std::optional<std::chrono::microseconds> left;
    };
    [[nodiscard]] std::vector<Seen> look() const;
    // By somebody at the server's own console: no link, no client.
    redis::Value execute(const redis::Command &command);

    // --- What can go wrong -----------------------------------------------------------------------------

    // Everything in memory is gone, data and scripts; connections break, and none can be made for so long. What is on
    // its disk is read again: nothing, unless it keeps an append-only file.
    void restart(Duration downFor = {});
    // With appendfsync always (no `syncEvery`) all of it is on the disk; else what was there at the last whole
    // `syncEvery` of the world's time. Before the writes that are to be kept or lost.
    void setAppendOnlyFile(bool isKept, Duration syncEvery);
    // The replica is behind by so much. Before the writes that a failover shall lose.
    void setReplicaLag(Duration lag);
    // The replica takes over: the state is that of a lag ago, scripts and connections are gone.
    void failOver(Duration downFor = {});
    // The next messages that somebody would hear reach nobody; who publishes them is told that they did.
    void loseNextPublishes(int count) { m_publishesToLose += count; }
    // By which expiry is judged and which TIME tells.
    void jumpClock(std::chrono::milliseconds by) { m_clockOffset += by; }
    // As an operator's DEL: nobody is told. False when it was not there.
    bool forceDelete(const QByteArray &key);

    // --- For the commands ------------------------------------------------------------------------------

    [[nodiscard]] ScriptEngine &scripts() { return m_scripts; }
    [[nodiscard]] Publisher &publisher() { return m_publisher; }
    // How many hear it.
    qint64 publish(const QByteArray &channel, const QByteArray &payload);

private:
    [[nodiscard]] std::chrono::microseconds now() const;
    [[nodiscard]] redis::Value run(const redis::Command &command, RedisSession *session,
                                   std::vector<redis::Value> *before);
    [[nodiscard]] redis::Value runFromScript(const redis::Command &command);
    [[nodiscard]] RedisSession *sessionOf(qint64 id);
    void send(qint64 session, const std::vector<redis::Value> &replies);
    void goDown(Duration downFor);
    void moveOn();

    Network &m_network;
    const int m_number;
    Keyspace m_keys;
    ScriptEngine m_scripts;
    Publisher m_publisher;
    std::map<qint64, std::unique_ptr<RedisSession>> m_sessions;
    qint64 m_lastSession = 0;
    std::function<void(int, const redis::Command &)> m_onCommand;
    Counts m_counts;
    Duration m_replicaLag{};
    bool m_hasAppendOnlyFile = false;
    Duration m_syncEvery{};
    std::chrono::milliseconds m_clockOffset{0};
    int m_publishesToLose = 0;
    int m_downs = 0; // how often it went down
};

// A client program's connection to a simulated Redis: the real client, over a link of the simulated world.

// Returns at once, in state Connecting. All of them must outlive it; so must what is queued in the world.
[[nodiscard]] std::unique_ptr<redis::Connection> openRedis(Process &process, RedisServer &server);

} // namespace lockscope::sim
