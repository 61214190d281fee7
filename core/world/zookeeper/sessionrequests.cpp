// SPDX-License-Identifier: Apache-2.0
// What a simulated session sends and what becomes of the answers.
#include "core/world/zookeeper/simulatedsession.h"

#include <algorithm>

namespace lockscope::world::zookeeper {

namespace {

Request partOf(const zk::Op &op)
{
    static constexpr Verb verbs[] = {Verb::Create, Verb::Remove, Verb::Set, Verb::Check};
    Request part;
    part.verb = verbs[static_cast<int>(op.kind)];
    part.path = op.path;
    part.data = op.data;
    part.mode = op.mode;
    part.acls = op.acls;
    part.version = op.version;
    return part;
}

Request requestOf(Verb verb, ZPath path)
{
    Request request;
    request.verb = verb;
    request.path = std::move(path);
    return request;
}

zk::WatchKind kindFor(Verb verb)
{
    return verb == Verb::Children ? zk::WatchKind::Children : zk::WatchKind::Data;
}

// What was asked for is moved out of the answer.
bool takeDone(Answer &)
{
    return true;
}
zk::Created takeCreated(Answer &answer)
{
    return {std::move(answer.path), answer.stat};
}
zk::Node takeNode(Answer &answer)
{
    return {std::move(answer.data), answer.stat};
}
zk::Stat takeStat(Answer &answer)
{
    return answer.stat;
}
zk::Children takeChildren(Answer &answer)
{
    return {std::move(answer.names), answer.stat};
}
zk::NodeAcls takeAcls(Answer &answer)
{
    return {std::move(answer.acls), answer.stat};
}
std::vector<zk::OpResult> takeResults(Answer &answer)
{
    return std::move(answer.results);
}

} // namespace

template <class T>
Reply<T> SimulatedSession::refused(Error error)
{
    Reply<T> reply(m_process);
    reply.complete(std::move(error));
    return reply;
}

template <class T>
Reply<T> SimulatedSession::request(Terms &&terms, Request &&request, T (*taken)(Answer &))
{
    const auto &attempt = terms.attempt;
    if (auto why = zk::whyNotSent(m_state, attempt, terms.payloadBytes, terms.deadline, m_process))
        return refused<T>(std::move(*why));
    if (terms.watch && !m_watches.reserve(attempt.path, kindFor(request.verb)))
        return refused<T>(zk::overBudget(attempt, m_watches.budgetBytes()));
    const bool hasPath = request.verb != Verb::AddAuth && request.verb != Verb::Multi; // whose parts are checked
    if (hasPath && !zk::isPath(request.path, request.mode)) {
        if (terms.watch)
            m_watches.release(attempt.path, kindFor(request.verb));
        return refused<T>(zk::errorOf(static_cast<int>(Code::BadArguments), attempt));
    }
    Reply<T> reply(m_process);
    request.watches = terms.watch.has_value();
    Outstanding outstanding{.number = ++m_lastNumber,
                            .attempt = std::move(terms.attempt),
                            .parts = std::move(terms.parts),
                            .watch = std::move(terms.watch),
                            .verb = request.verb,
                            .unwatched = request.unwatched,
                            .due = terms.deadline.when(),
                            .settle = {}};
    outstanding.settle = [reply, taken](Answer *answer, const Error *error) {
        if (reply.isComplete()) // too late
            return;
        if (error)
            reply.complete(*error);
        else
            reply.complete(taken(*answer));
    };
    send(std::move(outstanding), std::move(request));
    return reply;
}

void SimulatedSession::send(Outstanding &&outstanding, Request &&request)
{
    const auto number = outstanding.number;
    giveUpAt(outstanding.due);
    m_out.push_back(std::move(outstanding));
    m_link->toServer(
        [connection = m_connection, number, request = std::move(request)] { connection->receive(number, request); });
}

void SimulatedSession::giveUpAt(Instant due)
{
    if (due >= m_earliestDue)
        return;
    m_earliestDue = due;
    m_ensemble.dueTimes().put(*this, m_process.inWorld(due));
}

void SimulatedSession::noneIsOut()
{
    m_earliestDue = Instant::max();
    stopWaiting();
}

void SimulatedSession::giveUpOverdue()
{
    const auto now = m_process.now();
    auto next = Instant::max();
    for (auto &request : m_out) {
        if (request.due > now) {
            next = std::min(next, request.due);
            continue;
        }
        const auto error = zk::unansweredInTime(request.attempt);
        request.settle(nullptr, &error);
        request.due = Instant::max();
    }
    m_earliestDue = Instant::max();
    giveUpAt(next);
}

void SimulatedSession::answered(quint64 number, Answer &&answer)
{
    m_lastZxid = std::max(m_lastZxid, answer.zxid);
    const auto at = std::ranges::find(m_out, number,
                                      &Outstanding::number); // the first, mostly
    if (at == m_out.end())
        return;
    decltype(m_out) its;
    its.splice(its.end(), m_out, at);
    if (m_out.empty())
        noneIsOut();
    const auto code = answer.code;
    settle(its.front(), std::move(answer));
    if (code == Code::AuthFailed)
        endSession(zk::SessionState::AuthFailed);
}

void SimulatedSession::settle(const Outstanding &request, Answer &&answer)
{
    const auto &path = request.attempt.path;
    if (request.watch) {
        const bool isMissing = answer.code == Code::NoNode;
        if (answer.code == Code::Ok || (isMissing && request.verb == Verb::Exists))
            m_watches.arm(path, kindFor(request.verb), isMissing, *request.watch);
        else
            m_watches.release(path, kindFor(request.verb));
    }
    if (answer.code == Code::Ok) {
        if (request.verb == Verb::Unwatch)
            m_watches.remove(path, request.unwatched);
        request.settle(&answer, nullptr);
        return;
    }
    const auto code = static_cast<int>(answer.code);
    const auto error = request.verb == Verb::Multi
                           ? zk::partFailed(code, request.parts[answer.failedPart], answer.failedPart)
                           : zk::errorOf(code, request.attempt);
    request.settle(nullptr, &error);
}

void SimulatedSession::fail(const Outstanding &request, const Error &error)
{
    if (request.watch)
        m_watches.release(request.attempt.path, kindFor(request.verb));
    request.settle(nullptr, &error);
}

Reply<zk::Created> SimulatedSession::create(ZPath path, QByteArray data, zk::CreateMode mode, zk::Acls acls,
                                            Deadline deadline)
{
    if (auto why = zk::whyNoTtl(path, mode))
        return refused<zk::Created>(std::move(*why));
    Terms terms{{"create", path}, deadline, data.size() + zk::sizeOf(acls), {}, {}};
    auto asked = requestOf(Verb::Create, std::move(path));
    asked.data = std::move(data);
    asked.mode = mode;
    asked.acls = std::move(acls);
    return request(std::move(terms), std::move(asked), takeCreated);
}

Reply<zk::Created> SimulatedSession::createWithTtl(ZPath path, QByteArray data, zk::CreateMode mode,
                                                   std::chrono::milliseconds timeToLive, zk::Acls acls,
                                                   Deadline deadline)
{
    if (auto why = zk::whyBadTtl(path, mode, timeToLive))
        return refused<zk::Created>(std::move(*why));
    Terms terms{{"create", path}, deadline, data.size() + zk::sizeOf(acls), {}, {}};
    auto asked = requestOf(Verb::Create, std::move(path));
    asked.data = std::move(data);
    asked.mode = mode;
    asked.timeToLive = timeToLive;
    asked.acls = std::move(acls);
    return request(std::move(terms), std::move(asked), takeCreated);
}

Reply<bool> SimulatedSession::remove(ZPath path, qint32 version, Deadline deadline)
{
    auto asked = requestOf(Verb::Remove, path);
    asked.version = version;
    return request({{"delete", path}, deadline, 0, {}, {}}, std::move(asked), takeDone);
}

Reply<zk::Node> SimulatedSession::get(ZPath path, std::optional<zk::Watch> watch, Deadline deadline)
{
    Terms terms{{"read", path}, deadline, 0, std::move(watch), {}};
    return request(std::move(terms), requestOf(Verb::Get, std::move(path)), takeNode);
}

Reply<zk::Stat> SimulatedSession::set(ZPath path, QByteArray data, qint32 version, Deadline deadline)
{
    Terms terms{{"write", path}, deadline, data.size(), {}, {}};
    auto asked = requestOf(Verb::Set, std::move(path));
    asked.data = std::move(data);
    asked.version = version;
    return request(std::move(terms), std::move(asked), takeStat);
}

Reply<zk::Stat> SimulatedSession::exists(ZPath path, std::optional<zk::Watch> watch, Deadline deadline)
{
    return request({{"look for", path}, deadline, 0, std::move(watch), {}}, requestOf(Verb::Exists, path), takeStat);
}

Reply<zk::Children> SimulatedSession::children(ZPath path, std::optional<zk::Watch> watch, Deadline deadline)
{
    Terms terms{{"list", path}, deadline, 0, std::move(watch), {}};
    return request(std::move(terms), requestOf(Verb::Children, std::move(path)), takeChildren);
}

Reply<std::vector<zk::OpResult>> SimulatedSession::multi(std::vector<zk::Op> ops, Deadline deadline)
{
    using Results = std::vector<zk::OpResult>;
    if (auto why = zk::whyNoTransaction(ops))
        return refused<Results>(std::move(*why));
    Terms terms{{"change", ops.front().path}, deadline, zk::sizeOf(ops), {}, {}};
    auto asked = requestOf(Verb::Multi, ops.front().path);
    for (const auto &op : ops) {
        asked.parts.push_back(partOf(op));
        terms.parts.push_back(zk::attemptOf(op));
    }
    return request(std::move(terms), std::move(asked), takeResults);
}

Reply<bool> SimulatedSession::sync(ZPath path, Deadline deadline)
{
    return request({{"sync", path}, deadline, 0, {}, {}}, requestOf(Verb::Sync, path), takeDone);
}

Reply<zk::NodeAcls> SimulatedSession::acls(ZPath path, Deadline deadline)
{
    return request({{"read the ACL of", path}, deadline, 0, {}, {}}, requestOf(Verb::Acls, path), takeAcls);
}

Reply<bool> SimulatedSession::setAcls(ZPath path, zk::Acls acls, qint32 version, Deadline deadline)
{
    Terms terms{{"set the ACL of", path}, deadline, zk::sizeOf(acls), {}, {}};
    auto asked = requestOf(Verb::SetAcls, std::move(path));
    asked.acls = std::move(acls);
    asked.version = version;
    return request(std::move(terms), std::move(asked), takeDone);
}

Reply<bool> SimulatedSession::addAuth(QByteArray scheme, QByteArray credentials, Deadline deadline)
{
    Terms terms{{"add credentials of the scheme", ZPath(scheme)}, deadline, credentials.size(), {}, {}};
    auto asked = requestOf(Verb::AddAuth, ZPath(scheme));
    asked.data = credentials;
    if (m_state == zk::SessionState::Connected)
        m_credentials.emplace_back(std::move(scheme), std::move(credentials)); // shown again after a reconnect
    return request(std::move(terms), std::move(asked), takeDone);
}

Reply<bool> SimulatedSession::removeWatches(ZPath path, zk::WatchKind kind, Deadline deadline)
{
    auto asked = requestOf(Verb::Unwatch, path);
    asked.unwatched = kind;
    return request({{"stop watching", path}, deadline, 0, {}, {}}, std::move(asked), takeDone);
}

} // namespace lockscope::world::zookeeper
