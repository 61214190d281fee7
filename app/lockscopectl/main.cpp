// SPDX-License-Identifier: Apache-2.0
// lockscopectl: the locks of ZooKeeper, Redis, MariaDB, PostgreSQL and etcd, for terminals, scripts and incidents
// over SSH.
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/privateservers.h"
#include "core/async/qtloop.h"
#include "core/base/logging.h"
#include "core/base/text.h"
#include "core/workspace/settingsfile.h"

#include <QCoreApplication>

namespace lockscope::ctl {

constexpr std::chrono::seconds keychainPatience{30}; // it may ask its user
constexpr std::chrono::seconds saysWhatItWaitsForAfter{3};
constexpr std::chrono::seconds looksAtWallEvery{1};

// One run of lockscopectl: the event loop, the connections, the command.
class Program {
public:
    Program(const CommandSpec &command, Arguments arguments, app::Connections connections)
        : m_command(command), m_arguments(std::move(arguments)), m_connections(std::move(connections)),
          m_saved(ConnectionStore::defaultFile(), systemSecrets()),
          m_workspace(std::make_unique<Workspace>(m_loop, workspaceOptions(), &m_sink)),
          m_pictures(liveSnapshots(*m_workspace, labels())), m_context{m_arguments,
                                                                       *m_workspace,
                                                                       *m_pictures,
                                                                       m_sink,
                                                                       m_interrupts,
                                                                       m_arguments.has(u"json"_s),
                                                                       m_connections.readOnly,
                                                                       {},
                                                                       labels(),
                                                                       m_connections.words},
          m_scope(m_loop)
    {
    }
    ~Program()
    {
        m_scope.cancelAll();
        m_workspace.reset();
        // Our ephemerals must not outlive us, and a sandbox's server must still be there to hear the farewell.
        waitForClosing(std::chrono::seconds(3));
    }
    // Runs the event loop until the command is done.
    [[nodiscard]] int exec()
    {
        // Whoever has nothing of its own to give back just ends.
        m_interrupts.setHandler([](Interrupt) {
            printError(u"interrupted"_s);
            QCoreApplication::exit(static_cast<int>(Exit::Failed));
        });
        m_loop.post([this] { m_scope.launch(drive()); });
        return QCoreApplication::exec();
    }

private:
    // What is said now before what was saved.
    [[nodiscard]] std::vector<inspect::ClientLabel> labels() const
    {
        auto all = m_connections.labels;
        std::ranges::copy(savedClientLabels(), std::back_inserter(all));
        return all;
    }
    [[nodiscard]] bool goesOn() const
    {
        return m_command.follows || m_arguments.has(u"watch"_s) || m_arguments.has(u"listen"_s);
    }
    [[nodiscard]] WorkspaceOptions workspaceOptions() const
    {
        WorkspaceOptions options;
        options.readOnly = m_connections.readOnly;
        options.observe = m_command.observes || goesOn();
        // A lock that was named is shown at any confidence.
        options.observer.includeLowConfidence = m_arguments.has(u"all"_s) || (m_command.run == runShow && goesOn());
        const bool asks = m_command.asks && !m_arguments.has(u"yes"_s) && !m_arguments.has(u"dry-run"_s);
        options.observer.follow = goesOn() || asks || (m_command.run == runFindings && m_arguments.has(u"for"_s));
        options.observer.everywhere = !options.observer.follow;
        options.labels = labels();
        if (const auto thresholds = readThresholds())
            *options.observer.thresholds = *thresholds;
        else if (options.observe)
            printError(thresholds.error().message);
        QString problem;
        (void)savedClientLabels(clientLabelFile(), &problem);
        if (m_command.connects && !problem.isEmpty())
            printError(problem);
        options.observer.within = inspect::searchRoot(m_arguments.value(u"match"_s).toUtf8());
        return options;
    }
    Task<void> drive()
    {
        const auto status = co_await runCommand();
        QCoreApplication::exit(static_cast<int>(status));
    }
    Task<Exit> runCommand()
    {
        if (m_command.mayConnect)
            takeSimulated();
        if (m_command.connects || (m_command.mayConnect && !m_connections.specs.empty())) {
            const auto opened = co_await openSandbox();
            if (opened != Exit::Done)
                co_return opened;
            co_await fillInPasswords();
            const auto added = addConnections();
            if (added != Exit::Done)
                co_return added;
            if (m_command.answersSoon && ::isatty(STDERR_FILENO))
                m_context.waiting =
                    m_loop.callAt(m_loop.now() + saysWhatItWaitsForAfter, [this] { showAwaitedPart(); });
        }
        if (goesOn()) {
            m_rules = followRules(m_arguments);
            watchWall();
        }
        const auto status = co_await m_command.run(m_context);
        m_context.waiting.cancel();
        co_return status ? *status : fail(status.error());
    }
    // sim: is no server.
    void takeSimulated()
    {
        std::erase_if(m_connections.specs, [this](const ConnectionSpec &spec) {
            if (spec.scheme != Scheme::Simulated)
                return false;
            m_context.simulatedSeed = spec.seed;
            return true;
        });
    }
    // sandbox: stands for the servers it starts.
    Task<Exit> openSandbox()
    {
        auto &specs = m_connections.specs;
        const auto isSandbox = [](const ConnectionSpec &spec) { return spec.scheme == Scheme::Sandbox; };
        if (std::none_of(specs.begin(), specs.end(), isSandbox))
            co_return Exit::Done;
        std::erase_if(specs, isSandbox);
        m_servers = std::make_unique<PrivateServers>(m_loop, sandbox::SandboxOptions::everything());
        const bool any = co_await m_servers->start();
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
    Task<void> fillInPasswords()
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
    [[nodiscard]] Exit addConnections()
    {
        const auto &specs = m_connections.specs;
        std::ranges::for_each(specs, app::keepMemoryPrivate); // before the first one connects
        for (const auto &spec : specs) {
            if (const auto warning = spec.transport.warning(); !warning.isEmpty())
                printError(u"%1: %2"_s.arg(escaped(spec.name.bytes()), warning));
            if (const auto added = m_workspace->add(spec); !added) {
                printError(u"%1: %2"_s.arg(escaped(spec.name.bytes()), added.error().message));
                return Exit::BadUsage;
            }
        }
        return Exit::Done;
    }
    // Says so when the machine's wall clock is set meanwhile.
    void watchWall()
    {
        if (const auto jump = programClock().takeJump())
            printError(wordsOf(*jump));
        m_wallLook = m_loop.callAt(m_loop.now() + looksAtWallEvery, [this] { watchWall(); });
    }
    void showAwaitedPart() const
    {
        for (auto *link : m_workspace->links()) {
            const auto problem = link->problem();
            const auto what = link->isConnected() ? u"its answer"_s
                              : problem           ? u"a connection (%1)"_s.arg(problem->message)
                                                  : u"a connection"_s;
            printError(u"%1: waiting for %2"_s.arg(link->spec().displayUri(), what));
        }
    }

    const CommandSpec &m_command;
    Arguments m_arguments;
    app::Connections m_connections;
    ConnectionStore m_saved; // the window's
    QtLoop m_loop;
    Interrupts m_interrupts;
    Sink m_sink;
    std::unique_ptr<PrivateServers> m_servers; // of a sandbox: connection; outlive the workspace
    std::unique_ptr<Workspace> m_workspace;
    std::unique_ptr<SnapshotSource> m_pictures;
    std::unique_ptr<RuleWatch> m_rules; // of a command that goes on
    Timer m_wallLook;                   // of such a one, too
    CommandContext m_context;
    Scope m_scope; // last: its coroutine uses everything above
};

} // namespace lockscope::ctl

using namespace lockscope;
using namespace lockscope::ctl;

namespace {

// The first word that is no option and no option's value, for any command's options.
QString commandWord(const QStringList &arguments)
{
    std::vector<OptionSpec> valued;
    const auto note = [&](const std::vector<OptionSpec> &options) {
        for (const auto &option : options) {
            if (!option.value.isEmpty())
                valued.push_back(option);
        }
    };
    const auto isValueOf = [&](const QString &word, const QString &next) {
        return std::ranges::any_of(
            valued, [&](const auto &option) { return u"--"_s + option.name == word && option.takes(next); });
    };
    note(app::sharedOptions());
    for (const auto &command : commands()) {
        // --redis takes a value with sandbox only, and so on: no name is a switch in one and not in another.
        note(command.options);
    }
    for (qsizetype i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--"_L1)
            break;
        if (i + 1 < arguments.size() && isValueOf(arguments[i], arguments[i + 1]))
            ++i;
        else if (!arguments[i].startsWith(u'-'))
            return arguments[i];
    }
    return {};
}

int endAsBadUsage(const QString &message)
{
    printError(message);
    return static_cast<int>(Exit::BadUsage);
}

int withoutCommand(const QStringList &arguments)
{
    const auto read = app::readArguments(arguments, app::sharedOptions());
    if (!read)
        return endAsBadUsage(read.error().message);
    if (read->has(u"version"_s))
        return print(QStringLiteral("lockscopectl " LOCKSCOPE_VERSION)) ? 0 : 1;
    if (read->has(u"help"_s))
        return print(generalHelp().chopped(1)) ? 0 : 1;
    return endAsBadUsage(u"no command given; run \"lockscopectl --help\" to list commands"_s);
}

// help [TOPIC]
int printTopic(const QStringList &arguments)
{
    const auto read = app::readArguments(arguments, app::sharedOptions());
    if (!read)
        return endAsBadUsage(read.error().message);
    if (read->words.size() > 2)
        return endAsBadUsage(u"help takes one topic; see \"lockscopectl help\""_s);
    const auto topic = read->words.value(1);
    const auto text = topic.isEmpty() ? generalHelp() : topicHelp(topic);
    if (!text)
        return endAsBadUsage(
            u"help: unknown topic \"%1\"; topics are options, connections, names and each command"_s.arg(topic));
    return print(text->chopped(1)) ? 0 : 1;
}

std::vector<OptionSpec> optionsOf(const CommandSpec &command)
{
    auto options = app::sharedOptions();
    options.insert(options.end(), command.options.begin(), command.options.end());
    for (const auto &other : commands()) {
        if (command.isReplay && other.isReplayable)
            options.insert(options.end(), other.options.begin(), other.options.end());
    }
    return options;
}

// What is replayed has options that no recording knows: of which command they are, and why not here, is said by that.
std::optional<Arguments> ofAnyCommand(const QStringList &words)
{
    auto options = app::sharedOptions();
    for (const auto &other : commands())
        options.insert(options.end(), other.options.begin(), other.options.end());
    auto read = app::readArguments(words, options);
    return read ? std::optional(std::move(*read)) : std::nullopt;
}

int runCommand(const CommandSpec &command, const QStringList &words)
{
    const auto options = optionsOf(command);
    auto arguments = app::readArguments(words, options);
    if (auto of = arguments || !command.isReplay ? std::nullopt : ofAnyCommand(words))
        arguments = std::move(*of);
    if (!arguments)
        return endAsBadUsage(arguments.error().message);
    for (const auto &[name, meant] : command.otherNames) {
        if (arguments->has(name))
            arguments->options[meant] << arguments->options.take(name);
    }
    if (arguments->has(u"version"_s))
        return withoutCommand({u"--version"_s});
    if (const auto when = arguments->value(u"color"_s, u"auto"_s); !setColor(when))
        return endAsBadUsage(u"--color takes auto, always or never, not \"%1\""_s.arg(when));
    if (arguments->has(u"help"_s))
        return print(commandHelp(command).chopped(1)) ? 0 : 1;
    const auto given = arguments->words.size() - 1;
    if (given < command.fewestWords)
        return endAsBadUsage(u"%1 requires %2; see \"lockscopectl %1 --help\""_s.arg(command.name, command.words));
    if (given > command.mostWords)
        return endAsBadUsage(u"%1: unexpected argument \"%2\"; see \"lockscopectl %1 --help\""_s.arg(
            command.name, arguments->words.last()));
    if (arguments->hasRest && !command.takesRest)
        return endAsBadUsage(u"%1 takes no command after --"_s.arg(command.name));
    if (command.readsOnly)
        arguments->options[u"read-only"_s] << QString();
    auto connections = app::readConnections(*arguments, app::environmentValue, findConnection);
    if (!connections)
        return endAsBadUsage(connections.error().message);
    for (const auto &note : connections->notes)
        printError(note);
    if (command.connects && connections->specs.empty())
        return endAsBadUsage(
            u"%1 needs a connection: --connect sandbox:, zk://host:2181 or redis://host:6379"_s.arg(command.name));
    if (!takeRules(command, *arguments))
        return static_cast<int>(Exit::BadUsage);
    Program program(command, *arguments, std::move(*connections));
    return program.exec();
}

} // namespace

int main(int argc, char **argv)
{
    // First of all: the passwords leave argv.
    const auto arguments = app::takeArguments(argc, argv);
    QCoreApplication application(argc, argv);
    QCoreApplication::setApplicationName(u"lockscopectl"_s);
    QCoreApplication::setApplicationVersion(QStringLiteral(LOCKSCOPE_VERSION));
    // An error is one line on stderr, said by the command. QT_LOGGING_RULES brings the rest back.
    QLoggingCategory::setFilterRules(u"lockscope.*=false"_s);
    // A category first used by a thread that outlives main() would find no rules any more and say everything.
    (void)logZooKeeper().isDebugEnabled();
    const auto word = commandWord(arguments);
    if (word.isEmpty())
        return withoutCommand(arguments);
    if (word == "help"_L1)
        return printTopic(arguments);
    const auto *command = findCommand(word);
    if (!command)
        return endAsBadUsage(u"unknown command \"%1\"; run \"lockscopectl --help\" to list commands"_s.arg(word));
    return runCommand(*command, arguments);
}
