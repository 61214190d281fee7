// SPDX-License-Identifier: Apache-2.0
#include "ui/models/shown.h"

#include "ui/models/screenclock.h"

#include <QCoreApplication>

#include <algorithm>

namespace lockscope::ui {

namespace {

Scheme schemeOf(const inspect::LinkState &state)
{
    const auto &schemes = infoOf(state.backend).schemes;
    const auto at = std::ranges::find_if(
        schemes, [&state](const auto &scheme) { return state.uri.startsWith(scheme.word + u"://"_s); });
    return at == schemes.end() ? schemes.front().scheme : at->scheme;
}

ConnectionStatus statusThen(const PastPicture &past, const inspect::LinkState &state)
{
    ConnectionStatus status;
    status.name = state.name;
    status.scheme = schemeOf(state);
    status.uri = state.uri;
    status.state = state.isConnected ? ConnectionStatus::State::Connected : ConnectionStatus::State::Broken;
    status.message = state.problem;
    if (const auto confirmed = past.picture.lastConfirmed(state.name, past.at))
        status.asOf = *confirmed;
    status.production = state.production;
    status.readOnly = status.readOnlyForGood = true;
    status.progress.connection = state.name;
    status.progress.firstSnapshotComplete = state.isLookedThrough || !state.isConnected; // nothing more will come
    return status;
}

// Nor that it was broken.
QString nothingRecorded(const PastPicture &past, const ConnectionName &name)
{
    const auto first = past.firsts.find(name);
    return first == past.firsts.end() || first->second <= past.at
               ? QCoreApplication::translate("Shown", "nothing is recorded of it then")
               : QCoreApplication::translate("Shown", "not recorded before %1")
                     .arg(timeOfDay(first->second).toString(u"HH:mm:ss"_s));
}

QString firstScanThen()
{
    return QCoreApplication::translate("Shown", "its first scan was not over then");
}

} // namespace

Batch difference(const Shown &from, const Shown &to)
{
    Batch batch;
    const Overloaded sort{[&batch](inspect::SnapshotChange &change) { batch.locks.push_back(std::move(change)); },
                          [&batch](inspect::SessionsSeen &seen) { batch.sessions.push_back(std::move(seen)); },
                          [&batch](inspect::CoverageSeen &seen) { batch.coverage.push_back(std::move(seen)); },
                          [](const auto &) {}};
    for (auto &change : inspect::difference(from, to, {}))
        std::visit(sort, change.what);
    for (const auto &[name, status] : to.statuses) {
        const auto before = from.statuses.find(name);
        if (before == from.statuses.end() || !(before->second == status))
            batch.connections.push_back(status);
    }
    return batch;
}

Shown shownOf(PastPicture past, const std::map<ConnectionName, ConnectionStatus> &known)
{
    Shown shown;
    const auto at = past.at;
    for (const auto &[name, state] : past.picture.connections)
        shown.statuses.insert_or_assign(name, statusThen(past, state));
    for (const auto &coverage : inspect::coverageAsOf(past.picture))
        shown.coverage[coverage.connection].push_back(coverage);
    for (const auto &[name, first] : past.firsts) {
        const auto status = shown.statuses.find(name);
        if (first > at && status != shown.statuses.end() && status->second.message.isEmpty())
            shown.coverage.insert_or_assign(
                name, std::vector<inspect::Coverage>{{name, false, nothingRecorded(past, name)}});
    }
    shown.locks = std::move(past.picture.locks); // all there were: not copied in the GUI thread
    shown.sessions = std::move(past.picture.sessions);
    for (const auto &[name, status] : known) {
        if (shown.statuses.contains(name))
            continue;
        // Its locks may be told of a moment before it is.
        const auto first = shown.locks.lower_bound({name, {}});
        const bool isThere = first != shown.locks.end() && first->first.connection == name;
        const QString unknown = isThere ? firstScanThen() : nothingRecorded(past, name);
        auto then = status;
        then.state = isThere ? ConnectionStatus::State::Connecting : ConnectionStatus::State::Broken;
        then.asOf = {};
        if (isThere)
            then.asOf = at;
        then.message = unknown;
        then.isRecorded = isThere;
        then.readOnly = then.readOnlyForGood = true;
        then.progress = {name, {}, 0, 0, false, !isThere};
        then.cost = {};
        then.latency.reset();
        shown.statuses.insert_or_assign(name, then);
        shown.coverage.insert_or_assign(name, std::vector<inspect::Coverage>{{name, false, unknown}});
    }
    return shown;
}

} // namespace lockscope::ui
