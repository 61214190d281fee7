// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/rights.h"

#include "core/base/text.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

// What we do there, and the commands it takes. The key is one of many: a user who may touch only some is told apart.
struct RedisAbility {
    QString what;
    std::vector<redis::Command> needs;
};

const std::vector<RedisAbility> &redisAbilities()
{
    const QByteArray key = "lockscope:a-key";
    static const std::vector<RedisAbility> all{
        {u"find locks"_s, {{"SCAN", "0"}, {"TYPE", key}, {"PTTL", key}}},
        {u"read them"_s, {{"GET", key}, {"HGETALL", key}, {"LRANGE", key, "0", "1"}, {"ZRANGE", key, "0", "1"}}},
        {u"hear of changes"_s, {{"CLIENT", "TRACKING", "ON"}}},
        {u"see clients"_s, {{"CLIENT", "LIST"}}},
        {u"acquire and release"_s, {{"EVALSHA", "x", "1", key}, {"SET", key, "x"}, {"DEL", key}}},
        {u"wake who waits"_s, {{"PUBLISH", "redisson_lock__channel:{x}", "0"}}},
    };
    return all;
}

} // namespace

Task<QStringList> redisRights(redis::Connection *connection, Deadline deadline)
{
    auto asking = connection->command({"ACL", "WHOAMI"}, deadline);
    const auto who = co_await asking;
    if (!who)
        co_return QStringList{u"what the user may do cannot be asked: "_s + who.error().message};
    std::vector<redis::Command> tries;
    for (const auto &ability : redisAbilities()) {
        for (const auto &command : ability.needs)
            tries.push_back(redis::Command{"ACL", "DRYRUN", who->text} + command);
    }
    auto trying = connection->pipeline(std::move(tries), deadline);
    const auto answers = co_await trying;
    const auto user = label(who->text, 60);
    if (!answers)
        co_return QStringList{u"user %1; what it may do cannot be asked: %2"_s.arg(user, answers.error().message)};
    QStringList may, mayNot;
    std::size_t at = 0;
    for (const auto &ability : redisAbilities()) {
        QByteArray refusal;
        for (std::size_t i = 0; i < ability.needs.size(); ++i) {
            const auto &answer = answers->at(at++);
            if (answer.isError())
                co_return QStringList{
                    u"user %1; what it may do cannot be asked: %2"_s.arg(user, label(answer.text, 200))};
            if (answer.text != "OK" && refusal.isEmpty())
                refusal = answer.text;
        }
        if (refusal.isEmpty())
            may << ability.what;
        else
            mayNot << u"may not %1: %2"_s.arg(ability.what, label(refusal, 200));
    }
    co_return QStringList{
        u"user %1 may %2"_s.arg(user, may.isEmpty() ? u"nothing of what is needed"_s : may.join(u", "_s))}
        + mayNot;
}

} // namespace lockscope::inspect
