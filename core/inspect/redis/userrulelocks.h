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

} // namespace lockscope::inspect
