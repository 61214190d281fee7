// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/etcddemo.h"

#include "core/recipes/etcd/make.h"

using namespace std::chrono_literals;

namespace lockscope::sandbox {

DemoEtcd::DemoEtcd(DemoStage &stage, const ConnectionSpec &server)
    : m_stage(stage), m_passage(std::make_shared<passage::Passage>(server.transport, server.hosts)),
      m_scope(stage.loop())
{
    for (const auto &host : server.hosts)
        m_hosts.push_back(m_passage->throughTls(host));
    m_scope.launch(queueUp(&m_stage, &m_scope, 3, [this](const Completion<bool> &joined) {
        return contend("billing/invoices", 9s, joined);
    }));
}

Task<void> DemoEtcd::contend(QByteArray lock, std::chrono::milliseconds hold, Completion<bool> joined)
{
    etcd::ClientOptions options;
    options.hosts = m_hosts;
    options.keep = m_passage;
    const auto client = etcd::openClient(m_stage.loop(), options);
    const Completion<bool> connected(m_stage.loop());
    const auto subscription = client->onState([connected](etcd::ClientState state) {
        if (state == etcd::ClientState::Connected)
            connected.complete(true);
    });
    co_await connected;
    joined.complete(true);
    recipes::AcquireOptions lease;
    lease.ttl = 15s;
    const auto made = recipes::makeLock("etcd-mutex", *client, lock, lease, m_stage.newRandom());
    if (!made)
        co_return;
    auto turns = takeTurns(&m_stage, made->get(), hold);
    co_await turns;
}

} // namespace lockscope::sandbox
