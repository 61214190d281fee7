// SPDX-License-Identifier: Apache-2.0
// A simulated Redis: one server as a state machine in the simulated world.
//
// It speaks the protocol over the world's links, answers as a Redis 7 does (the commands that locks and their
// inspectors use; database 0 only), runs the real scripts in an embedded Lua, and can fail
// as a real one does. World's thread only; it must outlive what is queued in the world, as its network must.
#pragma once

#include "core/world/network.h"
#include "core/world/redis/keyspace.h"
#include "core/world/redis/lua.h"
#include "core/world/redis/publisher.h"

namespace lockscope::world {

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
    RedisServer(const RedisServer &) = delete;
    RedisServer &operator=(const RedisServer &) = delete;

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

} // namespace lockscope::world
