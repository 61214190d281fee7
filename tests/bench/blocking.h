// SPDX-License-Identifier: Apache-2.0
// Waits as the programs do: asleep until something happens. processEvents() with a time does not sleep, it spins,
// and on two processors takes one of them from the servers that are measured.
#pragma once

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QTimer>

#include <chrono>

namespace lockscope::bench {

// False if it was not so within the limit.
template <class F>
bool waitUntil(F isSo, std::chrono::milliseconds limit = std::chrono::seconds(20))
{
    if (isSo())
        return true;
    QElapsedTimer since;
    since.start();
    QTimer wakeUp; // where nothing happens at all
    wakeUp.start(std::chrono::milliseconds(20));
    while (!isSo() && since.elapsed() < limit.count())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    return isSo();
}

} // namespace lockscope::bench
