// SPDX-License-Identifier: Apache-2.0
// The pub/sub side of a client: a RespConnection of its own, opened with the first use, the channels and
// patterns that somebody listens to, and the client id that CLIENT TRACKING redirects to.
//
// A sharded channel (Redis 7, on a cluster) is lost when its slot moves, and refused where the slot is not, or not
// yet: then it is asked for again each second. A server that knows none is not asked again.
//
// Listeners of one channel share one subscription at the server. They are called through the loop's
// queue, so they may destroy whatever they like. Loop thread only.
#pragma once

#include "core/redis/client.h"
#include "core/redis/resp.h"

#include <set>
#include <tuple>

namespace lockscope::redis {

// One connection to one Redis: connects, logs in, carries commands and replies in order, and connects again with
// back-off when it breaks. The command connection and the pub/sub connection of a client are one RespConnection each.
//
// The call-backs run on the transport's own stack: they must not destroy the RespConnection. Loop thread only.
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
    Q_DISABLE_COPY(RespConnection)

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
    void startAttempt(); // once the password is known
    // Also as a user without a password: without AUTH the server would take it for its default user.
    [[nodiscard]] bool isLogin() const
    {
        return !m_options.user.isEmpty() || !m_options.password.isEmpty() || m_options.passwords;
    }
    void opened();
    void loggedIn(const std::vector<Value> &replies);
    void refuse(const Error &why);
    void read(QByteArrayView bytes);
    bool accept(Value reply);
    void broken(const QString &why, bool isExplained = false);
    void broken(const Error &why);
    void attemptFailed(const Error &why);
    void answerAll(const Error &first, const Error &rest);
    void planReconnect();
    void beat();
    [[nodiscard]] QString place() const { return m_options.host.host + u':' + QString::number(m_options.host.port); }

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
    const std::shared_ptr<bool> m_isAlive = std::make_shared<bool>(true); // for a password that comes too late
};

class PubSub : public std::enable_shared_from_this<PubSub> {
public:
    enum class Kind { Channel, Pattern, Sharded };
    using Listener = std::function<void(const Message &)>;

    // `restored` is called when a broken connection is back and its subscriptions are confirmed.
    PubSub(Loop &loop, ConnectionOptions options, MakeTransport makeTransport, std::function<void()> restored);
    // Who still waits for the id is told that there is none.
    ~PubSub();
    Q_DISABLE_COPY(PubSub)

    [[nodiscard]] Subscription subscribe(Kind kind, const QByteArray &name, Listener listener);
    void giveId(const Reply<qint64> &reply, Deadline deadline);

private:
    struct Topic {
        Kind kind;
        QByteArray name;
        friend bool operator<(const Topic &a, const Topic &b)
        {
            return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
        }
    };
    struct Entry;
    struct PendingSubscription {
        Topic topic;
        bool isOff = false; // of a sharded one: no more of it
    };

    void open();
    void linkChanged();
    void ask(const Topic &topic);
    void refused(const Value &push);
    void onSubscriptionError(const Topic &topic);
    void dropped(const Topic &topic);
    void received(const Value &push);
    void confirmed();
    void deliver(const Topic &topic, const Message &message);
    void deliverKeys(const Value &keys, const QByteArray &channel);
    void settle();

    Loop &m_loop;
    ConnectionOptions m_options;
    MakeTransport m_makeTransport;
    std::function<void()> m_restored;
    std::map<Topic, std::vector<std::weak_ptr<Entry>>> m_topics;
    std::deque<PendingSubscription> m_unconfirmed; // asked for on this connection, in order, and not yet answered
    std::set<Topic> m_refused;
    std::set<Topic> m_astray;           // sharded, and not where we asked for them
    Timer m_again;                      // they are asked for
    std::optional<Result<qint64>> m_id; // of this connection
    std::vector<Reply<qint64>> m_idWaiters;
    bool m_wasConnected = false;
    bool m_restoring = false;
    std::unique_ptr<RespConnection> m_link; // last, so that it goes first: its call-backs use the rest
};

} // namespace lockscope::redis
