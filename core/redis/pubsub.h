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

#include "core/redis/respconnection.h"

#include <map>
#include <set>
#include <tuple>

namespace lockscope::redis {

class PubSub : public std::enable_shared_from_this<PubSub> {
public:
    enum class Kind { Channel, Pattern, Sharded };
    using Listener = std::function<void(const Message &)>;

    // `restored` is called when a broken connection is back and its subscriptions are confirmed.
    PubSub(Loop &loop, ConnectionOptions options, MakeTransport makeTransport, std::function<void()> restored);
    // Who still waits for the id is told that there is none.
    ~PubSub();
    PubSub(const PubSub &) = delete;
    PubSub &operator=(const PubSub &) = delete;

    [[nodiscard]] Subscription subscribe(Kind kind, const QByteArray &name, Listener listener);
    [[nodiscard]] Reply<qint64> id(Deadline deadline);

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
    struct Wish {
        Topic topic;
        bool isOff = false; // of a sharded one: no more of it
    };

    void open();
    void linkChanged();
    void ask(const Topic &topic);
    void refused(const Value &push);
    void wentAstray(const Topic &topic);
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
    std::deque<Wish> m_unconfirmed; // asked for on this connection, in order, and not yet answered
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
