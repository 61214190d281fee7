// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <QLoggingCategory>
#include <QMetaMethod>

#include <algorithm>

namespace lockscope::contract {

namespace {

// LOCKSCOPE_CONTRACT ("MariaDB", "Redis"): the recipes of that one only, where it is held against another server.
bool isAsked(const RecipeInfo &recipe)
{
    static const QByteArray only = qgetenv("LOCKSCOPE_CONTRACT");
    const auto key = environmentKey(recipe);
    return recipe.acquirable && !key.isEmpty() && key.endsWith(only);
}

} // namespace

Fixture::Fixture(char letter, int first, int last)
    : m_letter(letter), m_first(first), m_last(std::min(last, behavioursUnder(letter)))
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
        if (!isAsked(recipe))
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
    return there.environment || there.isFailure ? QString() : there.whyNot;
}

const RecipeInfo &Fixture::recipeOfRow()
{
    return *recipes::findRecipe(*static_cast<QByteArray *>(QTest::qData("recipe", QMetaType::QByteArray)));
}

TestEnvironment &Fixture::environmentOfRow()
{
    auto &there = standing(recipeOfRow());
    if (!there.environment)
        qFatal("%s", qPrintable(there.whyNot)); // a server that is installed does not start
    return *there.environment;
}

Fixture::NodeLeases &Fixture::standing(const RecipeInfo &recipe)
{
    const auto key = environmentKey(recipe);
    const auto found = m_environments.find(key);
    if (found != m_environments.end())
        return found->second;
    auto &there = m_environments[key];
    there.environment = makeEnvironment(recipe, m_loop);
    if (!there.environment) {
        there.whyNot = u"no arena for %1"_s.arg(QString::fromLatin1(key));
        there.isFailure = true;
        return there;
    }
    const auto started = there.environment->start();
    if (!started) {
        there.environment.reset();
        there.whyNot = started.error().message;
        there.isFailure = started.error().code != ErrorCode::Unsupported;
    }
    return there;
}

TestCase &Fixture::scene(const std::function<QString(TestCase &)> &prepare, const std::function<QString()> &act)
{
    if (m_sceneOf != QTest::currentTestFunction()) {
        endScene();
        m_sceneOf = QTest::currentTestFunction();
        for (const auto &id : std::as_const(m_applicable)) {
            const auto *recipe = recipes::findRecipe(id);
            auto &there = standing(*recipe);
            if (!there.environment)
                continue;
            auto &test = m_scene[id];
            test = std::make_unique<TestCase>(*there.environment, *recipe);
            test->problem = prepare(*test);
        }
        const QString wrong = act();
        for (auto &[id, test] : m_scene) {
            if (test->problem.isEmpty())
                test->problem = wrong;
        }
    }
    return *m_scene.at(recipeOfRow().id);
}

std::vector<TestCase *> Fixture::sceneTests()
{
    std::vector<TestCase *> tests;
    for (const auto &[id, test] : m_scene) {
        if (test->problem.isEmpty())
            tests.push_back(test.get());
    }
    return tests;
}

std::vector<TestEnvironment *> Fixture::sceneEnvironments()
{
    std::vector<TestEnvironment *> environments;
    for (const auto *test : sceneTests()) {
        if (std::find(environments.begin(), environments.end(), &test->environment) == environments.end())
            environments.push_back(&test->environment);
    }
    return environments;
}

bool Fixture::isOurs(const QByteArray &behaviour) const
{
    const int number = behaviour.mid(1).toInt();
    return behaviour.startsWith(m_letter) && number >= m_first && number <= m_last;
}

void Fixture::initTestCase()
{
    QByteArrayList here;
    for (int i = 0; i < metaObject()->methodCount(); ++i) {
        const auto method = metaObject()->method(i).name();
        here << method.left(std::max<qsizetype>(0, method.indexOf('_')));
    }
    for (const auto &[behaviour, reason] : notHere())
        here << behaviour;
    for (int i = m_first; i <= m_last; ++i) {
        const QByteArray behaviour = m_letter + QByteArray::number(i);
        QVERIFY2(here.contains(behaviour), behaviour.constData());
    }
    for (const auto &recipe : recipes::catalogue()) {
        if (!isAsked(recipe))
            continue;
        const auto &there = standing(recipe);
        QVERIFY2(!there.isFailure, qPrintable(QString::fromLatin1(recipe.id) + u": "_s + there.whyNot));
    }
}

void Fixture::elsewhere_data()
{
    QTest::addColumn<QString>("reason");
    QTest::newRow("all others are checked here") << QString();
    for (const auto &[behaviour, reason] : notHere()) {
        if (isOurs(behaviour))
            QTest::newRow(behaviour.constData()) << QString::fromLatin1(behaviour) + u": "_s + reason;
    }
}

void Fixture::elsewhere()
{
    QFETCH(QString, reason);
    if (!reason.isEmpty())
        QSKIP(qPrintable(reason));
}

int Fixture::stepsOfAWaiter(qsizetype queue)
{
    TestCase test(environmentOfRow(), recipeOfRow());
    QString wrong = test.takes(test.join());
    for (qsizetype i = 1; i < queue; ++i)
        wrong += test.waits(test.join());
    auto &last = test.join();
    wrong += test.waits(last);
    return wrong.isEmpty() ? last.client().plan.passed() : 0;
}

QString Fixture::contendAll(TestCase &test, int rounds, Tally *tally)
{
    Scope scope(m_loop);
    for (auto &contender : test.contenders)
        scope.launch(contend(contender.get(), &m_loop, rounds, tally));
    if (!eventually([&] { return scope.isIdle(); }, 60s))
        return u"somebody never gets in: %1 entered"_s.arg(tally->entered);
    return tally->failures.join(u"; "_s);
}

void Fixture::endScene()
{
    m_scene.clear();
    m_sceneOf.clear();
    for (auto &[key, there] : m_environments) {
        if (there.environment)
            there.environment->bury();
    }
}

} // namespace lockscope::contract

#include "moc_fixture.cpp"
