// SPDX-License-Identifier: Apache-2.0
// A lock is shown in the words of those who run its servers: a row lock has no nodes and no watches, and taking it
// away is a KILL.
#include "tests/support/fakebackend.h"
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/dialogs/factsform.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/models/queuemodel.h"
#include "ui/pages/lockdetail.h"
#include "ui/theme/theme.h"
#include "ui/views/queuetable.h"

#include <QLabel>
#include <QPushButton>
#include <QTabWidget>

using namespace lockscope::ui;
using inspect::Evidence;
using inspect::LockSnapshot;
using inspect::Role;

namespace {

const SystemTime wordsPresent = SystemTime(1'700'000'000s);

LockSnapshot rowLock()
{
    LockSnapshot lock{.lock = {ConnectionName("sql"), "shop.stock#id=1"},
                      .backend = BackendKind::MariaDb,
                      .recipe = "sql-for-update",
                      .observed = testing::serverTime(wordsPresent)};
    for (const QByteArray number : {"13", "14"}) {
        inspect::Contender one;
        one.id = number + "@1699999990000";
        one.session = QString::fromLatin1(number);
        one.identity = "app";
        one.guard.edit<inspect::SqlIdentity>().text = "trx 47" + number + " started 1699999990000";
        one.role = lock.contenders.empty() ? Role::Holder : Role::Waiter;
        one.position = static_cast<int>(lock.contenders.size());
        if (!lock.contenders.empty())
            one.watches = {{lock.contenders.front().id, false, Evidence::Server}};
        lock.contenders.push_back(one);
    }
    return lock;
}

LockSnapshot fairLock()
{
    auto lock = rowLock();
    lock.lock = {ConnectionName("redis"), "payments:payout"};
    lock.backend = BackendKind::Redis;
    lock.recipe = "redisson-fair-lock";
    lock.contenders.back().watches.clear(); // it sleeps until the server sends a message
    return lock;
}

LockSnapshot queueOfTwo()
{
    return testing::queueLock("zk", "/locks/orders", 1, testing::serverTime(wordsPresent));
}

class Shown {
public:
    explicit Shown(const LockSnapshot &lock)
    {
        m_detail.setClock([] { return wordsPresent; });
        m_detail.resize(1200, 600);
        m_detail.show();
        m_detail.setSnapshot(lock);
    }
    QStringList tabs()
    {
        const auto *all = m_detail.findChild<QTabWidget *>();
        QStringList titles;
        for (int i = 0; i < all->count(); ++i)
            titles << all->tabText(i);
        return titles;
    }
    QString nextOwner() { return m_detail.findChild<QLabel *>(u"nextOwner"_s)->text(); }
    // Of the table that shows what the server says, as it says it.
    QStringList rawTitles()
    {
        QStringList titles;
        for (int column = 0; column < QueueModel::ColumnCount; ++column) {
            if (!raw().isColumnHidden(column))
                titles << raw().model()->headerData(column, Qt::Horizontal).toString();
        }
        return titles;
    }
    QString rawCell(int row, int column) { return raw().model()->index(row, column).data().toString(); }
    QString watchedTitle() { return raw().model()->headerData(QueueModel::Watched, Qt::Horizontal).toString(); }
    LockDetail &detail() { return m_detail; }

private:
    QueueTable &raw()
    {
        for (auto *table : m_detail.findChildren<QueueTable *>()) {
            if (table->objectName() != u"queueTable"_s)
                return *table;
        }
        qFatal("there is no raw table");
    }
    LockDetail m_detail;
};

} // namespace

class TestBackendWords : public QObject {
    Q_OBJECT

private slots:
    // Of a name and an address, in a narrow window and beside a column of times to live.
    void clientIsReadableInANarrowWindow()
    {
        auto lock = queueOfTwo();
        for (auto &one : lock.contenders) {
            one.identity = "worker-7.eu-west-1.example.net";
            one.endpoint = u"127.0.0.1:49326"_s;
        }
        lock.contenders.front().expiresAt = lock.observed + std::chrono::seconds(44);
        Shown shown(lock);
        shown.detail().resize(600, 340);
        const auto &queue = *shown.detail().findChild<QueueTable *>(u"queueTable"_s);
        QVERIFY(!queue.isColumnHidden(QueueModel::Ttl));
        const int name = QFontMetrics(textFont(13, QFont::DemiBold)).horizontalAdvance(u"worker-7.eu-west-1"_s);
        QTRY_VERIFY2(queue.columnWidth(QueueModel::Who) >= name,
                     qPrintable(u"%1 of %2"_s.arg(queue.columnWidth(QueueModel::Who)).arg(name)));
    }
    // The lines of a cell are spoken together, and the tip has all that is watched.
    void queueTellsWatchesInWords()
    {
        auto lock = queueOfTwo();
        lock.contenders.back().mode = inspect::Mode::Write;
        lock.contenders.back().watches.append({{}, true, Evidence::Inferred});
        Shown shown(lock);
        const auto &model = *shown.detail().findChild<QueueTable *>(u"queueTable"_s)->model();
        const auto of = [&model](int column, int role) { return model.index(1, column).data(role).toString(); };
        QCOMPARE(of(QueueModel::Watched, Qt::AccessibleTextRole), u"…0041, the holder, reported"_s);
        QVERIFY(of(QueueModel::Age, Qt::AccessibleTextRole).startsWith(u"waits W, "_s));
        const auto tip = of(QueueModel::Who, Qt::ToolTipRole);
        QVERIFY2(tip.contains(u"watches …0041, the holder (reported)"_s), qPrintable(tip));
        QVERIFY2(tip.contains(u"watches the directory (inferred)"_s), qPrintable(tip));
        QVERIFY2(tip.contains(u"session 0x"_s), qPrintable(tip));
        QCOMPARE(shown.detail().findChild<QLabel *>(u"wakeUp"_s)->text(),
                 u"Watch chain: an arrow points at what a waiter watches. One release wakes 1."_s);
    }
    void rowLockHasConnectionsAndNoWatches()
    {
        Shown shown(rowLock());
        QCOMPARE(shown.tabs(), (QStringList{u"Queue"_s, u"Connections"_s, u"Timeline"_s}));
        QCOMPARE(shown.nextOwner(), u"On release, app acquires it."_s);
        QCOMPARE(shown.watchedTitle(), u"Waits for"_s);
        QCOMPARE(shown.rawTitles(), (QStringList{u"Connection"_s, u"Transaction or connection"_s}));
        QCOMPARE(shown.rawCell(0, QueueModel::Data), u"trx 4713 started 1699999990000"_s);
    }

