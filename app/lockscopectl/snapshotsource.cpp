// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/snapshotsource.h"

#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/workspace/newsfeed.h"

namespace lockscope::ctl {

std::vector<inspect::LockSnapshot> SnapshotSource::labelled(std::vector<inspect::LockSnapshot> locks) const
{
    if (!m_labels.empty()) {
        for (auto &lock : locks)
            addLabels(lock, m_labels);
    }
    return locks;
}

namespace {

// Longer than that nobody waits for what stands beside an answer: a server with millions of keys is not looked
// through for it.
constexpr std::chrono::seconds besideWithin(3);

HeldBeside heldBeside(const inspect::LockSnapshot &lock, std::vector<inspect::LockSnapshot> all)
{
    all.push_back(lock);
    return inspect::heldWith(lock, inspect::heldTogether(all));
}

} // namespace

Task<bool> lookThrough(Workspace *workspace, ConnectionName name)
{
    auto *link = workspace->find(name);
    if (!link || !link->isConnected())
        co_return false;
    link->observer().start();
    const Completion<bool> seen(workspace->loop());
    link->observer().firstSnapshot().then([seen](bool) { seen.complete(true); });
    seen.completeAt(Deadline::after(workspace->loop(), besideWithin), false);
    const bool isSeen = co_await seen;
    link = workspace->find(name);
    co_return isSeen &&link && link->isConnected();
}

namespace {

// --- servers -----------------------------------------------------------------------------------

class LiveSnapshots final : public SnapshotSource {
public:
    LiveSnapshots(Workspace &workspace, std::vector<inspect::ClientLabel> labels)
        : SnapshotSource(std::move(labels)), m_workspace(workspace)
    {
    }
    Task<Exit> look(CommandContext &context) override { return lookAround(context); }

    Task<bool> lookSoon() override
    {
        const auto deadline = Deadline::after(m_workspace.loop(), besideWithin);
        bool isAllSeen = true;
        for (auto *link : m_workspace.links()) {
            const auto name = link->spec().name;
            const auto connected = co_await m_workspace.whenConnected(name, deadline);
            const bool isSeen = co_await lookThrough(&m_workspace, name);
            isAllSeen = isAllSeen && connected && isSeen;
        }
        co_return isAllSeen;
    }

    Task<Result<inspect::LockSnapshot>> read(inspect::LockName lock, Deadline deadline) override
    {
        auto read = co_await m_workspace.read(lock, deadline);
        if (const auto *link = m_workspace.find(lock.connection); link && link->isConnected())
            printRemark(*link);
        if (read)
            addLabels(*read, clientLabels());
        co_return read;
    }

    Task<std::optional<HeldBeside>> heldWith(inspect::LockSnapshot lock) override
    {
        if (inspect::holdingThreads(lock).empty())
            co_return HeldBeside();
        const bool isSeen = co_await lookThrough(&m_workspace, lock.lock.connection);
        if (!isSeen)
            co_return std::nullopt;
        co_return heldBeside(lock, m_workspace.find(lock.lock.connection)->observer().snapshots());
    }
    [[nodiscard]] bool isAnySeen() override
    {
        const auto links = m_workspace.links();
        return std::ranges::any_of(links, [](const Link *link) { return link->isConnected(); });
    }
    [[nodiscard]] std::vector<inspect::LockSnapshot> locks() override { return labelled(everySnapshot(m_workspace)); }

    [[nodiscard]] std::vector<inspect::SessionSnapshot> sessions() override
    {
        std::vector<inspect::SessionSnapshot> all;
        for (auto *link : m_workspace.links()) {
            if (!link->isConnected())
                continue;
            for (auto &session : link->observer().sessions())
                all.push_back(std::move(session));
        }
        return all;
    }
    Task<inspect::WaitGraph> waits(Deadline deadline) override
    {
        m_unread.clear();
        return lookForDeadlocks(m_workspace, clientLabels(), deadline, &m_unread);
    }
    [[nodiscard]] bool isReadAgain(const ConnectionName &name) const override { return !m_unread.contains(name); }

    [[nodiscard]] std::vector<inspect::Coverage> coverage() override
    {
        std::vector<inspect::Coverage> all;
        for (auto *link : m_workspace.links()) {
            if (!link->isConnected()) {
                const auto problem = link->problem();
                all.push_back({link->spec().name, false, problem ? problem->message : u"not connected"_s});
                continue;
            }
            for (auto &part : link->coverage())
                all.push_back(std::move(part));
            if (!link->observer().firstSnapshot().isComplete())
                all.push_back({link->spec().name, false, u"the initial scan is not complete"_s});
            if (!isReadAgain(link->spec().name))
                all.push_back({link->spec().name, false, u"a deadlock was seen once and could not be read again"_s});
        }
        return all;
    }

