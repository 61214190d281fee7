// SPDX-License-Identifier: Apache-2.0
// sandbox: private servers until interrupted.
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/privateservers.h"
#include "core/async/completion.h"
#include "core/base/text.h"
#include "core/sandbox/demo.h"

#include <QJsonArray>

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

namespace {

Result<sandbox::SandboxOptions> readOptions(CommandContext &context)
{
    sandbox::SandboxOptions options;
    const bool isChosen = context.has(u"zk"_s) || context.has(u"redis"_s) || context.has(u"mariadb"_s);
    options.zooKeeper = !isChosen || context.has(u"zk"_s);
    bool isCount = true;
    const auto members = context.arguments.value(u"zk"_s);
    options.zooKeeperMembers = members.isEmpty() ? 1 : members.toInt(&isCount);
    if (!isCount || options.zooKeeperMembers < 1 || options.zooKeeperMembers > 9)
        return Error{ErrorCode::BadInput, u"sandbox: --zk wants a number of members, up to 9, or none for one"_s};
    options.mariaDb = context.has(u"mariadb"_s);
    bool isNumber = true;
    options.redis = context.has(u"redis"_s) ? context.arguments.value(u"redis"_s).toInt(&isNumber) : isChosen ? 0 : 1;
    if (!isNumber || options.redis < 0 || options.redis > 64)
        return Error{ErrorCode::BadInput, u"sandbox: --redis wants a number of servers, up to 64"_s};
    return options;
}

bool printConnections(CommandContext &context, const std::vector<ConnectionSpec> &connections)
{
    if (!context.json) {
        QStringList lines;
        for (const auto &connection : connections)
            lines << sandbox::connectArgument(connection);
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
void tellOfSet(const std::vector<ConnectionSpec> &connections)
{
    ConnectionSpec set;
    set.scheme = Scheme::Redis;
    for (const auto &connection : connections) {
        if (connection.scheme == Scheme::Redis)
            set.hosts.push_back(connection.hosts.front());
    }
    if (set.hosts.size() >= 3)
        remark(u"together they are a Redlock set: --connect %1\n"_s.arg(set.displayUri()));
}

Task<Exit> runSandbox(CommandContext &context)
{
    const auto options = readOptions(context);
    if (!options)
        co_return fail(options.error());
    const Completion<bool> ended(context.loop());
    context.interrupts.setHandler([ended](Interrupt) { ended.complete(true); });
    PrivateServers servers(context.loop(), *options);
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
            complain(u"sandbox: some of the demo's locks did not come up in time"_s);
    }
    if (!ended.isComplete() && !printConnections(context, servers.connections()))
        co_return Exit::Failed;
    tellOfSet(servers.connections());
    co_await ended;
    co_return Exit::Done;
}

} // namespace

CommandSpec sandboxCommand()
{
    CommandSpec spec;
    spec.name = u"sandbox"_s;
    spec.summary = u"start private servers on loopback, print their URIs, stay until interrupted"_s;
    spec.more = u"Prints one NAME=URI per line (each fits --connect) once all of them answer. Without a choice: "
                u"ZooKeeper and one Redis. Nothing is left behind."_s;
    spec.options = {
        {u"zk"_s, u"[N]"_s, u"a ZooKeeper; with N an ensemble of N members, under one URI"_s},
        {u"redis"_s, u"N"_s, u"N Redis servers"_s},
        {u"mariadb"_s, {}, u"a MariaDB"_s},
        {u"demo"_s, {}, u"fill them with live locks"_s},
    };
    spec.connects = false;
    spec.run = runSandbox;
    return spec;
}

} // namespace lockscope::ctl
