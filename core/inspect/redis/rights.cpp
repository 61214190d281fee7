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

struct RedisSaid {
    QString title = u"Redis"_s;
    QStringList versions; // of all nodes, each once
    QByteArrayList roles; // of each node
    int replicas = 0;
    QByteArray primaryHost, primaryPort; // of a replica
};

RedisSaid readInfo(const QByteArray &info)
{
    RedisSaid said;
    QByteArray version; // of one node: Valkey says two, its own last
    const auto endNode = [&] {
        if (!version.isEmpty() && !said.versions.contains(label(version, 40)))
            said.versions << label(version, 40);
        version.clear();
    };
    for (const auto &line : info.split('\n')) {
        const auto colon = line.indexOf(':');
        const auto field = line.left(colon), value = line.mid(colon + 1).trimmed();
        if (field == "redis_version") {
            endNode();
            version = value;
        } else if (field == "valkey_version") {
            said.title = u"Valkey"_s;
            version = value;
        } else if (field == "role") {
            said.roles << value;
        } else if (field == "connected_slaves") {
            said.replicas += value.toInt();
        } else if (field == "master_host") {
            said.primaryHost = value;
        } else if (field == "master_port") {
            said.primaryPort = value;
        }
    }
    endNode();
    return said;
}

} // namespace

QString redisServerOf(const QByteArray &info)
{
    const auto said = readInfo(info);
    if (said.versions.isEmpty())
        return {};
    const auto server = said.title + u' ' + said.versions.join(u" and "_s);
    if (said.roles.size() > 1)
        return u"%1 on %2 nodes, %3 of them primaries"_s.arg(server, QString::number(said.roles.size()),
                                                             QString::number(said.roles.count("master")));
    if (said.roles.value(0) == "slave")
        return u"%1, replica of %2:%3"_s.arg(server, label(said.primaryHost, 80), label(said.primaryPort, 10));
    if (said.roles.value(0) != "master")
        return server;
    if (said.replicas == 0)
        return server + u", primary without a replica"_s;
    return u"%1, primary with %2 replica%3"_s.arg(server, QString::number(said.replicas),
                                                  said.replicas == 1 ? QString() : u"s"_s);
}

Task<QString> redisServer(redis::Connection *connection, Deadline deadline)
{
    QByteArray info;
    for (const QByteArray section : {"server", "replication"}) {
        auto asking = connection->command({"INFO", section}, deadline);
        const auto answer = co_await asking;
        if (answer && !answer->isError())
            info += answer->text + '\n';
    }
    co_return redisServerOf(info);
}

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
