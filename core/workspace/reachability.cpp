// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/reachability.h"

#include <QTcpSocket>

namespace lockscope {

using namespace Qt::StringLiterals;

struct Reachability::Attempt {
    explicit Attempt(Loop &loop) : answer(loop) {}
    Reply<bool> answer;
    std::vector<std::unique_ptr<QTcpSocket>> sockets;
    QStringList reasons;
};

Reachability::Reachability(Loop &loop, std::vector<HostPort> hosts) : m_loop(loop), m_hosts(std::move(hosts)) {}

Reachability::~Reachability() = default;

Reply<bool> Reachability::check(Deadline deadline)
{
    auto attempt = std::make_shared<Attempt>(m_loop);
    m_attempt = attempt; // an earlier check is dropped with its sockets
    for (const auto &host : m_hosts) {
        auto socket = std::make_unique<QTcpSocket>();
        auto *raw = socket.get();
        attempt->sockets.push_back(std::move(socket));
        // The attempt owns the socket, so the connections cannot outlive it.
        QObject::connect(raw, &QTcpSocket::connected, raw, [a = attempt.get()] { a->answer.complete(true); });
        QObject::connect(raw, &QTcpSocket::errorOccurred, raw, [a = attempt.get(), raw, host, all = m_hosts.size()] {
            a->reasons << u"%1:%2: %3"_s.arg(host.host).arg(host.port).arg(raw->errorString());
            if (static_cast<std::size_t>(a->reasons.size()) == all)
                a->answer.complete(Error{ErrorCode::NotConnected, a->reasons.join(u"; "_s), true});
        });
        raw->connectToHost(host.host, host.port);
    }
    attempt->answer.completeAt(deadline, Error{ErrorCode::NotConnected, u"no host answered in time"_s, true});
    return attempt->answer;
}

} // namespace lockscope
