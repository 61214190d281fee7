// SPDX-License-Identifier: Apache-2.0
// What the ensemble does with requests: the leader decides, everybody applies in its order, and who watches is told.
#include "core/simservers/zookeeper/ensemble.h"

namespace lockscope::sim::zookeeper {

void Ensemble::receive(Connection &connection, quint64 number, const Request &request)
{
    const auto keep = connection.shared_from_this();
    ++m_requests;
    // Of who talks all the time there is nothing to be noted.
    if (connection.m_isSilent || !connection.m_link->carries(Direction::ToServer))
        watchSilence(connection.m_session, true);
    if (request.verb == Verb::Close) {
        endSession(connection.m_session);
        return;
    }
    if (isWrite(request.verb)) {
        // The leader decides at once; its word counts here when this member has come to it.
        const Caller caller{connection.m_session, connection.m_identities.get()};
        auto answer = execute(request, caller);
        if (!connection.m_ensemble)
            return;
        if (isReady(connection, leader().applied))
            sendAnswer(connection, number, std::move(answer));
        else
            orderly(connection, leader().applied, [this, &connection, number, answer = std::move(answer)]() mutable {
                sendAnswer(connection, number, std::move(answer));
            });
        return;
    }
    const auto after = request.verb == Verb::Sync ? leader().applied : 0;
    if (isReady(connection, after))
        serve(connection, number, request);
    else
        orderly(connection, after, [this, &connection, number, request] { serve(connection, number, request); });
}

// After what this connection asked before, and not before the member has applied that transaction.
void Ensemble::orderly(Connection &connection, qint64 zxid, Call goOn)
{
    if (isReady(connection, zxid)) {
        goOn();
        return;
    }
    if (!connection.m_waiting)
        connection.m_waiting = std::make_unique<std::list<Connection::Waiting>>();
    connection.m_waiting->push_back({zxid, std::move(goOn)});
    memberOf(connection).waiting.insert(connection.m_number);
}

void Ensemble::goOnWaiting(Member &member)
{
    const auto numbers = member.waiting; // it changes underneath
    for (const auto number : numbers) {
        const auto at = m_connections.find(number);
        if (at == m_connections.end())
            continue;
        const auto connection = at->second;
        auto &waiting = connection->m_waiting;
        while (waiting && waiting->front().zxid <= member.applied) {
            const auto first = std::move(waiting->front());
            waiting->pop_front();
            if (waiting->empty())
                waiting.reset();
            first.goOn();
        }
        if (!waiting)
            member.waiting.erase(number);
    }
}

void Ensemble::serve(Connection &connection, quint64 number, const Request &request)
{
    auto answer = answerTo(connection, request);
    const bool isOver = answer.code == Code::AuthFailed;
    sendAnswer(connection, number, std::move(answer));
    if (isOver)
        drop(connection);
}

// What is no write: read, watched, or said of the connection.
Answer Ensemble::answerTo(Connection &connection, const Request &request)
{
    auto &member = memberOf(connection);
    switch (request.verb) {
    case Verb::Sync: return {};
    case Verb::AddAuth: return addAuth(connection, request);
    default: break;
    }
    auto answer = read(member.tree, request, *connection.m_identities, m_options.existsNeedsRead);
    if (!request.watches)
        return answer;
    if (request.verb == Verb::Children && answer.code == Code::Ok)
        member.children.add(request.path, connection.m_number);
    else if (answer.code == Code::Ok || (request.verb == Verb::Exists && answer.code == Code::NoNode))
        member.data.add(request.path, connection.m_number);
    return answer;
}

Answer Ensemble::addAuth(Connection &connection, const Request &request)
{
    Answer answer;
    auto identity = identify(request.path.bytes(), request.data);
    const auto &known = *connection.m_identities;
    if (!identity)
        answer.code = Code::AuthFailed;
    else if (std::find(known.begin(), known.end(), *identity) == known.end())
        connection.add(std::move(*identity));
    return answer;
}

namespace {

// What is told of a change that was made.
void report(const Change &change, Tree &tree, Answer &answer)
{
    answer.path = change.path;
    if (change.kind == Change::Kind::Create || change.kind == Change::Kind::SetData)
        answer.stat = tree.find(change.path)->stat();
}

} // namespace

Answer Ensemble::execute(const Request &request, const Caller &caller)
{
    if (request.verb == Verb::Multi)
        return executeAll(request, caller);
    auto &tree = leader().tree;
    Answer answer;
    auto verdict = judge(tree, request, caller);
    // What is refused takes a number, too.
    Transaction transaction{world().now(), newStamp(), {}};
    answer.code = verdict.code;
    if (verdict.change) {
        tree.apply(*verdict.change, transaction.stamp);
        report(*verdict.change, tree, answer);
        transaction.changes.push_back(std::move(*verdict.change));
    }
    publish(std::move(transaction));
    return answer;
}

Answer Ensemble::executeAll(const Request &request, const Caller &caller)
{
    auto &tree = leader().tree;
    Answer answer;
    Transaction transaction{world().now(), newStamp(), {}};
    Tree::Undo undo;
    for (const auto &part : request.parts) {
        auto verdict = judge(tree, part, caller);
        if (verdict.code != Code::Ok) {
            answer.code = verdict.code;
            break;
        }
        Answer made;
        if (verdict.change) {
            tree.apply(*verdict.change, transaction.stamp, &undo);
            report(*verdict.change, tree, made);
            transaction.changes.push_back(std::move(*verdict.change));
        }
        zk::OpResult result;
        if (part.verb == Verb::Create)
            result.created = made.path;
        else if (part.verb == Verb::Set)
            result.stat = made.stat;
        answer.results.push_back(std::move(result));
    }
    answer.failedPart = answer.results.size();
    if (answer.code != Code::Ok) {
        std::for_each(undo.rbegin(), undo.rend(), [](const auto &takeBack) { takeBack(); });
        transaction.changes.clear();
    }
    publish(std::move(transaction));
    return answer;
}

void Ensemble::commitRemovals(const std::vector<ZPath> &paths)
{
    Transaction transaction{world().now(), newStamp(), {}};
    for (const auto &path : paths) {
        auto change = removalOf(*leader().tree.find(path), path);
        leader().tree.apply(change, transaction.stamp);
        transaction.changes.push_back(std::move(change));
    }
    publish(std::move(transaction));
}

void Ensemble::publish(Transaction transaction)
{
    leader().applied = transaction.stamp.zxid;
    for (const auto &change : transaction.changes) {
        announce(leader(), change);
        m_reaper->noteChange(change);
    }
    if (m_members.size() == 1)
        return;
    const auto shared = std::make_shared<const Transaction>(std::move(transaction));
    for (int i = 1; i < memberCount(); ++i) {
        m_members[static_cast<std::size_t>(i)].behind.push_back(shared);
        catchUp(i);
    }
}

void Ensemble::catchUp(int index)
{
    auto &member = m_members[static_cast<std::size_t>(index)];
    while (!member.behind.empty() && member.behind.front()->at + member.lag <= world().now()) {
        const auto transaction = member.behind.front();
        member.behind.pop_front();
        for (const auto &change : transaction->changes)
            member.tree.apply(change, transaction->stamp);
        member.applied = transaction->stamp.zxid;
        for (const auto &change : transaction->changes)
            announce(member, change);
    }
    member.catchUp.cancel();
    if (!member.behind.empty())
        member.catchUp = world().callAt(member.behind.front()->at + member.lag, [this, index] { catchUp(index); });
    goOnWaiting(member);
}

void Ensemble::announce(Member &member, const Change &change)
{
    const auto &path = change.path;
    const auto &acls = *change.acls;
    switch (change.kind) {
    case Change::Kind::Create: tell(member.data.take(path), zk::EventKind::Created, path, acls); break;
    case Change::Kind::Remove: {
        // Who watches both its data and its children is told once.
        const auto told = member.data.take(path);
        auto others = member.children.take(path);
        std::erase_if(others, [&told](quint64 one) { return std::binary_search(told.begin(), told.end(), one); });
        tell(told, zk::EventKind::Deleted, path, acls);
        tell(others, zk::EventKind::Deleted, path, acls);
        break;
    }
    case Change::Kind::SetData: tell(member.data.take(path), zk::EventKind::DataChanged, path, acls); return;
    case Change::Kind::SetAcls: return;
    }
    if (member.children.isEmpty())
        return;
    const auto parent = path.parent();
    tell(member.children.take(parent), zk::EventKind::ChildrenChanged, parent, *change.parentAcls);
}

// Whoever is still connected. Who may not read the node is not told, though its watch is spent: so do servers since
// 3.8.4 (CVE-2024-23944).
void Ensemble::tell(const std::vector<quint64> &connections, zk::EventKind kind, const ZPath &path,
                    const zk::Acls &acls)
{
    for (const auto number : connections) {
        const auto at = m_connections.find(number);
        if (at != m_connections.end() && isAllowed(acls, zk::perms::read, *at->second->m_identities))
            sendEvent(*at->second, kind, path);
    }
}

// What whoever directs the world does to the ensemble and sees of it.
std::optional<zk::Node> Ensemble::node(const ZPath &path, int member) const
{
    const auto *const node = m_members[std::size_t(member)].tree.find(path);
    if (!node)
        return {};
    return zk::Node{node->data, node->stat()};
}

std::vector<ZPath> Ensemble::below(const ZPath &path, int member) const
{
    std::vector<ZPath> found;
    const auto *const top = m_members[std::size_t(member)].tree.find(path);
    const std::function<void(const Znode &, const ZPath &)> walk = [&](const Znode &node, const ZPath &at) {
        for (const auto *child = node.eldestChild(); child; child = child->younger) {
            found.push_back(at.child(NodeName(child->name)));
            walk(*child, ZPath(found.back()));
        }
    };
    if (top)
        walk(*top, path);
    return found;
}

bool Ensemble::removeByForce(const ZPath &path)
{
    const auto *const node = leader().tree.find(path);
    if (!node || !node->parent || node->childCount() > 0)
        return false;
    commitRemovals({path});
    return true;
}

bool Ensemble::expire(zk::SessionId session)
{
    if (!m_sessions.contains(session.value))
        return false;
    endSession(session.value);
    return true;
}

std::vector<zk::SessionId> Ensemble::watchersOf(const ZPath &path, bool ofChildren) const
{
    std::vector<zk::SessionId> ids;
    for (const auto &member : m_members) {
        for (const auto number : (ofChildren ? member.children : member.data).of(path)) {
            if (const auto at = m_connections.find(number); at != m_connections.end())
                ids.push_back({at->second->m_session});
        }
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

std::vector<zk::SessionId> Ensemble::sessions() const
{
    std::vector<zk::SessionId> ids;
    for (const auto &[id, session] : m_sessions)
        ids.push_back({id});
    std::sort(ids.begin(), ids.end());
    return ids;
}

void Ensemble::setLag(int member, Duration lag)
{
    if (member < 1 || member >= memberCount()) // the leader does not lag behind itself
        return;
    m_members[static_cast<std::size_t>(member)].lag = lag;
    catchUp(member);
}

void Ensemble::jumpClock(std::chrono::milliseconds by)
{
    m_clockOffset += by;
    m_reaper->lookAgain();
}

void Ensemble::presetCounter(const ZPath &path, qint32 creates)
{
    for (auto &member : m_members) {
        if (auto *const node = member.tree.find(path))
            node->creates = creates;
    }
}

qint64 Ensemble::watchCount() const
{
    qint64 count = 0;
    for (const auto &member : m_members)
        count += member.data.count() + member.children.count();
    return count;
}

std::chrono::milliseconds Ensemble::wallNow() const
{
    const auto now = world().wallNow().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now) + m_clockOffset;
}

} // namespace lockscope::sim::zookeeper
