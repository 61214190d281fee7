// SPDX-License-Identifier: Apache-2.0
// The names of a znode's children, as they were made, ready to be listed again and again: a list is a window on
// them. Queues come at the end and go at the front, which moves the window; what goes elsewhere spoils the log,
// and it is written anew before the next list.
#pragma once

#include "core/zookeeper/namelist.h"

namespace lockscope::world::zookeeper {

class NameLog {
public:
    void append(const NodeName &name);
    void remove(const NodeName &name);
    // Not what is listed next: it has to be written anew.
    void spoil() { m_isStale = true; }
    [[nodiscard]] bool isStale() const { return m_isStale; }
    void renew(std::vector<NodeName> names);
    // Only when not stale.
    [[nodiscard]] zk::NameList list() const;

private:
    using Names = std::vector<NodeName>;
    std::shared_ptr<Names> m_names = std::make_shared<Names>(); // what was listed is never changed
    std::size_t m_begin = 0;
    bool m_isStale = false;
    bool m_ascends = true;
    qint64 m_lastNumber = -1; // while it ascends
};

} // namespace lockscope::world::zookeeper
