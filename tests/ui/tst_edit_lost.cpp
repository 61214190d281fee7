// SPDX-License-Identifier: Apache-2.0
// The form of an edit whose answer was lost, and of something that is gone: no word that is not so, and what became
// of it is found out.
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "tests/ui/treescene.h"
#include "ui/dialogs/editdialog.h"
#include "ui/dialogs/factsform.h"
#include "ui/parts/notices.h"

#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using namespace lockscope;
using namespace lockscope::ui;
using namespace lockscope::testing;
using namespace Qt::StringLiterals;
using operate::EditKind;
using operate::EditOutcome;
using operate::EditPlan;
using operate::EditRequest;

class TestEditLost : public QObject {
    Q_OBJECT

    FakeBackend m_backend;
    ConnectionBook m_book;
    operate::EditState m_now; // what the server has

    void setState(ConnectionStatus::State state)
    {
        auto status = statusOf("cache-redis", Scheme::Redis);
        status.state = state;
        status.production = status.readOnly = false;
        Batch batch;
        batch.connections = {status};
        m_book.apply(batch);
    }
    static operate::EditState aKey()
    {
        operate::EditState state;
        state.exists = true;
        state.type = "string";
        state.value = "hello";
        state.items = 5;
        state.dump = "dump";
        return state;
    }
    static EditRequest toDelete()
    {
        EditRequest request;
        request.kind = EditKind::KeyDelete;
        request.connection = ConnectionName("cache-redis");
        request.name = "cache:page";
        return request;
    }
    static QString said(const EditDialog &dialog) { return dialog.findChild<Banner *>(u"stateBanner"_s)->sentence(); }

private slots:
    void init()
    {
        setState(ConnectionStatus::State::Connected);
        m_now = aKey();
        m_backend.on<PlanEdit>() = [this](const PlanEdit &query) {
            EditPlan plan;
            plan.request = query.request;
            plan.before = m_now;
            return Result<EditPlan>(plan);
        };
        m_backend.on<ApplyEdit>() = [this](const ApplyEdit &) {
            setState(ConnectionStatus::State::Broken);
            return Result<EditOutcome>(Error{ErrorCode::UnknownOutcome, u"its reply was lost"_s, true});
        };
    }
    // "the key must not exist", it had said of the key that was to be deleted, and "too large to keep".
    void deletedKeyHasNoForm()
    {
        m_now = {};
        EditDialog dialog(m_backend, m_book, toDelete());
        dialog.show();
        QTRY_VERIFY(said(dialog).contains(u"key cache:page does not exist"_s));
        QVERIFY(!dialog.facts().isVisible());
        QVERIFY(!dialog.findChild<QPushButton *>(u"applyButton"_s)->isVisible());
        QVERIFY(dialog.findChild<QPushButton *>(u"lookAgain"_s)->isVisible());
    }
    void lostEdit_outcomeIsFoundAfterReconnect_data()
    {
        QTest::addColumn<bool>("wasDone");
        QTest::newRow("done") << true;
        QTest::newRow("not done") << false;
    }
    void lostEdit_outcomeIsFoundAfterReconnect()
    {
        QFETCH(const bool, wasDone);
        EditDialog dialog(m_backend, m_book, toDelete());
        dialog.show();
        auto *apply = dialog.findChild<QPushButton *>(u"applyButton"_s);
        QTRY_VERIFY(apply->isEnabled());
        QSignalSpy edited(&dialog, &EditDialog::edited);
        apply->click();
        QTRY_VERIFY(said(dialog).contains(u"its reply was lost"_s));
        if (wasDone)
            m_now = {};
        m_backend.calls.clear();
        setState(ConnectionStatus::State::Connected);
        if (!wasDone) {
            QTRY_VERIFY(apply->isVisible()); // the form, of what is there now
            QCOMPARE(edited.count(), 0);
            return;
        }
        QTRY_COMPARE(edited.count(), 1);
        const auto outcome = edited[0][1].value<EditOutcome>();
        QVERIFY2(outcome.message.contains(u"the reply was lost"_s), qPrintable(outcome.message));
        QVERIFY(outcome.undo);
        QCOMPARE(outcome.undo->kind, EditKind::KeyRestore);
        QVERIFY(!dialog.isVisible()); // the page says it, and offers to take it back
    }
    void aLookThatFailsLeavesItUnknown()
    {
        EditDialog dialog(m_backend, m_book, toDelete());
        dialog.show();
        auto *apply = dialog.findChild<QPushButton *>(u"applyButton"_s);
        QTRY_VERIFY(apply->isEnabled());
        apply->click();
        QTRY_VERIFY(said(dialog).contains(u"its reply was lost"_s));
        m_backend.on<PlanEdit>() = [](const PlanEdit &) {
            return Result<EditPlan>(Error{ErrorCode::NotConnected, u"not connected; nothing was sent"_s, true});
        };
        m_backend.calls.clear();
        dialog.findChild<QPushButton *>(u"lookAgain"_s)->click();
        QTRY_VERIFY(m_backend.wasCalled(u"planEdit key-delete cache-redis:cache:page"_s));
        QTRY_VERIFY(dialog.findChild<QPushButton *>(u"lookAgain"_s)->isVisible());
        QVERIFY2(said(dialog).contains(u"its reply was lost"_s), qPrintable(said(dialog)));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestEditLost)
#include "tst_edit_lost.moc"
