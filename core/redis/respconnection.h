// SPDX-License-Identifier: Apache-2.0
// One connection to one Redis: connects, logs in, carries commands and replies in order, and connects again with
// back-off when it breaks. The command connection and the pub/sub connection of a client are one RespConnection each.
//
// The call-backs run on the transport's own stack: they must not destroy the RespConnection. Loop thread only.
#pragma once

#include "core/redis/client.h"
#include "core/redis/resp.h"

#include <deque>

namespace lockscope::redis {

class RespConnection {
public:
    // All replies of one send, or why there are none.
    using Done = MoveOnlyFunction<void(Result<std::vector<Value>>)>;
    struct Callbacks {
        // Also when an attempt failed and the state stays Connecting.
        std::function<void()> stateChanged;
        // What comes without having been asked for (pub/sub). Without it such a reply breaks the link.
        std::function<void(Value)> unsolicited;
    };

    // Connects at once; the first call-back comes later, from the event loop.
    RespConnection(Loop &loop, ConnectionOptions options, MakeTransport makeTransport, Callbacks callbacks);
    // What is out is answered with UnknownOutcome. Does not block.
    ~RespConnection();
    RespConnection(const RespConnection &) = delete;
    RespConnection &operator=(const RespConnection &) = delete;

    [[nodiscard]] ConnectionState state() const { return m_state; }
    [[nodiscard]] QString lastError() const { return m_lastError; }
    [[nodiscard]] bool isExplained() const { return m_isExplained; } // of that: Error::isExplained
    // Why nothing can be sent now.
    [[nodiscard]] Error notConnected() const;

    // Sends encoded commands that have `replies` (> 0) replies. Only while Connected.
    void send(const QByteArray &bytes, size_t replies, Done done);
    // Sends a command whose answer comes unsolicited (SUBSCRIBE).
    void sendUnanswered(const QByteArray &bytes);

private:
    struct Pending {
        size_t replies;
        std::vector<Value> got;
        Done done;
    };

    void connectNow();
    void opened();
    void loggedIn(const std::vector<Value> &replies);
    void refuse(const Error &why);
    void read(QByteArrayView bytes);
    bool accept(Value reply);
    void broken(const QString &why, bool isExplained = false);
    void broken(const Error &why);
    void answerAll(const Error &first, const Error &rest);
    void planReconnect();
    void beat();
    [[nodiscard]] QString place() const;

    Loop &m_loop;
    ConnectionOptions m_options;
    Callbacks m_callbacks;
    ConnectionState m_state = ConnectionState::Connecting;
    QString m_lastError;
    bool m_isExplained = false; // that
    MakeTransport m_makeTransport;
    std::unique_ptr<Transport> m_transport;
    std::unique_ptr<RespReader> m_reader;
    std::deque<Pending> m_pending;
    Timer m_timer;      // the attempt's limit, the pause before the next attempt, or the next beat
    Duration m_pause{}; // before the next attempt
    Instant m_connectedAt{};
    Instant m_heardAt{};
};

} // namespace lockscope::redis
