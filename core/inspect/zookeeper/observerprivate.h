// SPDX-License-Identifier: Apache-2.0
// The parts of the observer: finding (observerfind.cpp), following (observerfollow.cpp), telling
// (observertell.cpp).
#pragma once

#include "core/async/scope.h"
#include "core/inspect/findings.h"
#include "core/inspect/pace.h"
#include "core/inspect/zookeeper/observer.h"
#include "core/inspect/zookeeper/observercandidates.h"
#include "core/inspect/zookeeper/observercrawl.h"
#include "core/inspect/zookeeper/observerreader.h"
#include "core/inspect/zookeeper/observerreport.h"
#include "core/inspect/zookeeper/sessionfindings.h"

#include <deque>

namespace lockscope::inspect {

// So old may be what is known of a node: its client may change what it wrote into it.
inline constexpr Duration readInFullEvery = std::chrono::seconds(60);

// One watch on the children of a folder.
struct WatchSlot {
    bool armed = false; // the server has it
    bool fired = false;
};

// A directory that holds a lock, or may.
struct Directory {
    std::shared_ptr<const ReadAnswer> known;     // as last read; null before
    std::vector<ZPath> suspects;                 // as last named by `dump` or a crawl, sorted
    std::map<ZPath, std::shared_ptr<WatchSlot>> watches; // by folder
    HeadSince headSince;                         // holders that we saw get there
    bool wasLock = false;
    bool isQueued = false;
    bool isReading = false;
    bool isStale = false;                        // something happened while it was being read
    bool hadGap = false;                         // the connection was broken since it was read
    Duration took{};                             // the last reading
    Instant readAt{};
    Instant readInFullAt{};                      // nodes known before included
    Duration judgeTook{};
    Instant judgedAt{};
    Timer later;
};

struct ZooKeeperObserver::Private {
    Private(zk::Session &s, zk::EvidenceSource &e, ConnectionName name, QByteArray root, ObserverOptions o,
            ObserverSink &to);

    // Finding.
    Task<void> find();
    Task<void> firstLook();
    Task<void> keepLooking();
    Task<void> keepSweeping();
    Task<void> refreshEdges();
    void wantEdges();
    [[nodiscard]] std::vector<QByteArray> commands();
    void absorb(zk::Evidence answer);
    void learnServerClock();
    void reconcile(const Candidates &found, bool complete);
    [[nodiscard]] CrawlOptions crawlOptions(int restTimes);
    void crawlDone(const CrawlReport &report);
    [[nodiscard]] bool canDump() const { return evidence.hasAny("dump"); }
    void readOldOnes();

    // Following.
    void enqueue(const ZPath &path);
    void pump();
    Task<void> read(ZPath path);
    [[nodiscard]] ReadRequest requestFor(const ZPath &path);
    [[nodiscard]] std::optional<zk::Watch> watchFor(const ZPath &directory, const ZPath &folder);
    void watchSet(const ZPath &directory, const ZPath &folder);
    void watchFired(const ZPath &directory, const std::shared_ptr<WatchSlot> &slot, zk::EventKind event);
    void finish(const ZPath &path, Instant started, Result<ReadAnswer> answer);
    void forget(const ZPath &path);
    void connectionBack();
    [[nodiscard]] OneShot<bool> whenIdle();
    void learnFromNodes(const DirectoryView &view);
    [[nodiscard]] bool isIdle() const { return queue.empty() && reading == 0; }

    // Telling.
    [[nodiscard]] ServerTime serverNow() const;
    [[nodiscard]] RecogniseContext context(const zk::Evidence *with) const;
    [[nodiscard]] std::vector<LockPicture> picturesOf(const DirectoryView &view, const zk::Evidence *with,
                                                      bool all);
    void noteHeads(Directory &directory, std::vector<LockPicture> &now, bool isFirstLook);
    [[nodiscard]] std::vector<PictureChange> judge(const ZPath &path, Directory &directory, bool isFirstLook);
    void judgeAll();
    void tellAll();
    void tellProgress(bool running);
    [[nodiscard]] SearchFacts searchFacts() const;
    Task<Result<LockPicture>> readNow(QByteArray name, Deadline deadline);
    [[nodiscard]] std::vector<ReadRequest> placesOf(const QByteArray &name, Deadline deadline) const;

    zk::Session &session;
    zk::EvidenceSource &source;
    Loop &loop;
    ConnectionName connection;
    QByteArray chroot;
    ObserverOptions options;
    ObserverSink &sink;

    OneShot<bool> connected; // for the first time
    OneShot<bool> first;
    bool isPaused = false;
    bool wasBroken = false;
    std::optional<std::chrono::system_clock::time_point> connectedAt; // seen ourselves
    std::chrono::milliseconds serverAhead{};

    zk::Evidence evidence;
    bool hasEvidence = false;
    bool knowsServerClock = false;
    int looks = 0;
    Duration lookTook{};
    Instant edgesAsked{};
    Duration edgesTook{};
    bool edgesWanted = false;
    CrawlReport crawled;
    bool hasCrawled = false;     // to the end, at least once

    std::map<ZPath, Directory> directories;
    std::deque<ZPath> queue;
    int reading = 0;
    Timer pumpSoon;
    std::vector<OneShot<bool>> idleWaiters;
    std::map<ZPath, QString> unreadable; // directories we may not read

    PictureStore store{expiryWavers};
    LostWakeupMemory wakeups;
    std::vector<SessionPicture> sessions;
    std::vector<Coverage> coverage;
    std::optional<Progress> progress;
    std::optional<Cost> cost;
    qint64 requests = 0;
    qint64 requestsTold = 0;
    Instant costTold{};

    zk::StateSubscription states;
    Scope scope; // last: its coroutines use all of the above
};

} // namespace lockscope::inspect
