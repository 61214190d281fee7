// SPDX-License-Identifier: Apache-2.0
// One program holds many classes of tests: what is linked costs more than what is compiled. Each class is
// registered under the name of its file, and run by it: tests_unit tst_turn [arguments of Qt Test].
#pragma once

#include <QCoreApplication>
#include <QTest>

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

} // namespace lockscope::testing

#define LOCKSCOPE_TEST_IN(Application, Class)                                                                        \
    static const lockscope::testing::TestRegistration registered##Class(__FILE__, [](int argc, char **argv) {        \
        Application application(argc, argv);                                                                         \
        Class test;                                                                                                  \
        return QTest::qExec(&test, argc, argv);                                                                      \
    });
#define LOCKSCOPE_TEST(Class) LOCKSCOPE_TEST_IN(QCoreApplication, Class)
// Needs a window system, the offscreen one at least; include <QApplication>.
#define LOCKSCOPE_GUI_TEST(Class) LOCKSCOPE_TEST_IN(QApplication, Class)
