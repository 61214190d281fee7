// SPDX-License-Identifier: Apache-2.0
// Finding locks: asking the servers, crawling, and what to do with the directories that turn up.
#include "core/inspect/zookeeper/observerprivate.h"

#include "core/async/sleep.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace std::chrono_literals;

namespace {

constexpr auto firstPatience = 1500ms;     // for evidence at first sight
constexpr auto patience = 5s;              // later
constexpr auto whenRefused = 10s;          // how often to ask servers that answer nothing of use
constexpr auto edgesEvery = 250ms;
constexpr auto sweepEvery = 60s;
constexpr auto pausePoll = 200ms;
constexpr int totalsEvery = 10;            // looks between two of wchs and mntr
constexpr int readAtOnce = 20;             // directories read again because of their age, per look

void take(zk::Evidence &into, zk::Evidence &answer, const QByteArray &command)
{
    if (const auto at = answer.answers.find(command); at != answer.answers.end())
        into.answers[command] = std::move(at->second);
}

// The suspects as we see them: every ephemeral of the directory and its parts.
std::vector<ZPath> ephemeralsOf(const DirectoryView &view)
{
    std::vector<ZPath> paths;
    const auto add = [&paths](const ZPath &folder, const std::vector<ZnodeView> &nodes) {
        for (const auto &node : nodes)
            if (!node.stat.ephemeralOwner.isNone())
                paths.push_back(folder.child(node.name));
    };
    add(view.path, view.children);
    for (const auto &[name, nodes] : view.parts) {
        const bool isInside = name == "locks" || name == "leases";
        add((isInside ? view.path : view.path.parent()).child(NodeName(name)), nodes);
    }
    std::ranges::sort(paths);
    return paths;
}

} // namespace

Task<void> ZooKeeperObserver::Private::find()
{
    co_await connected;
    co_await firstLook();
    tellAll();
    first.complete(true);
    tellProgress(false);
    if (!options.follow)
        co_return;
    scope.launch(keepSweeping());
    co_await keepLooking();
}

Task<void> ZooKeeperObserver::Private::firstLook()
{
    tellProgress(true);
    const auto started = loop.now();
    auto asked = source.ask(commands(), Deadline::after(loop, firstPatience));
    auto answer = co_await asked;
    lookTook = loop.now() - started;
    if (answer)
        absorb(std::move(*answer));
    if (canDump()) {
        reconcile(candidates(ephemeralsBelow(evidence, chroot)), true);
    } else {
        auto crawlOnce = crawlOptions(0);
        auto found = [this](const NamesByParent &names) { reconcile(candidates(names), false); };
        auto report = co_await crawl(session, crawlOnce, found);
        crawlDone(report);
    }
    while (!isIdle()) {
        auto idle = whenIdle();
        co_await idle;
    }
}

Task<void> ZooKeeperObserver::Private::keepLooking()
{
    for (;;) {
        const auto rest = std::max<Duration>(canDump() ? Duration(options.dumpEvery) : Duration(whenRefused),
                                             lookTook * restPerWork);
        auto later = sleepFor(loop, rest);
        co_await later;
        while (isPaused || session.state() == zk::SessionState::Connecting) {
            auto resumed = sleepFor(loop, pausePoll);
            co_await resumed;
        }
        if (session.state() != zk::SessionState::Connected)
            co_return;
        const auto started = loop.now();
        auto asked = source.ask(commands(), Deadline::after(loop, patience));
        auto answer = co_await asked;
        lookTook = loop.now() - started;
        if (answer)
            absorb(std::move(*answer));
        if (canDump())
            reconcile(candidates(ephemeralsBelow(evidence, chroot)), true);
        readOldOnes();
        judgeAll();
        tellAll();
        tellProgress(false);
    }
}

Task<void> ZooKeeperObserver::Private::keepSweeping()
{
    for (;;) {
        auto gentle = crawlOptions(restPerWork);
        gentle.inFlight = 8;
        auto found = [this](const NamesByParent &names) { reconcile(candidates(names), false); };
        auto report = co_await crawl(session, gentle, found);
        if (report.sessionOver)
            co_return;
        crawlDone(report);
        tellAll();
        auto later = sleepFor(loop, sweepEvery);
        co_await later;
    }
}

CrawlOptions ZooKeeperObserver::Private::crawlOptions(int restTimes)
{
    CrawlOptions how;
    how.restTimes = restTimes;
    how.isPaused = [this] { return isPaused; };
    how.progressed = [this, last = qint64(0)](qint64 seen, qint64 known) mutable {
        requests += seen - last;
        last = seen;
        crawled.seen = seen;
        if (!first.isComplete()) {
            auto now = progress.value_or(Progress{});
            now.done = seen;
            now.total = known;
            progress = now;
            sink.progressed(now);
        }
    };
    return how;
}

void ZooKeeperObserver::Private::crawlDone(const CrawlReport &report)
{
    reconcile(candidates(report.suspects), false);
    crawled = report;
    crawled.suspects.clear();
    hasCrawled = !report.sessionOver;
}