    [[nodiscard]] std::vector<inspect::Coverage> coverageOf(const ConnectionName &name) override
    {
        auto *link = m_workspace.find(name);
        auto all = link && link->isConnected() ? link->coverage() : std::vector<inspect::Coverage>();
        for (auto &part : all) {
            if (part.complete && !link->observer().firstSnapshot().isComplete())
                part.message = u"the lock was read, and nothing else"_s;
        }
        return all;
    }
    [[nodiscard]] std::vector<inspect::LinkState> connections() override
    {
        return mapped<std::vector<inspect::LinkState>>(m_workspace.links(),
                                                       [&](auto *link) { return stateOf(*link); });
    }
    [[nodiscard]] Result<inspect::LockName> parseLock(const QString &text) override
    {
        return m_workspace.parseLock(text);
    }
    [[nodiscard]] history::Moment now() const override
    {
        return std::chrono::time_point_cast<std::chrono::milliseconds>(datedNow(m_workspace.loop()));
    }

private:
    Workspace &m_workspace;
    std::set<ConnectionName> m_unread; // as of the last waits()
};

// --- a recording -------------------------------------------------------------------------------

class RecordedSnapshots final : public SnapshotSource {
public:
    // As of that moment of it. `recording` outlives this.
    RecordedSnapshots(const history::FlightRecording &recording, history::Moment asOf, inspect::StateSnapshot picture,
                      std::vector<inspect::ClientLabel> labels)
        : SnapshotSource(std::move(labels)), m_recording(recording), m_asOf(asOf), m_picture(std::move(picture))
    {
    }
    Task<Exit> look(CommandContext &) override { co_return Exit::Done; }
    Task<bool> lookSoon() override
    {
        co_return true; // what was not recorded is in the coverage
    }

    Task<Result<inspect::LockSnapshot>> read(inspect::LockName lock, Deadline) override
    {
        const auto at = m_picture.locks.find(lock);
        if (at == m_picture.locks.end())
            co_return Error{ErrorCode::NoNode, u"the recording shows no lock %1 at %2; %3"_s.arg(
                                                   escaped(lock.text()), inspect::isoTime(m_asOf), elsewhen(lock))};
        auto then = inspect::lockAsOf(m_picture, at->second, m_asOf);
        addLabels(then, clientLabels());
        co_return then;
    }
    Task<std::optional<HeldBeside>> heldWith(inspect::LockSnapshot lock) override
    {
        co_return heldBeside(lock, locks());
    }
    [[nodiscard]] bool isAnySeen() override { return true; }
    [[nodiscard]] std::vector<inspect::LockSnapshot> locks() override
    {
        return labelled(inspect::locksAsOf(m_picture, m_asOf));
    }
    [[nodiscard]] std::vector<inspect::SessionSnapshot> sessions() override
    {
        std::vector<inspect::SessionSnapshot> all;
        for (const auto &[name, sessions] : m_picture.sessions)
            all.insert(all.end(), sessions.begin(), sessions.end());
        return all;
    }
    Task<inspect::WaitGraph> waits(Deadline) override
    {
        auto graph = waitsThen(m_recording, m_picture, m_asOf, clientLabels());
        co_return graph;
    }

    [[nodiscard]] std::vector<inspect::Coverage> coverage() override
    {
        auto all = inspect::coverageAsOf(m_picture);
        if (m_recording.version() < history::coverageFormat) {
            for (const auto &[name, state] : m_picture.connections)
                all.push_back(
                    {name, false, u"hidden locks and what is not understood: an older version recorded this"_s});
        }
        return all;
    }
    [[nodiscard]] std::vector<inspect::Coverage> coverageOf(const ConnectionName &name) override
    {
        auto all = coverage();
        std::erase_if(all, [&name](const auto &part) { return part.connection != name; });
        return all;
    }
    [[nodiscard]] std::vector<inspect::LinkState> connections() override
    {
        std::vector<inspect::LinkState> all;
        for (const auto &[name, state] : m_picture.connections)
            all.push_back(state);
        return all;
    }

