// SPDX-License-Identifier: Apache-2.0
#include "core/redis/clustertopics.h"

#include "core/redis/hashslot.h"
#include "core/redis/shardedsubscriber.h"

#include <algorithm>

namespace lockscope::redis {

bool ClusterTopics::isSaidByEach(const QByteArray &name)
{
    return name.startsWith("__redis__:") || name.startsWith("__keyspace@") || name.startsWith("__keyevent@");
}

// Stays where it is while that node is there. True when it had another one before.
bool ClusterTopics::chooseHome()
{
    const auto &all = m_nodes.primaries();
    const bool isThere = m_home && std::ranges::find(all, *m_home) != all.end();
    if (all.empty() || (isThere && m_nodes.isConnected(*m_home)))
        return false;
    const auto *other = m_nodes.anyone();
    if (isThere && !other)
        return false;
    const bool isMove = m_home.has_value();
    m_home = other ? *other : all.front();
    return isMove;
}

Subscription ClusterTopics::add(const QByteArray &name, bool isPattern, Listener listener)
{
    (void)chooseHome();
    auto topic = std::make_shared<Topic>(Topic{name, isPattern, std::move(listener), {}, {}, {}});
    std::erase_if(m_topics, [](const auto &one) { return one.expired(); });
    m_topics.push_back(topic);
    place(topic);
    (void)placeShard(topic);
    return Subscription(std::move(topic));
}

bool ClusterTopics::place()
{
    const bool isMove = chooseHome();
    bool isAnyPlain = false, isShardMoved = false;
    for (const auto &one : m_topics) {
        if (const auto topic = one.lock()) {
            isAnyPlain |= !isSaidByEach(topic->name);
            place(topic);
            isShardMoved |= placeShard(topic);
        }
    }
    return (isMove && isAnyPlain) || isShardMoved;
}

std::vector<HostPort> ClusterTopics::hostsFor(const Topic &topic) const
{
    if (isSaidByEach(topic.name))
        return m_nodes.primaries();
    return m_home ? std::vector{*m_home} : std::vector<HostPort>();
}

const HostPort *ClusterTopics::shardOf(const Topic &topic) const
{
    const bool isPlain = !topic.isPattern && !isSaidByEach(topic.name);
    return isPlain ? m_nodes.ownerOf(hashSlot(topic.name)) : nullptr;
}

// True when it was at another node before. One whose slot nobody has stays where it is.
bool ClusterTopics::placeShard(const std::shared_ptr<Topic> &topic)
{
    const auto *owner = shardOf(*topic);
    const auto name = owner ? displayHost(*owner) : topic->shard;
    if (name == topic->shard)
        return false;
    const bool isMove = !std::exchange(topic->shard, name).isEmpty();
    const auto heard = [weak = std::weak_ptr(topic)](const Message &message) {
        if (const auto alive = weak.lock())
            alive->listener(message);
    };
    auto *node = dynamic_cast<ShardedSubscriber *>(&m_nodes.at(*owner));
    topic->onShard = node ? node->subscribeSharded(topic->name, heard) : Subscription();
    return isMove;
}

void ClusterTopics::place(const std::shared_ptr<Topic> &topic)
{
    const auto hosts = hostsFor(*topic);
    std::erase_if(topic->on, [&hosts](const auto &placed) {
        return std::ranges::find(hosts, placed.first, &displayHost) == hosts.end();
    });
    const auto heard = [weak = std::weak_ptr(topic)](const Message &message) {
        if (const auto alive = weak.lock())
            alive->listener(message);
    };
    for (const auto &host : hosts) {
        const auto name = displayHost(host);
        if (topic->on.contains(name))
            continue;
        auto &node = m_nodes.at(host);
        topic->on[name] = topic->isPattern ? node.subscribePattern(topic->name, heard) //
                                           : node.subscribe(topic->name, heard);
    }
}

std::vector<HostPort> ClusterTopics::inUse()
{
    (void)chooseHome();
    std::vector<HostPort> hosts;
    for (const auto &one : m_topics) {
        const auto topic = one.lock();
        auto of = topic ? hostsFor(*topic) : std::vector<HostPort>();
        if (const auto *shard = topic ? shardOf(*topic) : nullptr)
            of.push_back(*shard);
        for (const auto &host : of) {
            if (std::ranges::find(hosts, host) == hosts.end())
                hosts.push_back(host);
        }
    }
    if (hosts.empty() && m_home)
        hosts.push_back(*m_home);
    return hosts;
}

} // namespace lockscope::redis
