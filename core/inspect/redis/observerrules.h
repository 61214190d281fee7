// SPDX-License-Identifier: Apache-2.0
// What an observer keeps of the user's rules: which keys belong to which lock by them, and whether they have changed.
// Loop thread only.
#pragma once

#include "core/inspect/redis/userrulelocks.h"

namespace lockscope::inspect {

class RuleCompanions {
public:
    void note(const KeyView &main)
    {
        constexpr size_t mostKept = 50'000;
        for (const auto &companion : companionsByUserRules(main)) {
            if (m_owners.size() < mostKept)
                m_owners[companion] = main.key;
        }
    }
    [[nodiscard]] std::optional<RedisKey> ownerOf(const RedisKey &key) const
    {
        const auto at = m_owners.find(key);
        return at == m_owners.end() ? std::nullopt : std::optional(at->second);
    }
    // Since the last call. Nothing is kept of the old ones.
    [[nodiscard]] bool takeChange()
    {
        const int now = recipes::userRulesGeneration();
        if (std::exchange(m_generation, now) == now)
            return false;
        m_owners.clear();
        return true;
    }

private:
    std::map<RedisKey, RedisKey> m_owners;
    int m_generation = recipes::userRulesGeneration();
};

} // namespace lockscope::inspect
