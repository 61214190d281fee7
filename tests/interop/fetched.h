// SPDX-License-Identifier: Apache-2.0
// What ./test.sh --interop has fetched of other people's clients that Debian does not have: newest/fetch.sh
// says it in the environment.
#pragma once

#include "tests/interop/foreignclients.h"
#include "tests/support/startedserver.h"

namespace lockscope::interop {

// A folder, a program or a version; empty when it is not there.
inline QString fetched(const char *what)
{
    return qEnvironmentVariable(QByteArray("LOCKSCOPE_INTEROP_").append(what).constData());
}

// Why it is not there; empty where it is.
inline QByteArray whyNotFetched(const char *what)
{
    if (!fetched(what).isEmpty())
        return {};
    const auto why = qgetenv(QByteArray("LOCKSCOPE_INTEROP_WITHOUT_").append(what).constData());
    return why.isEmpty() ? QByteArray("not fetched: only ./test.sh --interop does that") : "not fetched: " + why;
}

inline std::unique_ptr<ForeignClient> redissonContenders(const QStringList &server)
{
    const QStringList java{QStringLiteral("-XX:TieredStopAtLevel=1"), QStringLiteral("-cp"),
                           fetched("REDISSON") + QStringLiteral("/*"),
                           clientFile(QStringLiteral("RedissonContenders.java"))};
    return std::make_unique<ForeignClient>(QStringLiteral("java"), java + server);
}

// On as many servers as are named. `package`: the version 4 or 5.
inline std::unique_ptr<ForeignClient> nodeRedlockContenders(const QString &package, const QStringList &servers)
{
    const QStringList script{clientFile(QStringLiteral("node_redlock_client.js")), fetched("NODE_REDLOCK"), package};
    return std::make_unique<ForeignClient>(QStringLiteral("node"), script + servers);
}

inline std::unique_ptr<ForeignClient> redsyncContenders(const QStringList &servers)
{
    return std::make_unique<ForeignClient>(fetched("REDSYNC"), servers);
}

} // namespace lockscope::interop