    // Also by a connection that is in the recording only later: what is said of its locks is when they came.
    [[nodiscard]] Result<inspect::LockName> parseLock(const QString &text) override
    {
        auto connections = m_picture.connections;
        if (const auto last = m_recording.at(m_recording.end()))
            connections.insert(last->connections.begin(), last->connections.end());
        std::vector<ConnectionName> names;
        for (const auto &[name, state] : connections)
            names.push_back(name);
        auto lock = lockscope::parseLock(text, names);
        if (lock)
            lock->name = nameAsStored(connections.at(lock->connection).backend, lock->name);
        return lock;
    }

    [[nodiscard]] history::Moment now() const override { return m_asOf; }
    [[nodiscard]] std::optional<RecordedMoment> recorded() const override
    {
        return RecordedMoment{&m_recording, m_asOf};
    }

private:
    // Of a lock that is not in the picture: when it is, and how that is asked for.
    // What has ended is mostly what somebody asks for.
    [[nodiscard]] QString elsewhen(const inspect::LockName &lock) const
    {
        const auto history = m_recording.historyOf(lock, m_recording.end());
        std::optional<history::Moment> before;
        std::optional<history::Moment> after;
        bool isThere = false;
        for (const auto &moment : history ? history->moments : std::vector<history::LockMoment>()) {
            if (isThere && moment.at <= m_asOf)
                before = std::max(history->begin, moment.at - std::chrono::milliseconds(1));
            isThere = moment.lock.has_value();
            if (isThere && moment.at > m_asOf && !after)
                after = moment.at;
        }
        if (before)
            return u"it was there until then: replay FILE --at %1"_s.arg(inspect::isoTime(*before));
        if (after)
            return u"it came later: replay FILE --at %1"_s.arg(inspect::isoTime(*after));
        const auto coverage = m_picture.coverage.find(lock.connection);
        qint64 hidden = 0;
        if (coverage != m_picture.coverage.end()) {
            for (const auto &part : coverage->second)
                hidden += part.hidden.count;
        }
        if (hidden > 0)
            return u"it may be hidden: %1 not recorded, and record --all records them"_s.arg(
                amountOf(hidden, "low-confidence lock was"_L1, "low-confidence locks were"_L1));
        return u"run \"replay FILE --at TIME locks\" to list the locks at that time"_s;
    }

    const history::FlightRecording &m_recording;
    history::Moment m_asOf;
    inspect::StateSnapshot m_picture;
};

} // namespace

std::unique_ptr<SnapshotSource> liveSnapshots(Workspace &workspace, std::vector<inspect::ClientLabel> labels)
{
    return std::make_unique<LiveSnapshots>(workspace, std::move(labels));
}

std::unique_ptr<SnapshotSource> recordedSnapshots(const history::FlightRecording &recording, history::Moment asOf,
                                                  inspect::StateSnapshot picture,
                                                  std::vector<inspect::ClientLabel> labels)
{
    return std::make_unique<RecordedSnapshots>(recording, asOf, std::move(picture), std::move(labels));
}

Sink::~Sink()
{
    clearProgress();
}

void Sink::showProgress(bool shown)
{
    m_progressShown = shown && ::isatty(STDERR_FILENO);
    if (!m_progressShown)
        clearProgress();
}

std::optional<Instant> Sink::lastNews(const ConnectionName &name) const
{
    const auto at = m_news.find(name);
    return at == m_news.end() ? std::nullopt : std::optional(at->second);
}

void Sink::take(inspect::Change::What change)
{
    if (const auto *news = std::get_if<inspect::SnapshotChange>(&change)) {
        heardOf(news->lock.lock.connection);
        if (m_listener)
            m_listener(*news);
    } else if (const auto *seen = std::get_if<inspect::CoverageSeen>(&change); seen && m_coverageListener) {
        m_coverageListener(seen->connection, seen->coverage);
    } else if (const auto *progress = std::get_if<inspect::Progress>(&change)) {
        note(*progress);
    }
    if (m_other)
        m_other->take(std::move(change));
}

void Sink::heardOf(const ConnectionName &name)
{
    m_news[name] = std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

void Sink::note(const inspect::Progress &progress)
{
    const auto known = m_farthest.try_emplace(progress.connection, -1).first;
    if (progress.done > known->second) {
        known->second = progress.done;
        heardOf(progress.connection);
    }
    if (!m_progressShown || !progress.running)
        return;
    const auto of = progress.total > 0 ? u" of %L1"_s.arg(progress.total) : QString();
    showOnLine(u"%1: %2, read %3%4"_s.arg(label(progress.connection.bytes()), progress.how,
                                          u"%L1"_s.arg(progress.done), of));
    m_lineUsed = true;
}

void Sink::clearProgress()
{
    if (std::exchange(m_lineUsed, false))
        showOnLine({});
}

} // namespace lockscope::ctl
