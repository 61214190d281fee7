// SPDX-License-Identifier: Apache-2.0
// sandbox: private servers until interrupted.
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/privateservers.h"
#include "core/base/text.h"
#include "core/sandbox/demo.h"

namespace lockscope::ctl {

namespace {

Result<sandbox::SandboxOptions> readOptions(CommandContext &context)
{
    sandbox::SandboxOptions options;
    options.tls = context.has(u"tls"_s);
    if (context.has(u"no-restart"_s))
        options.restartAfter.reset();
    const auto isChosen = [&context](const BackendInfo &backend) { return context.has(backend.defaultName); };
    for (const auto &backend : allBackends()) {
        for (const auto &variant : sandbox::kitOf(backend.kind).variants) {
            if (context.has(variant.option))
                options.variants << variant.option;
        }
    }
    if (std::ranges::none_of(allBackends(), isChosen) && options.variants.isEmpty())
        return options;
    for (const auto &backend : allBackends()) {
        const auto &kit = sandbox::kitOf(backend.kind);
        const auto number = context.arguments.value(backend.defaultName);
        bool isNumber = true;
        int &count = options.servers[backend.kind];
        count = isChosen(backend) ? 1 : 0;
        if (count == 1 && !number.isEmpty())
            count = number.toInt(&isNumber);
        const int least = kit.apart ? 0 : 1;
        if (!isNumber || (isChosen(backend) && count < least) || count > kit.most)
            return Error{ErrorCode::BadInput,
                         (kit.apart ? u"sandbox: --%1 requires a number of servers, up to %2"_s
                                    : u"sandbox: --%1 requires a number of members, up to %2, or none for one"_s)
                             .arg(backend.defaultName, QString::number(kit.most))};
    }
    return options;
}

bool printConnections(CommandContext &context, const std::vector<ConnectionSpec> &connections)
{
    if (!context.json) {
        const auto lines = mapped<QStringList>(
            connections, [&](const auto &connection) { return sandbox::connectArgument(connection); });
        return print(lines.join(u'\n'));
    }
    QJsonArray array;
    for (const auto &connection : connections) {
        const auto argument = sandbox::connectArgument(connection);
        array.append(QJsonObject{{u"name"_s, escaped(connection.name.bytes())},
                                 {u"uri"_s, argument.mid(argument.indexOf(u'=') + 1)}});
    }
    return printJsonLine(QJsonObject{{u"connections"_s, array}});
}

// The lines on stdout are one per server; that some of them make a set is for people.
void printSet(const std::vector<ConnectionSpec> &connections)
{
    ConnectionSpec set;
    for (const auto &connection : connections) {
        if (!areNodesApart(connection.scheme))
            continue;
        set.scheme = connection.scheme;
        set.transport = connection.transport;
        set.hosts.push_back(connection.hosts.front());
    }
    if (set.hosts.size() >= 3)
        printNote(u"together they are a Redlock set: --connect %1\n"_s.arg(set.displayUri()));
}

} // namespace

Task<Result<Exit>> runSandbox(CommandContext &context)
{
    CO_TRY(const auto &options, readOptions(context));
    const Completion<bool> ended(context.loop());
    context.interrupts.setHandler([ended](Interrupt) { ended.complete(true); });
    PrivateServers servers(context.loop(), options);
    auto answering = servers.start();
    // An interrupt while they start ends it as well.
    ended.then([answering](bool) { answering.complete(false); });
    const bool any = co_await answering;
    if (ended.isComplete())
        co_return Exit::Done;
    if (!any)
        co_return Exit::Failed;
    std::unique_ptr<sandbox::Demo> demo;
    if (context.has(u"demo"_s)) {
        demo = std::make_unique<sandbox::Demo>(context.loop(), servers.connections(), Random::fromSystem());
        // Whoever reads the URIs finds the locks there.
        const auto filled = demo->filled();
        ended.then([filled](bool) { filled.complete(false); });
        const bool complete = co_await filled;
        if (!complete && !ended.isComplete())
            printError(u"sandbox: some of the demo's locks did not come up in time"_s);
    }
    if (!ended.isComplete() && !printConnections(context, servers.connections()))
        co_return Exit::Failed;
    printSet(servers.connections());
    co_await ended;
    co_return Exit::Done;
}

PrivateServers::PrivateServers(Loop &loop, sandbox::SandboxOptions options) : m_loop(loop), m_sandbox(options) {}

Completion<bool> PrivateServers::start()
{
    Completion<bool> done(m_loop);
    QObject::connect(&m_sandbox, &sandbox::Sandbox::failed, &m_sandbox,
                     [](const QString &problem) { printError(u"sandbox: "_s + problem); });
    QObject::connect(&m_sandbox, &sandbox::Sandbox::ended, &m_sandbox,
                     [](const QString &why) { printError(u"sandbox: "_s + why); });
    QObject::connect(&m_sandbox, &sandbox::Sandbox::answeredAgain, &m_sandbox, [](const ConnectionSpec &connection) {
        printNote(u"sandbox: %1 answers again\n"_s.arg(QString::fromUtf8(connection.name.bytes())));
    });
    QObject::connect(&m_sandbox, &sandbox::Sandbox::finished, &m_sandbox,
                     [this, done] { done.complete(!m_sandbox.connections().empty()); });
    m_sandbox.begin();
    return done;
}

} // namespace lockscope::ctl
