// SPDX-License-Identifier: Apache-2.0
// The JSON gateway of one etcd cluster: requests to whichever of its hosts answers, a token where a user is given,
// and streams. Loop thread only.
#pragma once

#include "core/async/task.h"
#include "core/etcd/client.h"
#include "core/etcd/http.h"

#include <QJsonObject>

namespace lockscope::etcd {

class Gateway {
public:
    using OnLine = std::function<void(const Result<QJsonObject> &)>; // an error is the last

    Gateway(Loop &loop, const ClientOptions &options);

    // The task must not outlive the gateway.
    Task<Result<QJsonObject>> ask(QByteArray path, QJsonObject body, Deadline deadline);
    // With a token that is there, after a request that had an answer. Lines come through the loop's queue.
    [[nodiscard]] Subscription stream(const QByteArray &path, const QJsonObject &body, OnLine onLine);

    // Nobody was named, or users are off there.
    [[nodiscard]] bool isAnonymous() const { return !m_needsToken; }
    [[nodiscard]] const HostPort &host() const { return m_options.hosts[m_host]; }
    // For people, and for the server itself.
    [[nodiscard]] const HostPort &hostName() const
    {
        return m_host < m_options.names.size() ? m_options.names[m_host] : host();
    }
    // That one does not answer: what is open ends.
    void tryNextHost();

private:
    struct Stream;
    Task<Result<void>> haveToken(Deadline deadline);
    Task<Result<QJsonObject>> askOnce(QByteArray path, QByteArray body, Deadline deadline);
    [[nodiscard]] std::shared_ptr<HttpConnection> idleConnection();

    Loop &m_loop;
    const ClientOptions m_options;
    std::size_t m_host = 0;
    QByteArray m_token;
    bool m_needsToken;
    std::vector<std::shared_ptr<HttpConnection>> m_connections;
    std::vector<std::weak_ptr<Stream>> m_streams;
};

} // namespace lockscope::etcd
