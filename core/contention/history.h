// SPDX-License-Identifier: Apache-2.0
// What a run's servers had when, and the messages between them and the contenders, as plain values.
#pragma once

#include "core/base/result.h"

#include <QByteArray>
#include <QJsonObject>

#include <chrono>
#include <optional>
#include <vector>

namespace lockscope::contention {

using Moment = std::chrono::microseconds; // since the start of the run, by the world's own clock
[[nodiscard]] inline double inMs(Moment moment)
{
    return static_cast<double>(moment.count()) / 1000;
}

// A node, a key, a row or a named lock, as a person reads it: "/sim/lock", "c00's, watched by c01".
struct ServerLine {
    int server = 0;
    QByteArray name; // empty: the server itself; its text is "up" or "down"
    QByteArray text;
    std::optional<Moment> ends; // when it goes by itself, as far as its server knows now
    friend bool operator==(const ServerLine &, const ServerLine &) = default;
};

struct ServerChange {
    Moment at{};
    ServerLine line; // from then on
    bool isGone = false;
};

struct SentMessage {
    Moment at{};
    std::optional<Moment> arrives; // none: lost, or held back by a partition
    int contender = 0;             // whose connection: the first one of its process
    int server = 0;
    bool toServer = false;
};

struct History {
    bool isKept = false; // else there is none: too many contenders, real servers, an older file
    int servers = 0;
    std::vector<ServerChange> changes;
    std::vector<SentMessage> messages;
    std::optional<Moment> until; // more happened afterwards than was kept

    [[nodiscard]] QJsonObject toJson() const;
    // Anybody may have written it: what cannot be is BadInput.
    [[nodiscard]] static Result<History> fromJson(const QJsonObject &object, int contenders);
};

} // namespace lockscope::contention
