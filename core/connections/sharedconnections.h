// SPDX-License-Identifier: Apache-2.0
// Connections that people share: a TOML file without secrets. The window writes and reads it, and a team may keep one
// as lockscope.toml beside its work (docs/connections.md, "A team's connections").
#pragma once

#include "core/connections/connectionstore.h"

namespace lockscope {

// BadInput names file, line and field. A password in an address is an error: whoever has the file would have it.
// Files that an address names by a relative path are looked for beside this one. Ids are empty, and nothing is marked
// as development: what makes acting easier is everybody's own to say.
[[nodiscard]] Result<std::vector<SavedConnection>> readSharedConnections(const QByteArray &toml, const QString &file);
[[nodiscard]] QByteArray writeSharedConnections(const std::vector<SavedConnection> &connections);

// lockscope.toml in `folder`, else in the nearest folder above it that has one. Refused where it is neither ours
// nor root's, or everybody may write it: who does says where our credentials go.
[[nodiscard]] Result<TeamFile> findTeamFile(const QString &folder);

struct NamedConnection {
    SavedConnection saved;
    QString file; // that says so; empty: the user's own saved connections
};
// A connection of that name: one that the user saved, else one of the team's file of this folder. What a folder says
// never stands before what its user has saved. Reads files.
[[nodiscard]] Result<std::optional<NamedConnection>> findConnection(const QString &name);

// The whole file, or why it cannot be had.
[[nodiscard]] Result<std::vector<SavedConnection>> readSharedConnectionsFrom(const QString &file);

} // namespace lockscope
