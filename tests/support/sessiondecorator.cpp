// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sessiondecorator.h"

namespace lockscope::testing {

using namespace zk;

namespace {

Error lost()
{
    return {ErrorCode::UnknownOutcome, QStringLiteral("lost on the way, by the test"), true};
}

} // namespace

template <class T>
Reply<T> SessionDecorator::pass(Request kind, std::function<Reply<T>()> send)
{
    Reply<T> reply(inner().loop());
    const auto fate = fateOf(kind);
    const auto answer = [reply, self = std::weak_ptr<SessionDecorator *>(m_self)](const Result<T> &result) {
        if (const auto alive = self.lock())
            (*alive)->answered();
        reply.complete(result);
    };
    if (fate == RequestFault::LoseRequest) {
        answer(lost());
        return reply;
    }
    if (fate == RequestFault::Refuse) {
        answer(Error{ErrorCode::Unsupported, QStringLiteral("refused by the test")});
        return reply;
    }
    m_held->pass(Way::Out, fate == RequestFault::HoldRequest, [send, answer, fate, held = m_held] {
        send().then([answer, fate, held, times = held->times()](const Result<T> &result) {
            const bool isToBeHeld = fate == RequestFault::HoldReply && held->times() == times;
            const Result<T> told = fate == RequestFault::LoseReply ? Result<T>(lost()) : result;
            held->pass(Way::In, isToBeHeld, [answer, told] { answer(told); });
        });
    });
    return reply;
}

std::optional<Watch> SessionDecorator::observed(const std::optional<Watch> &watch)
{
    if (!watch)
        return watch;
    Watch noted(loop());
    noted.event().then(
        [outer = *watch, self = std::weak_ptr<SessionDecorator *>(m_self), held = m_held](const WatchEvent &event) {
            held->passEvent([outer, self, event] {
                if (const auto alive = self.lock())
                    (*alive)->fired(event);
                outer.event().complete(event);
            });
        });
    return noted;
}

Reply<Created> SessionDecorator::create(ZPath path, QByteArray data, CreateMode mode, Acls acls, Deadline deadline)
{
    return pass<Created>(Request::Create, [=, this] { return inner().create(path, data, mode, acls, deadline); });
}

Reply<Created> SessionDecorator::createWithTtl(ZPath path, QByteArray data, CreateMode mode,
                                               std::chrono::milliseconds timeToLive, Acls acls, Deadline deadline)
{
    return pass<Created>(Request::Create,
                         [=, this] { return inner().createWithTtl(path, data, mode, timeToLive, acls, deadline); });
}

Reply<bool> SessionDecorator::remove(ZPath path, qint32 version, Deadline deadline)
{
    return pass<bool>(Request::Remove, [=, this] { return inner().remove(path, version, deadline); });
}

Reply<Node> SessionDecorator::get(ZPath path, std::optional<Watch> watch, Deadline deadline)
{
    return pass<Node>(Request::Get, [=, this] { return inner().get(path, observed(watch), deadline); });
}

Reply<Stat> SessionDecorator::set(ZPath path, QByteArray data, qint32 version, Deadline deadline)
{
    return pass<Stat>(Request::Set, [=, this] { return inner().set(path, data, version, deadline); });
}

Reply<Stat> SessionDecorator::exists(ZPath path, std::optional<Watch> watch, Deadline deadline)
{
    return pass<Stat>(Request::Exists, [=, this] { return inner().exists(path, observed(watch), deadline); });
}

Reply<Children> SessionDecorator::children(ZPath path, std::optional<Watch> watch, Deadline deadline)
{
    return pass<Children>(Request::Children, [=, this] { return inner().children(path, observed(watch), deadline); });
}

Reply<std::vector<OpResult>> SessionDecorator::multi(std::vector<Op> ops, Deadline deadline)
{
    return pass<std::vector<OpResult>>(Request::Multi, [=, this] { return inner().multi(ops, deadline); });
}

Reply<bool> SessionDecorator::sync(ZPath path, Deadline deadline)
{
    return pass<bool>(Request::Sync, [=, this] { return inner().sync(path, deadline); });
}

Reply<NodeAcls> SessionDecorator::acls(ZPath path, Deadline deadline)
{
    return pass<NodeAcls>(Request::Acls, [=, this] { return inner().acls(path, deadline); });
}

Reply<bool> SessionDecorator::setAcls(ZPath path, Acls acls, qint32 version, Deadline deadline)
{
    return pass<bool>(Request::SetAcls, [=, this] { return inner().setAcls(path, acls, version, deadline); });
}

Reply<bool> SessionDecorator::addAuth(QByteArray scheme, QByteArray credentials, Deadline deadline)
{
    return pass<bool>(Request::AddAuth, [=, this] { return inner().addAuth(scheme, credentials, deadline); });
}

Reply<bool> SessionDecorator::removeWatches(ZPath path, WatchKind kind, Deadline deadline)
{
    return pass<bool>(Request::RemoveWatches, [=, this] { return inner().removeWatches(path, kind, deadline); });
}

} // namespace lockscope::testing
