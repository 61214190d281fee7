// SPDX-License-Identifier: Apache-2.0
// What the window's suites begin with: the window over a backend that the test plays, by a clock of the test's.
#pragma once

#include "tests/support/fakebackend.h"
#include "tests/support/fakedata.h"
#include "tests/ui/themedapplication.h"
#include "ui/mainwindow.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/page.h"

#include <QTest>

namespace lockscope::testing {

constexpr ui::SystemTime present{std::chrono::seconds(1'700'000'000)};

class WindowFixture : public QObject {
    Q_OBJECT

protected:
    ui::SystemTime m_now = present; // what the window's clock says
    std::unique_ptr<FakeBackend> m_backend;
    std::unique_ptr<ui::MainWindow> m_window;

    ui::LocksPage &page() { return m_window->locksPage(); }
    template <class T>
    T *part(const char *name)
    {
        return m_window->findChild<T *>(QString::fromLatin1(name));
    }
    void openWindow()
    {
        m_backend = std::make_unique<FakeBackend>();
        m_window = std::make_unique<ui::MainWindow>(*m_backend);
        m_window->pages().all();
        page().setClock([this] { return m_now; });
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    }
    void closeWindow()
    {
        m_window.reset();
        m_backend.reset();
    }
    void notifyConnected(bool production = false, bool readOnly = false)
    {
        auto status = connectedStatus("zk", Scheme::ZooKeeper, production, m_now);
        status.readOnly = readOnly;
        m_backend->notifyConnection(status);
    }
    static inspect::SnapshotChange lockOf(const QByteArray &path, int waiters,
                                          inspect::ChangeKind kind = inspect::ChangeKind::Changed)
    {
        return change(kind, queueLock("zk", path, waiters, serverTime(present)));
    }
    // Each lock's holder would be released by one command.
    void planReleases(int waiters)
    {
        m_backend->on<PlanRelease>() = [waiters](const PlanRelease &query) {
            operate::ForceReleasePlan plan{.before = queueLock("zk", query.lock.name, waiters, serverTime(present))};
            plan.holder = plan.before.contenders[0].id;
            plan.guard = plan.before.contenders[0].guard;
            plan.commands = {QStringLiteral("delete")};
            return plan;
        };
    }

private slots:
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }
};

} // namespace lockscope::testing
