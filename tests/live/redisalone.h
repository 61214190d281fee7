// SPDX-License-Identifier: Apache-2.0
// A private Redis for the tests of one class, and a connection to it that stands for its clients.
#pragma once

#include "core/workspace/workspace.h"
#include "tests/support/finish.h"
#include "tests/support/redisfixture.h"

#include <QTemporaryDir>

namespace lockscope::testing {

class RedisAlone : public QObject {
protected:
    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<redis::Connection> m_connection;
    QTemporaryDir m_state; // for audit files
    std::unique_ptr<Workspace> m_workspace;

    Deadline soon() const { return Deadline::after(m_loop, 15s); }
    redis::Value send(const redis::Command &command) { return valueOf(m_connection->command(command, soon())); }

    // Why it cannot be tried here; empty: it runs.
    QString startServer()
    {
        const auto problem = startInto(m_server, sandbox::makeRedis());
        if (!m_server)
            return problem;
        if (!problem.isEmpty())
            qFatal("%s", qPrintable(problem));
        m_connection = redis::openConnection(m_loop, optionsFor(m_server->address()));
        if (!becomes(*m_connection, redis::ConnectionState::Connected))
            qFatal("%s", qPrintable(m_connection->lastError()));
        return {};
    }
    void openWorkspace(WorkspaceOptions options)
    {
        options.auditPath = m_state.filePath(QStringLiteral("audit.jsonl"));
        m_workspace = std::make_unique<Workspace>(m_loop, options, nullptr);
        const auto uri = QStringLiteral("redis=redis://127.0.0.1:%1").arg(m_server->address().port);
        if (!m_workspace->add(*parseConnection(uri)))
            qFatal("%s is no connection", qPrintable(uri));
    }
    void stopServer()
    {
        m_workspace.reset();
        m_connection.reset();
        m_server.reset();
    }
};

} // namespace lockscope::testing
