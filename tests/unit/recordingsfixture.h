// SPDX-License-Identifier: Apache-2.0
// What the suites of recordings begin with: changes of all kinds, made up by a seed, and files of them.
#pragma once

#include "core/base/random.h"
#include "core/history/flightrecorder.h"
#include "core/history/recording.h"
#include "core/inspect/findings.h"

#include <QTemporaryDir>

namespace lockscope::history {

class RecordingsFixture : public QObject {
protected:
    static inline const Moment recordedFrom{std::chrono::milliseconds(1'700'000'000'000)};
    static inline const ConnectionName zkName{"zk"};

    static QByteArray someBytes(Random &random) { return random.bytes(static_cast<qsizetype>(random.below(12))); }

    template <class T>
    static std::optional<T> perhaps(Random &random, T value)
    {
        return random.below(2) ? std::optional<T>(std::move(value)) : std::nullopt;
    }

    static inspect::Identity someIdentity(Random &random, BackendKind backend)
    {
        const auto text = 'x' + someBytes(random);
        const auto number = static_cast<qint64>(random.next());
        if (backend == BackendKind::ZooKeeper)
            return inspect::ZnodeIdentity{.path = text, .czxid = number, .owner = random.next(), .version = 7};
        return inspect::RedisIdentity{.value = text,
                                      .counterpart = someBytes(random),
                                      .expiryMs = perhaps(random, number),
                                      .comesAgain = random.below(2) == 1};
    }

