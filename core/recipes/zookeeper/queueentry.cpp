// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/zookeeper/queueentry.h"

#include "core/base/logging.h"
#include "core/base/text.h"

namespace lockscope::recipes {

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
        const auto node = co_await session->get(directory.child(name), std::nullopt, by);
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
        CO_TRY_VOID(co_await untilReconnected(session, deadline));
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
            CO_TRY_VOID(co_await untilReconnected(session, deadline));
        } else {
            co_return created.error();
        }
    }
    co_return Result<void>();
}

namespace {

bool isOver(const Error &error)
{
    return error.code == ErrorCode::SessionExpired || error.code == ErrorCode::AuthFailed;
}

// True when the node is certainly gone.
Task<bool> takeAway(zk::Session *session, OwnNode node, bool looksFirst)
{
    const auto never = Deadline::never();
    for (;;) {
        const auto connected = co_await untilConnected(session, never);
        if (!connected)
            co_return isOver(connected.error());
        const auto by = answerBy(*session, never);
        std::optional<Error> trouble;
        if (looksFirst) {
            const auto stands = co_await stillStands(session, node, by);
            if (stands && !*stands)
                co_return true;
            if (!stands)
                trouble = stands.error();
        }
        if (!trouble) {
            const auto removed = co_await session->remove(node.path, zk::anyVersion, by);
            if (removed)
                co_return true;
            trouble = removed.error();
            looksFirst = looksFirst || trouble->code == ErrorCode::UnknownOutcome; // it may be another's by now
        }
        if (trouble->code == ErrorCode::NoNode || isOver(*trouble))
            co_return true;
        if (!isConnectionError(*trouble)) {
            qCWarning(logZooKeeper).noquote()
                << "session" << session->id().text() << "cannot delete" << label(node.path.bytes()) << "-"
                << trouble->message << "- it goes with the session";
            co_return false;
        }
        (void)co_await untilReconnected(session, never);
    }
}

// True when what the create made (if anything) is certainly gone.
Task<bool> clearUp(zk::Session *session, Reply<zk::Created> creating, NodeClaim claim)
{
    const auto created = co_await creating;
    std::optional<zk::Created> node;
    if (created) {
        node = *created;
    } else if (created.error().code == ErrorCode::UnknownOutcome) {
        const auto never = Deadline::never();
        const auto found = co_await findOwn(session, claim, never);
        if (!found)
            co_return isOver(found.error());
        node = *found;
    }
    if (!node)
        co_return true;
    const OwnNode ours(*node);
    const bool gone = co_await takeAway(session, ours, claim.nameComesAgain());
    co_return gone;
}

} // namespace

void BackgroundCleanup::remove(OwnNode node, bool looksFirst) const
{
    m_waitGroup.add(m_session->background(), takeAway(m_session, std::move(node), looksFirst));
}

void BackgroundCleanup::followUp(Reply<zk::Created> creating, NodeClaim claim) const
{
    m_waitGroup.add(m_session->background(), clearUp(m_session, std::move(creating), std::move(claim)));
}

QueueEntry::QueueEntry(BackgroundCleanup cleanup, Reply<zk::Created> creating, NodeClaim claim)
{
    const bool comesAgain = claim.nameComesAgain();
    m_state = std::make_unique<State>(std::move(cleanup), comesAgain);
    m_state->asked = std::make_unique<Asked>(std::move(creating), std::move(claim));
}

QueueEntry &QueueEntry::operator=(QueueEntry &&other) noexcept
{
    if (this == &other)
        return *this;
    leave();
    m_state = std::move(other.m_state);
    return *this;
}

void QueueEntry::settle(OwnNode created)
{
    m_state->asked.reset();
    m_state->created = std::move(created);
}

void QueueEntry::forget()
{
    if (!m_state)
        return;
    m_state->asked.reset();
    m_state->created.reset();
}

void QueueEntry::leave()
{
    // Taken first: what it leaves behind may come back here.
    const auto left = std::move(m_state);
    if (!left)
        return;
    if (left->asked)
        left->cleanup.followUp(left->asked->creating, left->asked->claim);
    if (left->created)
        left->cleanup.remove(*left->created, left->mayBeAnothers());
}

Task<Result<QueueEntry>> createEntry(BackgroundCleanup cleanup, NodeClaim claim, Deadline deadline,
                                     std::function<void(Deadline by)> pipelined)
{
    auto *session = cleanup.session();
    const ZPath directory = claim.path.parent();
    auto connected = co_await untilConnected(session, deadline);
    while (connected) {
        const auto by = answerBy(*session, deadline);
        auto creating = session->create(claim.path, claim.data, claim.mode(), zk::openAcl(), by);
        if (pipelined)
            pipelined(by);
        QueueEntry entry(cleanup, creating, claim);
        const auto created = co_await creating;
        if (created) {
            entry.settle(*created);
            co_return std::move(entry);
        }
        const auto code = created.error().code;
        if (code == ErrorCode::UnknownOutcome) {
            CO_TRY(const auto &own, co_await findOwn(session, claim, deadline));
            if (own) {
                entry.settle(*own);
                co_return std::move(entry);
            }
        }
        entry.forget();
        if (code == ErrorCode::NoNode) {
            connected = co_await makeDirectory(session, directory, claim.parentKind, deadline);
        } else if (isConnectionError(created.error())) {
            connected = co_await untilReconnected(session, deadline);
        } else {
            co_return created.error();
        }
    }
    co_return connected.error();
}

} // namespace lockscope::recipes
