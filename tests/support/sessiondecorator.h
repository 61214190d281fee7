// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper session that stands before another and decides what becomes of each request. Base of the
// counting and the faulty session.
#pragma once

#include "core/zookeeper/session.h"
#include "tests/support/decoratedport.h"

namespace lockscope::testing {

// As the port numbers its requests.
enum class RequestKind { Create, Remove, Get, Set, Exists, Children, Multi, Sync, GetAcls, SetAcls, AddAuth };

class SessionDecorator : public DecoratedPort<zk::ForwardingSession> {
public:
    using DecoratedPort::DecoratedPort;

    void send(Request &&request) override
    {
        std::visit(
            [this](auto &asked) {
                if constexpr (requires { asked.request.watch; })
                    asked.request.watch = observed(asked.request.watch);
            },
            request);
        DecoratedPort::send(std::move(request));
    }

protected:
    RequestFault faultFor(const Request &request) override { return fateOf(RequestKind(request.index())); }
    virtual RequestFault fateOf(RequestKind) { return RequestFault::Pass; }
    virtual void fired(const zk::WatchEvent &) {}

private:
    // Comes in with the replies.
    [[nodiscard]] std::optional<zk::Watch> observed(const std::optional<zk::Watch> &watch)
    {
        if (!watch)
            return watch;
        zk::Watch noted(loop());
        noted.event().then(
            [outer = *watch, self = std::weak_ptr(m_alive), held = heldBack()](const zk::WatchEvent &event) {
                held->passEvent([outer, self, event] {
                    if (const auto alive = self.lock())
                        (*alive)->fired(event);
                    outer.event().complete(event);
                });
            });
        return noted;
    }

    std::shared_ptr<SessionDecorator *> m_alive = std::make_shared<SessionDecorator *>(this);
};

} // namespace lockscope::testing
