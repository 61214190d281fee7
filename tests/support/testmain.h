// SPDX-License-Identifier: Apache-2.0
// One program holds many classes of tests: what is linked costs more than what is compiled. Each class is
// registered under the name of its file, and run by it: tests_unit tst_turn [arguments of Qt Test].
#pragma once

#include <QCoreApplication>
#include <QTest>

#include <chrono>
#include <initializer_list>
#include <utility>

// Qt Test waits for five seconds, which is short where several servers and tests share two cores under a sanitizer.
#undef QTRY_VERIFY
#undef QTRY_VERIFY2
#undef QTRY_COMPARE
#define QTRY_VERIFY(expression) QTRY_VERIFY_WITH_TIMEOUT((expression), 30'000)
#define QTRY_VERIFY2(expression, message) QTRY_VERIFY2_WITH_TIMEOUT((expression), message, 30'000)
#define QTRY_COMPARE(expression, expected) QTRY_COMPARE_WITH_TIMEOUT(expression, expected, 30'000)

namespace lockscope::testing {

using TestRun = int (*)(int argc, char **argv);

struct TestRegistration {
    TestRegistration(const char *file, TestRun run);
};

// Names the columns of a data table in their order: addColumns<QByteArray, bool>("recipe", "reads").
template <class... Values, class... Names>
void addColumns(const Names *...names)
{
    (QTest::addColumn<Values>(names), ...);
}

// A data table, its columns first and then row by row:
//     const Rows<QByteArray, bool> row("recipe", "reads");
//     row("a reader", "zk-shared", true);
template <class... Values>
class Rows {
public:
    template <class... Names>
    explicit Rows(const Names *...names)
    {
        addColumns<Values...>(names...);
    }
    void operator()(const char *name, const Values &...values) const { (QTest::newRow(name) << ... << values); }
};

// One of a single column: addRows<bool>("reads", {{"a reader", true}, {"a writer", false}}).
template <class Value>
void addRows(const char *column, std::initializer_list<std::pair<const char *, Value>> values)
{
    const Rows<Value> row(column);
    for (const auto &[name, value] : values)
        row(name, value);
}

} // namespace lockscope::testing

// Each class of tests is written in these words.
using namespace lockscope;
using namespace lockscope::testing;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

#define LOCKSCOPE_TEST_IN(Application, Class)                                                                        \
    static const lockscope::testing::TestRegistration registered##Class(__FILE__, [](int argc, char **argv) {        \
        Application application(argc, argv);                                                                         \
        Class test;                                                                                                  \
        return QTest::qExec(&test, argc, argv);                                                                      \
    });
#define LOCKSCOPE_TEST(Class) LOCKSCOPE_TEST_IN(QCoreApplication, Class)
// Needs a window system, the offscreen one at least; include <QApplication>.
#define LOCKSCOPE_GUI_TEST(Class) LOCKSCOPE_TEST_IN(QApplication, Class)
