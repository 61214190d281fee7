// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/contender.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/zookeeper/names.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {
// What a client writes about itself may be a megabyte; a person reads the beginning.
constexpr qsizetype identityBytes = 256;
} // namespace

ServerTime momentOf(std::chrono::milliseconds sinceEpoch)
{
    return ServerTime(sinceEpoch);
}

std::optional<ServerTime> madeAt(const ZnodeView &node)
{
    return node.isStatKnown ? std::optional(momentOf(node.stat.ctime)) : std::nullopt;
}

Contender contenderOf(const ZnodeView &node, const ZPath &directory, const ServerView &servers)
{
    Contender out;
    out.id = node.name.bytes();
    const zk::SessionId owner = node.stat.ephemeralOwner;
    if (!owner.isNone()) {
        out.session = owner.text();
        out.endpoint = servers.endpoint(owner);
    }
    if (node.data && !node.data->isEmpty() && !isRevocation(node))
        out.identity = node.data->left(identityBytes);
    out.guard.path = directory.child(node.name).bytes();
    out.guard.czxid = node.stat.czxid;
    out.guard.owner = owner.value;
    out.guard.version = node.stat.version;
    return out;
}

void markHolder(Contender &contender, const ZnodeView &node, const RecogniseContext &context)
{
    contender.role = Role::Holder;
    if (context.headSince) {
        const auto seen = context.headSince->find({ZPath(contender.guard.path), contender.guard.czxid});
        if (seen != context.headSince->end()) {
            contender.heldSince = seen->second;
            return;
        }
    }
    contender.heldSince = madeAt(node);
    const auto sequence = recipes::readSequence(node.name);
    contender.heldAtMost = contender.heldSince && sequence && sequence->sequence != 0;
}

void markWaiter(Contender &contender, const ZnodeView &node)
{
    contender.role = Role::Waiter;
    contender.waitingSince = madeAt(node);
}

void numberAndJudge(LockSnapshot &lock)
{
    for (size_t i = 0; i < lock.contenders.size(); ++i)
        lock.contenders[i].position = static_cast<int>(i);
    if (lock.holderCount() == 0)
        lock.state = LockState::Free;
    else
        lock.state = lock.waiterCount() == 0 ? LockState::Held : LockState::Contended;
}

LockSnapshot emptySnapshot(const QByteArray &name, const RecogniseContext &context)
{
    LockSnapshot out;
    out.lock = {context.connection, name};
    out.backend = BackendKind::ZooKeeper;
    out.observed = context.observed;
    out.serverAhead = context.serverAhead;
    return out;
}

void addForeignNodes(LockSnapshot &lock, const std::vector<const ZnodeView *> &nodes, bool breaksTheRecipe)
{
    if (nodes.empty())
        return;
    const QString first = label(nodes.front()->name.bytes(), 80);
    QString message = u"%1 in the lock's directory is not of its recipe"_s.arg(first);
    if (nodes.size() > 1)
        message += u" (and %1 more)"_s.arg(nodes.size() - 1);
    if (breaksTheRecipe)
        message += u"; this client cannot lock beside it"_s;
    addFinding(lock, FindingCode::ForeignNode, breaksTheRecipe ? Severity::Warning : Severity::Info, message);
}

void addPersistentNode(LockSnapshot &lock, const QByteArray &id)
{
    addFinding(lock, FindingCode::PersistentNode,
               u"%1 is no ephemeral node: it stays when its client dies"_s.arg(label(id, 80)), {id});
}

} // namespace lockscope::inspect
