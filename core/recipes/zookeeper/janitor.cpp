#include "core/recipes/zookeeper/janitor.h"

#include "core/base/logging.h"
#include "core/base/text.h"
#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes {

namespace {

bool isOver(const Error &error)
{
    return error.code == ErrorCode::SessionExpired || error.code == ErrorCode::AuthFailed;
}

} // namespace

Janitor::Janitor(zk::Session &session) : m_work(std::make_shared<Work>())
{
    m_work->session = &session;
}

void Janitor::remove(zk::Created node, bool mayBeGone) const
{
    ++m_work->running;
    m_work->session->background().launch(removing(m_work, std::move(node), mayBeGone));
}

void Janitor::followUp(Reply<zk::Created> creating, Claim claim) const
{
    ++m_work->running;
    m_work->session->background().launch(following(m_work, std::move(creating), std::move(claim)));
}

OneShot<bool> Janitor::tidy(Deadline deadline) const
{
    const OneShot<bool> done(m_work->session->loop());
    if (m_work->running == 0) {
        done.complete(!std::exchange(m_work->failed, false));
        return done;
    }
    std::erase_if(m_work->waiting, [](const auto &waiting) { return waiting.isComplete(); });
    m_work->waiting.push_back(done);
    done.completeAt(deadline, false);
    return done;
}

// True when the node is certainly gone.
Task<bool> Janitor::takeAway(zk::Session *session, zk::Created node, bool mayBeGone)
{
    const auto never = Deadline::never();
    for (;;) {
        const auto connected = co_await untilConnected(session, never);
        if (!connected)
            co_return isOver(connected.error());
        const auto by = answerBy(*session, never);
        std::optional<Error> trouble;
        if (mayBeGone) {
            // Another may have got the name since: look before trying again.
            auto syncing = session->sync(node.path, by);
            auto looking = session->exists(node.path, std::nullopt, by);
            const auto synced = co_await syncing;
            const auto seen = co_await looking;
            if (synced && seen && seen->czxid != node.stat.czxid)
                co_return true;
            if (!synced)
                trouble = synced.error();
            else if (!seen)
                trouble = seen.error();
        }
        if (!trouble) {
            auto removal = session->remove(node.path, zk::anyVersion, by);
            const auto removed = co_await removal;
            if (removed)
                co_return true;
            trouble = removed.error();
            mayBeGone = mayBeGone || trouble->code == ErrorCode::UnknownOutcome;
        }
        if (trouble->code == ErrorCode::NoNode || isOver(*trouble))
            co_return true;
        if (!isConnectionTrouble(*trouble)) {
            qCWarning(logZooKeeper).noquote()
                << "session" << session->id().text() << "cannot take away" << label(node.path.bytes()) << "-"
                << trouble->message << "- it goes with the session";
            co_return false;
        }
        co_await untilReconnected(session, never);
    }
}

Task<void> Janitor::removing(std::shared_ptr<Work> work, zk::Created node, bool mayBeGone)
{
    const bool gone = co_await takeAway(work->session, node, mayBeGone);
    finish(*work, gone);
}

Task<void> Janitor::following(std::shared_ptr<Work> work, Reply<zk::Created> creating, Claim claim)
{
    const auto created = co_await creating;
    std::optional<zk::Created> node;
    bool known = true;
    if (created) {
        node = *created;
    } else if (created.error().code == ErrorCode::UnknownOutcome) {
        const auto never = Deadline::never();
        const auto found = co_await findOwn(work->session, claim, never);
        if (found)
            node = *found;
        known = found || isOver(found.error());
    }
    if (node) {
        const zk::Created ours = *node;
        known = co_await takeAway(work->session, ours, false);
    }
    finish(*work, known);
}

void Janitor::finish(Work &work, bool gone)
{
    --work.running;
    work.failed = work.failed || !gone;
    if (work.running > 0)
        return;
    for (const auto &waiting : std::exchange(work.waiting, {}))
        waiting.complete(!work.failed);
    work.failed = false;
}

} // namespace lockscope::recipes
