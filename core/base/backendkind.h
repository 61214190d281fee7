// SPDX-License-Identifier: Apache-2.0
// The kinds of servers that locks live on, and what is called how there. A new kind is one more entry here, and its
// schemes in connectionuri.cpp.
#pragma once

#include <QString>

namespace lockscope {

enum class BackendKind { ZooKeeper, Redis, MariaDb };

struct BackendInfo {
    QString word;        // of the JSON: "zookeeper"
    QString title;       // "ZooKeeper"
    QString entry;       // what stands for a lock there: a "node", a "key", a "row"
    QString exampleLock; // a name that a lock may have
};

[[nodiscard]] const BackendInfo &infoOf(BackendKind kind);

} // namespace lockscope
