// SPDX-License-Identifier: Apache-2.0
// An edit taken back: by its key, from the palette, and in a form that says what it undoes.
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/editdialog.h"
#include "ui/shell/actions.h"
#include "ui/shell/palette.h"
#include "ui/simulator/scenariodialog.h"
#include "ui/views/lockstable.h"
#include "ui/windowdialogs.h"

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>

using operate::EditKind;
using operate::EditRequest;

namespace {

const auto nothingEdited = u"No znode or key was edited in this window"_s;

EditRequest nodeEdit(EditKind kind, const QByteArray &value = {})
{
    return EditRequest{.kind = kind,
                       .connection = ConnectionName("zk"),
                       .name = "/app/config",
                       .value = value,
                       .acls = zk::openAcl()};
}

} // namespace

class TestUndo : public testing::WindowFixture {
    Q_OBJECT

    ui::EditDialog *form() { return m_window->findChild<ui::EditDialog *>(); }
    QPushButton *act() { return form()->findChild<QPushButton *>(u"applyButton"_s); }
    QAction *undo() { return m_window->actions().find(u"undo"_s); }
    void pressUndo() { QTest::keyClick(QApplication::focusWidget(), Qt::Key_Z, Qt::ControlModifier); }
    QString noticed() { return part<QLabel>("notice")->text(); }
    // Done by its form; `undo` takes it back.
    void edit(const EditRequest &request, const std::optional<EditRequest> &undo)
    {
        m_backend->on<ApplyEdit>() = [undo](const ApplyEdit &) {
            operate::EditOutcome outcome{.done = true, .message = u"zk:/app/config was set"_s, .undo = undo};
            return Result<operate::EditOutcome>(outcome);
        };
        m_window->dialogs().openEditOf(request);
        QTRY_VERIFY(form() && form()->plan());
        if (auto *value = form()->findChild<ui::ValueEditor *>())
            value->setValue(request.value);
        QVERIFY2(act()->isEnabled(), qPrintable(form()->findChild<QLabel *>(u"obstacle"_s)->text()));
        act()->click();
        QTRY_VERIFY(!form());
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }

private slots:
    void init()
    {
        openWindow();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        notifyConnected();
        m_backend->notifyLocks({lockOf("/locks/orders", 1)});
        m_backend->on<PlanEdit>() = [](const PlanEdit &query) {
            operate::EditPlan plan{.request = query.request};
            plan.before.exists = true;
            plan.before.value = query.request.expected ? "now" : "before";
            plan.before.acls = zk::openAcl();
            return Result<operate::EditPlan>(plan);
        };
    }

    void theFormSaysWhatItUndoes_data()
    {
        addColumns<int, int>("undone", "undo");
        QTest::addColumn<bool>("ends"); // what is undone, and brought back, has an end
        addColumns<QString, QString>("title", "act");
        const auto row = [](const char *name, EditKind undone, EditKind undo, const QString &title,
                            const QString &act, bool ends = false) {
            QTest::newRow(name) << int(undone) << int(undo) << ends << title << act;
        };
        using enum EditKind;
        row("create", ZnodeCreate, ZnodeDelete, u"Undo the creation of"_s, u"Undo: delete it"_s);
        row("data", ZnodeSet, ZnodeSet, u"Undo the edit of the data of"_s, u"Undo: restore the data"_s);
        row("ACL", ZnodeAcl, ZnodeAcl, u"Undo the edit of the ACL of"_s, u"Undo: restore the ACL"_s);
        row("delete", ZnodeDelete, ZnodeRestore, u"Undo the deletion of"_s, u"Undo: create it again"_s);
        row("restore", ZnodeRestore, ZnodeDelete, u"Undo the restore of"_s, u"Undo: delete it"_s);
        row("new key", KeySet, KeyDelete, u"Undo the creation of"_s, u"Undo: delete it"_s);
        row("key", KeySet, KeySet, u"Undo the edit of"_s, u"Undo: restore the value"_s);
        row("rename", KeyRename, KeyRename, u"Undo the renaming to"_s, u"Undo: rename it back"_s);
        row("last field", FieldDelete, KeyRestore, u"Undo the deletion of"_s, u"Undo: create it again"_s);
        row("new field", FieldSet, FieldDelete, u"Undo the creation of"_s, u"Undo: delete the field"_s);
        const auto life = u"Undo the change of the time to live of"_s;
        row("EXPIRE", KeyExpire, KeyExpire, life, u"Undo: remove the time to live"_s);
        row("PERSIST", KeyExpire, KeyExpire, life, u"Undo: restore the time to live"_s, true);
    }
    void theFormSaysWhatItUndoes()
    {
        QFETCH(const int, undone);
        QFETCH(const int, undo);
        QFETCH(const bool, ends);
        QFETCH(const QString, title);
        QFETCH(const QString, act);
        auto back = nodeEdit(static_cast<EditKind>(undo));
        if (ends)
            back.expiryMs = 1'900'000'000'000;
        QCOMPARE(ui::EditWords::title(back, false, nodeEdit(static_cast<EditKind>(undone))), title);
        QCOMPARE(ui::EditWords::act(back, false, true), act);
    }

