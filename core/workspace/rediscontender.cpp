// SPDX-License-Identifier: Apache-2.0
// A contender of ours on a Redis or a Redlock set: it uses the link's connections, and has them tell of its key.
#include "core/recipes/make.h"
#include "core/rules/contenderid.h"
#include "core/workspace/redislink.h"

namespace lockscope {

using namespace Qt::StringLiterals;

namespace {

class RedisContender : public OwnContender {
public:
    RedisContender(std::vector<redis::Connection *> nodes, HoldRequest request)
        : m_nodes(std::move(nodes)), m_loop(m_nodes.front()->loop()), m_request(std::move(request)), m_news(m_loop)
    {
    }

    Result<std::unique_ptr<recipes::Lock>> makeLock() override
    {
        const recipes::AcquireOptions options{m_request.readMode, m_request.limit, m_request.ttl,
                                              m_request.isLimitGiven};
        const RedisKey key(m_request.lock.name);
        const auto random = Random::fromSystem();
        if (m_nodes.size() == 1)
            return recipes::makeLock(m_request.recipe, *m_nodes.front(), key, options, random);
        return recipes::makeLock(m_request.recipe, m_nodes, key, options, random);
    }

    // A value that every holder writes names a hold only with the moment at which it ends.
    Task<QByteArray> idOf(QByteArray granted) override
    {
        const auto &recipe = recipes::recipeOf(m_request.recipe);
        if (m_nodes.size() > 1 || recipe.namesHolder || recipe.endsBy != recipes::EndsBy::Lease)
            co_return granted;
        const redis::Command question{"PEXPIRETIME", m_request.lock.name};
        auto asking = m_nodes.front()->command(question, Deadline::after(m_loop, std::chrono::seconds(5)));
        const auto expiry = co_await asking;
        co_return expiry && expiry->integer > 0 ? recipes::constantContenderId(granted, expiry->integer) : granted;
    }

    void watchOver(const Holding &holding, const recipes::Grant &grant) override
    {
        holding.scope.launch(heedKey(holding, grant));
        for (auto *node : m_nodes)
            holding.scope.launch(listenTo(node));
    }

private:
    // Asks whether the key is still ours (on a set: on a majority of its nodes) whenever a server says that it
    // changed; where one does not tell (no permission for client tracking), every 250 ms. Once a second in any
    // case: a reconnect ends the tracking silently.
    Task<void> heedKey(Holding holding, recipes::Grant grant)
    {
        while (!holding.isReleasing) {
            m_news = Completion<bool>(m_loop);
            m_news.completeAt(Deadline::after(m_loop, m_askEvery), false);
            const auto limit = Deadline::after(m_loop, std::chrono::seconds(5));
            const auto mine = co_await holding.lock.isStillMine(limit);
            if (mine && !*mine && !holding.isReleasing) {
                holding.lock.noteTakenAway(grant);
                holding.lost(recipes::Loss::TakenAway);
                co_return;
            }
            auto news = m_news;
            co_await news;
        }
    }

    // Has one server tell of changes of the key.
    Task<void> listenTo(redis::Connection *node)
    {
        m_subscriptions.push_back(
            node->subscribe("__redis__:invalidate", [this](const redis::Message &) { m_news.complete(true); }));
        auto subscriber = node->subscriberId(Deadline::after(m_loop, std::chrono::seconds(2)));
        const auto id = co_await subscriber;
        const redis::Command track{
            "CLIENT", "TRACKING",         "ON", "REDIRECT", QByteArray::number(id ? *id : 0), "BCAST",
            "PREFIX", m_request.lock.name};
        auto reply = node->command(track, Deadline::after(m_loop, std::chrono::seconds(2)));
        const auto tracked = co_await reply;
        // An overlapping prefix means that the observer tracks this key already.
        if (!tracked && !tracked.error().message.contains("overlap"_L1))
            m_askEvery = std::chrono::milliseconds(250);
        m_news.complete(true); // what changed until now nobody told
    }

    const std::vector<redis::Connection *> m_nodes;
    Loop &m_loop;
    const HoldRequest m_request;
    Completion<bool> m_news; // completed when a server says that the key changed
    std::vector<Subscription> m_subscriptions;
    std::chrono::milliseconds m_askEvery{1000};
};

} // namespace

std::unique_ptr<OwnContender> makeRedisContender(std::vector<redis::Connection *> nodes, const HoldRequest &request)
{
    return std::make_unique<RedisContender>(std::move(nodes), request);
}

} // namespace lockscope
