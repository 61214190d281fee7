// SPDX-License-Identifier: Apache-2.0
// The pictures as last told, by the directory they were read from, and what a new reading changes.
#pragma once

#include "core/inspect/picture.h"

#include <map>

namespace lockscope::inspect {

class PictureStore {
public:
    // What the directory shows now instead of what it showed before.
    [[nodiscard]] std::vector<PictureChange> replace(const ZPath &directory, std::vector<LockPicture> now);
    [[nodiscard]] std::vector<PictureChange> drop(const ZPath &directory) { return replace(directory, {}); }

    [[nodiscard]] const LockPicture *find(const QByteArray &name) const;
    [[nodiscard]] std::optional<ZPath> directoryOf(const QByteArray &name) const;
    [[nodiscard]] std::vector<LockPicture> all() const;
    [[nodiscard]] const std::map<QByteArray, std::pair<ZPath, LockPicture>> &entries() const { return m_locks; }

private:
    std::map<QByteArray, std::pair<ZPath, LockPicture>> m_locks; // by name
    std::map<ZPath, std::vector<QByteArray>> m_names;            // by directory
};

} // namespace lockscope::inspect
