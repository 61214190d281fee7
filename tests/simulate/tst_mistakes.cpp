// SPDX-License-Identifier: Apache-2.0
// The classic mistakes that recipes of the catalogue make as they were published, each beside what avoids it: under
// the same fault the one breaks, in some seeds, and the other never. (Mistakes that no recipe makes are mutants:
// tst_seeds.cpp.)
#include "core/contention/recording.h"
#include "core/contention/simulation.h"
#include "tests/support/sanitizershare.h"
#include "tests/support/testmain.h"

using namespace lockscope::contention;

namespace {

// Under a sanitizer a tenth: what goes wrong rarely need not show then.
constexpr quint64 seeds = testing::sanitizerShare == 1 ? 300 : 30;

Scenario few(const QByteArray &recipe, std::chrono::milliseconds hold)
{
    return Scenario{.recipe = recipe, .contenders = 3, .hold = hold, .ttl = 3s};
}

Scenario dying(const QByteArray &recipe)
{
    auto scenario = few(recipe, 50ms);
    scenario.faults = {FaultKind::Crash};
    return scenario;
}

Scenario skewed(const QByteArray &recipe)
{
    auto scenario = few(recipe, 500ms);
    scenario.faults = {FaultKind::ClockJump};
    return scenario;
}

// A majority of the set comes back without its data: at once, or when every lease given before is over.
Scenario restarted(std::chrono::milliseconds downFor)
{
    auto scenario = few("redlock", 500ms);
    scenario.planned = {{FaultKind::RestartEmpty, 100ms, 0, downFor}};
    return scenario;
}

} // namespace

class TestMistakes : public QObject {
    Q_OBJECT
private slots:
    void theMistakeBreaksWhatThePrecautionKeeps_data()
    {
        QTest::addColumn<QByteArray>("invariant");
        QTest::addColumn<QByteArray>("how"); // only runs in which the fault said this
        addColumns<Scenario, Scenario>("mistaken", "sound");
        const QByteArray any, aClients("a client's");
        QTest::newRow("SETNX, a crash, and no EXPIRE: the key never goes")
            << QByteArray("cleanliness") << any << dying("redis-setnx-expire") << dying("redis-set-nx");
        QTest::newRow("SETNX, a crash, and no EXPIRE: nobody gets it any more")
            << QByteArray("progress") << any << dying("redis-setnx-expire") << dying("redis-set-nx");
        QTest::newRow("GETSET with skewed clocks")
            << QByteArray("exclusion") << aClients << skewed("redis-getset") << skewed("redis-set-nx");
        QTest::newRow("Redlock after an empty restart, not delayed")
            << QByteArray("exclusion") << any << restarted(20ms) << restarted(4s);
    }
    void theMistakeBreaksWhatThePrecautionKeeps()
    {
        QFETCH(QByteArray, invariant);
        QFETCH(QByteArray, how);
        QFETCH(Scenario, mistaken);
        QFETCH(Scenario, sound);
        int caught = 0, counted = 0;
        for (quint64 seed = 1; seed <= seeds; ++seed) {
            mistaken.seed = sound.seed = seed;
            const auto bad = contention::simulate(mistaken), good = contention::simulate(sound);
            QVERIFY(bad && good);
            if (happened(*bad, how) && breaks(invariant)(*bad))
                ++caught;
            if (!happened(*good, how))
                continue;
            ++counted;
            QVERIFY2(!breaks(invariant)(*good), qPrintable(commandLine(sound)));
        }
        QVERIFY2(caught > 0 || testing::sanitizerShare > 1, "nothing broke");
        QVERIFY2(counted > 0 || testing::sanitizerShare > 1, "the fault never happened to who is careful");
    }

private:
    static bool happened(const Recording &recording, const QByteArray &how)
    {
        return std::any_of(recording.events.begin(), recording.events.end(), [&](const Event &event) {
            return event.mark == Mark::Fault && (how.isEmpty() || event.where == how);
        });
    }
};

LOCKSCOPE_TEST(TestMistakes)
#include "tst_mistakes.moc"