    // The button said that it sets the time to live that it takes away.
    void removingATtlIsNamedOnTheButton()
    {
        m_window->dialogs().openEditOf(nodeEdit(EditKind::KeyExpire));
        QTRY_VERIFY(form() && form()->plan());
        QTRY_COMPARE(act()->text(), u"Remove the time to live"_s);
        form()->findChild<QLineEdit *>(u"line"_s)->setText(u"30s"_s);
        QCOMPARE(act()->text(), u"Set the time to live"_s);
    }

    void nothingToUndoSaysSo()
    {
        QVERIFY(!undo()->isEnabled());
        QCOMPARE(undo()->toolTip(), nothingEdited);
        page().table().setFocus();
        pressUndo();
        QCOMPARE(noticed(), u"Not done. "_s + nothingEdited);
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        auto *palette = m_window->findChild<ui::CommandPalette *>();
        QTest::keyClicks(&palette->field(), u"undo"_s);
        QCOMPARE(palette->list().item(0)->data(Qt::AccessibleTextRole).toString(),
                 u"Do, Undo the last edit of a znode or key…, "_s + nothingEdited);
        QTest::keyClick(&palette->field(), Qt::Key_Escape);
        edit(nodeEdit(EditKind::ZnodeDelete), std::nullopt);
        QVERIFY(!undo()->isEnabled());
        QCOMPARE(undo()->toolTip(), u"The last edit cannot be undone"_s);
    }

    // The key opens the form of it, where its name and its button say what it is and nothing of it is changed.
    void theKeyOpensTheFormOfIt()
    {
        auto back = nodeEdit(EditKind::ZnodeSet, "before");
        back.expected = operate::EditState();
        edit(nodeEdit(EditKind::ZnodeSet, "now"), back);
        QVERIFY(undo()->isEnabled());
        auto *find = m_window->findChild<QLineEdit *>(u"find"_s);
        QVERIFY(find);
        find->setFocus();
        QTest::keyClicks(find, u"x"_s);
        pressUndo(); // what was typed, then
        QVERIFY(find->text().isEmpty() && !form());
        page().table().setFocus();
        pressUndo();
        QTRY_VERIFY(form() && form()->plan() && act()->isEnabled());
        QCOMPARE(act()->text(), u"Undo: restore the data"_s);
        const auto labels = form()->findChildren<QLabel *>();
        QVERIFY(std::ranges::any_of(
            labels, [](const auto *label) { return label->text() == u"Undo the edit of the data of"_s; }));
        auto *value = form()->findChild<ui::ValueEditor *>()->edit();
        QCOMPARE(value->toPlainText(), u"before"_s);
        QTest::keyClicks(value, u"other"_s);
        QCOMPARE(value->toPlainText(), u"before"_s);
        act()->click();
        QTRY_VERIFY(!form());
        QCOMPARE(m_backend->last<ApplyEdit>()->plan.request.value, "before"_ba);
    }

    void theScenarioIsInThePalette()
    {
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        auto *palette = m_window->findChild<ui::CommandPalette *>();
        QTest::keyClicks(&palette->field(), u"scenario"_s);
        QTest::keyClick(&palette->field(), Qt::Key_Return);
        QTRY_VERIFY(m_window->findChild<ui::ScenarioDialog *>());
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestUndo)
#include "tst_undo.moc"
