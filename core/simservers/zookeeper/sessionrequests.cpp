// SPDX-License-Identifier: Apache-2.0
// What a simulated session sends and what becomes of the answers.
#include "core/simservers/zookeeper/simulatedsession.h"

namespace lockscope::sim::zookeeper {

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

// As it is sent: what this kind of request has.
template <class R>
Request wireOf(Verb verb, const ZPath &path, R &&request)
{
    Request sent;
    sent.verb = verb;
    sent.path = path;
    if constexpr (requires { request.data; })
        sent.data = std::move(request.data);
    if constexpr (requires { request.credentials; })
        sent.data = std::move(request.credentials);
    if constexpr (requires { request.acls; })
        sent.acls = std::move(request.acls);
    if constexpr (requires { request.version; })
        sent.version = request.version;
    if constexpr (requires { request.mode; }) {
        sent.mode = request.mode;
        sent.timeToLive = request.timeToLive.value_or(std::chrono::milliseconds());
    }
    if constexpr (requires { request.watch; })
        sent.watches = request.watch.has_value();
    if constexpr (requires { request.ops; })
        std::ranges::transform(request.ops, std::back_inserter(sent.parts), partOf);
    return sent;
}

zk::WatchKind kindFor(Verb verb)
{
    return verb == Verb::Children ? zk::WatchKind::Children : zk::WatchKind::Data;
}

// What was asked for is moved out of the answer.
void take(Answer &, bool &done)
{
    done = true;
}
void take(Answer &answer, zk::Created &created)
{
    created = {std::move(answer.path), answer.stat};
}
void take(Answer &answer, zk::Node &node)
{
    node = {std::move(answer.data), answer.stat};
}
void take(Answer &answer, zk::Stat &stat)
{
    stat = answer.stat;
}
void take(Answer &answer, zk::Children &children)
{
    children = {std::move(answer.names), answer.stat};
}
void take(Answer &answer, zk::NodeAcls &acls)
{
    acls = {std::move(answer.acls), answer.stat};
}
void take(Answer &answer, std::vector<zk::OpResult> &results)
{
    results = std::move(answer.results);
}

// Does nothing where it is too late.
template <class AnyReply>
void complete(const AnyReply &any, Answer &answer)
{
    std::visit(
        [&answer]<class T>(const Reply<T> &reply) {
            if (reply.isComplete())
                return;
            T value{};
            take(answer, value);
            reply.complete(std::move(value));
        },
        any);
}
template <class AnyReply>
void failReply(const AnyReply &any, const Error &error)
{
    std::visit([&error](const auto &reply) { reply.complete(error); }, any);
}

} // namespace

void SimulatedSession::send(zk::Session::Request &&request)
{
    static constexpr std::array<Verb, std::variant_size_v<zk::Session::Request>> verbs{
        Verb::Create, Verb::Remove, Verb::Get,  Verb::Set,     Verb::Exists, Verb::Children,
        Verb::Multi,  Verb::Sync,   Verb::Acls, Verb::SetAcls, Verb::AddAuth};
    std::visit([this, verb = verbs[request.index()]](auto &asked) { submit(verb, asked); }, request);
}

template <class R>
void SimulatedSession::submit(Verb verb, Asked<R> &asked)
{
    auto &[request, deadline, reply] = asked;
    if (auto why = zk::whyUnfit(request))
        return reply.complete(std::move(*why));
    if constexpr (std::is_same_v<R, zk::AddAuthRequest>) {
        if (m_state == zk::SessionState::Connected)
            m_credentials.emplace_back(request.scheme, request.credentials); // shown again after a reconnect
    }
    const auto attempt = zk::attemptOf(request);
    if (auto why = zk::preSendError(m_state, attempt, zk::payloadOf(request), deadline, m_process))
        return reply.complete(std::move(*why));
    const auto &watch = zk::watchOf(request);
    if (watch && !m_watches.reserve(attempt.path, kindFor(verb)))
        return reply.complete(zk::overBudget(attempt, m_watches.budgetBytes()));
    Outstanding outstanding{.number = ++m_lastNumber,
                            .attempt = attempt,
                            .parts = {},
                            .watch = watch,
                            .verb = verb,
                            .due = deadline.when(),
                            .reply = reply};
    if constexpr (std::is_same_v<R, zk::MultiRequest>) {
        for (const auto &op : request.ops)
            outstanding.parts.push_back(zk::attemptOf(op));
    }
    const bool hasPath = verb != Verb::AddAuth && verb != Verb::Multi; // whose parts are checked
    auto sent = wireOf(verb, attempt.path, std::move(request));
    if (hasPath && !zk::isPath(attempt.path, sent.mode))
        return fail(outstanding, zk::errorOf(static_cast<int>(Code::BadArguments), attempt));
    giveUpAt(outstanding.due);
    m_out.push_back(std::move(outstanding));
    m_link->toServer([connection = m_connection, number = m_lastNumber, sent = std::move(sent)] {
        connection->receive(number, sent);
    });
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
        failReply(request.reply, error);
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
        complete(request.reply, answer);
        return;
    }
    const auto code = static_cast<int>(answer.code);
    const auto error = request.verb == Verb::Multi
                           ? zk::partFailed(code, request.parts[answer.failedPart], answer.failedPart)
                           : zk::errorOf(code, request.attempt);
    failReply(request.reply, error);
}

void SimulatedSession::fail(const Outstanding &request, const Error &error)
{
    if (request.watch)
        m_watches.release(request.attempt.path, kindFor(request.verb));
    failReply(request.reply, error);
}

} // namespace lockscope::sim::zookeeper
