// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper session that stands before another and decides what becomes of each request. Base of the
// counting and the faulty session.
#pragma once

#include "core/zookeeper/passingsession.h"
#include "tests/support/faultplan.h"
#include "tests/support/heldback.h"

namespace lockscope::testing {

using zk::Request;

class SessionDecorator : public zk::PassingSession<SessionDecorator> {
public:
    explicit SessionDecorator(zk::Session &inner, bool keepsOrder = false)
        : PassingSession(inner), m_self(std::make_shared<SessionDecorator *>(this)),
          m_held(std::make_shared<HeldBack>(keepsOrder))
    {
    }

    // Sends and answers what was held back.
    void letThrough() { m_held->letThrough(); }
    [[nodiscard]] qsizetype held() const { return m_held->size(); }

protected:
    // Called for every request, before it is sent.
    virtual RequestFault fateOf(Request kind) = 0;
    virtual void answered() {}
    virtual void fired(const zk::WatchEvent &) {}

private:
    friend PassingSession;
    template <class T>
    Reply<T> pass(Request kind, const ZPath &path, qsizetype bytes, std::function<Reply<T>()> send);
    [[nodiscard]] std::optional<zk::Watch> observed(const std::optional<zk::Watch> &watch);

    std::shared_ptr<SessionDecorator *> m_self;
    std::shared_ptr<HeldBack> m_held;
};

} // namespace lockscope::testing
extern template class lockscope::zk::PassingSession<lockscope::testing::SessionDecorator>;
