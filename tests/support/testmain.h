// SPDX-License-Identifier: Apache-2.0
// One program holds many classes of tests: what is linked costs more than what is compiled. Each class is
// registered under the name of its file, and run by it: tests_unit tst_turn [arguments of Qt Test].
#pragma once

#include <QCoreApplication>
#include <QTest>

namespace lockscope::testing {

using TestRun = int (*)(int argc, char **argv);

struct TestRegistration {
    TestRegistration(const char *file, TestRun run);
};

} // namespace lockscope::testing

#define LOCKSCOPE_TEST_IN(Application, Class) \
    static const lockscope::testing::TestRegistration registered##Class(__FILE__, [](int argc, char **argv) { \
        Application application(argc, argv); \
        Class test; \
        return QTest::qExec(&test, argc, argv); \
    });
#define LOCKSCOPE_TEST(Class) LOCKSCOPE_TEST_IN(QCoreApplication, Class)
// Needs a window system, the offscreen one at least; include <QApplication>.
#define LOCKSCOPE_GUI_TEST(Class) LOCKSCOPE_TEST_IN(QApplication, Class)
