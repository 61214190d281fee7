// SPDX-License-Identifier: Apache-2.0
// One run of lockscopectl: the event loop, the connections, the command.
#pragma once

#include "app/lockscopectl/command.h"
#include "app/lockscopectl/privateservers.h"
#include "core/async/qtloop.h"
#include "core/async/scope.h"
#include "core/connections/savedpassword.h"

namespace lockscope::ctl {

class Program {
public:
    Program(const CommandSpec &command, Arguments arguments, app::Connections connections);
    ~Program();
    // Runs the event loop until the command is done.
    [[nodiscard]] int exec();

private:
    [[nodiscard]] std::vector<inspect::ClientLabel> labels() const;
    [[nodiscard]] WorkspaceOptions workspaceOptions() const;
    Task<void> drive();
    Task<Exit> runCommand();
    void takeSimulated();
    Task<Exit> openSandbox();
    Task<void> fillInPasswords();
    [[nodiscard]] Exit addConnections();
    // Says so when the machine's wall clock is set meanwhile.
    void watchWall();
    void sayWhatItWaitsFor() const;

    const CommandSpec &m_command;
    Arguments m_arguments;
    app::Connections m_connections;
    ConnectionStore m_saved; // the window's
    QtLoop m_loop;
    Interrupts m_interrupts;
    Sink m_sink;
    std::unique_ptr<PrivateServers> m_servers; // of a sandbox: connection; outlive the workspace
    std::unique_ptr<Workspace> m_workspace;
    LivePictures m_pictures;
    std::unique_ptr<RuleWatch> m_rules; // of a command that goes on
    Timer m_wallLook;                   // of such a one, too
    CommandContext m_context;
    Scope m_scope; // last: its coroutine uses everything above
};

} // namespace lockscope::ctl