    static inspect::Contender someContender(Random &random, int position)
    {
        inspect::Contender one;
        one.id = someBytes(random);
        one.role = random.below(2) ? inspect::Role::Holder : inspect::Role::Waiter;
        one.mode = static_cast<inspect::Mode>(random.below(4));
        one.position = perhaps(random, position);
        one.session = perhaps(random, QString::fromLatin1(someBytes(random)));
        one.endpoint = perhaps(random, QStringLiteral("10.0.3.7:%1").arg(random.below(60'000)));
        one.identity = perhaps(random, someBytes(random));
        one.reentry = static_cast<int>(random.below(5));
        one.heldSince = perhaps(random, recordedFrom - std::chrono::milliseconds(random.below(1000)));
        one.heldAtMost = random.below(2) == 1;
        one.waitingSince = perhaps(random, recordedFrom);
        one.expiresAt = perhaps(random, recordedFrom + std::chrono::seconds(5));
        one.watches = {{someBytes(random), random.below(2) == 1, inspect::Evidence::Server}};
        if (random.below(2))
            one.limits = {{"lock_timeout", std::chrono::milliseconds(random.below(60'000)), random.below(2) == 1}};
        return one;
    }

    static inspect::LockSnapshot someLock(Random &random)
    {
        inspect::LockSnapshot lock;
        lock.lock = {random.below(3) ? zkName : ConnectionName("redis"),
                     "/locks/" + QByteArray::number(random.below(8))};
        lock.backend = lock.lock.connection == zkName ? BackendKind::ZooKeeper : BackendKind::Redis;
        lock.recipe = "kazoo-lock";
        lock.client = perhaps(random, QStringLiteral("kazoo\u00e9"));
        lock.why = QString::fromLatin1(someBytes(random));
        lock.confidence = static_cast<inspect::Confidence>(random.below(3));
        lock.state = static_cast<inspect::LockState>(random.below(3));
        for (auto count = random.below(4); count > 0; --count)
            lock.contenders.push_back(someContender(random, static_cast<int>(count)));
        for (auto &contender : lock.contenders)
            contender.guard = someIdentity(random, lock.backend);
        lock.waitersKnown = random.below(2) == 1;
        const auto kinds = inspect::findingKinds();
        lock.findings = {
            {kinds[random.below(kinds.size())].code, inspect::Severity::Warning, QStringLiteral("a message"), {"a"}}};
        lock.companions = {someBytes(random)};
        lock.nodes = {
            {QStringLiteral("h:1"), true, perhaps(random, someBytes(random)), perhaps(random, recordedFrom)}};
        lock.observed = recordedFrom;
        lock.serverAhead = std::chrono::milliseconds(random.below(500)) - std::chrono::milliseconds(250);
        return lock;
    }

    static LinkState someConnection(Random &random)
    {
        LinkState state;
        state.name = random.below(3) ? zkName : ConnectionName("redis");
        state.uri = QStringLiteral("zk://h:2181");
        state.production = random.below(2) == 1;
        state.isConnected = random.below(3) > 0;
        state.isLookedThrough = random.below(2) == 1;
        state.isGone = random.below(20) == 0;
        state.problem = state.isConnected ? QString() : QStringLiteral("refused");
        return state;
    }

    static inspect::Coverage someCoverage(Random &random)
    {
        inspect::Coverage coverage{zkName, false, QString::fromLatin1(someBytes(random))};
        if (random.below(2) == 0)
            return coverage;
        auto &deadlock = coverage.endedDeadlocks.emplace_back();
        deadlock.at = recordedFrom - std::chrono::milliseconds(random.below(1000));
        deadlock.isAtLatest = random.below(2) == 1;
        deadlock.count = static_cast<qint64>(random.below(5));
        deadlock.parties.push_back(
            {QStringLiteral("6"), someBytes(random), someBytes(random), someBytes(random), random.below(2) == 1});
        deadlock.unknown = QString::fromLatin1(someBytes(random));
        return coverage;
    }

    static Change someChange(Random &random, Moment at)
    {
        switch (random.below(11)) {
        case 0: return {at, someConnection(random)};
        case 4: return {at, Confirmation{zkName, at}};
        case 1: return {at, CoverageSeen{zkName, {someCoverage(random)}}};
        case 2:
            return {at, SessionsSeen{zkName,
                                     {{zkName,
                                       QStringLiteral("0x1"),
                                       QStringLiteral("h:1"),
                                       {},
                                       {someBytes(random)},
                                       {},
                                       perhaps(random, recordedFrom),
                                       std::chrono::milliseconds(0),
                                       {someBytes(random)},
                                       static_cast<qint64>(random.below(9))}}}};
        case 3:
            return {at, Act{recordedFrom,
                            QStringLiteral("ann@host"),
                            QStringLiteral("force-release"),
                            "zk:/locks/1",
                            "a",
                            {},
                            QStringLiteral("result"),
                            {},
                            {},
                            {}}};
        default:
            return {at, inspect::SnapshotChange{random.below(4) ? inspect::ChangeKind::Changed
                                                                : inspect::ChangeKind::Removed,
                                                someLock(random)}};
        }
    }

    static LinkState standing()
    {
        LinkState state;
        state.name = zkName;
        state.isConnected = state.isLookedThrough = true;
        return state;
    }

    static QByteArray contentsOf(const QString &path)
    {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    QTemporaryDir m_folder;
    int m_count = 0;
    QString freshPath() { return m_folder.filePath(QStringLiteral("%1.lockscope").arg(++m_count)); }
    QString fileOf(const QByteArray &bytes)
    {
        QFile file(freshPath());
        return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() ? file.fileName() : QString();
    }
    // A recording of random changes; what there was after each of them.
    struct Played {
        QString path;
        std::vector<std::pair<Moment, StateSnapshot>> after;
        std::vector<qint64> bytes; // of the file then
    };
    Played play(quint64 seed, int changes)
    {
        Random random(seed);
        Played played;
        played.path = freshPath();
        auto writer = RecordingWriter::create(played.path, recordedFrom);
        auto at = recordedFrom;
        StateSnapshot truth;
        for (int n = 0; n < changes; ++n) {
            at += std::chrono::milliseconds(random.below(400));
            const auto change = someChange(random, at);
            truth.apply(change);
            const auto added = (*writer)->add(change);
            const auto flushed = random.below(5) ? Result<void>() : (*writer)->flush(at);
            if (!added || !flushed)
                return {};
            played.after.emplace_back(at, truth);
        }
        return (*writer)->flush(at) ? played : Played{};
    }
};

} // namespace lockscope::history
