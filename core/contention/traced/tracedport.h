// SPDX-License-Identifier: Apache-2.0
// A port that tells the trace what one contender sends and hears over it. In the simulated world and on real servers
// alike; several contenders may share what stands behind it. Outlived by both.
#pragma once

#include "core/contention/trace.h"
#include "core/redis/connection.h"
#include "core/zookeeper/session.h"
#include "core/mariadb/session.h"
#include "core/etcd/client.h"

namespace lockscope::contention {

// Who writes down, shared with what is still to be heard.
class Tracer {
public:
    Tracer(Trace &trace, int contender) : m_trace(&trace), m_contender(contender) {}
    // What comes after the port has gone is not written down.
    void end() { m_trace = nullptr; }

    void sent(const QByteArray &verb, const QByteArray &where, qint64 bytes) const
    {
        if (m_trace)
            m_trace->sent(m_contender, verb, where, bytes);
    }
    void answered(const QByteArray &verb, bool isError, qint64 bytes) const
    {
        if (m_trace)
            m_trace->answered(m_contender, verb, isError, bytes);
    }
    void woken(Mark mark, const QByteArray &what, const QByteArray &where) const
    {
        if (m_trace)
            m_trace->woken(m_contender, mark, what, where);
    }

private:
    Trace *m_trace;
    int m_contender;
};

// `Base` forwards. `Measures` has verb(), where() and bytes() of every request, and answerBytes() of every answer.
// Requests it has no verb for are handed on unseen.
template <class Base, class Measures>
class TracedPort : public Base {
public:
    TracedPort(typename Base::Inner &inner, Trace &trace, int contender)
        : Base(inner), m_tracer(freelist::makeShared<Tracer>(trace, contender))
    {
    }
    ~TracedPort() override { m_tracer->end(); }

    void send(typename Base::Request &&request) override
    {
        std::visit([&](const auto &asked) { pass(asked, std::move(request)); }, request);
    }

protected:
    [[nodiscard]] const std::shared_ptr<Tracer> &tracer() const { return m_tracer; }

private:
    template <class R>
    void pass(const Asked<R> &asked, typename Base::Request &&request)
    {
        if constexpr (requires { Measures::verb(asked.request); }) {
            const auto verb = Measures::verb(asked.request);
            m_tracer->sent(verb, Measures::where(asked.request), Measures::bytes(asked.request));
            const auto reply = asked.reply;
            Base::send(std::move(request));
            reply.observe([verb, tracer = m_tracer](const Result<typename R::Answer> &result) {
                tracer->answered(verb, !result, result ? Measures::answerBytes(*result) : Measures::errorBytes);
            });
        } else {
            Base::send(std::move(request));
        }
    }

    std::shared_ptr<Tracer> m_tracer;
};

// A Redis connection that tells the trace what is sent and heard over it, as one contender's: that of the
// process which has it, since a process shares its subscriptions.
struct RedisMeasures {
    static constexpr qint64 errorBytes = 0;

    static QByteArray verb(const redis::CommandRequest &request) { return request.command.value(0); }
    static QByteArray verb(const redis::PipelineRequest &request) { return wordOf(request, 0); }
    static QByteArray verb(const redis::ScriptRequest &request) { return request.script.name; }

    static QByteArray where(const redis::CommandRequest &request) { return request.command.value(1); }
    static QByteArray where(const redis::PipelineRequest &request) { return wordOf(request, 1); }
    static QByteArray where(const redis::ScriptRequest &request) { return request.keys.value(0); }

    static qint64 bytes(const redis::CommandRequest &request);
    static qint64 bytes(const redis::PipelineRequest &request);
    static qint64 bytes(const redis::ScriptRequest &request);
    static qint64 answerBytes(const redis::Value &value);
    static qint64 answerBytes(const std::vector<redis::Value> &values);

private:
    // Of its first command.
    static QByteArray wordOf(const redis::PipelineRequest &request, qsizetype place)
    {
        return request.commands.empty() ? QByteArray() : request.commands.front().value(place);
    }
};

class TracedConnection : public TracedPort<redis::ForwardingConnection, RedisMeasures> {
public:
    using TracedPort::TracedPort;

    Subscription subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener) override;
    Subscription subscribePattern(QByteArray pattern, std::function<void(const redis::Message &)> listener) override;

private:
    [[nodiscard]] std::function<void(const redis::Message &)> observed(
        std::function<void(const redis::Message &)> listener);
    // Tells of the SUBSCRIBE, and of the UNSUBSCRIBE when it is let go.
    [[nodiscard]] Subscription kept(const QByteArray &channel, Subscription inner);
};

