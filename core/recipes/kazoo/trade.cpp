// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/kazoo/trade.h"

#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes::kazoo {

namespace {

using Outcome = Result<std::vector<zk::OpResult>>;

// The answers of the transaction and of a look at what it made, which is sent along because a
// transaction's own answer does not tell the node's czxid.
struct Answers {
    std::optional<Outcome> done;
    std::optional<Result<zk::Stat>> seen;
};

void complete(const Answers &answers, const ZPath &path, const Reply<zk::Created> &reply)
{
    if (!answers.done || !answers.seen)
        return;
    if (!*answers.done)
        reply.complete(answers.done->error());
    else if (!*answers.seen) // made, but what it was we do not know
        reply.complete(Error{ErrorCode::UnknownOutcome, answers.seen->error().message, true});
    else
        reply.complete(zk::Created{path, **answers.seen});
}

// Sends both, and answers as a create would: whoever follows up a lost create can follow up this.
Reply<zk::Created> sendTrade(zk::Session *session, const ZPath &old, const NodeClaim &claim, Deadline by)
{
    zk::Op remove;
    remove.kind = zk::Op::Kind::Remove;
    remove.path = old;
    zk::Op create;
    create.kind = zk::Op::Kind::Create;
    create.path = claim.path;
    create.data = claim.data;
    create.mode = claim.mode();
    create.acls = zk::openAcl();
    const Reply<zk::Created> reply(session->loop());
    const auto answers = std::make_shared<Answers>();
    const ZPath path = claim.path;
    session->multi({remove, create}, by).then([answers, path, reply](const Outcome &outcome) {
        answers->done = outcome;
        complete(*answers, path, reply);
    });
    session->exists(path, std::nullopt, by).then([answers, path, reply](const Result<zk::Stat> &stat) {
        answers->seen = stat;
        complete(*answers, path, reply);
    });
    return reply;
}

} // namespace

Task<Result<QueueEntry>> tradeEntry(BackgroundCleanup cleanup, QueueEntry *old, NodeClaim claim, Deadline deadline)
{
    auto *session = cleanup.session();
    for (;;) {
        auto trading = sendTrade(session, old->path(), claim, answerBy(*session, deadline));
        QueueEntry entry(cleanup, trading, claim);
        old->doubt();
        const auto traded = co_await trading;
        std::optional<zk::Created> made;
        if (traded) {
            made = *traded;
        } else if (traded.error().code == ErrorCode::UnknownOutcome) {
            const auto own = co_await findOwn(session, claim, deadline);
            if (!own)
                co_return own.error();
            made = *own;
        }
        if (made) {
            old->forget();
            entry.settle(*made);
            co_return std::move(entry);
        }
        entry.forget();
        if (!isConnectionError(traded.error()))
            co_return traded.error();
        const auto connected = co_await untilReconnected(session, deadline);
        if (!connected)
            co_return connected.error();
    }
}

} // namespace lockscope::recipes::kazoo
