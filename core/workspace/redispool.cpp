// SPDX-License-Identifier: Apache-2.0
#include "core/contention/traced/tracedconnection.h"
#include "core/workspace/redislink.h"

namespace lockscope {

namespace {

class RedisPool : public ContenderPool {
public:
    RedisPool(RedisLinkBase &link, const ContenderPoolContext &context)
        : m_link(link), m_scenario(context.scenario), m_key("lockscope-simulate:" + context.name)
    {
        for (int i = 0; i < context.sessions; ++i) {
            auto &process = m_processes.emplace_back();
            process.connections = m_link.openConnections();
            for (const auto &connection : process.connections)
                process.traced.push_back(
                    std::make_unique<contention::TracedConnection>(*connection.gated, context.trace, i));
        }
    }

    [[nodiscard]] bool isReady() const override
    {
        for (const auto &process : m_processes) {
            for (const auto &connection : process.connections) {
                if (connection.gated->state() != redis::ConnectionState::Connected)
                    return false;
            }
        }
        return true;
    }

    Task<Result<void>> prepare(Deadline) override { co_return Result<void>(); }

    Result<std::unique_ptr<recipes::Lock>> makeLock(int contender, bool readMode) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        const auto &traced = m_processes[std::size_t(contender) % m_processes.size()].traced;
        const auto random = Random::fromSystem();
        if (!recipes::recipeOf(m_scenario.recipe).quorum)
            return recipes::makeLock(m_scenario.recipe, *traced.front(), m_key, options, random);
        std::vector<redis::Connection *> nodes;
        for (const auto &node : traced)
            nodes.push_back(node.get());
        return recipes::makeLock(m_scenario.recipe, nodes, m_key, options, random);
    }

    // Only the lock's own key counts: what stands beside it (counters, latches with a TTL) is the recipe's.
    Task<std::vector<QByteArray>> tidy(Deadline deadline) override
    {
        std::vector<QByteArray> left;
        for (auto *node : m_link.nodes()) {
            QByteArray cursor = "0";
            QByteArrayList found;
            do {
                const redis::Command scan{"SCAN", cursor, "MATCH", "*" + m_key.bytes() + "*", "COUNT", "1000"};
                auto scanning = node->command(scan, deadline);
                const auto page = co_await scanning;
                if (!page || page->items.size() != 2)
                    break;
                cursor = page->items[0].text;
                for (const auto &item : page->items[1].items)
                    found << item.text;
            } while (cursor != "0");
            for (const auto &key : found) {
                if (key == m_key.bytes())
                    left.push_back(key);
                const redis::Command remove{"DEL", key};
                auto removing = node->command(remove, deadline);
                (void)co_await removing;
            }
        }
        co_return left;
    }

private:
    struct Process {
        std::vector<RedisLinkBase::OwnConnection> connections; // one per node
        std::vector<std::unique_ptr<contention::TracedConnection>> traced;
    };

    RedisLinkBase &m_link;
    const contention::Scenario m_scenario;
    const RedisKey m_key;
    std::vector<Process> m_processes;
};

} // namespace

std::unique_ptr<ContenderPool> makeRedisPool(RedisLinkBase &link, const ContenderPoolContext &context)
{
    return std::make_unique<RedisPool>(link, context);
}

} // namespace lockscope
