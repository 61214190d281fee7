// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/rulefolder.h"

#include "core/base/text.h"
#include "core/inspect/redis/observerreader.h"

#include <algorithm>
#include <set>

namespace lockscope {

namespace {

using inspect::KeyReader;

constexpr size_t mostTrials = 10'000;

// A form of tokens without a key is about all there are.
bool isToBeTried(const QByteArray &key)
{
    const auto rules = recipes::userRules();
    return !recipes::rulesFitting(key).empty() || recipes::isKeyOfTokenForm(key)
           || std::ranges::any_of(rules->tokens, [](const auto &form) { return !form.key; });
}

inspect::RedisContext contextOf(const ConnectionName &name, const KeyReader &reader)
{
    inspect::RedisContext context;
    context.connection = name;
    context.observed = reader.clock().now;
    context.serverAhead = reader.clock().ahead;
    return context;
}

Task<Result<void>> tryKeys(KeyReader *reader, ConnectionName name, std::vector<RedisKey> keys, RuleTrials *out)
{
    CO_TRY(auto &looked, co_await reader->look(std::move(keys)));
    std::erase_if(looked, [](const auto &view) { return view.type == inspect::KeyType::None; });
    CO_TRY(auto &gathered, co_await reader->gather(std::move(looked)));
    const auto context = contextOf(name, *reader);
    for (const auto &one : gathered) {
        auto trials = inspect::tryUserRules(one.main, one.companions, context);
        const bool isByRule = std::ranges::any_of(trials, [](const auto &trial) { return trial.lock.has_value(); });
        std::ranges::move(trials, std::back_inserter(out->trials));
        auto byToken = isByRule ? std::nullopt : inspect::tryUserTokenForms(one.main, one.companions, context);
        if (byToken)
            out->trials.push_back(std::move(*byToken));
    }
    co_return Result<void>();
}

} // namespace

Task<Result<RuleTrials>> tryRulesOn(redis::Connection *connection, ConnectionName name)
{
    RuleTrials out;
    inspect::Refusals refusals;
    KeyReader reader(*connection, refusals);
    std::set<RedisKey> seen; // SCAN may name a key twice
    QByteArray cursor = "0";
    do {
        std::vector<redis::Command> commands;
        commands.push_back(redis::Command{"SCAN", cursor, "COUNT", "1000"});
        auto reply = reader.send(std::move(commands));
        CO_TRY(auto &got, co_await reply);
        const auto &answer = got.front();
        if (answer.isError() || answer.items.size() != 2)
            co_return Error{ErrorCode::NoPermission, u"SCAN refused: "_s + label(answer.text), false};
        std::vector<RedisKey> keys;
        for (const auto &item : answer.items[1].items) {
            RedisKey key(item.text);
            ++out.keys;
            if (seen.size() < mostTrials && isToBeTried(item.text) && seen.insert(key).second)
                keys.push_back(std::move(key));
        }
        cursor = answer.items[0].text;
        if (!keys.empty()) {
            CO_TRY_VOID(co_await tryKeys(&reader, name, std::move(keys), &out));
        }
    } while (cursor != "0");
    out.isCut = seen.size() >= mostTrials;
    for (const auto &message : refusals.messages())
        out.refused << message;
    std::ranges::stable_sort(out.trials, {}, &inspect::RuleTrial::key);
    co_return std::move(out);
}

} // namespace lockscope
