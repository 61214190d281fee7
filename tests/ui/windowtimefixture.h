// SPDX-License-Identifier: Apache-2.0
// A window whose recorder has ten minutes of a lock: it is held, two clients come, it is forced.
#pragma once

#include "core/history/flightrecorder.h"
#include "tests/support/fakebackend.h"
#include "tests/support/fakedata.h"
#include "tests/ui/themedapplication.h"
#include "ui/mainwindow.h"
#include "ui/models/pausablebackend.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/page.h"
#include "ui/shell/timebar.h"
#include "ui/timetravel.h"
#include "ui/views/timelineview.h"

#include <QTemporaryDir>

namespace lockscope::testing {

using inspect::ChangeKind;
using inspect::LockName;

inline const ConnectionName timeZk("zk");

inline LockName timeLock(const QByteArray &path)
{
    return {timeZk, path};
}

class WindowTimeFixture : public QObject {
protected:
    QTemporaryDir m_folder;
    int m_files = 0;
    history::Moment m_now{}; // when the window is opened; the recording ends a second before
    QString m_file;
    std::unique_ptr<Past> m_past;
    std::unique_ptr<testing::FakeBackend> m_backend;
    std::unique_ptr<ui::MainWindow> m_window;

    ui::LocksPage &page() { return m_window->locksPage(); }
    ui::TimeBar &bar() { return *m_window->findChild<ui::TimeBar *>(); }
    ui::TimelineView &strip() { return *page().detail().findChild<ui::TimelineView *>(); }
    QString holder() { return QString::fromUtf8(page().detail().holder()); }
    const inspect::LockSnapshot *lock(const QByteArray &path) { return page().model().snapshot(timeLock(path)); }
    qsizetype contenders(const QByteArray &path)
    {
        const auto *shown = lock(path);
        return shown ? static_cast<qsizetype>(shown->contenders.size()) : -1;
    }
    void press(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        QTest::keyClick(m_window.get(), static_cast<Qt::Key>(key), modifiers);
    }
    bool goTo(history::Moment moment)
    {
        m_window->time().goTo(moment);
        return QTest::qWaitFor([&] { return m_window->time().moment() == moment; }, 30'000);
    }
    static QString refusal() { return ui::PausableBackend::historyModeReason(); }
    static QStringList acts()
    {
        return {u"force-release"_s, u"acquire"_s, u"release-session"_s, u"release-listed"_s, u"remove-stale"_s};
    }
    static inspect::LinkState standing()
    {
        inspect::LinkState state;
        state.name = timeZk;
        state.uri = u"zk://zk:2181"_s;
        state.isConnected = state.isLookedThrough = true;
        return state;
    }
    inspect::LockSnapshot orders(int waiters, history::Moment at) const
    {
        return queueLock("zk", "/locks/orders", waiters, at);
    }
    // Ten minutes ago the lock is held, and nobody waits; seven minutes ago two wait; two minutes ago it was forced.
    QString record()
    {
        const auto path = m_folder.filePath(u"%1.lockscope"_s.arg(++m_files));
        auto writer = history::RecordingWriter::create(path, m_now - 10min);
        const auto add = [&](history::Moment at, auto what) { return bool((*writer)->add({at, std::move(what)})); };
        auto forced = orders(2, m_now - 2min);
        forced.contenders.erase(forced.contenders.begin());
        forced.contenders.front().role = inspect::Role::Holder;
        forced.contenders.front().heldSince = m_now - 2min;
        auto act = inspect::Act{m_now - 2min,
                                u"ann@host"_s,
                                u"force-release"_s,
                                "zk:/locks/orders",
                                orders(0, m_now).contenders.front().id,
                                u"stuck"_s,
                                u"result"_s,
                                u"released"_s,
                                {},
                                {},
                                true};
        const bool isWritten =
            add(m_now - 10min, standing()) && add(m_now - 10min, change(ChangeKind::Added, orders(0, m_now - 10min)))
            && add(m_now - 10min, change(ChangeKind::Added, queueLock("zk", "/locks/then", 0, m_now - 10min)))
            && add(m_now - 7min, change(ChangeKind::Changed, orders(2, m_now - 7min)))
            && add(m_now - 4min, change(ChangeKind::Removed, queueLock("zk", "/locks/then", 0, m_now - 4min)))
            && add(m_now - 2min, change(ChangeKind::Changed, forced)) && add(m_now - 2min, act)
            && (*writer)->flush(m_now - 1s);
        return isWritten ? path : QString();
    }
    void openWindow()
    {
        m_window = std::make_unique<ui::MainWindow>(*m_backend);
        m_window->resize(1366, 768);
        m_window->show();
        m_window->pages().all();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    }
    void notifyNow()
    {
        m_backend->notifyConnection(testing::connectedStatus("zk", Scheme::ZooKeeper, false, m_now));
        m_backend->notifyLocks({change(ChangeKind::Added, orders(5, m_now)),
                                change(ChangeKind::Added, queueLock("zk", "/locks/now", 1, m_now))});
        m_window->selectLock(timeLock("/locks/orders"));
        QCOMPARE(contenders("/locks/orders"), 6);
    }
    void begin()
    {
        m_now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
        m_file = record();
        QVERIFY(!m_file.isEmpty());
        m_past = std::make_unique<Past>([this] { return QStringList{m_file}; });
        m_backend = std::make_unique<testing::FakeBackend>();
        m_backend->recorded = m_past.get();
        openWindow();
        notifyNow();
    }
    void end()
    {
        m_window.reset();
        m_backend.reset();
        m_past.reset();
    }
};

} // namespace lockscope::testing
