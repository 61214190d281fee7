// SPDX-License-Identifier: Apache-2.0
// The ways that are gentler than a force-release in its form, how much each environment wants confirmed, and several
// releases at once.
#include "tests/support/fakebackend.h"
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/dialogs/actingdialog.h"
#include "ui/dialogs/factsform.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/models/connectionbook.h"
#include "ui/parts/notices.h"
#include "ui/theme/theme.h"

#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QTest>
#include <QTreeView>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using namespace lockscope;
using operate::ReleaseAction;
using testing::queueLock;

namespace {

const ui::SystemTime waysNow = ui::SystemTime(1'700'000'000s);
constexpr QRect smallScreen(0, 0, 1024, 600);

} // namespace

class TestReleaseWays : public QObject {
    Q_OBJECT

    std::unique_ptr<testing::FakeBackend> m_backend;
    std::unique_ptr<ui::ConnectionBook> m_book;
    std::unique_ptr<ui::ForceReleaseDialog> m_dialog;
    inspect::LockSnapshot m_onServer;

    template <class T>
    static T *partOf(QWidget &dialog, const char *name)
    {
        return dialog.findChild<T *>(QString::fromLatin1(name));
    }
    template <class T>
    T *part(const char *name)
    {
        return partOf<T>(*m_dialog, name);
    }
    void notifyStatus(bool production)
    {
        auto status = testing::connectedStatus("orders-zk", Scheme::ZooKeeper, production, waysNow);
        status.readOnly = false; // armed
        m_backend->notifyConnection(status);
    }
    static inspect::LockSnapshot revocable()
    {
        auto lock = queueLock("orders-zk", "/locks/nightly-report", 3, testing::serverTime(waysNow));
        lock.recipe = "curator-mutex";
        return lock;
    }
    void openForm(const inspect::LockSnapshot &lock, const QByteArray &chosen = {}, const QRect &screen = smallScreen)
    {
        m_onServer = lock;
        m_dialog = std::make_unique<ui::ForceReleaseDialog>(*m_backend, *m_book, lock, chosen);
        m_dialog->setClock([] { return waysNow; });
        m_dialog->setAvailable(screen);
        m_dialog->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_dialog.get()));
        QTRY_VERIFY(part<QPushButton>("releaseButton")->isVisible());
    }
    void pick(ReleaseAction way)
    {
        auto *box = part<QComboBox>("way");
        static const std::map<ReleaseAction, QString> starts{{ReleaseAction::Revoke, u"Ask "_s},
                                                             {ReleaseAction::KillWaiter, u"Remove the selected"_s},
                                                             {ReleaseAction::Release, u"Force-release the lock"_s},
                                                             {ReleaseAction::EndLease, u"End the lease"_s}};
        for (int i = 0; i < box->count(); ++i) {
            if (!box->itemText(i).startsWith(starts.at(way)))
                continue;
            box->setCurrentIndex(i);
            emit box->activated(i);
            return;
        }
        QFAIL("there is no such way");
    }
    static void shoot(QWidget &dialog, const QString &name)
    {
        for (int turn = 0; turn < 2; ++turn) // a scroll bar that is not needed any more goes a turn later
            QCoreApplication::processEvents();
        const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        if (!folder.isEmpty())
            QVERIFY(QDir().mkpath(folder) && dialog.grab().save(u"%1/%2.png"_s.arg(folder, name)));
    }
    static std::vector<operate::BulkTarget> targets(int count)
    {
        std::vector<operate::BulkTarget> all;
        for (int n = 1; n <= count; ++n) {
            operate::BulkTarget one;
            one.lock = {ConnectionName("orders-zk"), "/locks/job-" + QByteArray::number(n)};
            one.contender = "_c_0e7d-lock-" + QByteArray::number(n);
            one.who = u"10.0.3.7:5123"_s;
            one.since = testing::serverTime(waysNow) - 5min;
            all.push_back(one);
        }
        return all;
    }

