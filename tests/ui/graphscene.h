// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/ui/windowfixture.h"

namespace lockscope::testing {

// A kazoo lock: the first of these sessions holds it, the others wait, in this order.
inline inspect::LockSnapshot kazooLock(const QByteArray &name, const QByteArrayList &sessions)
{
    inspect::LockSnapshot lock{.lock = {ConnectionName("zk"), name}};
    lock.recipe = "kazoo-lock";
    lock.observed = serverTime(present);
    for (const auto &session : sessions) {
        inspect::Contender one;
        one.position = static_cast<int>(lock.contenders.size());
        one.role = lock.contenders.empty() ? inspect::Role::Holder : inspect::Role::Waiter;
        one.id = session + "__lock__000000000" + QByteArray::number(*one.position);
        one.session = QStringLiteral("0x") + QString::fromLatin1(session);
        one.identity = "app-" + session;
        one.endpoint = QStringLiteral("10.0.0.7:%1").arg(4000 + qHash(session) % 1000);
        (one.role == inspect::Role::Holder ? one.heldSince : one.waitingSince) =
            lock.observed - std::chrono::seconds(90);
        lock.contenders.push_back(one);
    }
    lock.state = lock.contenders.size() > 1 ? inspect::LockState::Contended : inspect::LockState::Held;
    return lock;
}

} // namespace lockscope::testing
