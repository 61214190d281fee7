// SPDX-License-Identifier: Apache-2.0
// Whether the window stays fluid while the simulator's page plays 100,000 contenders, or a herd of 2,000, and while
// what was played is looked at. Prints how long the GUI thread was busy in a turn; asserts only that it was played.
#include "core/contention/simulation.h"
#include "tests/bench/metered.h"
#include "ui/pages/simulatorpage.h"
#include "ui/simulator/playback.h"
#include "ui/theme/theme.h"

#include <QTest>

using namespace lockscope;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

class BenchSimulatorPage : public QObject {
    Q_OBJECT

private slots:
    void staysFluid_data()
    {
        QTest::addColumn<int>("contenders");
        QTest::newRow("zk-mutex") << 100'000;
        QTest::newRow("zk-herd-mutex") << 2'000;
    }
    void staysFluid()
    {
        QFETCH(const int, contenders);
        const QByteArray recipe = QTest::currentDataTag();
        ui::Comparison comparison = ui::presets().front().comparison;
        comparison.scenario.contenders = contenders;
        comparison.recipes = {recipe};
        ui::SimulatorPage page(nullptr, contention::simulate);
        page.resize(1440, 900);
        page.show();
        const auto isPlayed = [&] { return page.isSettled() && page.comparison().scenario == comparison.scenario; };
        const auto what =
            u"the simulator's page, %1 contenders of %2, "_s.arg(contenders).arg(QString::fromLatin1(recipe));
        bool played = false;
        const auto whilePlaying = bench::metered().during([&] {
            page.play(comparison);
            played = QTest::qWaitFor(isPlayed, 500'000);
        });
        QVERIFY(played);
        bench::report(what + u"while they are played: busy in one turn (frame: 16 ms)"_s, whilePlaying);
        const auto whileLookedAt = bench::metered().during([&] {
            auto &playback = page.playback();
            playback.toStart();
            playback.play();
            bench::runFor(2s);
            playback.pause();
        });
        bench::report(what + u"while it runs before the eye: busy in one turn (frame: 16 ms)"_s, whileLookedAt);
    }
};

int main(int argc, char **argv)
{
    bench::MeteredApplication application(argc, argv);
    const ui::Theme theme(application, ui::ThemeChoice::Light);
    BenchSimulatorPage bench;
    return QTest::qExec(&bench, argc, argv);
}

#include "bench_simulator_page.moc"
