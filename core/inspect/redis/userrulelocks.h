// SPDX-License-Identifier: Apache-2.0
// Locks by rules that a person wrote (core/rules/userrules.h, docs/rules.md). Pure.
#pragma once

#include "core/inspect/redis/recognise.h"
#include "core/rules/userrules.h"

namespace lockscope::inspect {

// Whether a rule, or a form of tokens, is about keys of such names and this type; the value is another matter.
[[nodiscard]] bool isOfUserRule(const RedisKey &key, KeyType type);
// The same of any type but a hash. Asked of every key of a large store.
[[nodiscard]] bool isOfUserRuleUnlessHash(const RedisKey &key);
// What stands beside such a key, and where its waiters listen.
[[nodiscard]] std::vector<RedisKey> companionsByUserRules(const KeyView &main);

// One rule whose pattern of the key fits: its lock, or in words why it is none.
struct RuleTrial {
    QString rule;
    QString file;
    RedisKey key;
    std::optional<LockSnapshot> lock;
    QString misfit; // empty where there is a lock
};
[[nodiscard]] std::vector<RuleTrial> tryUserRules(const KeyView &main, const std::vector<KeyView> &companions,
                                                  const RedisContext &context);
// The same for the forms of tokens: a lock, if the value has one of the user's.
[[nodiscard]] std::optional<RuleTrial> tryUserTokenForms(const KeyView &main, const std::vector<KeyView> &companions,
                                                         const RedisContext &context);

// What an observer keeps of the user's rules: which keys belong to which lock by them, and whether they have changed.
// Loop thread only.
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
