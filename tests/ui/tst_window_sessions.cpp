// SPDX-License-Identifier: Apache-2.0
// The detail of a session: who it is, what it does, what falls when it ends; also of one with hundreds of locks.
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/models/pausablebackend.h"
#include "ui/pages/livetree.h"
#include "ui/pages/sessionspage.h"
#include "ui/shell/connectionchooser.h"

#include <QAbstractButton>
#include <QLabel>
#include <QRegularExpression>

using inspect::ChangeKind;
using inspect::SessionSnapshot;

class TestWindowSessions : public testing::WindowFixture {
    Q_OBJECT

    ui::SessionsPage &page() { return *m_window->findChild<ui::SessionsPage *>(); }
    QString says(const char *label) { return page().detail()->findChild<QLabel *>(QLatin1String(label))->text(); }
    void tell(const std::vector<SessionSnapshot> &all)
    {
        m_backend->tell({.sessions = {{ConnectionName("zk"), all}}});
    }
    bool choose(const QString &session)
    {
        return m_window->showSubject({ui::Subject::Kind::Session, ConnectionName("zk"), session.toUtf8()});
    }

private slots:
    void init()
    {
        openWindow();
        notifyConnected();
    }

    // The account it logged in with is nothing that it wrote about itself.
    void theUserOfASqlSessionIsSaidToBeThat()
    {
        auto row = testing::queueLock("zk", "shop.stock#id=1", 1, testing::serverTime(present));
        row.backend = BackendKind::MariaDb;
        row.recipe = "sql-for-update";
        row.contenders[0].session = u"41"_s;
        row.contenders[0].identity = "app";
        row.contenders[0].program = "billing";
        m_backend->notifyLocks({testing::change(ChangeKind::Added, row)});
        SessionSnapshot session{
            .connection = ConnectionName("zk"), .session = u"41"_s, .client = u"app"_s, .holds = {"shop.stock#id=1"}};
        tell({session});
        QVERIFY(choose(session.session));
        QCOMPARE(says("sessionWho"), u"host unknown · user app · writes program “billing”"_s);
    }

    // What the recording says nothing of was not broken, as far as anybody knows.
    void unrecordedConnectionIsNotShownAsBroken()
    {
        const auto known = *m_window->connections().find(ConnectionName("zk"));
        const auto shown = ui::shownOf({}, {{known.name, known}});
        Batch batch{.connections = {shown.statuses.at(known.name)}};
        m_backend->tell(batch);
        QCOMPARE(m_window->findChild<ui::ConnectionChooser *>()->state(), u"not recorded"_s);
    }

    void itSaysWhatFallsAndToWhom()
    {
        const auto lock = testing::queueLock("zk", "/locks/orders", 2, testing::serverTime(present));
        m_backend->notifyLocks({testing::change(ChangeKind::Added, lock)});
        SessionSnapshot session{.connection = ConnectionName("zk")};
        session.session = *lock.contenders[0].session;
        session.endpoint = u"10.0.3.7:56332"_s;
        session.holds = {"/locks/orders"};
        session.expiresAt = testing::serverTime(present + 8s);
        tell({session});
        QVERIFY(choose(session.session)); // and no page but this one answers
        QVERIFY(page().isVisible());
        QVERIFY(says("sessionWho").startsWith(u"from 10.0.3.7:56332"_s));
        QCOMPARE(says("sessionEnd"), u"If this session ends: 1 lock falls: to who waits next."_s);
        QVERIFY(says("sessionPulse").contains(u"no renewal was seen"_s));
        QVERIFY(!m_backend->calls.join(u'\n').contains(u"readSession"_s)); // a ZooKeeper does not tell
        *session.expiresAt += 5s;
        tell({session});
        QVERIFY(says("sessionPulse").contains(u"renewed once"_s));
        auto *locks = page().detail()->locks();
        locks->setCurrentIndex(locks->model()->index(0, 0));
        QTest::keyClick(locks, Qt::Key_Return);
        QTRY_VERIFY(m_window->locksPage().isVisible());
    }

    void clientsOwnNameIsShown()
    {
        auto lock = testing::queueLock("zk", "/locks/orders", 1, testing::serverTime(present));
        lock.contenders[0].identity = "app-9";
        SessionSnapshot session{.connection = ConnectionName("zk")};
        session.session = *lock.contenders[0].session;
        session.client = u"kazoo"_s;
        session.holds = {"/locks/orders"};
        m_backend->notifyLocks({testing::change(ChangeKind::Added, lock)});
        tell({session});
        const auto client = page().table()->model()->index(0, ui::SessionsModel::Client);
        QCOMPARE(client.data().toString(), u"kazoo (app-9)"_s);
    }

