// SPDX-License-Identifier: Apache-2.0
#include "core/world/zookeeper/namelog.h"

#include "core/rules/turn.h"

#include <limits>

namespace lockscope::world::zookeeper {

void NameLog::append(const NodeName &name)
{
    // Nothing takes a number twice, so that whatever goes the rest still ascends.
    if (m_ascends) {
        const auto number = recipes::sequenceOf(name);
        m_ascends = number && *number > m_lastNumber && *number <= std::numeric_limits<qint32>::max();
        m_lastNumber = number.value_or(-1);
    }
    if (!m_isStale)
        m_names->push_back(name);
}

void NameLog::remove(const NodeName &name)
{
    if (m_isStale)
        return;
    const bool isFirst = m_begin < m_names->size() && (*m_names)[m_begin] == name;
    if (isFirst)
        ++m_begin;
    if (m_begin == m_names->size()) {
        // Whether what comes from now on ascends has nothing to do with what was before.
        *this = NameLog();
        return;
    }
    // Names that are gone are not to outweigh those that are there.
    m_isStale = !isFirst || m_begin > 64 + m_names->size() / 2;
}

void NameLog::renew(std::vector<NodeName> names)
{
    m_names = std::make_shared<Names>(std::move(names));
    m_begin = 0;
    m_isStale = false;
}

zk::NameList NameLog::list() const
{
    return {m_names, m_begin, m_names->size(), m_ascends};
}

} // namespace lockscope::world::zookeeper
