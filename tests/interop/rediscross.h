// SPDX-License-Identifier: Apache-2.0
// Our contenders beside other people's on Redis, on one server or on several: what the tests of Redisson and of the
// Redlocks share.
#pragma once

#include "tests/interop/counting.h"
#include "tests/interop/fetched.h"
#include "tests/interop/ours.h"
#include "tests/support/redlockfixture.h"

#include "core/rules/catalogue.h"
#include "tests/support/patience.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>

namespace lockscope::interop {

using namespace Qt::StringLiterals;

using testing::patienceMs;
// How long a contender that has asked is watched: it must not get in.
constexpr int watchfulMs = 200;
// Longer than a test is patient: who gets in sooner has not waited for a lease to end.
constexpr auto longLease = 180s;
// So long after a release has ended may pass until who was woken by it is in: what a lease takes is far longer.
constexpr int wokenWithinMs = 1000;

class RedisCross : public QObject {
protected:
    QtLoop m_loop;
    std::vector<testing::Node> m_nodes;                       // each with the onlooker's connection
    std::vector<std::unique_ptr<redis::Connection>> m_client; // ours
    std::vector<std::unique_ptr<Ours>> m_ours;
    std::unique_ptr<ForeignClient> m_program; // theirs
    QTemporaryDir m_files;
    int m_names = 0, m_locks = 0, m_triesBefore = 0;

    // What went wrong; empty if all is ready.
    QString startServers(int count)
    {
        qputenv("XDG_STATE_HOME", m_files.path().toUtf8());
        auto problem = testing::startNodes(m_loop, count, m_nodes);
        if (!problem.isEmpty())
            return problem;
        for (const auto &node : m_nodes) {
            m_client.push_back(redis::openConnection(m_loop, testing::optionsFor(node.server->address())));
            if (!testing::becomes(*m_client.back(), redis::ConnectionState::Connected))
                return u"no connection to a private Redis"_s;
        }
        return {};
    }
    void stopServers()
    {
        m_ours.clear();
        m_program.reset();
        m_client.clear();
        m_nodes.clear();
    }
    // "127.0.0.1:1234" of the first so many.
    [[nodiscard]] QStringList servers(int count) const
    {
        QStringList all;
        for (int i = 0; i < count; ++i) {
            const auto address = m_nodes[size_t(i)].server->address();
            all << u"%1:%2"_s.arg(address.host).arg(address.port);
        }
        return all;
    }
    QByteArray newLock(const QByteArray &kind) { return "cross-lock-" + kind + '-' + QByteArray::number(++m_locks); }

    Ours &keep(Result<std::unique_ptr<recipes::Lock>> made)
    {
        if (!made)
            qFatal("%s", qPrintable(made.error().message));
        m_ours.push_back(std::make_unique<Ours>(nullptr, std::move(*made), m_loop));
        return *m_ours.back();
    }
    static bool isHeldBy(const Ours &one)
    {
        return QTest::qWaitFor([&] { return one.holds(); }, patienceMs);
    }
    static bool weRelease(Ours &one)
    {
        one.release();
        return QTest::qWaitFor([&] { return one.released.has_value(); }, patienceMs) && *one.released;
    }