    void itShowsTheStatementOfASqlClient()
    {
        auto lock = testing::queueLock("zk", "shop.stock#id=1", 1, testing::serverTime(present));
        lock.backend = BackendKind::MariaDb;
        lock.recipe = "mariadb-row";
        lock.contenders[0].session = u"41"_s;
        m_backend->notifyLocks({testing::change(ChangeKind::Added, lock)});
        m_backend->on<ReadSession>() = [](const ReadSession &) {
            SessionDoing doing{.statement = "UPDATE stock SET n = n - 1 WHERE id = 1",
                               .inState = 90s,
                               .transactionAge = 95s,
                               .rowsLocked = 2,
                               .rowsModified = 1};
            return Result<SessionDoing>(doing);
        };
        SessionSnapshot session{.connection = ConnectionName("zk"), .session = u"41"_s, .holds = {"shop.stock#id=1"}};
        tell({session});
        QVERIFY(choose(u"41"_s));
        QTRY_COMPARE(says("sessionStatement"), u"last: UPDATE stock SET n = n - 1 WHERE id = 1"_s);
        // Its words stand together, and what they leave is the locks'.
        m_window->resize(1366, 768);
        const auto *last = page().detail()->findChild<QLabel *>(u"sessionStatement"_s);
        const auto *locks = page().detail()->locks();
        QTRY_VERIFY2(locks->y()
                         < last->mapTo(page().detail(), QPoint(0, last->heightForWidth(last->width()))).y() + 20,
                     qPrintable(QString::number(locks->y())));
        const auto doing = says("sessionDoing");
        QVERIFY2(doing.startsWith(u"Idle for 1 m 30 s"_s) && doing.contains(u"rows modified: 1, locked: 2"_s),
                 qPrintable(doing));
        // It may be over by the next moment, and stands beside what the session holds as of another one.
        static const QRegularExpression withItsTime(u" · as of [0-9]{2}:[0-9]{2}:[0-9]{2}$"_s);
        QVERIFY2(withItsTime.match(doing).hasMatch(), qPrintable(doing));
        int asked = 0;
        m_backend->on<ReadSession>() = [&asked](const ReadSession &) {
            ++asked;
            return Result<SessionDoing>(Error{ErrorCode::NoNode, u"no such connection any more"_s});
        };
        page().refresh();
        QTRY_COMPARE(says("sessionDoing"), u"Its activity is not known: no such connection any more"_s);
        QCOMPARE(asked, 1);
        // A server that was started again gives its number to another: nothing is asked of one that is gone.
        session.session = u"42"_s;
        tell({session});
        page().refresh();
        QCOMPARE(asked, 1);
    }

    // Neither its tool tip nor its detail grows out of the screen.
    void aSessionWithHundredsOfLocks()
    {
        std::vector<inspect::SnapshotChange> changes;
        SessionSnapshot session{.connection = ConnectionName("zk")};
        for (int i = 0; i < 302; ++i) {
            auto lock = testing::queueLock("zk", "/jobs/job-" + QByteArray::number(1000 + i), 0,
                                           testing::serverTime(present));
            session.session = *lock.contenders[0].session;
            session.holds.push_back(lock.lock.name);
            changes.push_back(testing::change(ChangeKind::Added, std::move(lock)));
        }
        m_backend->notifyLocks(std::move(changes));
        tell({session});
        QVERIFY(choose(session.session));
        QCOMPARE(page().detail()->locks()->model()->rowCount(), 302);
        QVERIFY(says("sessionEnd").startsWith(u"If this session ends: 302 locks fall: no client waits"_s));
        const auto tip = page().table()->model()->index(0, ui::SessionsModel::Holds).data(Qt::ToolTipRole).toString();
        QVERIFY2(tip.contains(u"and 282 more"_s) && !tip.contains(u"job-1100"_s), qPrintable(tip));
        QVERIFY(m_window->minimumSizeHint().height() <= 768);
    }

    void endedSessionIsShownAsEnded()
    {
        SessionSnapshot session{.connection = ConnectionName("zk"), .session = u"0x1"_s};
        tell({session});
        QVERIFY(choose(u"0x1"_s));
        m_backend->tell({.sessions = {{ConnectionName("zk"), {}}}});
        const auto labels = page().detail()->findChildren<QLabel *>();
        QVERIFY(std::ranges::any_of(labels,
                                    [](const QLabel *one) { return one->text().contains(u"not there any more"_s); }));
    }

    // The detail stays with who was chosen: none that stood beside it takes its place, and it is chosen again when it
    // is back.
    void noOtherSessionTakesThePlaceOfOneThatWent_data()
    {
        const Rows<QString> row("filter");
        row("it ended", {});
        row("it let go, and the list is of those with a lock", u"orders"_s);
    }
    void noOtherSessionTakesThePlaceOfOneThatWent()
    {
        QFETCH(const QString, filter);
        const auto holding = [](const QString &name, std::vector<QByteArray> locks) {
            return SessionSnapshot{.connection = ConnectionName("zk"), .session = name, .holds = std::move(locks)};
        };
        const std::vector others{holding(u"0x1"_s, {"/orders/1"}), holding(u"0x3"_s, {"/orders/3"})};
        auto all = others;
        all.push_back(holding(u"0x2"_s, {"/orders/2"}));
        tell(all);
        QVERIFY(choose(u"0x2"_s));
        page().setFilter(filter);
        QCOMPARE(page().detail()->session()->session, u"0x2"_s);
        auto without = others;
        if (!filter.isEmpty())
            without.push_back(holding(u"0x2"_s, {}));
        tell(without);
        const auto shown = page().detail()->session();
        QVERIFY2(!shown || shown->session == u"0x2"_s, shown ? qPrintable(shown->session) : "");
        QVERIFY(!page().table()->currentIndex().isValid());
        tell(all);
        if (filter.isEmpty()) {
            QCOMPARE(page().detail()->session()->session, u"0x2"_s);
            QCOMPARE(page().snapshotAt(page().table()->currentIndex())->session, u"0x2"_s);
        }
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestWindowSessions)
#include "tst_window_sessions.moc"
