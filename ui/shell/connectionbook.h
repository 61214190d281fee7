// SPDX-License-Identifier: Apache-2.0
// What the window knows of its connections now: the last status and coverage of each, in the order
// they first appeared. GUI thread only.
#pragma once

#include <version>

#include "core/workspace/backend.h"

#include <QObject>

#include <map>

namespace lockscope::ui {

class ConnectionBook : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    void apply(const Batch &batch);
    // The backend does not tell of a closed connection: whoever closed it does.
    void remove(const ConnectionName &name);
    // One of the window's own sandbox: its servers are private, and may be played with.
    void markSandbox(const ConnectionName &name, Scheme scheme);

    [[nodiscard]] const std::vector<ConnectionStatus> &all() const { return m_all; }
    // Null if there is no such connection.
    [[nodiscard]] const ConnectionStatus *find(const ConnectionName &name) const;
    [[nodiscard]] std::vector<inspect::Coverage> coverageOf(const ConnectionName &name) const;
    // Connected once and not now: what is shown of it is as of status.asOf.
    [[nodiscard]] static bool isStale(const ConnectionStatus &status);
    // Those of the sandbox, also before their first status.
    [[nodiscard]] const std::map<ConnectionName, Scheme> &sandbox() const { return m_sandbox; }

signals:
    void changed();
    // It broke (true) or came back (false).
    void staleChanged(const lockscope::ConnectionName &name, bool stale);

private:
    std::vector<ConnectionStatus> m_all;
    std::vector<inspect::Coverage> m_coverage;
    std::map<ConnectionName, Scheme> m_sandbox;
};

} // namespace lockscope::ui
