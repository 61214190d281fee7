// SPDX-License-Identifier: Apache-2.0
// The form of a scenario gives back what it was given, whatever that is; and what is planned for a moment of the run
// is shown there, and can be taken out.
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/simulator/faultmenu.h"
#include "ui/simulator/scenariodialog.h"

#include <QComboBox>
#include <QJsonDocument>
#include <QPushButton>
#include <QSpinBox>

using namespace lockscope::ui;
using contention::FaultKind;
using contention::Scenario;

class TestScenarioForm : public QObject {
    Q_OBJECT

    ConnectionBook m_book;
    std::vector<Comparison> m_given; // of the rows

    QByteArray givenBack(const Comparison &given)
    {
        const ScenarioDialog dialog(given, m_book);
        const auto back = dialog.comparison();
        if (!back)
            return back.error().message.toUtf8();
        if (back->recipes != given.recipes || !(back->place == given.place))
            return "other recipes";
        const auto json = [](const Scenario &scenario) { return QJsonDocument(scenario.toJson()).toJson(); };
        return back->scenario == given.scenario
                   ? QByteArray()
                   : "given " + json(given.scenario) + ", came back " + json(back->scenario);
    }
    static Comparison paused()
    {
        Comparison given{.recipes = {"zk-mutex"}};
        given.scenario.contenders = 3;
        contention::PlannedFault pause{.at = 100ms, .lasts = 8s};
        contention::PlannedFault expire{.kind = FaultKind::Expire, .at = 200ms, .contender = 2};
        given.scenario.planned = {pause, expire};
        given.scenario.acts = {{20ms, 1, "create /sim/config v1"}};
        return given;
    }

private slots:

    void untouchedScenarioIsUnchanged_data()
    {
        m_given.clear();
        QTest::addColumn<int>("given");
        const auto kept = [this](const Comparison &comparison) {
            m_given.push_back(comparison);
            return int(m_given.size()) - 1;
        };
        for (const auto &lesson : lessons::loadLessons({lessons::lessonFolders().front()}).lessons) {
            for (std::size_t i = 0; i < lesson.runs.size(); ++i)
                QTest::addRow("%s, run %d", lesson.id.constData(), int(i) + 1)
                    << kept({lesson.runs[i].scenario, {lesson.runs[i].scenario.recipe}});
        }
        int number = 0;
        for (const auto &preset : presets())
            QTest::addRow("preset %d", ++number) << kept(preset.comparison);
        Comparison odd = paused();
        odd.scenario.servers = 9;
        odd.scenario.leastLatency = 10us;
        odd.scenario.faults = {FaultKind::Expire, FaultKind::Pause};
        odd.scenario.withheld = {1};
        odd.scenario.keepsEvents = false;
        QTest::newRow("what has no field of its own") << kept(odd);
    }
    void untouchedScenarioIsUnchanged()
    {
        QFETCH(int, given);
        QCOMPARE(givenBack(m_given[std::size_t(given)]), QByteArray());
    }

    void plannedEventIsShownAndCanBeRemoved()
    {
        ScenarioDialog dialog(paused(), m_book);
        const auto *planned = dialog.findChild<PlannedList *>(u"planned"_s);
        QCOMPARE(planned->texts(), (QStringList{u"pause c00 at 100.0 ms (8 s)"_s, u"expire c02 at 200.0 ms"_s,
                                                u"c01: create /sim/config v1 at 20.0 ms"_s}));
        dialog.findChild<QPushButton *>(u"remove1"_s)->click();
        QTRY_COMPARE(planned->texts().size(), 2);
        const auto wanted = dialog.comparison();
        QVERIFY(wanted);
        QCOMPARE(wanted->scenario.planned.size(), 1u);
        QCOMPARE(wanted->scenario.planned.front().lasts, 8s);
        QCOMPARE(wanted->scenario.acts.size(), 1u);
        dialog.findChild<QPushButton *>(u"remove1"_s)->click();
        QTRY_COMPARE(planned->texts().size(), 1);
        QVERIFY(dialog.comparison()->scenario.acts.empty());
    }

    // What it says is wrong can be put right there.
    void removedContenderCannotBePaused()
    {
        ScenarioDialog dialog(paused(), m_book);
        dialog.findChild<QSpinBox *>(u"contenders"_s)->setValue(2);
        QVERIFY(!dialog.findChild<QPushButton *>(u"play"_s)->isEnabled());
        QVERIFY(dialog.comparison().error().message.contains(u"contender 2, which does not exist"_s));
        dialog.findChild<QPushButton *>(u"remove1"_s)->click();
        QTRY_VERIFY(dialog.findChild<QPushButton *>(u"play"_s)->isEnabled());
    }

    // As what is drawn: on real servers nothing of it happens, and it is not lost for that.
    void onRealServersNothingIsPlanned()
    {
        Comparison given = paused();
        given.place.kind = RunPlace::Kind::Sandbox;
        ScenarioDialog dialog(given, m_book);
        QVERIFY(dialog.comparison());
        QVERIFY(dialog.comparison()->scenario.planned.empty() && dialog.comparison()->scenario.acts.empty());
        dialog.findChild<QComboBox *>(u"place"_s)->setCurrentIndex(0);
        QCOMPARE(dialog.comparison()->scenario.planned.size(), 2u);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestScenarioForm)
#include "tst_scenario_form.moc"
