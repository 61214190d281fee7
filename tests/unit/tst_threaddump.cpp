// SPDX-License-Identifier: Apache-2.0
// Thread dumps of a JVM, joined with the contenders of a lock. The dumps are shortened ones of programs with Redisson
// 3.52 and Curator 5.4.
#include "core/inspect/threaddump.h"
#include "tests/support/testmain.h"
#include "tests/unit/drawnlocks.h"

#include <QFile>

using namespace lockscope::inspect;
using drawing::drawnLock;

namespace {

// Of Redisson, of Curator, and of jcmd PID Thread.dump_to_file in Java 21, which has virtual threads as well.
QByteArray dumpOf(const QString &name)
{
    QFile file(QStringLiteral(THREAD_DUMPS "/%1.txt").arg(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

const QString redisson = u"d0a74c00-d185-41ed-b932-338540ca4ff3"_s;

QString linesOf(const LockSnapshot &lock, const QByteArray &dump, const QString &client = {})
{
    const auto threads = readThreadDump(dump);
    if (!threads)
        return threads.error().message;
    const auto joined = joinThreads(lock, *threads, client);
    return joined ? threadLines(*joined).join(u'\n') : joined.error().message;
}

} // namespace

class TestThreadDump : public QObject {
    Q_OBJECT
private slots:
    void redissonNamesTheThread()
    {
        const auto lock = drawnLock(u"redis:invoices redisson-fair-lock: %1:20 | %1:22 %1:99"_s.arg(redisson));
        QCOMPARE(
            linesOf(lock, dumpOf(u"redisson"_s)),
            u"The dump has 4 threads. They are taken for those of client %1.\n"
            u"  holder %1:20: thread #20 \"Thread-0 \"orders\" #7\", TIMED_WAITING (parking), in org.redisson.RedissonLock.lock\n"
            u"    It waits in a call for a lock: for another lock, or the dump is of another process.\n"
            u"    at shop.Orders.reserve(Orders.java:158)\n"
            u"    at shop.Orders$$Lambda$338/0x00007ff1142a8440.run(Unknown Source)\n"
            u"  waiter %1:22: thread #22 \"Thread-2\", RUNNABLE\n"
            u"    at shop.Invoices.print(Invoices.java:12)\n"
            u"  waiter %1:99: the dump has no thread #99. That thread has ended, or the dump is of another process."_s
                .arg(redisson));
    }

    void dumpToFileHasVirtualThreads()
    {
        const auto lock = drawnLock(u"redis:invoices redisson-fair-lock: %1:31 | %1:22"_s.arg(redisson));
        QCOMPARE(
            linesOf(lock, dumpOf(u"virtual-threads"_s)),
            u"The dump has 2 threads. They are taken for those of client %1.\n"
            u"  holder %1:31: thread #31 \"\", in an unknown state\n"
            u"    at shop.Orders.reserve(Orders.java:158)\n"
            u"  waiter %1:22: thread #22 \"Thread-2\", in an unknown state, in org.redisson.RedissonFairLock.tryLock\n"
            u"    at shop.Invoices.print(Invoices.java:12)"_s.arg(redisson));
    }

    void sessionsNameNoThread()
    {
        const auto waits = drawnLock(u"zk:/locks/stock curator-mutex: 0x2 | 0x1"_s);
        const auto line = QString(linesOf(waits, dumpOf(u"curator"_s), u"0x1"_s)).split(u'\n');
        QCOMPARE(line.value(1), u"  waiter 0x1: one thread waits in a call for a lock."_s);
        QCOMPARE(line.value(2), u"  thread #17 \"worker\", WAITING (on object monitor), in "
                                u"org.apache.curator.framework.recipes.locks.InterProcessMutex.acquire"_s);
        QCOMPARE(line.value(3), u"    at shop.Transfer.run(Transfer.java:6)"_s);
        const auto holds = linesOf(waits, dumpOf(u"curator"_s), u"0x2"_s);
        QVERIFY2(holds.contains(u"If it waits for another lock, it is one of these."), qPrintable(holds));
    }

    // Thread #20 of another process would be named as well.
    void clientHasToBeNamed()
    {
        const auto lock = drawnLock(u"zk:/locks/stock curator-mutex: 0x2 | 0x1"_s);
        QVERIFY(linesOf(lock, dumpOf(u"curator"_s)).contains(u"several clients contend for this lock"));
        QVERIFY(
            linesOf(lock, dumpOf(u"curator"_s), u"0x3"_s).contains(u"no contender of this lock is of client 0x3"));
    }

    void otherFilesAreRefused_data()
    {
        const Rows<QByteArray> row("text");
        row("empty", {});
        row("a log", "2026-11-30 INFO nothing\n#1 of many\n\"quoted\" text\n");
        row("threads without numbers", "\"VM Thread\" os_prio=0 cpu=6.28ms tid=0x0 nid=0x5a59 runnable\n");
        row("bytes", QByteArray("\0\xff\x1b[2J", 6));
    }
    void otherFilesAreRefused()
    {
        QFETCH(QByteArray, text);
        const auto threads = readThreadDump(text);
        QVERIFY(!threads);
        QVERIFY(threads.error().message.contains(u"jstack"));
    }

    void textOfADumpIsHostile()
    {
        const auto lock = drawnLock(u"redis:a redisson-lock: %1:5"_s.arg(redisson));
        const auto lines =
            linesOf(lock, "\"\x1b[2Jworker\" #5 prio=5\n   java.lang.Thread.State: RUN\x1bNABLE\n\tat a.\x1b.b(C)\n");
        QVERIFY2(lines.contains(u"\\x1B[2Jworker"), qPrintable(lines));
        QVERIFY(!lines.contains(QChar(0x1b)));
    }
};

LOCKSCOPE_TEST(TestThreadDump)
#include "tst_threaddump.moc"
