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
    QObject::connect(&m_sandbox, &sandbox::Sandbox::ended, &m_sandbox,
                     [](const QString &why) { complain(u"sandbox: "_s + why); });
    QObject::connect(&m_sandbox, &sandbox::Sandbox::answeredAgain, &m_sandbox, [](const ConnectionSpec &connection) {
        remark(u"sandbox: %1 answers again\n"_s.arg(QString::fromUtf8(connection.name.bytes())));
    });
    QObject::connect(&m_sandbox, &sandbox::Sandbox::finished, &m_sandbox,
                     [this, done] { done.complete(!m_sandbox.connections().empty()); });
    m_sandbox.begin();
    return done;
}

} // namespace lockscope::ctl
