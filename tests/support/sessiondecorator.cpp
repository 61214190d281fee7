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
Reply<T> SessionDecorator::pass(Request kind, const ZPath & /*path*/, qsizetype /*bytes*/,
                                std::function<Reply<T>()> send)
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
    m_held->pass(ReleaseAction::Out, fate == RequestFault::HoldRequest, [send, answer, fate, held = m_held] {
        send().then([answer, fate, held, times = held->times()](const Result<T> &result) {
            const bool isToBeHeld = fate == RequestFault::HoldReply && held->times() == times;
            const Result<T> told = fate == RequestFault::LoseReply ? Result<T>(lost()) : result;
            held->pass(ReleaseAction::In, isToBeHeld, [answer, told] { answer(told); });
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

} // namespace lockscope::testing
template class lockscope::zk::PassingSession<lockscope::testing::SessionDecorator>;
