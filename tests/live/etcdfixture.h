// SPDX-License-Identifier: Apache-2.0
// What the tests of etcd share: a private server, clients of it, and etcd's own program.
#pragma once

#include "core/inspect/etcd/observer.h"
#include "core/operate/etcd.h"
#include "core/recipes/make.h"
#include "core/sandbox/server.h"
#include "tests/support/contender.h"
#include "tests/support/finish.h"
#include "tests/support/keepingsink.h"
#include "tests/support/ctlfixture.h"

namespace lockscope::testing::inline etcdfixture {

using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

// One run of etcd's own client.
class EtcdCtl {
public:
    EtcdCtl(const HostPort &server, const QStringList &arguments)
    {
        auto variables = QProcessEnvironment::systemEnvironment();
        variables.insert(u"ETCDCTL_API"_s, u"3"_s);
        m_process.setProcessEnvironment(variables);
        m_process.start(u"etcdctl"_s,
                        QStringList{u"--endpoints=http://%1:%2"_s.arg(server.host).arg(server.port)} + arguments);
    }
    ~EtcdCtl()
    {
        m_process.kill();
        m_process.waitForFinished();
    }
    // The next line; empty when none came.
    QByteArray line()
    {
        const QDeadlineTimer limit(patienceMs);
        while (!m_process.canReadLine() && !limit.hasExpired() && m_process.state() != QProcess::NotRunning)
            m_process.waitForReadyRead(50);
        return m_process.readLine().trimmed();
    }
    void interrupt() const { ::kill(static_cast<pid_t>(m_process.processId()), SIGINT); }
    QByteArray finish()
    {
        m_process.waitForFinished(patienceMs);
        return m_process.readAllStandardOutput() + m_process.readAllStandardError();
    }

private:
    QProcess m_process;
};

inline etcd::Transaction transactionOf(etcd::Operation::Kind kind, const QByteArray &key, etcd::LeaseId lease = 0)
{
    etcd::Operation operation{.kind = kind};
    operation.range.key = key;
    operation.lease = lease;
    etcd::Transaction transaction;
    transaction.then.push_back(operation);
    return transaction;
}

inline Task<Result<operate::ForceReleasePlan>> named(operate::ForceReleasePlan plan, etcd::Client *client,
                                                     Deadline deadline)
{
    auto naming = operate::withLeaseKeys(std::move(plan), client, deadline);
    auto full = co_await naming;
    co_return full;
}

inline QStringList idsOf(const QJsonObject &lock)
{
    QStringList ids;
    const auto contenders = lock.value("contenders"_L1).toArray();
    for (const auto &contender : contenders)
        ids << contender.toObject().value("id"_L1).toString();
    return ids;
}

// A server for all tests of a suite.
class EtcdFixture : public QObject {
protected:
    QtLoop m_loop;
    QTemporaryDir m_state;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<etcd::Client> m_client;
    operate::CommandLog m_log;
    operate::Gate m_gate{ConnectionName("etcd"), false, false, m_log};
    std::unique_ptr<etcd::Client> m_gated;
    int m_names = 0;

