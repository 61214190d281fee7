// SPDX-License-Identifier: Apache-2.0
// The form of an edit, and what the pages of znodes and keys offer: what stops it, what it says, what is taken back.
// With LOCKSCOPE_SHOTS=folder it leaves pictures, light and dark.
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "tests/ui/treescene.h"
#include "ui/dialogs/editdialog.h"
#include "ui/dialogs/factsform.h"
#include "ui/models/locksmodel.h"
#include "ui/pages/treepage.h"
#include "ui/pages/keyspage.h"
#include "ui/pages/livetree.h"
#include "ui/pages/znodespage.h"
#include "ui/parts/notices.h"
#include "ui/theme/theme.h"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
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

namespace {

const ConnectionName zkPage("orders-zk");

EditRequest formRequest(EditKind kind, const QByteArray &name, const QByteArray &connection = "orders-zk")
{
    EditRequest request;
    request.kind = kind;
    request.connection = ConnectionName(connection);
    request.name = name;
    request.acls = zk::openAcl();
    return request;
}

operate::EditState nodeState(const QByteArray &data, qint32 version = 3)
{
    operate::EditState state;
    state.exists = true;
    state.value = data;
    state.stat.czxid = 0x5f21;
    state.stat.version = version;
    state.acls = zk::openAcl();
    return state;
}

operate::TouchedLock heldByApp7()
{
    return {{zkPage, "/locks/orders"}, u"curator-mutex"_s, {u"_c_5f0c2a9e-lock-0000000041 at 10.0.3.7:56332"_s}, 3};
}

} // namespace

class TestEditForm : public QObject {
    Q_OBJECT

    std::unique_ptr<FakeBackend> m_backend;
    std::unique_ptr<ConnectionBook> m_book;
    std::unique_ptr<EditDialog> m_dialog;

    void connection(bool production, bool readOnly)
    {
        auto status = statusOf("orders-zk", Scheme::ZooKeeper);
        status.production = production;
        status.readOnly = readOnly;
        Batch batch;
        batch.connections = {status, statusOf("cache-redis", Scheme::Redis)};
        m_book->apply(batch);
    }
    EditDialog &open(const EditRequest &request, const operate::EditState &before,
                     std::vector<operate::TouchedLock> locks = {})
    {
        m_backend->on<PlanEdit>() = [before, locks](const PlanEdit &query) {
            EditPlan plan;
            plan.request = query.request;
            plan.before = before;
            plan.locks = locks;
            return Result<EditPlan>(plan);
        };
        m_dialog = std::make_unique<EditDialog>(*m_backend, *m_book, request);
        m_dialog->setAvailable(QRect(0, 0, 1366, 768));
        m_dialog->show();
        [&] { QTRY_VERIFY(m_dialog->plan().has_value()); }();
        QCoreApplication::processEvents();
        return *m_dialog;
    }
    template <class W>
    W *part(const char *name)
    {
        return m_dialog->findChild<W *>(QString::fromLatin1(name));
    }
    QPushButton *apply() { return part<QPushButton>("applyButton"); }
    QString obstacle() { return part<QLabel>("obstacle")->text(); }
    ValueEditor *value() { return m_dialog->findChild<ValueEditor *>(); }

    void shoot(QWidget &widget, const QString &name)
    {
        const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        if (folder.isEmpty())
            return;
        QVERIFY(QDir().mkpath(folder));
        const auto before = Theme::instance()->choice();
        for (const auto choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            Theme::instance()->setChoice(choice);
            QCoreApplication::processEvents();
            QVERIFY(widget.grab().save(
                u"%1/%2-%3.png"_s.arg(folder, name, choice == ThemeChoice::Dark ? u"dark"_s : u"light"_s)));
        }
        Theme::instance()->setChoice(before);
    }

private slots:
    void init()
    {
        m_backend = std::make_unique<FakeBackend>();
        m_book = std::make_unique<ConnectionBook>();
        connection(false, false);
    }
    void cleanup()
    {
        m_dialog.reset();
        m_book.reset();
        m_backend.reset();
    }

