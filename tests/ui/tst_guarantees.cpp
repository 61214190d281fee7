// SPDX-License-Identifier: Apache-2.0
// The table of what holds: made from the core's, cell for cell; it can be searched, says why, and is reached from the
// window's help and from the simulator; so is the help on findings.
#include "core/contention/guarantees.h"
#include "core/inspect/findings.h"
#include "core/rules/catalogue.h"
#include "tests/support/fakebackend.h"
#include "tests/support/fakerecording.h"
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/dialogs/guaranteesdialog.h"
#include "ui/mainwindow.h"
#include "ui/models/lockfacts.h"
#include "ui/pages/simulatorpage.h"
#include "ui/shell/actions.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>

using contention::FaultKind;
using ui::GuaranteesDialog;
using ui::GuaranteesModel;

namespace {

int rowOf(const GuaranteesModel &model, const QByteArray &recipe)
{
    for (int row = 0; row < model.rowCount(); ++row) {
        if (model.recipe(row) == recipe)
            return row;
    }
    return -1;
}

int columnOf(const GuaranteesModel &model, FaultKind fault)
{
    for (int column = 0; column < model.columnCount(); ++column) {
        if (model.fault(column) == fault)
            return column;
    }
    return -1;
}

QStringList shownRows(const QTableView &table)
{
    QStringList rows;
    for (int row = 0; row < table.model()->rowCount(); ++row) {
        if (!table.isRowHidden(row))
            rows << table.model()->headerData(row, Qt::Vertical).toString();
    }
    return rows;
}

int shownColumns(const QTableView &table)
{
    int shown = 0;
    for (int column = 0; column < table.model()->columnCount(); ++column)
        shown += !table.isColumnHidden(column);
    return shown;
}

} // namespace

class TestGuarantees : public QObject {
    Q_OBJECT

    static const GuaranteesModel &modelOf(const GuaranteesDialog &dialog)
    {
        return *qobject_cast<GuaranteesModel *>(dialog.table().model());
    }
    static void choose(GuaranteesDialog &dialog, const QByteArray &recipe, FaultKind fault)
    {
        const auto &model = modelOf(dialog);
        dialog.table().setCurrentIndex(model.index(rowOf(model, recipe), columnOf(model, fault)));
    }

private slots:

    // Every cell is what the tests of the seeds ask, for every invariant, with and without fencing.
    void everyCellIsTheCoresExpectation()
    {
        GuaranteesModel model;
        int broken = 0;
        for (const bool isFenced : {false, true}) {
            model.setFenced(isFenced);
            for (int row = 0; row < model.rowCount(); ++row) {
                for (int column = 0; column < model.columnCount(); ++column) {
                    const auto faults = contention::faultsFor(model.recipe(row));
                    const bool canHappen = std::count(faults.begin(), faults.end(), model.fault(column)) > 0;
                    const auto &guarantees = model.guarantees(row, column);
                    QCOMPARE(guarantees.size(), canHappen ? contention::invariants().size() : 0u);
                    QCOMPARE(model.pill(model.index(row, column)).has_value(), canHappen);
                    for (const auto &guarantee : guarantees) {
                        if (guarantee.verdict == contention::Guarantee::Verdict::NotGuaranteed)
                            continue;
                        const auto expected = contention::guaranteeRule(model.recipe(row), model.fault(column),
                                                                        guarantee.invariant, isFenced);
                        QCOMPARE(guarantee.mayBreak(), expected.mayBreak());
                        QCOMPARE(guarantee.because, expected.because);
                        broken += guarantee.mayBreak();
                    }
                }
            }
        }
        QVERIFY(broken > 50);
        QCOMPARE(static_cast<std::size_t>(model.rowCount()), contention::guaranteedRecipes().size());
    }

    void aCellSaysWhatHoldsAndWhyNot()
    {
        GuaranteesDialog dialog({});
        dialog.show();
        choose(dialog, "redis-set-nx", FaultKind::RestartEmpty);
        const auto reasons = dialog.reasons();
        QCOMPARE(static_cast<std::size_t>(reasons.size()), contention::invariants().size());
        QVERIFY2(reasons.front().startsWith(u"never two holders: may break because "_s), qPrintable(reasons.front()));
        QVERIFY(reasons.filter(u"first come, first served: not promised"_s).size() == 1);
        choose(dialog, "zk-mutex", FaultKind::Crash);
        QVERIFY(dialog.reasons().front().endsWith(u": holds"_s));
        // No server of ZooKeeper restarts empty.
        choose(dialog, "zk-mutex", FaultKind::RestartEmpty);
        QVERIFY(dialog.reasons().isEmpty());
        QCOMPARE(dialog.table().currentIndex().data().toString(), u"–"_s);
    }

