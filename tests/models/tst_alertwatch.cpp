// SPDX-License-Identifier: Apache-2.0
// Which news is told: by the rule, once, and nothing of what was there before.
#include "core/inspect/findings.h"
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "ui/models/alertwatch.h"

#include <QSettings>
#include <QTemporaryDir>

using inspect::ChangeKind;
using inspect::Severity;
using ui::AlertRule;

namespace {

const auto alertsNow = std::chrono::system_clock::time_point(1'700'000'000s);

} // namespace

class TestAlertWatch : public QObject {
    Q_OBJECT

private:
    std::chrono::steady_clock::time_point m_now{1h};
    QStringList m_told;

    static Batch status(const QByteArray &name, bool production, bool complete = true)
    {
        Batch batch;
        auto one = testing::connectedStatus(name, Scheme::Redis, production, alertsNow);
        one.progress.firstSnapshotComplete = complete;
        batch.connections = {one};
        return batch;
    }
    // Without a TTL it is critical.
    static Batch lockOf(const QByteArray &connection, const QByteArray &key, bool isImmortal,
                        ChangeKind kind = ChangeKind::Changed)
    {
        return Batch{
            .locks = {testing::change(
                kind, testing::redisLock(connection, key,
                                         isImmortal ? std::nullopt : std::optional<std::chrono::milliseconds>(30s),
                                         testing::serverTime(alertsNow)))}};
    }
    static AlertRule onRule() { return AlertRule{.isOn = true, .least = Severity::Warning}; }
    std::unique_ptr<ui::AlertWatch> watch(const ui::ConnectionBook &book, const AlertRule &rule)
    {
        m_told.clear();
        auto made = std::make_unique<ui::AlertWatch>(book, nullptr, [this] { return m_now; });
        made->setRule(rule);
        connect(made.get(), &ui::AlertWatch::alerted, this, [this](const std::vector<ui::Alert> &alerts) {
            for (const auto &alert : alerts)
                m_told << QString::fromUtf8(alert.lock.text());
        });
        return made;
    }

private slots:
    void offUnlessAskedFor()
    {
        ui::ConnectionBook book;
        book.apply(status("prod", true));
        const auto alerts = watch(book, AlertRule());
        alerts->apply(lockOf("prod", "a-lock", true));
        QCOMPARE(m_told, QStringList());
    }

    void aNewFindingOnceAndNotWhatWasThere()
    {
        ui::ConnectionBook book;
        book.apply(status("prod", true, false));
        const auto alerts = watch(book, onRule());
        alerts->apply(lockOf("prod", "old-lock", true)); // the first look
        book.apply(status("prod", true));
        alerts->apply(lockOf("prod", "old-lock", true));
        QCOMPARE(m_told, QStringList());
        alerts->apply(lockOf("prod", "new-lock", true));
        alerts->apply(lockOf("prod", "new-lock", true));
        m_now += 1h;
        alerts->apply(lockOf("prod", "new-lock", true)); // it never left
        QCOMPARE(m_told, QStringList{u"prod:new-lock"_s});
    }

    // The end of the first look and the last locks that it saw are told in one.
    void locksOfTheInitialScanAreNotNews()
    {
        ui::ConnectionBook book;
        book.apply(status("prod", true, false));
        const auto alerts = watch(book, onRule());
        auto last = status("prod", true);
        last.locks = lockOf("prod", "old-lock", true, ChangeKind::Added).locks;
        book.apply(last);
        alerts->apply(last);
        QCOMPARE(m_told, QStringList());
        alerts->apply(lockOf("prod", "new-lock", true));
        QCOMPARE(m_told, QStringList{u"prod:new-lock"_s});
    }