    [[nodiscard]] QByteArray freshName() { return "locks/orders-" + QByteArray::number(++m_names); }
    [[nodiscard]] QString uri(const QString &credentials = {}) const
    {
        return u"etcd://"_s + credentials + u"127.0.0.1:"_s + QString::number(m_server->address().port);
    }
    [[nodiscard]] QStringList connect() const { return {u"--connect"_s, uri()}; }
    [[nodiscard]] QStringList acquiring(const QByteArray &lock, const QStringList &more = {}) const
    {
        return connect()
               + QStringList{u"acquire"_s, u"etcd:"_s + QString::fromUtf8(lock), u"--recipe"_s, u"etcd-mutex"_s,
                             u"--json"_s}
               + more;
    }
    [[nodiscard]] QJsonObject shown(const QByteArray &lock) const
    {
        return run(connect() + QStringList{u"show"_s, u"etcd:"_s + QString::fromUtf8(lock), u"--json"_s})
            .json()
            .value("lock"_L1)
            .toObject();
    }
    [[nodiscard]] Ran forced(const QByteArray &lock, const QString &holder, const QStringList &more) const
    {
        return run(connect()
                   + QStringList{u"force-release"_s, u"etcd:"_s + QString::fromUtf8(lock), u"--holder"_s, holder}
                   + more);
    }
    void etcdctl(const QStringList &arguments) const
    {
        EtcdCtl ctl(m_server->address(), arguments);
        ctl.finish();
    }
    [[nodiscard]] std::unique_ptr<Contender> contender(const QByteArray &lock, std::chrono::milliseconds ttl = 30s)
    {
        recipes::AcquireOptions options{.ttl = ttl};
        auto made = recipes::makeLock("etcd-mutex", *m_gated, lock, options, Random::fromSystem());
        return std::make_unique<Contender>(m_loop, std::move(*made));
    }
    [[nodiscard]] std::unique_ptr<inspect::EtcdObserver> observer(KeepingSink &sink, bool follow = true)
    {
        inspect::ObserverOptions options{.follow = follow};
        return std::make_unique<inspect::EtcdObserver>(*m_gated, ConnectionName("etcd"), "locks/", options, sink);
    }
    [[nodiscard]] qsizetype keysBelow(const QByteArray &lock)
    {
        etcd::RangeRequest request{.key = lock + '/'};
        request.end = etcd::endOfPrefix(request.key);
        const auto answer = answerOf(m_gated->range(request, Deadline::after(m_loop, 10s)));
        return answer ? static_cast<qsizetype>(answer->entries.size()) : -1;
    }

    bool putWithLease(const QByteArray &key, etcd::LeaseId lease)
    {
        const auto putting = transactionOf(etcd::Operation::Kind::Put, key, lease);
        return bool(answerOf(m_gated->commit(putting, Deadline::after(m_loop, 10s))));
    }
    bool removeKey(const QByteArray &key)
    {
        const auto removing = transactionOf(etcd::Operation::Kind::Remove, key);
        return bool(answerOf(m_gated->commit(removing, Deadline::after(m_loop, 10s))));
    }
    [[nodiscard]] bool leaseIsThere(etcd::LeaseId lease)
    {
        const auto answer = answerOf(m_gated->timeToLive(lease, false, Deadline::after(m_loop, 10s)));
        return answer && answer->ttl > 0s;
    }
    Result<operate::ForceReleasePlan> endingTheLease(const QByteArray &lock, etcd::LeaseId lease)
    {
        KeepingSink sink;
        const auto looks = observer(sink, false);
        const auto before = finish(m_loop, looks->readNow(lock, Deadline::after(m_loop, 10s)));
        if (!before)
            return before.error();
        const auto &holder = before->contenders.front();
        if (holder.guard.etcd().lease != lease)
            return Error{ErrorCode::Refused, u"another holds it"_s};
        const auto plan = operate::planWay(*before, holder.id, operate::ReleaseAction::EndLease);
        if (!plan)
            return plan.error();
        return finish(m_loop, named(*plan, m_gated.get(), Deadline::after(m_loop, 10s)));
    }
    Result<operate::Sent> sent(const operate::ForceReleasePlan &plan)
    {
        return finish(m_loop, operate::sendRelease(plan, m_gated.get(), Deadline::after(m_loop, 10s)));
    }

    // What went wrong; empty if all is ready. Without a server to start there is no m_server afterwards.
    QString startServer()
    {
        qputenv("XDG_STATE_HOME", m_state.path().toUtf8());
        if (const auto problem = startInto(m_server, sandbox::makeEtcd()); !problem.isEmpty())
            return problem;
        m_client = etcd::openClient(m_loop, {.hosts = {m_server->address()}});
        m_gated = operate::gated(*m_client, m_gate);
        return eventually([&] { return m_client->state() == etcd::ClientState::Connected; }) ? QString()
                                                                                             : m_client->lastError();
    }
    void endServer()
    {
        m_gated.reset();
        m_client.reset();
        m_server.reset();
    }
};

} // namespace lockscope::testing::inline etcdfixture
