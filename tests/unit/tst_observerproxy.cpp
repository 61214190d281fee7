// SPDX-License-Identifier: Apache-2.0
// What the program is told where an observer is replaced by another, and how often that it is still true.
#include "core/workspace/link.h"
#include "tests/support/keepingsink.h"
#include "tests/support/testmain.h"

#include <QTest>

using namespace lockscope;
using namespace std::chrono_literals;
using inspect::ChangeKind;

namespace {

const ConnectionName replacedName("zk");

inspect::LockSnapshot replacedLock(const QByteArray &name)
{
    inspect::LockSnapshot lock;
    lock.lock = {replacedName, name};
    return lock;
}

} // namespace

class TestObserverProxy : public QObject {
    Q_OBJECT

private slots:
    void aReplacedObserverMakesNoNews()
    {
        testing::KeepingSink sink;
        ObserverProxy proxy(replacedName, &sink);
        for (const auto *name : {"/stays", "/goes", "/ends"})
            proxy.take(inspect::SnapshotChange{ChangeKind::Added, replacedLock(name)});
        proxy.observerReplaced({replacedLock("/stays"), replacedLock("/goes"), replacedLock("/ends")});
        proxy.take(inspect::SnapshotChange{ChangeKind::Added, replacedLock("/stays")});
        proxy.take(inspect::SnapshotChange{ChangeKind::Added, replacedLock("/new")});
        QCOMPARE(sink.count(ChangeKind::Changed, "/stays"), 1);
        QVERIFY(sink.find("/goes")); // it may still be found
        proxy.firstSnapshotComplete();
        QCOMPARE(sink.count(ChangeKind::Removed, "/goes"), 1);
        QCOMPARE(sink.locks.size(), std::size_t(2));
        // Nor does one of a connection that was opened again.
        ObserverProxy next(replacedName, &sink);
        next.takeOver(proxy, {replacedLock("/stays"), replacedLock("/new")});
        next.take(inspect::SnapshotChange{ChangeKind::Added, replacedLock("/new")});
        next.firstSnapshotComplete();
        QCOMPARE(sink.count(ChangeKind::Removed, "/stays"), 1);
        next.removeAll({replacedLock("/new")});
        QVERIFY(sink.locks.empty() && sink.isConsistent);
    }

    void confirmationsAreToldOnceASecond()
    {
        testing::KeepingSink sink;
        ObserverProxy proxy(replacedName, &sink);
        const inspect::Moment first(1'000s);
        for (const auto after : {0ms, 250ms, 999ms, 1000ms, 1900ms, 2000ms})
            proxy.take(inspect::Confirmation{replacedName, first + after});
        QCOMPARE(sink.looks, 3);
    }
};

LOCKSCOPE_TEST(TestObserverProxy)
#include "tst_observerproxy.moc"
