// SPDX-License-Identifier: Apache-2.0
#include "tests/support/testmain.h"

#include <cstdio>
#include <map>
#include <string>

namespace lockscope::testing {

namespace {

std::map<std::string, TestRun> &testsHere()
{
    static std::map<std::string, TestRun> tests;
    return tests;
}

} // namespace

TestRegistration::TestRegistration(const char *file, TestRun run)
{
    std::string name(file);
    name.erase(0, name.rfind('/') + 1);
    name.erase(name.rfind('.'));
    testsHere().emplace(std::move(name), run);
}

} // namespace lockscope::testing

int main(int argc, char **argv)
{
    const auto &tests = lockscope::testing::testsHere();
    const auto test = argc > 1 ? tests.find(argv[1]) : tests.end();
    if (test == tests.end()) {
        std::fputs("Which of these? Arguments of Qt Test may follow.\n", stderr);
        for (const auto &[name, run] : tests)
            std::fprintf(stderr, "  %s\n", name.c_str());
        return 2;
    }
    // As if it were a program of its own, by name too: settings and temporary folders are called after it.
    return test->second(argc - 1, argv + 1);
}
