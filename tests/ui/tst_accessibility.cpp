// SPDX-License-Identifier: Apache-2.0
// What a screen reader finds on every page: a name for whatever takes the keyboard, and plain text only.
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/connectform.h"
#include "ui/pages/page.h"
#include "ui/pages/startpage.h"
#include "ui/shell/sidebar.h"
#include "ui/theme/theme.h"

#include <QAccessible>
#include <QPushButton>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QWidget>

class TestAccessibility : public testing::WindowFixture {
    Q_OBJECT

    static constexpr int mostRows = 60; // of a table or a list: the others are made alike

    // "PushButton “Pause” of pauseButton", for the message of a failure.
    static QString described(const QAccessibleInterface &part)
    {
        const auto *object = part.object();
        const auto role = QMetaEnum::fromType<QAccessible::Role>().valueToKey(part.role());
        return u"%1 “%2” %3 %4"_s.arg(QLatin1StringView(role), part.text(QAccessible::Name),
                                      object ? QLatin1StringView(object->metaObject()->className()) : "-"_L1,
                                      object ? object->objectName() : QString());
    }
    static void check(const QAccessibleInterface &part, QStringList &wrong)
    {
        const auto state = part.state();
        const auto name = part.text(QAccessible::Name);
        const auto description = part.text(QAccessible::Description);
        // Its bar of tabs has the keyboard.
        const bool isTabs = qobject_cast<QTabWidget *>(part.object()) != nullptr;
        const bool needsName =
            state.focusable && part.object() && !isTabs && !qobject_cast<QMainWindow *>(part.object());
        if (needsName && name.isEmpty() && part.text(QAccessible::Value).isEmpty())
            wrong << u"without a name: "_s + described(part);
        if (name.contains(u"</"_s) || description.contains(u"</"_s))
            wrong << u"HTML: "_s + described(part) + u' ' + description.left(60);
    }
    static void walk(QAccessibleInterface *part, QStringList &wrong, int &count)
    {
        if (!part || !part->isValid() || part->state().invisible)
            return;
        ++count;
        check(*part, wrong);
        for (int i = 0; i < std::min(part->childCount(), mostRows); ++i)
            walk(part->child(i), wrong, count);
    }

private slots:
    void everyPageCanBeRead_data()
    {
        QTest::addColumn<QString>("id");
        for (const auto &row : ui::allPages())
            QTest::newRow(qPrintable(row.id)) << row.id;
    }
    void everyPageCanBeRead()
    {
        QFETCH(QString, id);
        notifyConnected(true);
        m_backend->notifyLocks({lockOf("/locks/orders", 2), lockOf("/locks/stock", 0)});
        inspect::SessionSnapshot session;
        session.connection = ConnectionName("zk");
        session.session = u"0x1000009b4890001"_s;
        session.endpoint = u"10.0.3.7:56332"_s;
        session.holds = {"/locks/orders"};
        m_backend->tell({.sessions = {{session.connection, {session}}}});
        m_window->selectLock({ConnectionName("zk"), "/locks/orders"});
        QVERIFY(m_window->showPage(id));
        QTest::qWait(50);
        QStringList wrong;
        int count = 0;
        walk(QAccessible::queryAccessibleInterface(m_window.get()), wrong, count);
        wrong.removeDuplicates();
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
        QVERIFY(count > 40);
    }

    // With nothing connected: cards, doors and the checklist.
    void theFirstScreenCanBeRead()
    {
        const QTemporaryDir folder;
        ConnectionStore store(folder.filePath(u"connections.json"_s), nullptr);
        QVERIFY(store.save({.id = {}, .name = u"orders"_s, .group = u"Shop"_s, .uri = u"zk://a:2181"_s, .user = {}}));
        QVERIFY(store.save({.id = {}, .name = u"cache"_s, .group = {}, .uri = u"redis://b:6379"_s, .user = {}}));
        m_window->useConnections(store);
        auto &start = page().start();
        start.checklist().show(
            std::vector{TrialCheck{TrialCheck::State::Failed, u"Port 1 is closed."_s, TrialCheck::Fix::Hosts}});
        QTRY_VERIFY(start.cards().size() == 2 && start.cards().back()->isVisible());
        QStringList wrong;
        int count = 0;
        walk(QAccessible::queryAccessibleInterface(m_window.get()), wrong, count);
        wrong.removeDuplicates();
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
        QVERIFY(count > 40);
        // Every card and every button of the page is a stop of Tab.
        for (const auto *part : start.findChildren<QAbstractButton *>())
            QVERIFY2(part->focusPolicy() & Qt::TabFocus, qPrintable(part->accessibleName() + part->text()));
        closeWindow(); // before the store
    }

    // Of several pages one is shown: they are no check boxes.
    void pagesAreOneOfSeveral()
    {
        int pages = 0;
        for (auto *item : m_window->findChildren<ui::RailItem *>()) {
            const auto role = QAccessible::queryAccessibleInterface(item)->role();
            QVERIFY(role == QAccessible::RadioButton || role == QAccessible::PushButton);
            pages += role == QAccessible::RadioButton ? 1 : 0;
        }
        QCOMPARE(pages, static_cast<int>(ui::allPages().size()));
    }

    // The connection of the header, its environment and its state are read, not only seen.
    void theHeaderIsRead()
    {
        notifyConnected(true, true);
        const auto *header = QAccessible::queryAccessibleInterface(part<QWidget>("environment"));
        QCOMPARE(header->text(QAccessible::Name), u"Connection: PROD · zk"_s);
        QCOMPARE(header->text(QAccessible::Description), u"read-only · 0 writes sent"_s);
    }

    void aToolTipIsReadAsPlainText()
    {
        QPushButton button(u"Release"_s);
        button.setToolTip(ui::plainToolTip(u"<b> of a & b\nnext line"_s));
        const auto *read = QAccessible::queryAccessibleInterface(&button);
        QCOMPARE(read->text(QAccessible::Description), u"<b> of a & b\nnext line"_s);
        button.setToolTip(u"plain"_s);
        QCOMPARE(read->text(QAccessible::Description), u"plain"_s);
        button.setAccessibleDescription(u"own"_s);
        button.setToolTip(ui::plainToolTip(u"other"_s));
        QCOMPARE(read->text(QAccessible::Description), u"own"_s);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestAccessibility)
#include "tst_accessibility.moc"
