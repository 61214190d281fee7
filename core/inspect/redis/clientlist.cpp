// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/observerreader.h"

#include "core/inspect/waits/clients.h"
#include "core/rules/catalogue.h"

namespace lockscope::inspect {

namespace {

constexpr qsizetype longestClientName = 120;

std::map<QByteArray, QByteArray> fieldsOf(const QByteArray &line)
{
    std::map<QByteArray, QByteArray> fields;
    for (const auto &part : line.split(' ')) {
        const auto equals = part.indexOf('=');
        if (equals > 0)
            fields[part.left(equals)] = part.mid(equals + 1);
    }
    return fields;
}

// StackExchange.Redis calls a connection after its machine unless told otherwise, and whether it was is not said;
// each Lockscope has the same name.
bool isNamedByLibrary(std::map<QByteArray, QByteArray> &fields)
{
    return fields["name"] == "lockscope" || fields["lib-name"].startsWith("SE.Redis")
           || fields["name"].contains("(SE.Redis");
}

QString hostOf(const RedisClient &client)
{
    return client.endpoint.left(client.endpoint.lastIndexOf(u':'));
}

// "billing-7:<uuid>" → "billing-7"; empty where no UUID ends it.
QByteArray nameBeforeUuid(const QByteArray &token)
{
    for (const qsizetype length : {36, 32}) {
        const auto at = token.size() - length;
        const auto end = token.right(length);
        if (at > 1 && (isUuid36(end) || isHex32(end)) && !QChar::fromLatin1(token[at - 1]).isLetterOrNumber())
            return token.left(at - 1);
    }
    return {};
}

bool isRedissonLock(const LockSnapshot &lock)
{
    return recipes::recipeOf(lock.recipe).release == recipes::ReleaseMechanism::RedissonUnlock;
}

// Known by a channel's count only.
bool isAnonymous(const Contender &one)
{
    return one.role == Role::Waiter && one.guard.redis().value.isEmpty() && !one.identity;
}

} // namespace

std::vector<RedisClient> readClientList(const QByteArray &list, const QByteArrayList &ours)
{
    std::vector<RedisClient> clients;
    for (const auto &line : list.split('\n')) {
        auto fields = fieldsOf(line);
        const auto &id = fields["id"];
        if (id.isEmpty() || ours.contains(id))
            continue;
        RedisClient client;
        client.id = label(id, 40);
        client.endpoint = label(fields["addr"], 120);
        client.name = fields["name"].left(longestClientName);
        client.isNameIts = !isNamedByLibrary(fields);
        client.channels = fields["sub"].toLongLong() + fields["ssub"].toLongLong();
        clients.push_back(std::move(client));
    }
    return clients;
}

std::vector<SessionSnapshot> sessionsOf(const std::vector<RedisClient> &clients, const ConnectionName &name)
{
    std::vector<SessionSnapshot> sessions;
    for (const auto &client : clients) {
        SessionSnapshot session;
        session.connection = name;
        session.session = client.id;
        if (!client.endpoint.isEmpty())
            session.endpoint = client.endpoint;
        if (!client.name.isEmpty())
            session.client = label(client.name, longestClientName);
        sessions.push_back(std::move(session));
    }
    return sessions;
}

std::vector<QByteArray> waiterChannels(const LockSnapshot &lock)
{
    std::vector<QByteArray> channels;
    if (!isRedissonLock(lock) || !recipes::recipeOf(lock.recipe).lastingQueue)
        return channels;
    const redis::RedissonKeys keys(lock.lock.name);
    for (const auto &contender : lock.contenders) {
        if (contender.role == Role::Waiter)
            channels.push_back(keys.waiterChannel(contender.guard.redis().value));
    }
    return channels;
}

std::vector<QByteArray> channelsOf(const LockSnapshot &lock, const ChannelCounts &subscribers)
{
    auto channels = waiterChannels(lock);
    for (const auto &[channel, count] : subscribers) {
        if (count > 0)
            channels.push_back(channel);
    }
    return channels;
}

ChannelCounts readChannelCounts(const redis::Value &numsub)
{
    ChannelCounts counts;
    for (std::size_t i = 0; i + 1 < numsub.items.size(); i += 2)
        counts[numsub.items[i].text] = numsub.items[i + 1].integer;
    return counts;
}

ConnectedClients::ConnectedClients(std::vector<RedisClient> clients, ChannelCounts listeners)
    : m_clients(std::move(clients)), m_listeners(std::move(listeners))
{
    for (std::size_t i = 0; i < m_clients.size(); ++i) {
        const auto &client = m_clients[i];
        if (!client.name.isEmpty() && client.isNameIts)
            m_named[client.name].push_back(i);
        if (!client.endpoint.isEmpty())
            m_at[client.endpoint.toUtf8()] = i;
        if (client.channels > 0)
            m_listening.push_back(i);
    }
}

std::vector<SessionSnapshot> ConnectedClients::sessions(const ConnectionName &name, const SnapshotStore &locks) const
{
    auto all = sessionsOf(m_clients, name);
    std::map<QString, SessionSnapshot *> known;
    for (auto &session : all)
        known[session.session] = &session;
    for (const auto &[key, entry] : locks.entries()) {
        for (const auto &contender : entry.second.contenders) {
            const auto its = contender.session ? known.find(*contender.session) : known.end();
            if (its != known.end())
                (contender.role == Role::Holder ? its->second->holds : its->second->waits)
                    .push_back(entry.second.lock.name);
        }
    }
    return all;
}

bool ConnectedClients::isOfOneHost(const QByteArray &name) const
{
    const auto found = m_named.find(name);
    return found != m_named.end() && std::ranges::all_of(found->second, [&](std::size_t i) {
               return hostOf(m_clients[i]) == hostOf(m_clients[found->second.front()]);
           });
}

ConnectedClients::Connection ConnectedClients::byText(const Contender &one) const
{
    for (const auto &text : {one.identity.value_or(QByteArray()), one.guard.redis().value}) {
        if (const auto at = m_at.find(text); at != m_at.end()) {
            const auto &client = m_clients[at->second];
            Connection found{client.id, client.endpoint, {}};
            if (isOfOneHost(client.name))
                found.program = client.name;
            return found;
        }
        for (const auto &name : {text, nameBeforeUuid(text)}) {
            const auto named = m_named.find(name);
            if (named == m_named.end() || named->second.size() != 1 || !isClientName(name))
                continue;
            return {{}, m_clients[named->second.front()].endpoint, name};
        }
    }
    return {};
}

std::optional<LockSnapshot> ConnectedClients::told(const LockSnapshot &lock, const ChannelCounts &subscribers) const
{
    std::vector<const RedisClient *> listeners;
    for (const auto &[channel, count] : subscribers) {
        if (count > 0 && listeners.empty())
            listeners = listenersOn(channel);
        else if (count > 0)
            listeners.clear();
    }
    if (std::ranges::count_if(lock.contenders, isAnonymous) != static_cast<qint64>(listeners.size()))
        listeners.clear();
    std::optional<LockSnapshot> changed;
    std::size_t anonymous = 0;
    const auto channels = waiterChannels(lock);
    for (std::size_t i = 0, queued = 0; i < lock.contenders.size(); ++i) {
        const auto &one = lock.contenders[i];
        Connection is;
        if (isAnonymous(one)) {
            if (!listeners.empty())
                is = byChannel(*listeners[anonymous++]);
        } else {
            const auto queue = one.role == Role::Waiter && !channels.empty() ? listenersOn(channels[queued++])
                                                                             : std::vector<const RedisClient *>();
            is = queue.size() == 1 ? byChannel(*queue.front()) : byText(one);
        }
        if (is.endpoint && is.endpoint->isEmpty())
            is.endpoint.reset();
        if (is.session == one.session && is.endpoint == one.endpoint && is.program == one.program)
            continue;
        if (!changed)
            changed = lock;
        auto &other = changed->contenders[i];
        other.session = is.session;
        other.endpoint = is.endpoint;
        other.program = is.program;
    }
    return changed;
}

} // namespace lockscope::inspect