// A ZooKeeper session that tells the trace what is sent and heard over it.
struct ZooKeeperMeasures {
    // What a packet takes beside the path, the data and the names in it: header, lengths, flags. By the layout of
    // ZooKeeper's jute records; good enough to compare recipes.
    static constexpr qint64 packetBytes = 24, nameBytes = 4, errorBytes = packetBytes;
    static const std::array<QByteArray, std::variant_size_v<zk::Session::Request>> verbs; // of each request

    template <class R>
    static std::reference_wrapper<const QByteArray> verb(const R &)
    {
        return verbs[zk::Session::indexOf<R>];
    }
    template <class R>
    static QByteArray where(const R &request)
    {
        if constexpr (requires { request.path; })
            return request.path.bytes();
        else if constexpr (requires { request.ops; })
            return request.ops.empty() ? QByteArray() : request.ops.front().path.bytes();
        else
            return {};
    }
    template <class R>
    static qint64 bytes(const R &request)
    {
        if constexpr (requires { request.data; })
            return packetBytes + where(request).size() + request.data.size();
        else
            return packetBytes + where(request).size();
    }
    template <class T>
    static qint64 answerBytes(const T &)
    {
        return packetBytes;
    }
    static qint64 answerBytes(const zk::Children &children);
    static qint64 answerBytes(const zk::Node &node) { return packetBytes + node.data.size(); }
};

class TracedSession : public TracedPort<zk::ForwardingSession, ZooKeeperMeasures>, public OnFreeList {
public:
    using TracedPort::TracedPort;

    void send(Request &&request) override;
};

// A session on MariaDB that tells the trace what is sent and heard over it.
struct SqlMeasures {
    static constexpr qint64 errorBytes = 0;
    static QByteArray verb(const mariadb::Statement &statement)
    {
        return statement.text.left(statement.text.indexOf(' '));
    }
    static QByteArray where(const mariadb::Statement &statement) { return statement.text; }
    static qint64 bytes(const mariadb::Statement &statement) { return statement.text.size(); }
    static qint64 answerBytes(const mariadb::Rows &) { return 0; }
};

using TracedSql = TracedPort<mariadb::ForwardingSession, SqlMeasures>;

// A client of etcd that tells the trace what is sent and heard over it.

struct EtcdMeasures {
    // What a request takes beside its keys and values, about: good enough to compare recipes.
    static constexpr qint64 requestBytes = 40, errorBytes = 0;

    static QByteArray verb(const etcd::RangeRequest &) { return "range"; }
    static QByteArray verb(const etcd::Transaction &) { return "txn"; }
    static QByteArray verb(const etcd::GrantRequest &) { return "lease grant"; }
    static QByteArray verb(const etcd::KeepAliveRequest &) { return "lease keep-alive"; }
    static QByteArray verb(const etcd::RevokeRequest &) { return "lease revoke"; }
    static QByteArray verb(const etcd::TimeToLiveRequest &) { return "lease timetolive"; }
    static QByteArray verb(const etcd::LeasesRequest &) { return "lease list"; }

    static QByteArray where(const etcd::RangeRequest &request) { return request.key; }
    static QByteArray where(const etcd::Transaction &transaction)
    {
        return transaction.then.empty() ? QByteArray() : transaction.then.front().range.key;
    }
    static QByteArray where(const etcd::LeasesRequest &) { return {}; }
    template <class R>
    static QByteArray where(const R &request)
    {
        return etcd::leaseText(request.id);
    }

    static qint64 bytes(const etcd::RangeRequest &request)
    {
        return requestBytes + request.key.size() + request.end.size();
    }
    static qint64 bytes(const etcd::Transaction &transaction)
    {
        auto bytes = requestBytes;
        for (const auto &one : transaction.conditions)
            bytes += one.key.size();
        for (const auto *list : {&transaction.then, &transaction.otherwise}) {
            for (const auto &one : *list)
                bytes += one.range.key.size() + one.value.size();
        }
        return bytes;
    }
    template <class R>
    static qint64 bytes(const R &)
    {
        return requestBytes;
    }
    template <class T>
    static qint64 answerBytes(const T &)
    {
        return 0;
    }
};

class TracedEtcd final : public TracedPort<etcd::ForwardingClient, EtcdMeasures> {
public:
    using TracedPort::TracedPort;

    // A request, too, as the gate counts them; that it stands is its answer.
    Subscription watch(etcd::WatchRequest request, std::function<void(const etcd::WatchNews &)> listener) override
    {
        tracer()->sent("watch", request.key, EtcdMeasures::requestBytes + request.key.size());
        return inner().watch(request, [listener = std::move(listener), tracer = tracer(),
                                       stands = false](const etcd::WatchNews &news) mutable {
            if (!std::exchange(stands, true))
                tracer->answered("watch", news.over.has_value(), 0);
            for (const auto &event : news.events)
                tracer->woken(Mark::WatchEvent, event.isRemoved ? "deleted" : "put", event.entry.key);
            listener(news);
        });
    }
};

} // namespace lockscope::contention
