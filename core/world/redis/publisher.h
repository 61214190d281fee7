// SPDX-License-Identifier: Apache-2.0
// The clients of a simulated Redis, and who of them listens to which channel.
//
// Listeners hear in the order in which they subscribed, those of patterns last. World's thread only.
#pragma once

#include "core/redis/resp.h"

#include <functional>

namespace lockscope::world {

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

} // namespace lockscope::world
