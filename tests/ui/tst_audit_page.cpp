// SPDX-License-Identifier: Apache-2.0
// The page of the audit file: newest first, what an act changed, whether the record is whole, and that it follows.
#include "tests/support/fakebackend.h"
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/pages/auditpage.h"
#include "ui/pages/livetree.h"
#include "ui/parts/notices.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace lockscope;

namespace {

QJsonObject lockOf(const QString &state, const QList<std::pair<QString, QString>> &contenders)
{
    QJsonArray all;
    for (const auto &[id, role] : contenders)
        all.append(QJsonObject{{u"id"_s, id}, {u"role"_s, role}, {u"endpoint"_s, u"10.0.3.7:5123"_s}});
    return {{u"state"_s, state}, {u"contenders"_s, all}};
}

} // namespace

class TestAuditPage : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<testing::FakeBackend> m_backend;
    std::unique_ptr<ui::AuditPage> m_page;

    QString path() const { return m_folder->filePath(u"audit.jsonl"_s); }
    void force(const QString &reason, const QByteArray &lock = "zk:/locks/orders")
    {
        operate::AuditRecord record;
        record.actor = u"anna@console"_s;
        record.action = u"force-release"_s;
        record.lock = lock;
        record.holder = "holder-1";
        record.reason = reason;
        record.phase = u"intent"_s;
        record.before = lockOf(u"contended"_s, {{u"holder-1"_s, u"holder"_s}, {u"waiter-2"_s, u"waiter"_s}});
        operate::AuditFile file(path());
        QVERIFY(file.append(record));
        record.phase = u"result"_s;
        record.outcome = u"released"_s;
        record.after = lockOf(u"held"_s, {{u"waiter-2"_s, u"holder"_s}});
        QVERIFY(file.append(record));
    }
    QString cell(int row, int column) { return m_page->table().model()->index(row, column).data().toString(); }
    int rows() { return m_page->table().model()->rowCount(); }

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_backend = std::make_unique<testing::FakeBackend>();
        m_backend->on<ReadAudit>() = [this](const ReadAudit &query) {
            return operate::reportOf(operate::AuditFile(path()), query.knownStamp);
        };
        m_page = std::make_unique<ui::AuditPage>();
        m_page->setBackend(m_backend.get());
        m_page->resize(1100, 700);
    }
    void cleanup()
    {
        m_page.reset();
        m_backend.reset();
        m_folder.reset();
    }

    void saysWhereNothingWasForced()
    {
        QSignalSpy settled(m_page.get(), &ui::Page::settled);
        m_page->show();
        QTRY_COMPARE(settled.count(), 1);
        QVERIFY(m_page->isSettled());
        auto *notice = m_page->findChild<ui::EmptyNotice *>();
        QVERIFY(notice->isVisible());
        QCOMPARE(notice->title(), u"Nothing was forced or edited yet"_s);
        QVERIFY(!m_page->chain().isVisible());
    }

    // Beside the side bar of a window of 1024: what is cut first is not the name of the lock.
    void theNameOfTheLockIsTheLastToBeCut()
    {
        force(u"INC-1"_s, "zk:/locks/nightly-report");
        m_page->resize(796, 500);
        m_page->show();
        QTRY_COMPARE(rows(), 2);
        auto &table = m_page->table();
        const auto *cells = qobject_cast<const ui::TreeCellDelegate *>(table.itemDelegate());
        QVERIFY(cells);
        QTRY_VERIFY(table.columnWidth(ui::AuditModel::Lock)
                    >= cells->widthNeeded(table.model()->index(0, ui::AuditModel::Lock)));
        QVERIFY(!table.isColumnHidden(ui::AuditModel::Outcome) && !table.isColumnHidden(ui::AuditModel::Reason));
        m_page->resize(1138, 500);
        QTRY_VERIFY(!table.isColumnHidden(ui::AuditModel::Actor));
    }

    // It is why somebody did it: where other columns have more than they need, it is not cut. The room is the name's
    // again when there is less.
    void aReasonHasTheRoomThatIsThere()
    {
        force(u"INC-4711: the holder hangs since the deployment of this night"_s, "zk:/locks/nightly-report");
        m_page->resize(1138, 500);
        m_page->show();
        QTRY_COMPARE(rows(), 2);
        auto &table = m_page->table();
        const auto *cells = qobject_cast<const ui::TreeCellDelegate *>(table.itemDelegate());
        const auto isWhole = [&](int column) {
            return table.columnWidth(column) >= cells->widthNeeded(table.model()->index(0, column));
        };
        QTRY_VERIFY2(isWhole(ui::AuditModel::Reason),
                     qPrintable(QString::number(table.columnWidth(ui::AuditModel::Reason))));
        for (const int column : {ui::AuditModel::Lock, ui::AuditModel::Time, ui::AuditModel::Outcome})
            QVERIFY2(isWhole(column), qPrintable(QString::number(column)));
        m_page->resize(796, 500);
        QTRY_VERIFY(isWhole(ui::AuditModel::Lock));
        m_page->resize(1138, 500);
        QTRY_VERIFY(isWhole(ui::AuditModel::Reason));
    }

    void theNewestIsFirstAndSaysWhatItChanged()
    {
        force(u"INC-1"_s);
        force(u"INC-2"_s);
        m_page->show();
        QTRY_COMPARE(rows(), 4);
        QCOMPARE(cell(0, ui::AuditModel::Reason), u"INC-2"_s);
        QCOMPARE(cell(0, ui::AuditModel::Outcome), u"released"_s);
        QCOMPARE(cell(1, ui::AuditModel::Outcome), u"intent"_s); // the detail says all of it
        QCOMPARE(cell(3, ui::AuditModel::Reason), u"INC-1"_s);
        m_page->focusContent();
        const auto text = m_page->detail();
        QVERIFY2(text.contains(u"~ state: contended → held"_s), qPrintable(text));
        QVERIFY2(text.contains(u"- holder · holder-1 · 10.0.3.7:5123"_s), qPrintable(text));
        QVERIFY2(text.contains(u"~ waiter-2: waiter → holder"_s), qPrintable(text));
        QVERIFY(m_page->chain().isVisible());
        QVERIFY(m_page->chain().sentence().contains(u"none is missing at the end"_s));
        QCoreApplication::processEvents(); // what is to be laid out is
        const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        if (!folder.isEmpty())
            QVERIFY(QDir().mkpath(folder) && m_page->grab().save(folder + u"/audit-page.png"_s));
    }

    void followsAndKeepsTheChoice()
    {
        force(u"INC-1"_s);
        m_page->show();
        QTRY_COMPARE(rows(), 2);
        m_page->focusContent();
        const auto chosen = m_page->detail();
        force(u"INC-2"_s);
        QTRY_COMPARE_WITH_TIMEOUT(rows(), 4, 10'000);
        QCOMPARE(m_page->detail(), chosen);
        QCOMPARE(m_page->table().currentIndex().row(), 2);
    }

    void aBrokenChainIsLoud()
    {
        force(u"INC-1"_s);
        force(u"INC-2"_s);
        QFile file(path());
        QVERIFY(file.open(QIODevice::ReadOnly));
        auto bytes = file.readAll();
        file.close();
        bytes.replace("INC-1", "INC-7");
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes);
        file.close();
        m_page->show();
        QTRY_VERIFY(m_page->chain().isVisible());
        QCOMPARE(m_page->chain().findChildren<QLabel *>().first()->text(), u"The record is not whole."_s);
        QVERIFY2(m_page->chain().sentence().contains(u"line 1: does not follow"_s),
                 qPrintable(m_page->chain().sentence()));
        QCOMPARE(rows(), 4); // it is shown all the same
    }

    void aRecordWithoutItsResultIsLoud()
    {
        operate::AuditRecord record;
        record.action = u"revoke"_s;
        record.lock = "zk:/locks/orders";
        record.holder = "holder-1";
        record.phase = u"intent"_s;
        QVERIFY(operate::AuditFile(path()).append(record));
        m_page->show();
        QTRY_COMPARE(rows(), 1);
        QVERIFY(cell(0, ui::AuditModel::Outcome).startsWith(u"no result recorded"_s));
    }

    void narrowsAndOpensTheLock()
    {
        force(u"INC-1"_s);
        force(u"INC-2"_s, "redis:stock");
        m_page->show();
        QTRY_COMPARE(rows(), 4);
        m_page->setFilter(u"stock"_s);
        QCOMPARE(rows(), 2);
        m_page->focusContent();
        QSignalSpy opened(m_page.get(), &ui::Page::lockActivated);
        QTest::keyClick(&m_page->table(), Qt::Key_Return);
        QCOMPARE(opened.count(), 1);
        const auto lock = opened.first().first().value<inspect::LockName>();
        QCOMPARE(lock, (inspect::LockName{ConnectionName("redis"), "stock"}));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestAuditPage)
#include "tst_audit_page.moc"
