// SPDX-License-Identifier: Apache-2.0
// Private servers of the sandbox, made and started for a class of tests; and what is done about what went wrong.
#pragma once

#include "core/sandbox/server.h"

#include <QTest>

namespace lockscope::testing {

inline QByteArray printable(const QString &text)
{
    return text.toLocal8Bit();
}
inline QByteArray printable(const QByteArray &text)
{
    return text;
}

// Keeps in `server` what was made, and starts it. The problem; empty if it runs. Where its programs are not installed
// `server` stays empty.
template <class Server, class Made>
QString startInto(std::unique_ptr<Server> &server, Result<std::unique_ptr<Made>> made)
{
    if (!made)
        return made.error().message;
    server = std::move(*made);
    const auto started = server->start(std::chrono::seconds(60));
    return started ? QString() : started.error().message;
}

} // namespace lockscope::testing

// For a function that returns what went wrong, empty if nothing did.
#define OK(expression)                                                                                               \
    do {                                                                                                             \
        const auto itsProblem = lockscope::testing::printable(expression);                                           \
        QVERIFY2(itsProblem.isEmpty(), #expression ": " + itsProblem);                                               \
    } while (false)
// For one that returns why something cannot be tried here.
#define SKIP_FOR(expression)                                                                                         \
    do {                                                                                                             \
        const auto itsReason = lockscope::testing::printable(expression);                                            \
        if (!itsReason.isEmpty())                                                                                    \
            QSKIP(itsReason.constData());                                                                            \
    } while (false)
// Skips where there is no such server to start; one that cannot be started is a failure.
#define OK_OR_SKIP(server, expression)                                                                               \
    do {                                                                                                             \
        const auto itsProblem = lockscope::testing::printable(expression);                                           \
        if (!(server))                                                                                               \
            QSKIP(itsProblem.constData());                                                                           \
        QVERIFY2(itsProblem.isEmpty(), itsProblem.constData());                                                      \
    } while (false)
#define START_OR_SKIP(server, ...) OK_OR_SKIP(server, lockscope::testing::startInto(server, __VA_ARGS__))