    void oneInvariantAndFencingChangeTheCells()
    {
        GuaranteesDialog dialog({});
        const auto &model = modelOf(dialog);
        const auto cell = model.index(rowOf(model, "zk-mutex"), columnOf(model, FaultKind::Pause));
        QCOMPARE(cell.data().toString(), u"may break"_s);
        auto *invariant = dialog.findChild<QComboBox *>(u"invariant"_s);
        invariant->setCurrentIndex(invariant->findData(QByteArray("effect")));
        QCOMPARE(cell.data().toString(), u"may break"_s);
        dialog.findChild<QCheckBox *>(u"fenced"_s)->setChecked(true);
        QCOMPARE(cell.data().toString(), u"holds"_s); // the resource refuses the older token
        invariant->setCurrentIndex(invariant->findData(QByteArray("order")));
        QCOMPARE(model.index(rowOf(model, "redis-set-nx"), columnOf(model, FaultKind::Pause)).data().toString(),
                 u"not promised"_s);
    }

    void searchFindsRecipesFaultsAndReasons()
    {
        GuaranteesDialog dialog({"zk-herd-mutex", "zk-mutex"});
        QCOMPARE(shownRows(dialog.table()), (QStringList{u"zk-herd-mutex"_s, u"zk-mutex"_s}));
        auto *find = dialog.findChild<QLineEdit *>(u"findPromise"_s);
        find->clear();
        QVERIFY(shownRows(dialog.table()).size() > 20);
        find->setText(u"redisson pause"_s);
        QCOMPARE(shownRows(dialog.table()).filter(u"redisson"_s), shownRows(dialog.table()));
        QCOMPARE(shownColumns(dialog.table()), 1);
        find->setText(u"replica that took over"_s); // a reason
        QVERIFY(!shownRows(dialog.table()).isEmpty());
        QVERIFY(!shownRows(dialog.table()).contains(u"zk-mutex"_s));
        QCOMPARE(shownColumns(dialog.table()), 1); // failover
        find->setText(u"no such thing"_s);
        QVERIFY(shownRows(dialog.table()).isEmpty());
        find->clear();
        dialog.findChild<QComboBox *>(u"server"_s)->setCurrentIndex(3);
        QCOMPARE(shownRows(dialog.table()).filter(u"sql-"_s), shownRows(dialog.table()));
    }

    void helpAndSimulatorLeadToIt()
    {
        testing::FakeBackend backend;
        ui::MainWindow window(backend);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        window.actions().find(u"help"_s)->trigger();
        window.findChild<QPushButton *>(u"openPromises"_s)->click();
        auto *all = window.findChild<GuaranteesDialog *>(u"guaranteesDialog"_s);
        QVERIFY(all);
        QVERIFY(shownRows(all->table()).size() > 20);
        delete all;
        window.findChild<QPushButton *>(u"openFindings"_s)->click();
        const auto *findings = window.findChild<QDialog *>(u"findingsDialog"_s);
        QVERIFY(findings);
        const auto labels = findings->findChildren<QLabel *>();
        for (const auto &kind : inspect::findingKinds())
            QVERIFY2(std::ranges::find(labels, ui::helpOn(kind), &QLabel::text) != labels.end(), kind.name);
        delete findings;

        ui::SimulatorPage page(nullptr, testing::fakeSimulate);
        page.resize(1200, 820);
        page.show();
        QVERIFY(QTest::qWaitFor([&] { return page.isSettled(); }, 30'000));
        page.findChild<QPushButton *>(u"promisesButton"_s)->click();
        const auto *own = page.findChild<GuaranteesDialog *>(u"guaranteesDialog"_s);
        QVERIFY(own);
        QCOMPARE(shownRows(own->table()), (QStringList{u"zk-herd-mutex"_s, u"zk-mutex"_s}));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestGuarantees)
#include "tst_guarantees.moc"
