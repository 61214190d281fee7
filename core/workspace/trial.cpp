// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/trial.h"

#include "core/inspect/coverage.h"

namespace lockscope {

namespace {

constexpr std::chrono::seconds rightsWithin(5);

} // namespace

Task<QStringList> Link::rights(Deadline)
{
    const auto backend = backendOf(spec().scheme);
    const auto title = backend ? infoOf(*backend).title : u"this server"_s;
    co_return QStringList{
        u"%1 does not report the user's permissions; a denied request is reported where it happens"_s.arg(title)};
}

Task<Result<ConnectionAccount>> accountOf(Workspace &workspace, ConnectionName name, Deadline deadline)
{
    auto connecting = workspace.whenConnected(name, deadline);
    CO_TRY_VOID(co_await connecting);
    auto *link = workspace.find(name);
    ConnectionAccount account;
    auto asking = link->rights(Deadline::after(workspace.loop(), rightsWithin));
    account.rights = co_await asking;
    // By another one meanwhile, where its session expired.
    const auto first = workspace.find(name)->observer().firstSnapshot();
    const Completion<bool> over(workspace.loop());
    first.then([over](bool) { over.complete(true); });
    over.completeAt(deadline, false);
    account.isFirstLookOver = co_await over;
    link = workspace.find(name);
    account.address = link->spec().displayUri();
    account.server = link->serverVersion();
    account.remark = link->remark();
    if (const auto latency = link->latency())
        account.latency = std::chrono::duration_cast<std::chrono::microseconds>(*latency);
    account.locks = int(link->observer().snapshots().size());
    account.coverage = link->coverage();
    co_return account;
}

Task<Result<ConnectionAccount>> tryConnection(Loop &loop, ConnectionSpec spec, Deadline deadline)
{
    std::vector<ConnectionSpec> named{std::move(spec)};
    CO_TRY_VOID(nameConnections(named));
    WorkspaceOptions options;
    options.readOnly = true;
    Workspace workspace(loop, options, nullptr);
    const auto name = named.front().name;
    CO_TRY_VOID(workspace.add(std::move(named.front())));
    auto asking = accountOf(workspace, name, deadline);
    auto account = co_await asking;
    co_return account;
}

QStringList linesOf(const ConnectionAccount &account)
{
    QStringList reached{u"reached "_s + account.address};
    if (!account.server.isEmpty())
        reached << account.server;
    if (account.latency) {
        const auto latency = std::chrono::duration<double, std::milli>(*account.latency).count();
        reached << u"answers in %1 ms"_s.arg(latency, 0, 'f', 1);
    }
    QStringList lines{reached.join(u", "_s)};
    if (!account.remark.isEmpty())
        lines << account.remark;
    lines << account.rights;
    lines << (account.isFirstLookOver
                  ? u"locks at first sight: %1"_s.arg(account.locks)
                  : u"locks found so far: %1; the initial scan is incomplete"_s.arg(account.locks));
    for (const auto &part : account.coverage) {
        if (part.complete && !part.message.isEmpty())
            lines << u"is seen: "_s + part.message;
    }
    return lines + inspect::gapsIn(account.coverage);
}

} // namespace lockscope
