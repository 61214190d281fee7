// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/zookeeper/claim.h"

#include "core/base/text.h"
#include "core/recipes/token.h"
#include "core/rules/turn.h"
#include "core/recipes/zookeeper/waiting.h"

#include <algorithm>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

bool couldBe(const NodeClaim &claim, const NodeName &name)
{
    if (!claim.sequential)
        return name == claim.path.name();
    const auto read = readSequence(name, claim.path.name().bytes());
    return read && read->prefix() == claim.path.name().bytes();
}

// One pass; a name that vanishes meanwhile is not ours, for ours is held by our living session.
Task<Result<std::optional<zk::Created>>> lookOnce(zk::Session *session, NodeClaim claim, Deadline deadline)
{
    const auto by = answerBy(*session, deadline);
    const ZPath directory = claim.path.parent();
    auto syncing = session->sync(directory, by);
    auto listing = session->children(directory, std::nullopt, by);
    const auto synced = co_await syncing;
    const auto listed = co_await listing;
    if (!synced)
        co_return synced.error();
    if (!listed && listed.error().code == ErrorCode::NoNode)
        co_return std::optional<zk::Created>();
    if (!listed)
        co_return listed.error();
    for (const auto &name : listed->names) {
        if (!couldBe(claim, name))
            continue;
        auto reading = session->get(directory.child(name), std::nullopt, by);
        const auto node = co_await reading;
        if (!node && node.error().code == ErrorCode::NoNode)
            continue;
        if (!node)
            co_return node.error();
        if (node->data == claim.data && node->stat.ephemeralOwner == session->id())
            co_return std::optional<zk::Created>(zk::Created{directory.child(name), node->stat});
    }
    co_return std::optional<zk::Created>();
}

} // namespace

NodeClaim protectedClaim(const ZPath &directory, const QByteArray &name, Random &random)
{
    NodeClaim claim;
    claim.path = directory.child(NodeName("_c_" + uuidToken(random) + '-' + name));
    claim.data = hostAddress();
    claim.isUnique = true;
    claim.parentKind = zk::CreateMode::Container;
    return claim;
}

Task<Result<std::optional<zk::Created>>> findOwn(zk::Session *session, NodeClaim claim, Deadline deadline)
{
    for (;;) {
        const auto connected = co_await untilReconnected(session, deadline);
        if (!connected)
            co_return connected.error();
        auto found = co_await lookOnce(session, claim, deadline);
        if (found || !isConnectionError(found.error()))
            co_return found;
    }
}

Task<Result<bool>> stillStands(zk::Session *session, OwnNode node, Deadline by)
{
    auto syncing = session->sync(node.path, by);
    auto looking = session->exists(node.path, std::nullopt, by);
    const auto synced = co_await syncing;
    const auto seen = co_await looking;
    // A session never sees less than it has seen: that our node is gone is certain without the sync, too.
    if (!seen && seen.error().code == ErrorCode::NoNode)
        co_return false;
    if (!seen)
        co_return seen.error();
    if (seen->czxid != node.czxid || seen->ephemeralOwner != node.owner)
        co_return false;
    if (!synced)
        co_return synced.error();
    co_return true;
}

Task<Result<void>> makeDirectory(zk::Session *session, ZPath path, zk::CreateMode kind, Deadline deadline)
{
    std::vector<ZPath> missing{path};
    while (!missing.empty()) {
        const ZPath next = missing.back();
        auto creating = session->create(next, {}, kind, zk::openAcl(), answerBy(*session, deadline));
        const auto created = co_await creating;
        if (created || created.error().code == ErrorCode::NodeExists) {
            missing.pop_back();
        } else if (created.error().code == ErrorCode::NoNode && !next.parent().isRoot()) {
            missing.push_back(next.parent());
        } else if (created.error().code == ErrorCode::Unsupported && kind == zk::CreateMode::Container) {
            kind = zk::CreateMode::Persistent; // a server before 3.5
        } else if (isConnectionError(created.error())) {
            const auto connected = co_await untilReconnected(session, deadline);
            if (!connected)
                co_return connected.error();
        } else {
            co_return created.error();
        }
    }
    co_return Result<void>();
}

} // namespace lockscope::recipes