private slots:
    void init()
    {
        QSettings().remove(u"confirm/development"_s);
        m_backend = std::make_unique<testing::FakeBackend>();
        m_book = std::make_unique<ui::ConnectionBook>();
        connect(m_backend.get(), &Backend::updated, m_book.get(), &ui::ConnectionBook::apply);
        notifyStatus(false);
        m_backend->on<PlanRelease>() = [this](const PlanRelease &query) {
            return operate::planWay(m_onServer, query.contender, query.way);
        };
        m_backend->on<ForceRelease>() = [this](const ForceRelease &) {
            operate::ForceReleaseOutcome outcome{false, m_onServer, u"it still holds the lock"_s};
            outcome.done = true;
            return outcome;
        };
    }
    void cleanup()
    {
        m_dialog.reset();
        m_book.reset();
        m_backend.reset();
    }

    void theGentlestWayChangesThePreview_data()
    {
        QTest::addColumn<QRect>("screen");
        QTest::addColumn<bool>("dark");
        QTest::newRow("1024x600-light") << smallScreen << false;
        QTest::newRow("1024x600-dark") << smallScreen << true;
        QTest::newRow("1366x768-light") << QRect(0, 0, 1366, 768) << false;
        QTest::newRow("1366x768-dark") << QRect(0, 0, 1366, 768) << true;
    }
    void theGentlestWayChangesThePreview()
    {
        QFETCH(QRect, screen);
        QFETCH(bool, dark);
        ui::Theme::instance()->setChoice(dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light);
        const QString name = QString::fromLatin1(QTest::currentDataTag());
        openForm(revocable(), {}, screen);
        auto *box = part<QComboBox>("way");
        QCOMPARE(box->count(), 2);
        QVERIFY(box->itemText(0).startsWith(u"Ask 10.0.3.7 to release it"_s)); // least disruptive first
        QVERIFY(box->currentText().startsWith(u"Force-release the lock"_s));
        shoot(*m_dialog, u"way-1-release-"_s + name);
        pick(ReleaseAction::Revoke);
        QTRY_VERIFY(part<QPushButton>("releaseButton")->text().contains(u"to release the lock"_s));
        auto &facts = m_dialog->facts();
        QVERIFY(facts.valueOf(u"Will be sent"_s).contains(u"__REVOKE__"_s));
        QVERIFY(facts.valueOf(u"Next owner"_s).contains(u"when the holder releases the lock"_s));
        QVERIFY(facts.valueOf(u"Other locks lost"_s).isEmpty());
        QVERIFY(!part<QPushButton>("rehearseButton")->isVisible());
        QVERIFY(m_dialog->asCommand().contains(u"--method revoke"_s));
        shoot(*m_dialog, u"way-2-revoke-"_s + name);
        part<QPushButton>("releaseButton")->click();
        QTRY_VERIFY(part<QPushButton>("copyNote")->isVisible());
        QVERIFY(m_backend->last<ForceRelease>()
                && m_backend->last<ForceRelease>()->plan.way == ReleaseAction::Revoke);
        QVERIFY(part<QPushButton>("lookAgain")->isVisible()); // to do more, if need be
        shoot(*m_dialog, u"way-3-done-"_s + name);
        part<QPushButton>("lookAgain")->click();
        QTRY_VERIFY(part<QPushButton>("releaseButton")->text().startsWith(u"Release from"_s));
        ui::Theme::instance()->setChoice(ui::ThemeChoice::Light);
    }

    // etcd: it takes more than a release, and all that falls is named.
    void aLeaseIsEndedWithAllItsKeysNamed()
    {
        auto lock = queueLock("orders-zk", "locks/orders", 3, testing::serverTime(waysNow));
        lock.backend = BackendKind::Etcd;
        lock.recipe = "etcd-mutex";
        for (auto &contender : lock.contenders) {
            const auto made = contender.guard.znode().czxid;
            contender.guard = inspect::EtcdIdentity{
                .key = "locks/orders/" + QByteArray::number(made, 16), .createRevision = made, .lease = made};
        }
        const auto scripted = m_backend->on<PlanRelease>();
        m_backend->on<PlanRelease>() = [lock](const PlanRelease &query) -> Result<operate::ForceReleasePlan> {
            auto plan = operate::planWay(lock, query.contender, query.way);
            if (plan && query.way == ReleaseAction::EndLease) {
                plan->leaseKeys = {lock.contenders[0].guard.etcd().key, "services/web"};
                plan->alsoLost = u"1 other key of the lease: services/web"_s;
            }
            return plan;
        };
        openForm(lock);
        auto *box = part<QComboBox>("way");
        QCOMPARE(box->count(), 2);
        QVERIFY(box->currentText().startsWith(u"Force-release the lock"_s)); // unless somebody picks more
        pick(ReleaseAction::EndLease);
        QTRY_VERIFY(part<QPushButton>("releaseButton")->text().startsWith(u"End the lease"_s));
        auto &facts = m_dialog->facts();
        QVERIFY(facts.valueOf(u"Will be sent"_s).contains(u"lease revoke"_s));
        QVERIFY(facts.valueOf(u"Keys of the lease"_s).contains(u"services/web"_s));
        QVERIFY(m_dialog->asCommand().contains(u"--method end-lease"_s));
        // Only the form of a release has a banner of its own for this.
        QVERIFY(std::ranges::any_of(m_dialog->findChildren<ui::Banner *>(), [](const ui::Banner *banner) {
            return banner->isVisible() && banner->sentence().contains(u"until its next keep-alive fails"_s);
        }));
        shoot(*m_dialog, u"way-5-end-lease"_s);
        m_backend->on<PlanRelease>() = scripted;
    }

    void aChosenWaiterCanBeTakenOut()
    {
        const auto lock = revocable();
        const auto waiter = lock.contenders[1].id;
        openForm(lock, waiter);
        QCOMPARE(part<QComboBox>("way")->count(), 3);
        pick(ReleaseAction::KillWaiter);
        QTRY_VERIFY(m_dialog->facts().valueOf(u"Waiter"_s).contains(QString::fromLatin1(waiter)));
        QVERIFY(m_backend->wasCalled(u"planWay orders-zk:/locks/nightly-report %1 %2"_s.arg(
            QString::fromLatin1(waiter), QString::number(static_cast<int>(ReleaseAction::KillWaiter)))));
        QCOMPARE(m_dialog->holder(), lock.contenders[0].id); // the form is still about that lock's holder
        shoot(*m_dialog, u"way-4-waiter"_s);
        pick(ReleaseAction::Release);
        QTRY_VERIFY(m_dialog->facts().valueOf(u"Holder"_s).contains(QString::fromLatin1(lock.contenders[0].id)));
    }

    void productionWantsTheNameAndAReason()
    {
        notifyStatus(true);
        openForm(revocable());
        auto *release = part<QPushButton>("releaseButton");
        part<QLineEdit>("typeName")->setText(u"/locks/nightly-report"_s);
        QVERIFY(!release->isEnabled());
        QCOMPARE(part<QLabel>("obstacle")->text(), u"Enter a reason. It is recorded."_s);
        part<QLineEdit>("reason")->setText(u"INC-4411"_s);
        QVERIFY(release->isEnabled());
        QTest::keyClick(m_dialog.get(), Qt::Key_Return, Qt::ControlModifier);
        QVERIFY(!m_backend->last<ForceRelease>());
    }

    void unmarkedConnectionHasNoReleaseKey()
    {
        openForm(revocable());
        QVERIFY(part<QPushButton>("releaseButton")->isEnabled());
        QTest::keyClick(m_dialog.get(), Qt::Key_Return, Qt::ControlModifier);
        QTest::keyClick(part<QLineEdit>("reason"), Qt::Key_Return);
        QVERIFY(!m_backend->last<ForceRelease>());
    }

    void theSandboxTakesOneKey()
    {
        m_book->markSandbox(ConnectionName("orders-zk"), Scheme::ZooKeeper);
        openForm(revocable());
        QTest::keyClick(part<QLineEdit>("reason"), Qt::Key_Return); // never by accident
        QVERIFY(!m_backend->last<ForceRelease>());
        QTest::keyClick(m_dialog.get(), Qt::Key_Return, Qt::ControlModifier);
        QTRY_VERIFY(m_backend->last<ForceRelease>());
    }

    // By name and address: another server of that name is not meant. Production is production, whatever else is said.
    void developmentConnectionTakesOneKey()
    {
        const auto uri = m_book->find(ConnectionName("orders-zk"))->uri;
        m_book->mark(ConnectionName("orders-zk"), {uri + u"-elsewhere"_s, true});
        QCOMPARE(ui::frictionOf(*m_book, ConnectionName("orders-zk")), ui::ConfirmationPolicy());
        m_book->mark(ConnectionName("orders-zk"), {uri, true});
        QCOMPARE(ui::frictionOf(*m_book, ConnectionName("orders-zk")), (ui::ConfirmationPolicy{false, false, true}));
        openForm(revocable());
        QTest::keyClick(m_dialog.get(), Qt::Key_Return, Qt::ControlModifier);
        QTRY_VERIFY(m_backend->last<ForceRelease>());
        notifyStatus(true);
        QCOMPARE(ui::frictionOf(*m_book, ConnectionName("orders-zk")), (ui::ConfirmationPolicy{true, true, false}));
        notifyStatus(false);
        m_book->mark(ConnectionName("orders-zk"), {uri});
        QCOMPARE(ui::frictionOf(*m_book, ConnectionName("orders-zk")), ui::ConfirmationPolicy());
    }

    void orAReasonWhereTheSettingsSaySo()
    {
        QSettings().setValue(u"confirm/development"_s, u"reason"_s);
        m_book->markSandbox(ConnectionName("orders-zk"), Scheme::ZooKeeper);
        openForm(revocable());
        QVERIFY(!part<QPushButton>("releaseButton")->isEnabled());
        QTest::keyClick(m_dialog.get(), Qt::Key_Return, Qt::ControlModifier);
        QVERIFY(!m_backend->last<ForceRelease>());
        part<QLineEdit>("reason")->setText(u"a try"_s);
        QVERIFY(part<QPushButton>("releaseButton")->isEnabled());
    }

    void severalWantTheirNumber()
    {
        ui::BulkDialog dialog(*m_backend, *m_book, u"All that 0x10 of orders-zk holds."_s, targets(30), waysNow);
        QCOMPARE(dialog.focusWidget(), partOf<QLineEdit>(dialog, "reason"));
        dialog.resize(980, 540);
        dialog.show();
        auto *release = partOf<QPushButton>(dialog, "releaseButton");
        auto *count = partOf<QLineEdit>(dialog, "typeCount");
        QVERIFY(!release->isEnabled());
        QCOMPARE(partOf<QLabel>(dialog, "obstacle")->text(), u"Type 30 to release them."_s);
        QVERIFY(partOf<QLabel>(dialog, "environment")->text().contains(u"orders-zk"_s));
        count->setText(u"29"_s);
        QVERIFY(!release->isEnabled());
        count->setText(u"30"_s);
        QVERIFY(release->isEnabled());
        QTest::keyClick(count, Qt::Key_Return);
        QVERIFY(!m_backend->last<BulkRelease>());
        const auto *model = partOf<QTreeView>(dialog, "bulkTargets")->model();
        QCOMPARE(model->rowCount(), 30);
        QCOMPARE(model->index(0, ui::BulkModel::Since).data().toString(), u"5 m 00 s"_s);
        shoot(dialog, u"bulk-1-form"_s);
        m_backend->on<BulkRelease>() = [](const BulkRelease &query) {
            operate::BulkReport report;
            report.done.assign(query.targets.begin(), query.targets.begin() + 11);
            report.stoppedAt = query.targets[11];
            report.why = u"it no longer holds the lock"_s;
            report.left.assign(query.targets.begin() + 12, query.targets.end());
            return report;
        };
        release->click();
        auto *state = partOf<ui::Banner>(dialog, "bulkState");
        QTRY_VERIFY(state->sentence().contains(u"18 were not touched"_s));
        QVERIFY(state->sentence().contains(u"/locks/job-12: it no longer holds the lock"_s));
        QCOMPARE(m_backend->last<BulkRelease>()->targets.size(), std::size_t(30));
        QCOMPARE(model->index(10, ui::BulkModel::Outcome).data().toString(), u"done"_s);
        QCOMPARE(model->index(11, ui::BulkModel::Outcome).data().toString(), u"stopped here"_s);
        QCOMPARE(model->index(12, ui::BulkModel::Outcome).data().toString(), u"not touched"_s);
        shoot(dialog, u"bulk-2-stopped"_s);
    }

    // Two readers of one lock are two to be released, and one lock.
    void severalHoldersOfALockAreNotSeveralLocks()
    {
        auto all = targets(3);
        all[2].lock = all[1].lock;
        ui::BulkDialog dialog(*m_backend, *m_book, u"All of it."_s, all, waysNow);
        dialog.show();
        QStringList said;
        for (const auto *label : dialog.findChildren<QLabel *>())
            said << label->text();
        QVERIFY2(said.contains(u"This releases 2 locks from their 3 holders."_s), qPrintable(said.join(u'|')));
        QCOMPARE(partOf<QPushButton>(dialog, "releaseButton")->text(), u"Release 3 holders, one after the other"_s);
    }

    // A stale entry waits, too: "This releases 7 locks from their holders", it had said of six and a dead waiter.
    void waiterIsNotCountedAsAHolder()
    {
        auto all = targets(3);
        all[0].way = operate::ReleaseAction::KillWaiter;
        for (const bool isMixed : {true, false}) {
            if (!isMixed)
                all.resize(1);
            ui::BulkDialog dialog(*m_backend, *m_book, u"What clients that are gone left behind."_s, all, waysNow);
            dialog.show();
            QStringList said;
            for (const auto *label : dialog.findChildren<QLabel *>())
                said << label->text();
            const auto wanted =
                isMixed ? u"This releases 2 locks from their holders. This removes 1 waiter from its queue."_s
                        : u"This removes 1 waiter from its queue."_s;
            QVERIFY2(said.contains(wanted), qPrintable(said.join(u'|')));
            QVERIFY(partOf<QPushButton>(dialog, "releaseButton")->text().startsWith(u"Remove "_s));
        }
    }

    void severalOnProductionWantAReason()
    {
        notifyStatus(true);
        ui::BulkDialog dialog(*m_backend, *m_book, u"All of it."_s, targets(2), waysNow);
        partOf<QLineEdit>(dialog, "typeCount")->setText(u"2"_s);
        QVERIFY(!partOf<QPushButton>(dialog, "releaseButton")->isEnabled());
        partOf<QLineEdit>(dialog, "reason")->setText(u"INC-4411"_s);
        QVERIFY(partOf<QPushButton>(dialog, "releaseButton")->isEnabled());
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestReleaseWays)
#include "tst_release_ways.moc"
