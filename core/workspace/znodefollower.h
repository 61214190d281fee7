// SPDX-License-Identifier: Apache-2.0
// Follows the children of the znodes that are expanded in the window. Loop thread only.
#pragma once

#include "core/async/scope.h"
#include "core/workspace/workspace.h"

#include <deque>

namespace lockscope {

class ZnodeFollower {
public:
    // `changed` is told of every change of the children of a followed path. The workspace outlives this.
    using Changed = std::function<void(const ConnectionName &, const ZPath &)>;
    ZnodeFollower(Workspace &workspace, Changed changed) : m_workspace(workspace), m_changed(std::move(changed)) {}

    // Follows these paths of the connection and no others.
    void follow(const ConnectionName &name, const std::vector<ZPath> &paths);
    // The window was given the children of this folder, which was so then.
    void listed(const ConnectionName &name, const ZPath &path, const zk::Stat &folder);
    // The session ends.
    void stop(const ConnectionName &name) { m_followed.erase(name); }
    // The connection was closed.
    void forget(const ConnectionName &name);

private:
    [[nodiscard]] bool isAsListed(const ConnectionName &name, const ZPath &path, const zk::Stat &folder) const;
    Task<void> followOne(ConnectionName name, ZPath path);

    struct Listed {
        ConnectionName name;
        ZPath path;
        qint64 pzxid = 0; // the last change of its children
    };
    Workspace &m_workspace;
    Changed m_changed;
    std::deque<Listed> m_listed; // newest first; a few, for a list is followed at once or not
    std::map<ConnectionName, std::map<ZPath, std::unique_ptr<Scope>>> m_followed; // they use everything above
};

} // namespace lockscope