// Soon after a change, and not too often: who watches whom now.
void ZooKeeperObserver::Private::wantEdges()
{
    // The first look has just asked.
    if (edgesWanted || !options.follow || !first.isComplete() || !(evidence.hasAny("wchp") || evidence.hasAny("cons")))
        return;
    edgesWanted = true;
    scope.launch(refreshEdges());
}

Task<void> ZooKeeperObserver::Private::refreshEdges()
{
    // Whoever joined sets its watch after it has seen the list: give it a moment.
    const auto soonest = loop.now() + 20ms;
    const auto allowed = edgesAsked + std::max<Duration>(edgesEvery, edgesTook * restPerWork);
    auto due = sleepUntil(loop, std::max(soonest, allowed));
    co_await due;
    edgesWanted = false; // a change from here on needs another look
    edgesAsked = loop.now();
    const std::vector<QByteArray> words{"cons", "wchp"};
    requests += static_cast<qint64>(words.size());
    auto asked = source.ask(words, Deadline::after(loop, patience));
    auto answer = co_await asked;
    edgesTook = loop.now() - edgesAsked;
    if (!answer)
        co_return;
    absorb(std::move(*answer));
    judgeAll();
}

std::vector<QByteArray> ZooKeeperObserver::Private::commands()
{
    std::vector<QByteArray> words{"dump", "cons", "wchp"};
    if (looks++ % totalsEvery == 0) {
        words.emplace_back("wchs");
        words.emplace_back("mntr");
    }
    requests += static_cast<qint64>(words.size());
    return words;
}

// What was asked replaces what was known; what was not asked stays, and grows older.
void ZooKeeperObserver::Private::absorb(zk::Evidence answer)
{
    if (hasEvidence) {
        const auto older = std::chrono::duration_cast<std::chrono::milliseconds>(answer.askedAt - evidence.askedAt);
        for (auto &[session_, left] : evidence.expiresIn)
            left = std::max<std::chrono::milliseconds>(0ms, left - older);
    }
    if (answer.answers.contains("dump")) {
        evidence.ephemerals = std::move(answer.ephemerals);
        evidence.expiresIn = std::move(answer.expiresIn);
    }
    if (answer.answers.contains("cons"))
        evidence.connections = std::move(answer.connections);
    if (answer.answers.contains("wchp"))
        evidence.dataWatches = std::move(answer.dataWatches);
    if (answer.answers.contains("wchs"))
        evidence.childWatchTotal = answer.childWatchTotal;
    for (const auto *command : {"dump", "cons", "wchp", "wchs", "mntr"})
        take(evidence, answer, command);
    evidence.askedAt = answer.askedAt;
    hasEvidence = true;
    learnServerClock();
}

// ZooKeeper has no command for the time; but `cons` says when, by the server's clock, our own connection
// was made.
void ZooKeeperObserver::Private::learnServerClock()
{
    const auto own = evidence.connections.find(session.id());
    const auto ours = session.connectedAt() ? session.connectedAt() : connectedAt;
    if (own == evidence.connections.end() || !ours)
        return;
    const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(ours->time_since_epoch());
    serverAhead = own->second.established - at;
    knowsServerClock = true;
    source.setServerAhead(serverAhead);
}

// `complete`: these are all the ephemerals there are, so a directory that is not named has none.
void ZooKeeperObserver::Private::reconcile(const Candidates &found, bool complete)
{
    std::vector<ZPath> toRead;
    for (const auto &[path, suspects] : found) {
        auto [at, isNew] = directories.try_emplace(path);
        auto &directory = at->second;
        const bool changed = directory.suspects != suspects;
        if (complete || isNew)
            directory.suspects = suspects;
        // A watch has told of the change already, unless we looked elsewhere.
        if (isNew || (complete && changed && directory.known && ephemeralsOf(directory.known->view) != suspects))
            toRead.push_back(path);
    }
    if (complete) {
        for (auto &[path, directory] : directories) {
            if (found.contains(path) || directory.suspects.empty())
                continue;
            directory.suspects.clear();
            toRead.push_back(path);
        }
    }
    for (const auto &path : toRead)
        enqueue(path);
}

// A few at a time: lock directories without a watch, and those whose known nodes were not read for long.
void ZooKeeperObserver::Private::readOldOnes()
{
    const auto now = loop.now();
    std::vector<std::pair<Instant, ZPath>> old;
    for (auto &[path, directory] : directories) {
        if (!directory.known || !directory.wasLock)
            continue;
        const bool isUnwatched = directory.known->overBudget && now - directory.readAt > options.pollEvery;
        if (isUnwatched || now - directory.readInFullAt > readInFullEvery)
            old.emplace_back(directory.readAt, path);
    }
    std::ranges::sort(old);
    if (old.size() > readAtOnce)
        old.resize(readAtOnce);
    for (const auto &[readAt, path] : old)
        enqueue(path);
}

} // namespace lockscope::inspect
