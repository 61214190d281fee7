// SPDX-License-Identifier: Apache-2.0
#include "core/contention/scenario.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"
#include "core/contention/backendrules.h"
#include "core/contention/mutants/mutants.h"

#include <QJsonArray>

#include <algorithm>
#include <cmath>

namespace lockscope::contention {

using namespace Qt::StringLiterals;

namespace {

struct FaultWords {
    FaultKind kind;
    const char *name;
    QString summary;
};

const std::vector<FaultWords> &words()
{
    static const std::vector<FaultWords> all{
        {FaultKind::Pause, "pause",
         u"a client stops for a while (SIGSTOP, garbage collection), shorter or longer than its lease"_s},
        {FaultKind::Crash, "crash", u"a client dies between two of its requests"_s},
        {FaultKind::LoseRequest, "lose-request", u"a request never arrives; the connection breaks"_s},
        {FaultKind::LoseReply, "lose-reply", u"a request is done, its reply never arrives; the connection breaks"_s},
        {FaultKind::Delay, "delay", u"a message is late"_s},
        {FaultKind::Partition, "partition",
         u"nothing gets through between a client and the server, one way or both"_s},
        {FaultKind::Expire, "expire", u"the server ends a client's session"_s},
        {FaultKind::Lag, "lag", u"a follower shows an older state than the leader's"_s},
        {FaultKind::ClockJump, "clock-jump", u"a wall clock jumps"_s},
        {FaultKind::Drift, "drift", u"a client's clock runs fast or slow"_s},
        {FaultKind::RestartEmpty, "restart-empty", u"the server comes back without its data"_s},
        {FaultKind::Failover, "failover", u"a replica takes over that never saw the last writes"_s},
        {FaultKind::LostPublish, "lost-publish", u"a published message reaches nobody"_s},
        {FaultKind::DeadThread, "dead-thread",
         u"the thread that holds the lock dies; what keeps the lease alive does not"_s},
        {FaultKind::ForceRelease, "force-release", u"an operator takes the lock away from its holder"_s},
    };
    return all;
}

// Numbers in JSON are doubles: a seed has to come back as it was.
constexpr quint64 seedLimit = quint64(1) << 53;
constexpr int mostContenders = 100'000;
constexpr int mostListed = 10'000'000;

QString knownFaults()
{
    QStringList names;
    for (const auto &entry : words())
        names << QString::fromLatin1(entry.name);
    return u"one of "_s + names.join(u", "_s);
}

QJsonObject plannedJson(const PlannedFault &fault)
{
    QJsonObject object{{u"fault"_s, QString::fromLatin1(nameOf(fault.kind))},
                       {u"atUs"_s, qint64(fault.at.count())},
                       {u"contender"_s, fault.contender},
                       {u"lastsMs"_s, qint64(fault.lasts.count())}};
    if (fault.clock != PlannedFault::Clock::Drawn) {
        const bool isServers = fault.clock == PlannedFault::Clock::Server;
        object.insert(u"clock"_s, isServers ? u"server"_s : u"client"_s);
        object.insert(u"back"_s, fault.isBack);
        if (isServers)
            object.insert(u"server"_s, fault.server);
    }
    return object;
}

constexpr int mostClockServers = 5;
constexpr double longestMs = 24.0 * 3600 * 1000;

PlannedFault readPlanned(FieldReader reader)
{
    PlannedFault fault;
    const auto kind = faultByName(reader.text("fault").toUtf8());
    if (kind)
        fault.kind = *kind;
    else
        reader.wrong(u"fault"_s, knownFaults());
    reader.take("atUs", 0, longestMs * 1000, fault.at);
    reader.take("contender", 0, mostContenders - 1, fault.contender);
    reader.take("lastsMs", 0, longestMs, fault.lasts);
    const auto clock = reader.text("clock", QString());
    if (clock == "server"_L1 || clock == "client"_L1)
        fault.clock = clock == "server"_L1 ? PlannedFault::Clock::Server : PlannedFault::Clock::Client;
    else if (!clock.isEmpty())
        reader.wrong(u"clock"_s, u"client or server"_s);
    reader.take("back", fault.isBack);
    reader.take("server", 0, mostClockServers - 1, fault.server);
    reader.nothingElse();
    return fault;
}

} // namespace

const std::vector<FaultKind> &allFaults()
{
    static const auto all = [] {
        std::vector<FaultKind> kinds;
        for (const auto &entry : words())
            kinds.push_back(entry.kind);
        return kinds;
    }();
    return all;
}

QByteArray nameOf(FaultKind fault)
{
    return words()[static_cast<std::size_t>(fault)].name;
}

QString summaryOf(FaultKind fault)
{
    return words()[static_cast<std::size_t>(fault)].summary;
}

std::optional<FaultKind> faultByName(const QByteArray &name)
{
    for (const auto &entry : words()) {
        if (name == entry.name)
            return entry.kind;
    }
    return std::nullopt;
}

std::vector<FaultKind> faultsFor(const QByteArray &recipe)
{
    std::vector<FaultKind> kinds;
    const auto *info = playable(recipe);
    for (const auto kind : allFaults()) {
        if (info && rulesOf(info->backend).canHappen(kind))
            kinds.push_back(kind);
    }
    return kinds;
}

bool isOptimistic(const QByteArray &recipe)
{
    const auto *info = playable(recipe);
    return info && info->optimistic;
}

QJsonObject Scenario::toJson() const
{
    QJsonArray faultNames, plannedFaults;
    for (const auto fault : faults)
        faultNames.append(QString::fromLatin1(nameOf(fault)));
    for (const auto &fault : planned)
        plannedFaults.append(plannedJson(fault));
    QJsonObject object{{u"recipe"_s, QString::fromUtf8(recipe)},
                       {u"contenders"_s, contenders},
                       {u"rounds"_s, rounds},
                       {u"holdMs"_s, qint64(hold.count())},
                       {u"seed"_s, qint64(seed)},
                       {u"faults"_s, faultNames},
                       {u"planned"_s, plannedFaults},
                       {u"arrival"_s, arrival == Arrival::Queued ? u"queued"_s : u"spread"_s},
                       {u"arriveWithinMs"_s, qint64(arriveWithin.count())},
                       {u"perProcess"_s, perProcess},
                       {u"limit"_s, limit},
                       {u"locks"_s, locks},
                       {u"order"_s, isOppositeOrder ? u"opposite"_s : u"same"_s},
                       {u"readersPercent"_s, readersPercent},
                       {u"ttlMs"_s, qint64(ttl.count())},
                       {u"sessionTimeoutMs"_s, qint64(sessionTimeout.count())},
                       {u"checksFencingTokens"_s, checksFencingTokens},
                       {u"keepsEvents"_s, keepsEvents}};
    if (wait)
        object.insert(u"waitMs"_s, qint64(wait->count()));
    if (!withheld.empty()) {
        QJsonArray numbers;
        for (const auto number : withheld)
            numbers.append(number);
        object.insert(u"withheld"_s, numbers);
    }
    return object;
}

Result<Scenario> Scenario::fromJson(const QJsonObject &object)
{
    std::optional<Error> error;
    FieldReader reader(object, {}, error);
    const auto list = [&reader](const char *field) {
        return reader.has(field) ? reader.list(field, 0, mostListed) : QJsonArray();
    };
    Scenario scenario;
    scenario.recipe = reader.text("recipe", QString::fromUtf8(scenario.recipe)).toUtf8();
    reader.take("contenders", 1, mostContenders, scenario.contenders);
    reader.take("rounds", 1, 1'000'000, scenario.rounds);
    reader.take("holdMs", 0, longestMs, scenario.hold);
    reader.take("seed", 0, double(seedLimit - 1), scenario.seed);
    for (const auto &value : list("faults")) {
        if (const auto kind = faultByName(value.toString().toUtf8()))
            scenario.faults.push_back(*kind);
        else
            reader.wrong(u"faults"_s, u"a list of faults, each "_s + knownFaults());
    }
    const auto planned = list("planned");
    for (qsizetype i = 0; i < planned.size(); ++i)
        scenario.planned.push_back(readPlanned(reader.element("planned", planned, i)));
    for (const auto &value : list("withheld")) {
        const auto number = value.toInt(-1);
        if (number < 0)
            reader.wrong(u"withheld"_s, u"a list of whole numbers from 0"_s);
        else
            scenario.withheld.push_back(number);
    }
    const auto arrival = reader.text("arrival", u"queued"_s);
    if (arrival == "spread"_L1)
        scenario.arrival = Arrival::Spread;
    else if (arrival != "queued"_L1)
        reader.wrong(u"arrival"_s, u"queued or spread"_s);
    reader.take("arriveWithinMs", 0, longestMs, scenario.arriveWithin);
    reader.take("perProcess", 1, mostContenders, scenario.perProcess);
    reader.take("limit", 1, mostContenders, scenario.limit);
    reader.take("locks", 1, 2, scenario.locks);
    const auto order = reader.text("order", u"same"_s);
    scenario.isOppositeOrder = order == "opposite"_L1;
    if (!scenario.isOppositeOrder && order != "same"_L1)
        reader.wrong(u"order"_s, u"same or opposite"_s);
    reader.take("readersPercent", 0, 100, scenario.readersPercent);
    reader.take("ttlMs", 1, longestMs, scenario.ttl);
    reader.take("sessionTimeoutMs", 1, longestMs, scenario.sessionTimeout);
    if (reader.has("waitMs")) {
        scenario.wait.emplace();
        reader.take("waitMs", 0, longestMs, *scenario.wait);
    }
    reader.take("checksFencingTokens", scenario.checksFencingTokens);
    reader.take("keepsEvents", scenario.keepsEvents);
    reader.nothingElse();
    if (error)
        return Error{error->code, u"in the scenario "_s + error->message};
    return scenario;
}

Result<void> Scenario::check() const
{
    const auto bad = [](const QString &message) { return Error{ErrorCode::BadInput, message}; };
    const auto *info = playable(recipe);
    const auto name = label(recipe);
    if (!info)
        return bad(u"there is no recipe \"%1\"; see lockscopectl recipes"_s.arg(name));
    if (!info->acquirable)
        return bad(u"recipe %1 can be seen but not acquired, and so not played"_s.arg(name));
    if (!info->simulated)
        return bad(u"recipe %1 cannot be played in this version: there is no simulated %2"_s.arg(
            name, infoOf(info->backend).title));
    if (contenders < 1 || contenders > mostContenders)
        return bad(u"%1 contenders cannot be played: from 1 to %2"_s.arg(contenders).arg(mostContenders));
    if (rounds < 1)
        return bad(u"%1 rounds are none: at least 1"_s.arg(rounds));
    if (seed >= seedLimit)
        return bad(u"the seed %1 is too large: below %2"_s.arg(seed).arg(seedLimit));
    if (limit != 1 && !info->counted)
        return bad(u"recipe %1 has one permit, not %2"_s.arg(name, QString::number(limit)));
    if (locks != 1 && !rulesOf(info->backend).playsTwoLocks)
        return bad(u"recipe %1 is played with one lock: two are for those on ZooKeeper"_s.arg(name));
    if (readersPercent != 0 && !info->readWrite)
        return bad(u"recipe %1 has no read mode"_s.arg(name));
    if (perProcess > 1 && infoOf(info->backend).oneLockEach)
        return bad(u"a session on %1 carries one lock at a time: one contender per process"_s.arg(
            infoOf(info->backend).title));
    const auto isForced = [](const PlannedFault &fault) { return fault.kind == FaultKind::ForceRelease; };
    if (locks != 1
        && (std::count(faults.begin(), faults.end(), FaultKind::ForceRelease) > 0
            || std::any_of(planned.begin(), planned.end(), isForced)))
        return bad(u"of two locks none can be force-released here"_s);
    for (const auto fault : faults) {
        if (!rulesOf(info->backend).canHappen(fault))
            return bad(u"the fault %1 cannot happen to %2"_s.arg(QString::fromLatin1(nameOf(fault)), name));
    }
    for (const auto &fault : planned) {
        if (!rulesOf(info->backend).canHappen(fault.kind))
            return bad(u"the fault %1 cannot happen to %2"_s.arg(QString::fromLatin1(nameOf(fault.kind)), name));
        if (fault.contender < 0 || fault.contender >= contenders)
            return bad(u"there is no contender %1 that a fault could befall"_s.arg(fault.contender));
    }
    return {};
}

} // namespace lockscope::contention
