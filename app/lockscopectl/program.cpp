// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/program.h"

#include "app/lockscopectl/output.h"
#include "core/async/closing.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/workspace/clientlabels.h"
#include "core/workspace/thresholdfile.h"

#include <QCoreApplication>

#include <algorithm>
#include <unistd.h>

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

namespace {

constexpr std::chrono::seconds keychainPatience{30}; // it may ask its user
constexpr std::chrono::seconds saysWhatItWaitsForAfter{3};
constexpr std::chrono::seconds looksAtWallEvery{1};

} // namespace

Program::Program(const CommandSpec &command, Arguments arguments, app::Connections connections)
    : m_command(command), m_arguments(std::move(arguments)), m_connections(std::move(connections)),
      m_saved(ConnectionStore::defaultFile(), systemSecrets()),
      m_workspace(std::make_unique<Workspace>(m_loop, workspaceOptions(), &m_sink)),
      m_pictures(*m_workspace, labels()), m_context{m_arguments,
                                                    *m_workspace,
                                                    m_pictures,
                                                    m_sink,
                                                    m_interrupts,
                                                    m_arguments.has(u"json"_s),
                                                    m_connections.readOnly,
                                                    {},
                                                    labels()},
      m_scope(m_loop)
{
}

Program::~Program()
{
    m_scope.cancelAll();
    m_workspace.reset();
    // Our ephemerals must not outlive us, and a sandbox's server must still be there to hear the farewell.
    waitForClosing(std::chrono::seconds(3));
}

int Program::exec()
{
    // Whoever has nothing of its own to give back just ends.
    m_interrupts.setHandler([](Interrupt) {
        complain(u"interrupted"_s);
        QCoreApplication::exit(static_cast<int>(Exit::Failed));
    });
    m_loop.post([this] { m_scope.launch(drive()); });
    return QCoreApplication::exec();
}

// What is said now before what was saved.
std::vector<inspect::ClientLabel> Program::labels() const
{
    auto all = m_connections.labels;
    std::ranges::copy(savedClientLabels(), std::back_inserter(all));
    return all;
}

WorkspaceOptions Program::workspaceOptions() const
{
    WorkspaceOptions options;
    options.readOnly = m_connections.readOnly;
    options.observe = m_command.observes;
    options.observer.includeLowConfidence = m_arguments.has(u"all"_s);
    const bool asks = m_command.asks && !m_arguments.has(u"yes"_s) && !m_arguments.has(u"dry-run"_s);
    options.observer.follow = m_command.follows || asks || m_arguments.has(u"watch"_s);
    options.observer.everywhere = !options.observer.follow;
    options.labels = labels();
    if (const auto thresholds = readThresholds())
        *options.observer.thresholds = *thresholds;
    else if (m_command.observes)
        complain(thresholds.error().message);
    QString problem;
    (void)savedClientLabels(clientLabelFile(), &problem);
    if (m_command.connects && !problem.isEmpty())
        complain(problem);
    options.observer.within = inspect::searchRoot(m_arguments.value(u"match"_s).toUtf8());
    return options;
}

Task<void> Program::drive()
{
    const auto status = co_await runCommand();
    QCoreApplication::exit(static_cast<int>(status));
}

Task<Exit> Program::runCommand()
{
    if (m_command.mayConnect)
        takeSimulated();
    if (m_command.connects || (m_command.mayConnect && !m_connections.specs.empty())) {
        const auto opened = co_await openSandbox();
        if (opened != Exit::Done)
            co_return opened;
        auto unlocked = fillInPasswords();
        co_await unlocked;
        const auto added = addConnections();
        if (added != Exit::Done)
            co_return added;
        if (m_command.answersSoon && ::isatty(STDERR_FILENO))
            m_context.waiting =
                m_loop.callAt(m_loop.now() + saysWhatItWaitsForAfter, [this] { sayWhatItWaitsFor(); });
    }
    if (m_command.follows || (m_command.observes && m_arguments.has(u"watch"_s))) {
        m_rules = followRules(m_arguments);
        watchWall();
    }
    const auto status = co_await m_command.run(m_context);
    m_context.waiting.cancel();
    co_return status;
}

void Program::watchWall()
{
    if (const auto jump = programClock().takeJump())
        complain(wordsOf(*jump));
    m_wallLook = m_loop.callAt(m_loop.now() + looksAtWallEvery, [this] { watchWall(); });
}

void Program::sayWhatItWaitsFor() const
{
    for (auto *link : m_workspace->links()) {
        const auto problem = link->problem();
        const auto what = link->isConnected() ? u"its answer"_s
                          : problem           ? u"a connection (%1)"_s.arg(problem->message)
                                              : u"a connection"_s;
        complain(u"%1: waiting for %2"_s.arg(link->spec().displayUri(), what));
    }
}

// sim: is no server.
void Program::takeSimulated()
{
    std::erase_if(m_connections.specs, [this](const ConnectionSpec &spec) {
        if (spec.scheme != Scheme::Simulated)
            return false;
        m_context.simulatedSeed = spec.seed;
        return true;
    });
}

// sandbox: stands for the servers it starts.
Task<Exit> Program::openSandbox()
{
    auto &specs = m_connections.specs;
    const auto isSandbox = [](const ConnectionSpec &spec) { return spec.scheme == Scheme::Sandbox; };
    if (std::none_of(specs.begin(), specs.end(), isSandbox))
        co_return Exit::Done;
    std::erase_if(specs, isSandbox);
    m_servers = std::make_unique<PrivateServers>(m_loop, sandbox::SandboxOptions::everything());
    const auto starting = m_servers->start();
    const bool any = co_await starting;
    if (!any)
        co_return Exit::NoConnection;
    for (auto spec : m_servers->connections()) {
        spec.readOnly = m_connections.readOnly;
        specs.push_back(std::move(spec));
    }
    if (const auto named = nameConnections(specs); !named)
        co_return fail(named.error());
    co_return Exit::Done;
}

// From the keychain, those that neither the URI nor the environment gave.
Task<void> Program::fillInPasswords()
{
    const ConnectionStore *store = &m_saved;
    for (auto &spec : m_connections.specs) {
        if (!savedFor(*store, spec))
            continue;
        Completion<ConnectionSpec> filled(m_loop);
        QObject context;
        fillInPassword(m_saved, spec, keychainPatience, &context,
                       [filled](const ConnectionSpec &known) { filled.complete(known); });
        const auto known = co_await filled;
        spec = known;
    }
}

Exit Program::addConnections()
{
    const auto &specs = m_connections.specs;
    const auto hasSecret = [](const ConnectionSpec &spec) {
        return !spec.password.isEmpty() || !spec.transport.tls.keyPassphrase.isEmpty();
    };
    if (std::any_of(specs.begin(), specs.end(), hasSecret))
        app::keepMemoryPrivate();
    for (const auto &spec : specs) {
        if (const auto warning = spec.transport.warning(); !warning.isEmpty())
            complain(u"%1: %2"_s.arg(escaped(spec.name.bytes()), warning));
        if (const auto added = m_workspace->add(spec); !added) {
            complain(u"%1: %2"_s.arg(escaped(spec.name.bytes()), added.error().message));
            return Exit::BadUsage;
        }
    }
    return Exit::Done;
}

} // namespace lockscope::ctl
