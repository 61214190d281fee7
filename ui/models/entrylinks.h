// SPDX-License-Identifier: Apache-2.0
// What a znode or a key belongs to: its lock, and whose session made it. Names only, of all connections. GUI thread.
#pragma once

#include "core/workspace/backend.h"

#include <map>

namespace lockscope::ui {

class LocksModel;

class EntryLinks {
public:
    // Which locks there are; it outlives this.
    void useLocks(const LocksModel &locks) { m_locks = &locks; }
    void apply(const Batch &batch);
    // The lock that this entry is, or is a part of: of a path also that of its folder, or the one above.
    [[nodiscard]] std::optional<inspect::LockName> lockOf(const ConnectionName &connection, const QByteArray &entry,
                                                          bool isPath) const;
    // "10.0.3.7:56332"; empty where it is not known.
    [[nodiscard]] QString hostOf(const ConnectionName &connection, const QString &session) const;

private:
    const LocksModel *m_locks = nullptr;
    std::map<inspect::LockName, std::vector<QByteArray>> m_withCompanions; // the locks that have some
    std::map<inspect::LockName, inspect::LockName> m_companions;           // entry → lock
    std::map<ConnectionName, std::map<QString, QString>> m_hosts;
};

} // namespace lockscope::ui