    void keyHasClientsThatAMessageWakes()
    {
        Shown shown(fairLock());
        QCOMPARE(shown.tabs(), (QStringList{u"Queue"_s, u"Raw values"_s, u"Timeline"_s}));
        QVERIFY(shown.nextOwner().endsWith(u"(woken by the release message of 13)."_s));
        QCOMPARE(shown.watchedTitle(), u"Waits for"_s);
    }

    void queueOfNodesKeepsItsOwn()
    {
        Shown shown(rowLock());
        shown.detail().setSnapshot(queueOfTwo()); // the words change with the lock
        QCOMPARE(shown.tabs(), (QStringList{u"Queue"_s, u"Raw nodes"_s, u"Timeline"_s}));
        QVERIFY(shown.nextOwner().endsWith(u"(woken by the deletion of …0041)."_s));
        QCOMPARE(shown.watchedTitle(), u"Watches"_s);
        QCOMPARE(shown.rawTitles(), (QStringList{u"Node"_s, u"czxid"_s, u"Owner"_s, u"Version"_s, u"Data"_s}));
    }

    void aConnectionIsNotCalledASession()
    {
        auto lock = rowLock();
        lock.contenders.front().identity.reset();
        QVERIFY(inspect::answerSentence(lock, lock.observed).contains(u"is held by connection 13;"_s));
    }

    void killIsCalledKill()
    {
        const auto lock = rowLock();
        testing::FakeBackend backend;
        const ConnectionBook book;
        auto plan = operate::planForceRelease(lock, lock.contenders.front().id);
        QVERIFY(plan);
        QCOMPARE(plan->act, u"KILL connection 13"_s);
        backend.on<PlanRelease>() = [&](const PlanRelease &) { return *plan; };
        ForceReleaseDialog dialog(backend, book, lock, plan->holder);
        auto *release = dialog.findChild<QPushButton *>(u"releaseButton"_s);
        QTRY_COMPARE(release->text(), u"KILL connection 13"_s);
        QCOMPARE(dialog.facts().valueOf(u"Other locks lost"_s), u"unknown"_s);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestBackendWords)
#include "tst_backend_words.moc"
