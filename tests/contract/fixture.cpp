// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <QLoggingCategory>
#include <QMetaMethod>

#include <algorithm>

namespace lockscope::contract {

Fixture::Fixture()
{
    // Connections break here all the time, and say so.
    QLoggingCategory::setFilterRules(u"lockscope.*.info=false"_s);
}

void Fixture::rows(const QByteArray &behaviour, const std::vector<Need> &needs, const QString &instead)
{
    QTest::addColumn<QByteArray>("recipe");
    QTest::addColumn<QString>("skip");
    m_applicable.clear();
    endScene(); // of the function before
    for (const auto &recipe : recipes::catalogue()) {
        if (!recipe.acquirable)
            continue;
        const QString why = whyNot(behaviour, recipe, needs, instead);
        QTest::newRow(recipe.id.constData()) << recipe.id << why;
        if (why.isEmpty())
            m_applicable << recipe.id;
    }
}

QString Fixture::reasonToSkip()
{
    const QString why = *static_cast<QString *>(QTest::qData("skip", QMetaType::QString));
    if (!why.isEmpty())
        return why;
    const auto &there = standing(recipeOfRow());
    return there.arena || there.isFailure ? QString() : there.whyNot;
}

const RecipeInfo &Fixture::recipeOfRow()
{
    return *recipes::findRecipe(*static_cast<QByteArray *>(QTest::qData("recipe", QMetaType::QByteArray)));
}

Arena &Fixture::arenaOfRow()
{
    auto &there = standing(recipeOfRow());
    if (!there.arena)
        qFatal("%s", qPrintable(there.whyNot)); // a server that is installed does not start
    return *there.arena;
}

Fixture::Standing &Fixture::standing(const RecipeInfo &recipe)
{
    const auto key = arenaKey(recipe);
    const auto found = m_arenas.find(key);
    if (found != m_arenas.end())
        return found->second;
    auto &there = m_arenas[key];
    there.arena = makeArena(recipe, m_loop);
    if (!there.arena) {
        there.whyNot = u"no arena for %1"_s.arg(QString::fromLatin1(key));
        there.isFailure = true;
        return there;
    }
    const auto started = there.arena->start();
    if (!started) {
        there.arena.reset();
        there.whyNot = started.error().message;
        there.isFailure = started.error().code != ErrorCode::Unsupported;
    }
    return there;
}

Trial &Fixture::scene(const std::function<QString(Trial &)> &prepare, const std::function<QString()> &act)
{
    if (m_sceneOf != QTest::currentTestFunction()) {
        endScene();
        m_sceneOf = QTest::currentTestFunction();
        for (const auto &id : std::as_const(m_applicable)) {
            const auto *recipe = recipes::findRecipe(id);
            auto &there = standing(*recipe);
            if (!there.arena)
                continue;
            auto &trial = m_scene[id];
            trial = std::make_unique<Trial>(*there.arena, *recipe);
            trial->problem = prepare(*trial);
        }
        const QString wrong = act();
        for (auto &[id, trial] : m_scene) {
            if (trial->problem.isEmpty())
                trial->problem = wrong;
        }
    }
    return *m_scene.at(recipeOfRow().id);
}

std::vector<Trial *> Fixture::sceneTrials()
{
    std::vector<Trial *> trials;
    for (const auto &[id, trial] : m_scene) {
        if (trial->problem.isEmpty())
            trials.push_back(trial.get());
    }
    return trials;
}

std::vector<Arena *> Fixture::sceneArenas()
{
    std::vector<Arena *> arenas;
    for (const auto *trial : sceneTrials()) {
        if (std::find(arenas.begin(), arenas.end(), &trial->arena) == arenas.end())
            arenas.push_back(&trial->arena);
    }
    return arenas;
}

void Fixture::notHereRows(const QByteArray &letters)
{
    QTest::addColumn<QString>("reason");
    QTest::newRow("all others are checked here") << QString();
    for (const auto &[behaviour, reason] : notHere()) {
        if (letters.contains(behaviour.front()))
            QTest::newRow(behaviour.constData()) << QString::fromLatin1(behaviour) + u": "_s + reason;
    }
}

QString Fixture::whatIsMissing(const QByteArray &letters) const
{
    QString missing;
    for (const char letter : letters)
        missing += whatIsMissing(letter, 1, behavioursUnder(letter));
    return missing;
}

QString Fixture::whatIsMissing(char letter, int first, int last) const
{
    QByteArrayList here;
    for (int i = 0; i < metaObject()->methodCount(); ++i) {
        const auto method = metaObject()->method(i).name();
        here << method.left(std::max<qsizetype>(0, method.indexOf('_')));
    }
    for (const auto &[behaviour, reason] : notHere())
        here << behaviour;
    QString missing;
    for (int i = first; i <= last; ++i) {
        const QByteArray id = letter + QByteArray::number(i);
        if (!here.contains(id))
            missing += QString::fromLatin1(id) + u' ';
    }
    return missing;
}

int Fixture::stepsOfAWaiter(qsizetype queue)
{
    Trial trial(arenaOfRow(), recipeOfRow());
    QString wrong = trial.takes(trial.join());
    for (qsizetype i = 1; i < queue; ++i)
        wrong += trial.waits(trial.join());
    auto &last = trial.join();
    wrong += trial.waits(last);
    return wrong.isEmpty() ? last.client().plan.passed() : 0;
}

QString Fixture::contendAll(Trial &trial, int rounds, Tally *tally)
{
    Scope scope(m_loop);
    for (auto &contender : trial.contenders)
        scope.launch(contend(contender.get(), &m_loop, rounds, tally));
    if (!eventually([&] { return scope.isIdle(); }, 60s))
        return u"somebody never gets in: %1 entered"_s.arg(tally->entered);
    return tally->failures.join(u"; "_s);
}

void Fixture::endScene()
{
    m_scene.clear();
    m_sceneOf.clear();
    for (auto &[key, there] : m_arenas) {
        if (there.arena)
            there.arena->bury();
    }
}

QString Fixture::startArenas()
{
    for (const auto &recipe : recipes::catalogue()) {
        if (!recipe.acquirable)
            continue;
        const auto &there = standing(recipe);
        if (there.isFailure)
            return QString::fromLatin1(recipe.id) + u": "_s + there.whyNot;
    }
    return {};
}

} // namespace lockscope::contract