    void recurringFindingIsNotRepeated()
    {
        ui::ConnectionBook book;
        book.apply(status("prod", true));
        const auto alerts = watch(book, onRule());
        for (int i = 0; i < 5; ++i) {
            alerts->apply(lockOf("prod", "a-lock", true));
            alerts->apply(lockOf("prod", "a-lock", false));
            alerts->apply(lockOf("prod", "a-lock", true, ChangeKind::Removed));
            m_now += 1min;
        }
        QCOMPARE(m_told.size(), 1);
        m_now += 10min;
        alerts->apply(lockOf("prod", "a-lock", true)); // long after it is news again
        QCOMPARE(m_told.size(), 2);
    }

    // And of one whose first lock the rule leaves out, by the other.
    void aDeadlockIsToldOnce()
    {
        ui::ConnectionBook book;
        book.apply(status("prod", true));
        auto alerts = watch(book, onRule());
        const auto deadlocked = [](const QByteArray &key, const QByteArray &other) {
            auto batch = lockOf("prod", key, false);
            auto &lock = batch.locks.front().lock;
            addFinding(lock, inspect::FindingCode::Deadlock, u"each waits for the other"_s, {});
            lock.findings.back().also = {{ConnectionName("prod"), other}};
            return batch;
        };
        auto both = deadlocked("a", "b");
        both.locks.push_back(deadlocked("b", "a").locks.front());
        alerts->apply(both);
        QCOMPARE(m_told, QStringList(u"prod:a"_s));
        alerts->apply(both); // still there
        QCOMPARE(m_told.size(), 1);

        auto rule = onRule();
        rule.pattern = u"*:b"_s;
        alerts = watch(book, rule);
        alerts->apply(both);
        QCOMPARE(m_told, QStringList(u"prod:b"_s));
    }

    void theRuleNarrows()
    {
        ui::ConnectionBook book;
        book.apply(status("prod", true));
        book.apply(status("dev", false));
        auto rule = onRule();
        rule.pattern = u"*:payments/*"_s;
        auto alerts = watch(book, rule);
        alerts->apply(lockOf("prod", "payments/payout/lock", true));
        alerts->apply(lockOf("prod", "orders-lock", true));
        alerts->apply(lockOf("dev", "payments/payout/lock", true)); // not production
        QCOMPARE(m_told, QStringList{u"prod:payments/payout/lock"_s});
        rule = onRule();
        rule.code = u"long-wait"_s;
        rule.onlyProduction = false;
        alerts = watch(book, rule);
        alerts->apply(lockOf("dev", "a-lock", true));
        QCOMPARE(m_told, QStringList());
        rule.code = u"no-ttl"_s;
        alerts = watch(book, rule);
        alerts->apply(lockOf("dev", "a-lock", true));
        QCOMPARE(m_told, QStringList{u"dev:a-lock"_s});
    }

    void mutedFindingDoesNotAlert()
    {
        ui::ConnectionBook book;
        book.apply(status("prod", true));
        QTemporaryDir folder;
        MuteStore mutes(folder.filePath(u"mutes.json"_s));
        const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
        QVERIFY(mutes.add({u"prod:over-lock"_s, {}, {}, u"OPS-7"_s, now - 2h, now - 1h}));
        auto mute = mutes.all().front();
        mute.lock = u"prod:a-lock"_s;
        mute.until = now + 1h;
        QVERIFY(mutes.add(mute));
        const auto alerts = watch(book, onRule());
        alerts->setMutes(&mutes);
        alerts->apply(lockOf("prod", "a-lock", true));
        alerts->apply(lockOf("prod", "over-lock", true));
        QCOMPARE(m_told, QStringList{u"prod:over-lock"_s});
    }

    void theRuleIsKept()
    {
        QTemporaryDir folder;
        QSettings settings(folder.filePath(u"view.ini"_s), QSettings::IniFormat);
        AlertRule none;
        none.restore(settings);
        QCOMPARE(none, AlertRule());
        auto rule = onRule();
        rule.code = u"no-ttl"_s;
        rule.pattern = u"prod:*"_s;
        rule.onlyProduction = false;
        rule.save(settings);
        AlertRule read;
        read.restore(settings);
        QCOMPARE(read, rule);
    }
};

LOCKSCOPE_TEST(TestAlertWatch)
#include "tst_alertwatch.moc"