    // A contender of theirs asks; its name. `what`: what their program wants to know of the lock.
    QByteArray theirs(const QByteArray &what)
    {
        const QByteArray name = 't' + QByteArray::number(++m_names);
        m_triesBefore = tries();
        m_program->tell("acquire " + name + ' ' + what);
        return name;
    }
    // Waiters that poll leave no trace, but each try is a command on the first server: all but what a client says of
    // itself, and what the onlooker asks.
    int tries()
    {
        static const QByteArrayList others{"info", "pubsub", "client", "hello", "auth",  "select",
                                           "ping", "hget",   "lrange", "keys",  "exists"};
        int all = 0;
        for (const auto &line : m_nodes.front().ask({"INFO", "commandstats"}).text.split('\n')) {
            const auto name = line.mid(line.indexOf('_') + 1).split(':').front().split('|').front();
            if (line.startsWith("cmdstat_") && !others.contains(name))
                all += line.mid(line.indexOf("calls=") + 6).split(',').front().toInt();
        }
        return all;
    }
    bool isTriedBeyond(int before)
    {
        return QTest::qWaitFor([&] { return tries() > before; }, patienceMs);
    }
    // Asks, has tried, and does not get in.
    bool waitsOutside(Ours &one)
    {
        const int before = tries();
        one.acquire();
        return isTriedBeyond(before) && staysOut(one);
    }
    // Asked before, that is.
    static bool staysOut(const Ours &one)
    {
        return !QTest::qWaitFor([&] { return one.granted.has_value(); }, watchfulMs);
    }
    bool theyHold(const QByteArray &name) { return m_program->says("held " + name); }
    // Woken, that is. Asked right after the release has ended.
    bool theyAreIn(const QByteArray &name, int withinMs = wokenWithinMs)
    {
        return QTest::qWaitFor([&] { return m_program->hasSaid("held " + name); }, withinMs);
    }
    bool theyRelease(const QByteArray &name)
    {
        m_program->tell("release " + name);
        return m_program->says("released " + name);
    }
    // It has tried since the last of theirs asked, and does not get in.
    bool theyWaitStill(const QByteArray &name)
    {
        return isTriedBeyond(m_triesBefore)
               && !QTest::qWaitFor([&] { return m_program->hasSaid("held " + name); }, watchfulMs);
    }
    void notifyWhatTheySaid()
    {
        if (QTest::currentTestFailed() && m_program)
            qInfo("%s", m_program->everythingSaid().constData());
    }

    QByteArray countTogether(const std::vector<std::unique_ptr<ForeignClient>> &programs, const QByteArray &what,
                             const std::vector<Ours *> &us)
    {
        return interop::countTogether(programs, what, us, m_loop, m_files.filePath(u"counter%1"_s.arg(m_locks)));
    }

    // What lockscopectl prints as JSON, with the first so many servers as one connection. Empty if it fails.
    QJsonObject lockscopectl(QStringList arguments, int servers, QByteArray *complaint = nullptr)
    {
        arguments << u"--json"_s << u"--connect"_s << u"redis=redis://"_s + this->servers(servers).join(u',');
        QProcess ctl;
        ctl.start(QStringLiteral(LOCKSCOPECTL), arguments);
        // Our own leases go on meanwhile.
        const bool ended = QTest::qWaitFor([&] { return ctl.state() == QProcess::NotRunning; }, patienceMs);
        const auto answer = ctl.readAllStandardOutput();
        if (complaint)
            *complaint = answer + ctl.readAllStandardError();
        return ended && ctl.exitCode() == 0 ? QJsonDocument::fromJson(answer).object() : QJsonObject();
    }
    // What it said if that was no success.
    QByteArray forceRelease(const QByteArray &lock, const QByteArray &holder, int servers)
    {
        QByteArray said;
        const auto answer = lockscopectl({u"force-release"_s, u"redis:"_s + QString::fromLatin1(lock), u"--holder"_s,
                                          QString::fromLatin1(holder), u"--yes"_s},
                                         servers, &said);
        return answer["released"_L1].toBool() ? QByteArray() : said + "(no success)";
    }
    // The LOCK of `show`, and of `locks` too; empty when the one or the other has none, or they differ.
    QJsonObject seen(const QByteArray &lock, int servers)
    {
        const auto name = u"redis:"_s + QString::fromLatin1(lock);
        const auto shown = lockscopectl({u"show"_s, name}, servers)["lock"_L1].toObject();
        for (const auto listed : lockscopectl({u"locks"_s}, servers)["locks"_L1].toArray()) {
            const auto one = listed.toObject();
            if (one["lock"_L1] == name && one["recipe"_L1] == shown["recipe"_L1])
                return shown;
        }
        return {};
    }
};

} // namespace lockscope::interop