    void typedValueIsShownAsADifferenceAndSent()
    {
        auto &dialog =
            open(formRequest(EditKind::ZnodeSet, "/app/config"), nodeState("replicas=3\nlease=30\ndark=no"));
        QVERIFY(!apply()->isEnabled());
        QCOMPARE(obstacle(), u"nothing was changed yet"_s);
        value()->edit()->setPlainText(u"replicas=3\nlease=10\ndark=no"_s);
        QCOMPARE(dialog.facts().valueOf(u"Change"_s), u"− lease=30\n+ lease=10"_s);
        QVERIFY2(apply()->isEnabled(), qPrintable(obstacle()));
        part<QLineEdit>("reason")->setText(u"INC-7"_s);
        shoot(dialog, u"edit-set"_s);
        EditOutcome outcome;
        outcome.done = true;
        outcome.message = u"orders-zk:/app/config was set"_s;
        m_backend->on<ApplyEdit>() = [outcome](const ApplyEdit &) { return outcome; };
        QSignalSpy edited(&dialog, &EditDialog::edited);
        apply()->click();
        QTRY_COMPARE(edited.count(), 1);
        QCOMPARE(m_backend->last<ApplyEdit>()->plan.request.value, "replicas=3\nlease=10\ndark=no");
        QCOMPARE(m_backend->last<ApplyEdit>()->reason, u"INC-7"_s);
        QVERIFY(!dialog.isVisible());
    }
    // Each letter that made the difference longer had moved the field below the pointer.
    void typingDoesNotMoveTheDialog()
    {
        auto &dialog = open(formRequest(EditKind::ZnodeSet, "/app/config"), nodeState("old"));
        QCoreApplication::processEvents();
        dialog.move(60, 60);
        const QRect placed = dialog.geometry();
        value()->edit()->setPlainText(u"new\nof\nseveral\nlines"_s);
        QCoreApplication::processEvents();
        QCOMPARE(dialog.geometry().topLeft(), placed.topLeft());
        QVERIFY(dialog.height() > placed.height());
        const int high = dialog.height();
        value()->edit()->setPlainText(u"old"_s);
        QCoreApplication::processEvents();
        QCOMPARE(dialog.geometry(), QRect(placed.topLeft(), QSize(placed.width(), high)));
    }
    void bytesThatAreNoTextAreEditedAsHexAndKept_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<bool>("isHex");
        QTest::newRow("text") << QByteArray("a\n\tb") << false;
        QTest::newRow("umlauts and emoji") << QByteArray("gr\xc3\xbc\xc3\x9f \xf0\x9f\x94\x92") << false;
        QTest::newRow("zero") << QByteArray("a\0b", 3) << true;
        QTest::newRow("no UTF-8") << QByteArray("\xff\xfe") << true;
        QTest::newRow("Windows line ends") << QByteArray("a\r\nb") << true;
        QTest::newRow("a space that editors change") << QByteArray("a\xc2\xa0z") << true;
        QTest::newRow("a paragraph that editors change") << QByteArray("a\xe2\x80\xa9z") << true;
    }
    void bytesThatAreNoTextAreEditedAsHexAndKept()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(bool, isHex);
        ValueEditor editor;
        editor.setValue(bytes);
        QCOMPARE(editor.isHex(), isHex);
        QVERIFY(editor.value() == bytes);
        editor.setHex(true);
        QVERIFY(editor.value() == bytes);
        editor.edit()->setPlainText(u"0g"_s);
        QVERIFY(!editor.value());
    }
    void productionWantsTheNameAndAReason()
    {
        connection(true, false);
        open(formRequest(EditKind::ZnodeSet, "/app/config"), nodeState("old"));
        value()->edit()->setPlainText(u"new"_s);
        QCOMPARE(obstacle(), u"Production: enter a reason."_s);
        part<QLineEdit>("reason")->setText(u"INC-7"_s);
        QCOMPARE(obstacle(), u"Type the name to continue."_s);
        part<QLineEdit>("typeName")->setText(u"/app/config"_s);
        QVERIFY(apply()->isEnabled());
    }
    // Of a name that there is not: the script asks for that again.
    void aFieldIsAddedWhereThereIsNone()
    {
        auto request = formRequest(EditKind::FieldSet, "stock", "cache-redis");
        operate::EditState before;
        before.exists = true;
        before.type = "hash";
        before.items = 2;
        auto &dialog = open(request, before);
        m_backend->on<PlanEdit>() = [before](const PlanEdit &query) {
            EditPlan plan;
            plan.request = query.request;
            plan.before = before;
            plan.before.hasField = query.request.field == "taken";
            return Result<EditPlan>(plan);
        };
        QCOMPARE(obstacle(), u"Enter the name of the field."_s);
        value()->edit()->setPlainText(u"7"_s);
        part<QLineEdit>("line")->setText(u"taken"_s);
        QTRY_COMPARE(obstacle(), u"An entry of that name already exists."_s);
        part<QLineEdit>("line")->setText(u"left"_s);
        QTRY_VERIFY2(apply()->isEnabled(), qPrintable(obstacle()));
        QCOMPARE(apply()->text(), u"Add the field"_s);
        QVERIFY(dialog.facts().valueOf(u"Will be sent"_s).contains(u"HSET stock \"left\" \"7\""_s));
        shoot(dialog, u"edit-add-field"_s);
        apply()->click();
        QTRY_VERIFY(m_backend->last<ApplyEdit>());
        const auto &plan = m_backend->last<ApplyEdit>()->plan;
        QCOMPARE(plan.request.field, "left");
        QCOMPARE(plan.request.value, "7");
        QVERIFY(plan.before.exists && !plan.before.hasField);
    }
    void developmentTakesOneKey()
    {
        open(formRequest(EditKind::ZnodeSet, "/app/config"), nodeState("old"));
        value()->edit()->setPlainText(u"new"_s);
        QTest::keyClick(m_dialog.get(), Qt::Key_Return, Qt::ControlModifier);
        QVERIFY(!m_backend->last<ApplyEdit>()); // nobody marked it
        m_book->mark(zkPage, {m_book->find(zkPage)->uri, true});
        QTest::keyClick(m_dialog.get(), Qt::Key_Return, Qt::ControlModifier);
        QTRY_VERIFY(m_backend->last<ApplyEdit>());
    }
    void readOnlySaysWhyAndHowToAllow()
    {
        connection(false, true);
        auto &dialog = open(formRequest(EditKind::ZnodeDelete, "/app/config"), nodeState("old"));
        QCOMPARE(obstacle(), u"orders-zk is read-only. Allow writes on it first."_s);
        QVERIFY(!apply()->isEnabled());
        QSignalSpy armed(&dialog, &EditDialog::armRequested);
        part<QPushButton>("armButton")->click();
        QCOMPARE(armed.count(), 1);
        connection(false, false);
        QVERIFY(apply()->isEnabled());
    }
    void aTreeIsCountedAndItsLocksAreNamed()
    {
        auto state = nodeState({});
        for (const auto *name :
             {"/locks/orders/_c_5f0c2a9e-lock-0000000041", "/locks/orders/_c_8a1d7733-lock-0000000042"}) {
            operate::ZnodeCopy copy;
            copy.path = ZPath(name);
            copy.stat.ephemeralOwner = {0x1000009b4890001};
            state.below.push_back(copy);
        }
        auto &dialog = open(formRequest(EditKind::ZnodeDelete, "/locks/orders"), state, {heldByApp7()});
        auto *banner = part<Banner>("locksBanner");
        QVERIFY(banner->isVisible());
        QVERIFY(banner->sentence().contains(u"10.0.3.7:56332"_s));
        QCOMPARE(obstacle(), u"A lock is held. Select the checkbox to confirm that you know."_s);
        part<QCheckBox>("acceptLocks")->setChecked(true);
        QCOMPARE(obstacle(), u"Type the number of nodes to continue."_s);
        part<QLineEdit>("typeName")->setText(u"3"_s);
        QVERIFY(apply()->isEnabled());
        // How much goes with it stands before the commands, which may be many lines.
        const auto banners = dialog.findChildren<Banner *>();
        const auto much = std::ranges::find_if(banners, [](const auto *said) {
            return said->sentence().contains(u"2 nodes below it are deleted, too"_s);
        });
        QVERIFY(much != banners.end());
        QTRY_VERIFY((*much)->mapTo(&dialog, QPoint()).y() < dialog.facts().mapTo(&dialog, QPoint()).y());
        // As high as its texts are, where the screen is.
        QTRY_VERIFY(dialog.height() > 500);
        shoot(dialog, u"edit-delete-tree"_s);
        // Whole on a small screen: what is too much scrolls, the buttons stay.
        for (const QSize screen : {QSize(1366, 768), QSize(1024, 600)}) {
            dialog.setAvailable(QRect(QPoint(), screen));
            QCoreApplication::processEvents();
            QVERIFY(QRect(QPoint(), screen).contains(dialog.geometry()));
            const QRect button(apply()->mapTo(&dialog, QPoint()), apply()->size());
            QVERIFY(dialog.rect().contains(button));
        }
        shoot(dialog, u"edit-delete-tree-1024"_s);
        apply()->click();
        QTRY_VERIFY(m_backend->last<ApplyEdit>());
        QVERIFY(m_backend->last<ApplyEdit>()->plan.areLocksAccepted);
    }
    void aRefusalStaysReadableAndCanBeLookedAtAgain()
    {
        open(formRequest(EditKind::ZnodeSet, "/app/config"), nodeState("old"));
        value()->edit()->setPlainText(u"new"_s);
        m_backend->on<ApplyEdit>() = [](const ApplyEdit &) {
            return Result<EditOutcome>(
                Error{ErrorCode::Refused,
                      u"it differs from the preview: its data has changed. Nothing was sent; check it again"_s});
        };
        apply()->click();
        QTRY_VERIFY(part<Banner>("stateBanner")->sentence().contains(u"Nothing was sent"_s));
        QVERIFY(!apply()->isVisible());
        m_backend->calls.clear();
        part<QPushButton>("lookAgain")->click();
        QTRY_VERIFY(m_backend->wasCalled(u"planEdit znode-set orders-zk:/app/config"_s));
        QTRY_VERIFY(value()->value() == "old"_ba);
    }
    void aPasswordBecomesAHashAndIsForgotten()
    {
        auto &dialog = open(formRequest(EditKind::ZnodeAcl, "/app/config"), nodeState("old"));
        part<QLineEdit>("user")->setText(u"super"_s);
        part<QLineEdit>("password")->setText(u"test"_s);
        part<QPushButton>("addUser")->click();
        QVERIFY(part<QLineEdit>("password")->text().isEmpty());
        QCOMPARE(part<QPlainTextEdit>("acls")->toPlainText(),
                 u"cdrwa world:anyone\ncdrwa digest:super:D/InIHSb7yEEbrWz8b9l71RjZJU="_s);
        QCOMPARE(dialog.facts().valueOf(u"Change"_s), u"+ cdrwa digest:super:D/InIHSb7yEEbrWz8b9l71RjZJU="_s);
        shoot(dialog, u"edit-acl"_s);
    }
    // It had been selected whole: the first letter took the parent away.
    void newNameIsTypedBehindItsParent()
    {
        open(formRequest(EditKind::ZnodeCreate, "/app"), nodeState("there"));
        auto *line = part<QLineEdit>("line");
        QTRY_VERIFY(line->hasFocus());
        QTest::keyClicks(line, u"new"_s);
        QCOMPARE(line->text(), u"/app/new"_s);
    }
    void newNodeNeedsAFreeName()
    {
        auto &dialog = open(formRequest(EditKind::ZnodeCreate, "/app"), nodeState("there"));
        part<QLineEdit>("line")->setText(u"/app/config"_s);
        QTRY_COMPARE(obstacle(), u"/app/config already exists"_s);
        m_backend->on<PlanEdit>() = [](const PlanEdit &query) {
            EditPlan plan;
            plan.request = query.request;
            return Result<EditPlan>(plan);
        };
        part<QLineEdit>("line")->setText(u"/app/new"_s);
        QTRY_VERIFY2(apply()->isEnabled(), qPrintable(obstacle()));
        shoot(dialog, u"edit-create"_s);
        // How long it lives.
        auto *life = part<QComboBox>("life");
        life->setCurrentIndex(1);
        QVERIFY(dialog.plan()->request.isEphemeral && !dialog.plan()->request.ttl && apply()->isEnabled());
        life->setCurrentIndex(2);
        QCOMPARE(obstacle(), u"Enter a time as 500ms, 30s, 10m or 2h."_s);
        part<QLineEdit>("ttl")->setText(u"30s"_s);
        QVERIFY2(apply()->isEnabled(), qPrintable(obstacle()));
        QVERIFY(!dialog.plan()->request.isEphemeral);
        QCOMPARE(dialog.plan()->request.ttl, std::optional(std::chrono::milliseconds(30'000)));
        shoot(dialog, u"edit-create-ttl"_s);
        life->setCurrentIndex(0);
        QVERIFY(!dialog.plan()->request.ttl && apply()->isEnabled());
    }
    void timesAreReadAsTheyAreWritten()
    {
        auto state = nodeState({});
        state.type = "string";
        state.value = "b0f1";
        state.items = 4;
        auto &dialog = open(formRequest(EditKind::KeyExpire, "invoice-lock", "cache-redis"), state);
        QCOMPARE(obstacle(), u"it already has no TTL"_s);
        // What cannot be read is not told of as if it were nothing.
        for (const auto &unread : {u"soon"_s, u"90"_s}) {
            part<QLineEdit>("line")->setText(unread);
            QVERIFY(!apply()->isEnabled());
            QVERIFY(dialog.facts().valueOf(u"Will be sent"_s).startsWith(u"unknown: Enter a time as"_s));
            QCOMPARE(dialog.facts().valueOf(u"Undo"_s), QString());
        }
        part<QLineEdit>("line")->setText(u"30s"_s);
        QVERIFY2(apply()->isEnabled(), qPrintable(obstacle()));
        QVERIFY(dialog.plan()->request.ttl == std::chrono::milliseconds(30'000));
        QVERIFY2(dialog.facts().valueOf(u"Change"_s).startsWith(u"− no TTL"_s),
                 qPrintable(dialog.facts().valueOf(u"Change"_s)));
    }

    void thePageOfZnodesOffersItAndTakesItBack()
    {
        FakeBackend backend;
        ZnodesPage page;
        playTrees(backend);
        page.setBackend(&backend);
        page.resize(1138, 690);
        page.show();
        backend.tell(treeBatch(std::chrono::system_clock::now()));
        QVERIFY(page.showSubject({Subject::Kind::Znode, zkPage, "/app/config"}));
        QVERIFY(!page.showSubject({Subject::Kind::Key, zkPage, "k"}));
        QTRY_COMPARE(page.detail()->path().bytes(), "/app/config"_ba);
        QSignalSpy asked(&page, &Page::editRequested);
        QVERIFY(page.action(u"Delete…"_s)->isEnabled());
        page.action(u"Edit data…"_s)->trigger();
        QCOMPARE(asked.count(), 1);
        const auto request = asked.first().first().value<EditRequest>();
        QCOMPARE(request.name, "/app/config"_ba);
        QVERIFY(request.kind == EditKind::ZnodeSet);
        EditOutcome outcome;
        outcome.done = true;
        outcome.message = u"orders-zk:/app/config was set"_s;
        outcome.undo = formRequest(EditKind::ZnodeSet, "/app/config");
        page.edited(request, outcome);
        QVERIFY(page.notice()->isVisible());
        shoot(page, u"edit-notice"_s);
        QSignalSpy undoing(&page, &Page::undoRequested);
        page.notice()->button()->click();
        QCOMPARE(undoing.count(), 1);
        QVERIFY(undoing.first().last().value<EditRequest>().kind == EditKind::ZnodeSet);
        // The root is nobody's to delete.
        page.goTo(ZPath("/"));
        QTRY_COMPARE(page.detail()->path().bytes(), "/"_ba);
        QVERIFY(!page.action(u"Delete…"_s)->isEnabled());
    }
    void aNodeLeadsToItsLockAndItsSession()
    {
        FakeBackend backend;
        LocksModel model;
        ZnodesPage page;
        playTrees(backend);
        connect(&backend, &Backend::updated, &model, [&](const Batch &told) { model.apply(told.locks); });
        page.useLocks(model);
        page.setBackend(&backend);
        page.show();
        auto batch = treeBatch(std::chrono::system_clock::now());
        inspect::SnapshotChange change;
        change.kind = inspect::ChangeKind::Added;
        change.lock.lock = {zkPage, "/locks/orders"};
        batch.locks = {change};
        backend.tell(batch);
        page.goTo(ZPath("/locks/orders/_c_5f0c2a9e-lock-0000000041"));
        QTRY_COMPARE(page.detail()->head()->links().size(), std::size_t(2));
        auto *head = page.detail()->head();
        const auto leftOf = [head](const QWidget &part) { // of what is drawn
            const auto image = head->grab().toImage();
            const int top = part.mapTo(head, QPoint()).y();
            for (int x = 0; x < image.width(); ++x) {
                for (int y = top + 4; y < top + part.height() - 4; ++y) {
                    if (image.pixelColor(x, y).lightness() < 190)
                        return x;
                }
            }
            return -1;
        };
        QTRY_VERIFY(head->links()[0]->isVisible());
        const auto off = [&] { return leftOf(*head->links()[0]) - leftOf(*head->findChild<QLineEdit *>()); };
        QTRY_VERIFY2(std::abs(off()) <= 2, qPrintable(QString::number(off())));
        QSignalSpy locks(&page, &Page::lockActivated);
        QSignalSpy subjects(&page, &Page::subjectActivated);
        for (auto *link : page.detail()->head()->links())
            link->click();
        QCOMPARE(locks.count(), 1);
        QVERIFY(subjects.first().first().value<Subject>().kind == Subject::Kind::Session);
    }
    void aKeyIsShownThoughNoScanMetIt()
    {
        FakeBackend backend;
        KeysPage page;
        playTrees(backend);
        page.setBackend(&backend);
        page.resize(1138, 690);
        page.show();
        backend.tell(treeBatch(std::chrono::system_clock::now()));
        QVERIFY(page.showSubject({Subject::Kind::Key, ConnectionName("cache-redis"_ba), "far:away"}));
        page.focusContent(); // as the window does
        QTRY_COMPARE(page.detail()->key().bytes(), "far:away"_ba);
        QTRY_COMPARE(page.tree()->currentIndex().data(KeysModel::KeyRole).toByteArray(), "far:away"_ba);
        QVERIFY(page.action(u"Set…"_s)->isEnabled());
        QVERIFY(!page.action(u"Set field…"_s)->isEnabled());
        shoot(page, u"edit-keys"_s);
        // Of a hash, its fields.
        QVERIFY(page.showSubject({Subject::Kind::Key, ConnectionName("cache-redis"_ba), "stock"}));
        QTRY_VERIFY(page.action(u"Set field…"_s)->isEnabled());
        QVERIFY(!page.action(u"Set…"_s)->isEnabled());
        QSignalSpy asked(&page, &Page::editRequested);
        page.action(u"Add field…"_s)->trigger();
        QCOMPARE(asked.takeFirst().first().value<EditRequest>().field, QByteArray());
        page.action(u"Set field…"_s)->trigger();
        QCOMPARE(asked.takeFirst().first().value<EditRequest>().field, "b983c153-4d2e-4c2f-9f4b-7e2d0f1c7a55:42"_ba);
        // The field that was chosen stays chosen when the key is read again, as it is after each edit.
        auto *items = page.detail()->items();
        items->setCurrentIndex(items->model()->index(1, 0));
        EditOutcome outcome;
        outcome.done = true;
        page.edited(formRequest(EditKind::FieldSet, "stock", "cache-redis"), outcome);
        QTRY_VERIFY(items->currentIndex().isValid() && page.action(u"Set field…"_s)->isEnabled());
        page.action(u"Set field…"_s)->trigger();
        QCOMPARE(asked.first().first().value<EditRequest>().field, "meta"_ba);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestEditForm)
#include "tst_edit_form.moc"
