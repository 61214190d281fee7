// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/token.h"

#include <QNetworkInterface>
#include <QUuid>

#include <chrono>
#include <optional>

namespace lockscope::recipes {

QByteArray uuidToken(Random &random)
{
    QByteArray bytes = random.bytes(16);
    // RFC 4122: version 4, variant 1.
    bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
    bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
    return QUuid::fromRfc4122(bytes).toByteArray(QUuid::WithoutBraces);
}

namespace {

QByteArray lookUpAddress()
{
    for (const auto &interface : QNetworkInterface::allInterfaces()) {
        if (!interface.flags().testFlags(QNetworkInterface::IsUp | QNetworkInterface::IsRunning))
            continue;
        for (const auto &entry : interface.addressEntries()) {
            if (entry.ip().protocol() == QAbstractSocket::IPv4Protocol && !entry.ip().isLoopback())
                return entry.ip().toString().toLatin1();
        }
    }
    return {};
}

} // namespace

QByteArray hostAddress()
{
    using Clock = std::chrono::steady_clock;
    // Asking the system for its interfaces takes longer than a whole lock in memory; they hardly ever change.
    static thread_local QByteArray known;
    static thread_local std::optional<Clock::time_point> since;
    const auto now = Clock::now();
    if (!since || now - *since > std::chrono::seconds(1)) {
        known = lookUpAddress();
        since = now;
    }
    return known;
}

} // namespace lockscope::recipes
