// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/privateservers.h"

#include "app/lockscopectl/output.h"

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

PrivateServers::PrivateServers(Loop &loop, sandbox::SandboxOptions options) : m_loop(loop), m_sandbox(options) {}

Completion<bool> PrivateServers::start()
{
    Completion<bool> done(m_loop);
    QObject::connect(&m_sandbox, &sandbox::Sandbox::failed, &m_sandbox,
                     [](const QString &problem) { complain(u"sandbox: "_s + problem); });
    QObject::connect(&m_sandbox, &sandbox::Sandbox::finished, &m_sandbox,
                     [this, done] { done.complete(!m_sandbox.connections().empty()); });
    m_sandbox.begin();
    return done;
}

} // namespace lockscope::ctl
