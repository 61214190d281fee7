// SPDX-License-Identifier: Apache-2.0
// Why a ZooKeeper ensemble cannot be reached: the C client never says. Tries a plain TCP connection to
// each host and reports when all of them failed. Loop thread only; never blocks.
#pragma once

#include "core/async/completion.h"
#include "core/base/connectionuri.h"

#include <QStringList>
#include <QTcpSocket>

namespace lockscope {

class Reachability {
public:
    Reachability(Loop &loop, std::vector<HostPort> hosts) : m_loop(loop), m_hosts(std::move(hosts)) {}

    // True as soon as one host accepted; NotConnected with every host's reason when all refused or the
    // deadline passed.
    [[nodiscard]] Reply<bool> check(Deadline deadline)
    {
        auto attempt = std::make_shared<Attempt>(m_loop);
        m_attempt = attempt; // an earlier check is dropped with its sockets
        for (const auto &host : m_hosts) {
            auto socket = std::make_unique<QTcpSocket>();
            auto *raw = socket.get();
            attempt->sockets.push_back(std::move(socket));
            // The attempt owns the socket, so the connections cannot outlive it.
            QObject::connect(raw, &QTcpSocket::connected, raw, [a = attempt.get()] { a->answer.complete(true); });
            QObject::connect(
                raw, &QTcpSocket::errorOccurred, raw, [a = attempt.get(), raw, host, all = m_hosts.size()] {
                    a->reasons << u"%1:%2: %3"_s.arg(host.host).arg(host.port).arg(raw->errorString());
                    if (static_cast<std::size_t>(a->reasons.size()) == all)
                        a->answer.complete(Error{ErrorCode::NotConnected, a->reasons.join(u"; "_s), true});
                });
            raw->connectToHost(host.host, host.port);
        }
        attempt->answer.completeAt(deadline, Error{ErrorCode::NotConnected, u"no host answered in time"_s, true});
        return attempt->answer;
    }

private:
    struct Attempt {
        explicit Attempt(Loop &loop) : answer(loop) {}
        Reply<bool> answer;
        std::vector<std::unique_ptr<QTcpSocket>> sockets;
        QStringList reasons;
    };
    Loop &m_loop;
    std::vector<HostPort> m_hosts;
    std::shared_ptr<Attempt> m_attempt;
};

} // namespace lockscope
