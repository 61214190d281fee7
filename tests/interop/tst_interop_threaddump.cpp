// SPDX-License-Identifier: Apache-2.0
// Deadlocks of real JVM programs, with their thread dumps: which stack holds a lock, which one waits.
#include "tests/interop/fetched.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

#include <QStandardPaths>

using namespace lockscope::interop;

namespace {

// The contender with that id, in the first dump of the answer.
QJsonObject contenderIn(const Ran &ran, const QString &id)
{
    const auto dump = ran.json().value("threadDumps"_L1).toArray().first().toObject();
    for (const auto &one : dump.value("contenders"_L1).toArray()) {
        if (one.toObject().value("id"_L1).toString() == id)
            return one.toObject();
    }
    return {};
}

bool hasFrame(const QJsonObject &contender, const QString &frame)
{
    const auto thread = contender.value("threads"_L1).toArray().first().toObject();
    return thread.value("stack"_L1).toVariant().toStringList().join(u'\n').contains(frame);
}

QString idOfRole(const Ran &ran, const QString &role)
{
    for (const auto &one : ran.json().value("lock"_L1).toObject().value("contenders"_L1).toArray()) {
        if (one.toObject().value("role"_L1).toString() == role)
            return one.toObject().value("id"_L1).toString();
    }
    return {};
}

} // namespace

class TestInteropThreadDump : public QObject {
    Q_OBJECT

    Servers m_servers;
    QTemporaryDir m_dumps;

    QString dumpOf(const ForeignClient &program)
    {
        const auto file = m_dumps.filePath(u"%1.txt"_s.arg(program.processId()));
        QProcess jstack;
        jstack.setStandardOutputFile(file);
        jstack.start(u"jstack"_s, {QString::number(program.processId())});
        return jstack.waitForFinished(patienceMs) && jstack.exitCode() == 0 ? file : QString();
    }

private slots:
    void initTestCase()
    {
        if (QStandardPaths::findExecutable(u"jstack"_s).isEmpty())
            QSKIP("jstack is not installed; Debian's package is default-jdk-headless");
        QCOMPARE(m_servers.start(), QString());
    }
    void cleanupTestCase() { m_servers.stop(); }

    void curatorsWaiterIsNamed()
    {
        if (const auto why = whyNoCurator(); !why.isEmpty())
            QSKIP(why.constData());
        const auto hosts = u"127.0.0.1:%1"_s.arg(m_servers.zooKeeper->address().port);
        const auto program = [&hosts](const QString &first, const QString &second) {
            return javaClient(u"CuratorTransfer.java"_s, {hosts, first, second});
        };
        const auto one = program(u"/locks/orders"_s, u"/locks/stock"_s);
        const auto other = program(u"/locks/stock"_s, u"/locks/orders"_s);
        for (const auto &client : {one.get(), other.get()})
            QVERIFY2(client->says("held"), client->everythingSaid().constData());
        const auto session = QString::fromUtf8(other->everythingSaid().split('\n').first().split(' ').value(1));
        one->tell("go");
        other->tell("go");
        QTRY_VERIFY(m_servers.run({u"findings"_s}).out.contains("deadlock"));

        const auto dump = dumpOf(*other);
        const auto ran = m_servers.run(
            {u"show"_s, u"zk:/locks/orders"_s, u"--json"_s, u"--thread-dump"_s, u"%1=%2"_s.arg(session, dump)});
        QVERIFY2(ran.status == 0, ran.what().constData());
        const auto waiter = contenderIn(ran, idOfRole(ran, u"waiter"_s));
        QCOMPARE(waiter.value("match"_L1).toString(), u"candidates"_s);
        QCOMPARE(waiter.value("threads"_L1).toArray().size(), 1);
        QVERIFY2(hasFrame(waiter, u"CuratorTransfer.transfer("_s), ran.what().constData());
        // A dump that might be of either of them is joined with neither.
        const auto unnamed = m_servers.run({u"show"_s, u"zk:/locks/orders"_s, u"--thread-dump"_s, dump});
        QCOMPARE(unnamed.status, 2);
        QVERIFY2(unnamed.err.contains(session.toUtf8()), unnamed.what().constData());
    }

    void redissonsHolderIsNamed()
    {
        if (const auto why = whyNotFetched("REDISSON"); !why.isEmpty())
            QSKIP(why.constData());
        const auto program = redissonContenders({u"127.0.0.1"_s, QString::number(m_servers.redis->address().port)});
        QVERIFY2(program->says("ready"), program->everythingSaid().constData());
        for (const auto &[thread, first] : {std::pair("alice", "orders"), std::pair("bob", "stock")}) {
            program->tell(QByteArray("acquire ") + thread + " fair " + first);
            QVERIFY2(program->says(QByteArray("held ") + thread), program->everythingSaid().constData());
        }
        program->tell("acquire alice fair stock");
        program->tell("acquire bob fair orders");
        QTRY_VERIFY(m_servers.run({u"findings"_s}).out.contains("deadlock"));

        const auto ran =
            m_servers.run({u"show"_s, u"redis:orders"_s, u"--json"_s, u"--thread-dump"_s, dumpOf(*program)});
        QVERIFY2(ran.status == 0, ran.what().constData());
        for (const auto &role : {u"holder"_s, u"waiter"_s}) {
            const auto contender = contenderIn(ran, idOfRole(ran, role));
            QCOMPARE(contender.value("match"_L1).toString(), u"thread-id"_s);
            QVERIFY2(hasFrame(contender, u"RedissonContenders$Contender.enter("_s), ran.what().constData());
        }
        const auto threadOf = [&](const QString &role) { return idOfRole(ran, role).section(u':', -1); };
        QCOMPARE(threadOf(u"holder"_s), QString::fromUtf8(program->heldWord("alice", 3)).section(u':', -1));
        QCOMPARE(threadOf(u"waiter"_s), QString::fromUtf8(program->heldWord("bob", 3)).section(u':', -1));
    }
};

LOCKSCOPE_TEST(TestInteropThreadDump)
#include "tst_interop_threaddump.moc"
