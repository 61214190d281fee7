// SPDX-License-Identifier: Apache-2.0
#include "ui/models/pausablebackend.h"

#include "ui/models/locksmodel.h"
#include "ui/models/screenclock.h"

#include <QCoreApplication>

namespace lockscope::ui {

PausableBackend::PausableBackend(Backend &backend, QObject *parent) : Backend(parent), m_backend(backend)
{
    connect(&backend, &Backend::updated, this, &PausableBackend::take);
    connect(&backend, &Backend::znodesChanged, this, [this](const ConnectionName &name, const ZPath &path) {
        if (holdsBack())
            m_znodes.emplace(name, path);
        else
            emit znodesChanged(name, path);
    });
    // Our own locks and runs are not looked at, they are had.
    connect(&backend, &Backend::holdChanged, this, &Backend::holdChanged);
    connect(&backend, &Backend::runProgressed, this, &Backend::runProgressed);
}

void PausableBackend::setPaused(bool paused)
{
    if (std::exchange(m_isPaused, paused) == paused || holdsBack())
        return;
    goOn();
}

void PausableBackend::goOn()
{
    take(m_news.take());
    for (const auto &[name, path] : std::exchange(m_znodes, {}))
        emit znodesChanged(name, path);
    emit waitingChanged();
}

void PausableBackend::take(const Batch &batch)
{
    if (holdsBack())
        return keep(batch);
    // Without the locks: the pages' models have them.
    for (const auto &status : batch.connections)
        m_shown.statuses.insert_or_assign(status.name, status);
    for (const auto &seen : batch.sessions)
        m_shown.sessions.insert_or_assign(seen.connection, seen.sessions);
    for (const auto &seen : batch.coverage)
        m_shown.coverage.insert_or_assign(seen.connection, seen.coverage);
    tell(batch);
}

void PausableBackend::tell(const Batch &batch)
{
    emit aboutToTell();
    emit updated(batch);
}

// --- another moment ----------------------------------------------------------------------------

Error PausableBackend::notNow()
{
    return {
        ErrorCode::Refused,
        tr("not available while you view the past: this was not recorded, and nothing can be changed; return to live view first")};
}

void PausableBackend::showPast(PastPicture then, Past *of)
{
    const bool isFirst = !m_present;
    if (isFirst && m_allLocks) {
        for (const auto *row : m_allLocks->all()) {
            if (!row->gone)
                m_shown.locks.insert_or_assign(row->snapshot.lock, row->snapshot);
        }
    }
    auto next = shownOf(std::move(then), isFirst ? m_shown.statuses : m_present->statuses);
    auto before = std::exchange(m_shown, std::move(next));
    m_of = of;
    if (isFirst) {
        m_present = std::move(before);
        notifyDifference(*m_present, m_shown);
    } else {
        notifyDifference(before, m_shown);
    }
}

void PausableBackend::leavePast()
{
    if (!m_present)
        return;
    const auto before = std::exchange(m_shown, *std::exchange(m_present, std::nullopt));
    m_of = nullptr;
    notifyDifference(before, m_shown);
    m_shown.locks.clear();
    for (const auto &[name, paths] : std::exchange(m_watchThen, {}))
        m_backend.execute(WatchZnodes{name, paths});
    if (!m_isPaused) {
        goOn();
        return;
    }
    // Who acts must know what became of a connection meanwhile, paused or not.
    Batch now;
    for (const auto &[name, status] : m_news.statuses())
        now.connections.push_back(status);
    keep(now);
}

void PausableBackend::notifyDifference(const Shown &from, const Shown &to)
{
    auto batch = difference(from, to);
    batch.isJump = true;
    // What is shown of a connection that was lost is as of when it was: one that was lost at another moment came back
    // in between.
    Batch back;
    back.isJump = true;
    for (const auto &status : batch.connections) {
        const auto before = from.statuses.find(status.name);
        if (before == from.statuses.end() || before->second.asOf == status.asOf
            || status.state == ConnectionStatus::State::Connected
            || before->second.state == ConnectionStatus::State::Connected)
            continue;
        auto standing = status;
        standing.state = ConnectionStatus::State::Connected;
        back.connections.push_back(standing);
    }
    if (!back.connections.empty())
        tell(back);
    tell(batch);
    for (const auto &[name, status] : from.statuses) {
        if (!to.statuses.contains(name))
            emit connectionLeft(name);
    }
}

void PausableBackend::keep(const Batch &batch)
{
    const int before = waiting();
    m_news.add(batch);
    Batch now;
    for (const auto &status : batch.connections) {
        if (m_present)
            break; // what is on screen is not of now
        const auto [told, isNew] = m_shown.statuses.try_emplace(status.name, status);
        ConnectionStatus shown = told->second; // its counters and its "as of" stand still
        shown.state = status.state;
        shown.message = status.message;
        shown.production = status.production;
        shown.readOnly = status.readOnly;
        shown.readOnlyForGood = status.readOnlyForGood;
        shown.writesSent = status.writesSent;
        if (isNew || !(shown == told->second))
            now.connections.push_back(shown);
        told->second = std::move(shown);
    }
    if (!now.connections.empty())
        tell(now);
    if (waiting() != before)
        emit waitingChanged();
}

// --- queries and commands ----------------------------------------------------------------------

void PausableBackend::post(PostedQuery query)
{
    const auto refuse = []<class Q>(Posted<Q> &asked) {
        if constexpr (!AllowedInPast<Q>)
            QTimer::singleShot(0, asked.context, [answer = std::move(asked.answer)] { answer(notNow()); });
        return !AllowedInPast<Q>;
    };
    if (!m_present || !std::visit(refuse, query))
        m_backend.post(std::move(query));
}

void PausableBackend::execute(Command command)
{
    if (m_present && std::visit([this](const auto &given) { return refuses(given); }, command))
        return;
    if (const auto *closed = std::get_if<Disconnect>(&command))
        forget(closed->connection);
    m_backend.execute(std::move(command));
}

template <class T>
bool PausableBackend::refuses(const T &command)
{
    if constexpr (AllowedInPast<T>) {
        return false;
    } else if constexpr (std::is_same_v<T, WatchZnodes>) {
        m_watchThen.insert_or_assign(command.connection, command.paths);
    } else {
        emit refused();
    }
    if constexpr (std::is_same_v<T, AcquireLock>) {
        Hold never;
        never.id = command.hold;
        never.request = command.request;
        never.state = Hold::State::Failed;
        never.message = notNow().message;
        QTimer::singleShot(0, this, [this, never] { emit holdChanged(never); });
    }
    return true;
}

// Drops the kept news of a connection that the user closes.
void PausableBackend::forget(const ConnectionName &name)
{
    m_news.forget(name);
    std::erase_if(m_znodes, [&](const auto &entry) { return entry.first == name; });
    m_shown.statuses.erase(name);
    emit waitingChanged();
}

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

#include "moc_pausablebackend.cpp"
