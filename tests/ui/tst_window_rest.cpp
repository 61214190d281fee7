// SPDX-License-Identifier: Apache-2.0
// A window in which nothing changes paints nothing: what asks for the next painting while it paints takes a core.
#include "core/inspect/findings.h"
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/pages/page.h"

using inspect::ChangeKind;

class TestWindowRest : public testing::WindowFixture {
    Q_OBJECT

    int m_paintings = 0;

    bool eventFilter(QObject *object, QEvent *event) override
    {
        m_paintings += object == m_window.get() && event->type() == QEvent::UpdateRequest ? 1 : 0;
        return false;
    }
    // Of so many turns of the event loop; what comes by the clock (ages, once a second) is not among them.
    int paintingsIn(int turns)
    {
        m_paintings = 0;
        for (int i = 0; i < turns; ++i)
            QCoreApplication::processEvents();
        return m_paintings;
    }

private slots:
    void aPageAtRestPaintsNothing_data()
    {
        const Rows<QString, QSize> row("pageId", "size");
        for (const auto &id : ui::pageIds()) {
            for (const auto size : {QSize(1366, 768), QSize(1024, 640)})
                row(qPrintable(u"%1 %2"_s.arg(id).arg(size.width())), id, size);
        }
    }
    void aPageAtRestPaintsNothing()
    {
        QFETCH(QString, pageId);
        QFETCH(QSize, size);
        auto lock = queueLock("zk", "/locks/orders", 5, testing::serverTime(present));
        inspect::addFinding(lock, inspect::FindingCode::LongHeld,
                            u"held for 3 h 12 min, 40 times as long as this lock usually is, and nobody knows why"_s,
                            {lock.contenders[0].id});
        notifyConnected();
        m_backend->notifyLocks({change(ChangeKind::Added, lock)});
        page().selectLock(lock.lock);
        m_window->resize(size);
        QVERIFY(m_window->showPage(pageId));
        m_window->installEventFilter(this);
        constexpr int settling = 200;
        constexpr int turns = 200;
        paintingsIn(settling);
        const int painted = paintingsIn(turns);
        QVERIFY2(painted <= 10, qPrintable(u"%1 of %2 turns painted"_s.arg(painted).arg(turns)));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestWindowRest)
#include "tst_window_rest.moc"
