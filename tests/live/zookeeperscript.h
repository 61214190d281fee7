// SPDX-License-Identifier: Apache-2.0
// Random commands for a few ZooKeeper sessions, from a seed: all kinds of nodes, versions right and wrong, watches,
// transactions, access lists, hostile paths. For comparing one server with another.
#pragma once

#include "core/base/random.h"
#include "core/zookeeper/session.h"

#include <QByteArrayList>

namespace lockscope::testing {

struct Command {
    enum class Kind {
        Create,
        CreateWithTtl,
        Remove,
        Get,
        Set,
        Exists,
        Children,
        Multi,
        Sync,
        Acls,
        SetAcls,
        AddAuth,
        Close,
    };
    Kind kind = Kind::Get;
    ZPath path;
    QByteArray data;
    zk::CreateMode mode = zk::CreateMode::Persistent;
    zk::Acls acls;
    qint32 version = zk::anyVersion;
    bool watches = false;
    std::vector<zk::Op> ops;
};

// What one session sends without waiting for answers.
struct Burst {
    int session = 0;
    std::vector<Command> commands;
};

class ScriptWriter {
public:
    ScriptWriter(quint64 seed, int sessions, const ZPath &root);
    [[nodiscard]] std::vector<Burst> write(int commands);

private:
    [[nodiscard]] Command command();
    [[nodiscard]] zk::Op op();
    [[nodiscard]] ZPath path();
    [[nodiscard]] ZPath hostilePath();
    [[nodiscard]] zk::CreateMode mode(int kinds);
    [[nodiscard]] zk::Acls acls();
    [[nodiscard]] qint32 version();
    [[nodiscard]] bool oneIn(quint64 n) { return m_random.below(n) == 0; }

    Random m_random;
    int m_sessions;
    QByteArray m_root;
};

// For people: "create /d1/a Ephemeral".
[[nodiscard]] QByteArray textOf(const Command &command);

} // namespace lockscope::testing
