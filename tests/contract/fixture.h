// SPDX-License-Identifier: Apache-2.0
// What the suites share: rows made of the catalogue, an environment for each, scenes that all recipes play in
// at once (where something slow happens to the server, it happens once).
#pragma once

#include "testcase.h"

#include <QTest>

#include <limits>

namespace lockscope::contract {

using namespace Qt::StringLiterals;

// For helpers that return what went wrong, empty if nothing.
#define EVENTUALLY(condition)                                                                                        \
    QVERIFY2(lockscope::contract::eventually([&] { return bool(condition); }), "never: " #condition)
// A lock of the row's recipe; skips the row when the behaviour does not apply.
#define TRIAL(name)                                                                                                  \
    SKIP_ROWS_THAT_DO_NOT_APPLY;                                                                                     \
    TestCase name(environmentOfRow(), recipeOfRow())
#define SKIP_ROWS_THAT_DO_NOT_APPLY                                                                                  \
    do {                                                                                                             \
        const QString why = reasonToSkip();                                                                          \
        if (!why.isEmpty())                                                                                          \
            QSKIP(qPrintable(why));                                                                                  \
    } while (false)

class Fixture : public QObject {
    Q_OBJECT

protected:
    using Contender = contract::Contender; // not that of the other tests

    // The behaviours of one letter that are checked here; several classes may share its numbers out among them.
    explicit Fixture(char letter, int first = 1, int last = std::numeric_limits<int>::max());

    QtLoop m_loop;

    // One row per acquirable recipe.
    void rows(const QByteArray &behaviour, const std::vector<Need> &needs, const QString &instead = {});
    [[nodiscard]] QString reasonToSkip();
    [[nodiscard]] TestEnvironment &environmentOfRow();
    [[nodiscard]] static const RecipeInfo &recipeOfRow();

    // The test of the row's recipe, after all that apply were prepared and then the act was done, once.
    TestCase &scene(const std::function<QString(TestCase &)> &prepare, const std::function<QString()> &act);
    [[nodiscard]] std::vector<TestCase *> sceneTests();
    // The environments that the scene plays in.
    [[nodiscard]] std::vector<TestEnvironment *> sceneEnvironments();

    [[nodiscard]] Deadline soon() const { return Deadline::after(m_loop, 15s); }
    [[nodiscard]] Deadline after(std::chrono::milliseconds span) const { return Deadline::after(m_loop, span); }
    // How many requests, as plans count them, somebody sends who joins a queue of so many (the holder among
    // them), until it waits.
    int stepsOfAWaiter(qsizetype queue);
    // All of them contend for some rounds.
    QString contendAll(TestCase &test, int rounds, Tally *tally);

    void endScene();

private slots:
    // Every behaviour has a test here, or a reason; and the servers start.
    void initTestCase();
    void cleanupTestCase() { endScene(); }
    // Says why the others are not checked here.
    void elsewhere_data();
    void elsewhere();

private:
    struct NodeLeases {
        std::unique_ptr<TestEnvironment> environment;
        QString whyNot;
        bool isFailure = false;
    };
    NodeLeases &standing(const RecipeInfo &recipe);
    [[nodiscard]] bool isOurs(const QByteArray &behaviour) const;

    char m_letter;
    int m_first, m_last;
    std::map<QByteArray, NodeLeases> m_environments;
    QByteArrayList m_applicable;
    std::map<QByteArray, std::unique_ptr<TestCase>> m_scene;
    QByteArray m_sceneOf;
};

} // namespace lockscope::contract
