// SPDX-License-Identifier: Apache-2.0
// The connections that were used last, saved ones and others, newest first: of each what is no secret, in a file of
// its own beside the saved ones. Where it cannot be written they are known for this run only. Main thread only.
#pragma once

#include "core/connections/connectionstore.h"

namespace lockscope {

class RecentConnections {
public:
    explicit RecentConnections(QString file);

    [[nodiscard]] const std::vector<SavedConnection> &all() const { return m_all; }
    // `connection` has no password in its address (uriOf).
    void note(const SavedConnection &connection);
    void forget(std::size_t which);

private:
    void store() const;

    QString m_file;
    std::vector<SavedConnection> m_all;
};

} // namespace lockscope
