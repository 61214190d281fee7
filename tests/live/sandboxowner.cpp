// SPDX-License-Identifier: Apache-2.0
// A program with a sandbox, to be killed by tst_sandbox: prints where its servers are, one --connect
// argument a line, and stays until it is asked to end.
#include "core/sandbox/sandbox.h"

#include <QCoreApplication>

#include <cstdio>

using namespace lockscope::sandbox;

int main(int argc, char **argv)
{
    QCoreApplication app(argc, argv);
    EndSignals endSignals;
    QObject::connect(&endSignals, &EndSignals::asked, &app, &QCoreApplication::quit);
    Sandbox sandbox;
    if (!sandbox.start())
        return 1;
    for (const auto &connection : sandbox.connections())
        std::puts(qPrintable(connectArgument(connection)));
    std::fflush(stdout);
    return QCoreApplication::exec();
}
