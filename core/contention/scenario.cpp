// SPDX-License-Identifier: Apache-2.0
#include "core/contention/scenario.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"
#include "core/contention/faults.h"

#include <cmath>

namespace lockscope::contention {

namespace {

Error bad(const QString &message)
{
    return Error{ErrorCode::BadInput, message};
}

Result<void> numbersFit(const Scenario &scenario, const recipes::RecipeInfo &info)
{
    const auto name = label(scenario.recipe);
    if (scenario.contenders < 1 || scenario.contenders > mostContenders)
        return bad(u"%1 contenders cannot be played: from 1 to %2"_s.arg(scenario.contenders).arg(mostContenders));
    if (scenario.rounds < 1)
        return bad(u"%1 rounds are none: at least 1"_s.arg(scenario.rounds));
    if (scenario.seed >= seedLimit)
        return bad(u"the seed %1 is too large: below %2"_s.arg(scenario.seed).arg(seedLimit));
    if (scenario.limit != 1 && !info.counted)
        return bad(u"recipe %1 has one permit, not %2"_s.arg(name, QString::number(scenario.limit)));
    if (scenario.readersPercent != 0 && !info.readWrite)
        return bad(u"recipe %1 has no read mode"_s.arg(name));
    if (scenario.perProcess > 1 && infoOf(info.backend).oneLockEach)
        return bad(u"a session on %1 carries one lock at a time: one contender per process"_s.arg(
            infoOf(info.backend).title));
    if (scenario.tries > 1 && !scenario.wait)
        return bad(u"%1 tries are those of a wait that ends: say how long each waits"_s.arg(scenario.tries));
    if (scenario.leastLatency > scenario.mostLatency || scenario.mostLatency > longestLatency)
        return bad(
            u"a message takes from %1 to %2 µs: the least first, and at most %3"_s.arg(scenario.leastLatency.count())
                .arg(scenario.mostLatency.count())
                .arg(longestLatency.count()));
    const auto canHave = rulesOf(info.backend).canHave;
    if (scenario.servers != 0 && !(canHave && canHave(info, scenario.servers)))
        return bad(u"recipe %1 is not played on %2 servers: an odd number to %3 of an ensemble or for Redlock"_s.arg(
            name, QString::number(scenario.servers), QString::number(mostServersPlayed)));
    if (scenario.aof != Aof::None && info.backend != BackendKind::Redis)
        return bad(u"an append-only file is Redis's, and recipe %1 is not on Redis"_s.arg(name));
    return {};
}

bool isForceRelease(const PlannedFault &fault)
{
    return fault.kind == FaultKind::ForceRelease;
}

// Two locks, and one that is taken several times.
Result<void> locksFit(const Scenario &scenario, const recipes::RecipeInfo &info)
{
    const auto name = label(scenario.recipe);
    if (scenario.locks != 1 && !rulesOf(info.backend).playsTwoLocks)
        return bad(u"recipe %1 is played with one lock: two are for those on ZooKeeper"_s.arg(name));
    const bool isNested = scenario.acquires != 1;
    if (isNested && (info.counted || info.optimistic || scenario.locks != 1))
        return bad(
            u"what is taken %1 times by each is one lock that keeps others out: not permits, not two locks"_s.arg(
                scenario.acquires));
    if (isNested && !info.reentrant && infoOf(info.backend).oneLockEach)
        return bad(u"a session on %1 carries one lock at a time, and %2 is not reentrant"_s.arg(
            infoOf(info.backend).title, name));
    if ((scenario.locks != 1 || isNested)
        && (std::ranges::count(scenario.faults, FaultKind::ForceRelease) > 0
            || std::ranges::any_of(scenario.planned, &isForceRelease)))
        return bad(u"of two locks none can be force-released here"_s);
    return {};
}

// Several rows are for who locks one of them by a statement that looks for it.
Result<void> rowsFit(const Scenario &scenario, const recipes::RecipeInfo &info)
{
    const bool isPlain = scenario.rows == 1 && scenario.isIndexed;
    if (!isPlain && !locksOneOfRows(info))
        return bad(
            u"recipe %1 is not played on several rows, or on a table without an index: sql-for-update is"_s.arg(
                label(scenario.recipe)));
    if (scenario.rows > 1
        && (std::ranges::count(scenario.faults, FaultKind::ForceRelease) > 0
            || std::ranges::any_of(scenario.planned, &isForceRelease)))
        return bad(u"of several rows none can be force-released here"_s);
    return {};
}

Result<void> faultsFit(const Scenario &scenario, const recipes::RecipeInfo &info)
{
    const auto cannot = [&](FaultKind fault) {
        return bad(u"the fault %1 is not simulated for %2"_s.arg(QString::fromLatin1(nameOf(fault)),
                                                                 label(scenario.recipe)));
    };
    for (const auto fault : scenario.faults) {
        if (!rulesOf(info.backend).canHappen(fault))
            return cannot(fault);
    }
    for (const auto &fault : scenario.planned) {
        if (!rulesOf(info.backend).canHappen(fault.kind))
            return cannot(fault.kind);
        if (fault.contender < 0 || fault.contender >= scenario.contenders)
            return bad(u"the fault names contender %1, which does not exist"_s.arg(fault.contender));
    }
    return {};
}

Result<void> actsFit(const Scenario &scenario, const recipes::RecipeInfo &info)
{
    const auto &rules = rulesOf(info.backend);
    for (const auto &act : scenario.acts) {
        if (act.contender >= scenario.contenders)
            return bad(u"the action names contender %1, which does not exist"_s.arg(act.contender));
        if (act.contender < 0 && !serverAct(act.command))
            return bad(u"the action \"%1\" needs a contender; only stop s1 and start s1 work without one"_s.arg(
                label(act.command)));
        if (act.contender < 0 ? !rules.serversStop : !rules.checkAct)
            return bad(
                u"the action \"%2\" is not available on %1"_s.arg(infoOf(info.backend).title, label(act.command)));
        if (act.contender < 0)
            continue;
        if (auto fits = rules.checkAct(act.command); !fits)
            return fits;
    }
    return {};
}

} // namespace

bool locksOneOfRows(const recipes::RecipeInfo &recipe)
{
    return recipe.shape == recipes::Shape::Row && recipe.endsBy == recipes::EndsBy::Session && !recipe.optimistic
           && rulesOf(recipe.backend).playsRows;
}

static const std::vector<FaultWords> &faultWords()
{
    static const auto all = [] {
        std::vector<FaultWords> words;
        readResourceList(u"faults.json"_s, "faults", [&words](FieldReader &reader) {
            words.push_back({reader.text("name").toUtf8(), reader.text("title").toUtf8(), reader.text("summary"),
                             reader.text("befell").toUtf8(), reader.text("befellServer", QString()).toUtf8()});
        });
        return words;
    }();
    return all;
}

const std::vector<FaultKind> &allFaults()
{
    static const auto all = [] {
        std::vector<FaultKind> kinds;
        for (std::size_t kind = 0; kind < faultWords().size(); ++kind)
            kinds.push_back(static_cast<FaultKind>(kind));
        return kinds;
    }();
    return all;
}

const FaultWords &wordsOf(FaultKind fault)
{
    return faultWords()[static_cast<std::size_t>(fault)];
}

std::optional<FaultKind> faultByName(const QByteArray &name)
{
    const auto at = std::ranges::find(faultWords(), name, &FaultWords::name);
    return at == faultWords().end() ? std::nullopt : std::optional(static_cast<FaultKind>(at - faultWords().begin()));
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

Result<void> Scenario::check() const
{
    const auto *info = playable(recipe);
    const auto name = label(recipe);
    if (!info)
        return bad(u"unknown recipe \"%1\"; see lockscopectl recipes"_s.arg(name));
    if (!info->acquirable)
        return bad(u"recipe %1 can be seen but not acquired, and so not played"_s.arg(name));
    if (!info->simulated)
        return bad(u"recipe %1 cannot be simulated in this version: it has no simulated %2"_s.arg(
            name, infoOf(info->backend).title));
    for (const auto &part :
         {numbersFit(*this, *info), locksFit(*this, *info), rowsFit(*this, *info), faultsFit(*this, *info)}) {
        if (!part)
            return part;
    }
    return actsFit(*this, *info);
}

std::optional<ServerAct> serverAct(const QByteArray &command)
{
    const auto words = command.simplified().split(' ');
    if (words.size() != 2 || (words[0] != "stop" && words[0] != "start") || !words[1].startsWith('s'))
        return std::nullopt;
    bool isNumber = false;
    const int server = words[1].mid(1).toInt(&isNumber);
    if (!isNumber || server < 1 || server > mostServersPlayed)
        return std::nullopt;
    return ServerAct{words[0] == "stop", server - 1};
}

// A scenario as JSON, and what of somebody's JSON is wrong.

namespace {

constexpr int mostListed = 10'000'000;

QByteArrayList faultNames()
{
    QByteArrayList names;
    std::ranges::transform(allFaults(), std::back_inserter(names), [](FaultKind kind) { return nameOf(kind); });
    return names;
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
    if (fault.only >= 0)
        object.insert(u"only"_s, fault.only);
    return object;
}

constexpr double longestMs = 24.0 * 3600 * 1000;

PlannedFault readPlanned(FieldReader reader)
{
    PlannedFault fault;
    fault.kind = faultByName(reader.word("fault", faultNames())).value_or(fault.kind);
    reader.take("atUs", 0, longestMs * 1000, fault.at);
    reader.take("contender", 0, mostContenders - 1, fault.contender);
    reader.take("lastsMs", 0, longestMs, fault.lasts);
    const auto clock = reader.text("clock", QString());
    if (clock == "server"_L1 || clock == "client"_L1)
        fault.clock = clock == "server"_L1 ? PlannedFault::Clock::Server : PlannedFault::Clock::Client;
    else if (!clock.isEmpty())
        reader.wrong(u"clock"_s, u"client or server"_s);
    reader.take("back", fault.isBack);
    reader.take("server", 0, mostServersPlayed - 1, fault.server);
    reader.take("only", -1, mostServersPlayed - 1, fault.only);
    reader.nothingElse();
    return fault;
}

constexpr std::array<const char *, 3> aofNames{"none", "everysec", "always"}; // in the order of the enumeration

QJsonObject actJson(const Act &act)
{
    QJsonObject object{{u"atUs"_s, qint64(act.at.count())}, {u"does"_s, QString::fromUtf8(act.command)}};
    if (act.contender >= 0)
        object.insert(u"contender"_s, act.contender);
    return object;
}

Act readAct(FieldReader reader)
{
    Act act;
    reader.take("atUs", 0, longestMs * 1000, act.at);
    reader.take("contender", 0, mostContenders - 1, act.contender);
    act.command = reader.text("does").toUtf8();
    reader.nothingElse();
    return act;
}

// What few scenarios have is in the JSON of those alone.
void insertRare(QJsonObject &object, const Scenario &scenario)
{
    const Scenario plain;
    const auto insert = [&object](const char *field, qint64 value, qint64 otherwise) {
        if (value != otherwise)
            object.insert(QLatin1StringView(field), value);
    };
    insert("acquires", scenario.acquires, plain.acquires);
    insert("tries", scenario.tries, plain.tries);
    insert("rows", scenario.rows, plain.rows);
    if (!scenario.isIndexed)
        object.insert(u"indexed"_s, false);
    insert("servers", scenario.servers, plain.servers);
    insert("leastLatencyUs", scenario.leastLatency.count(), plain.leastLatency.count());
    insert("mostLatencyUs", scenario.mostLatency.count(), plain.mostLatency.count());
    if (scenario.aof != plain.aof)
        object.insert(u"aof"_s, QString::fromLatin1(aofNames[std::size_t(scenario.aof)]));
    const auto acts = mapped<QJsonArray>(scenario.acts, [&](const auto &act) { return actJson(act); });
    if (!acts.isEmpty())
        object.insert(u"acts"_s, acts);
}

void takeRare(FieldReader &reader, Scenario &scenario)
{
    reader.take("acquires", 1, mostAcquires, scenario.acquires);
    reader.take("tries", 1, mostTries, scenario.tries);
    reader.take("rows", 1, mostRows, scenario.rows);
    reader.take("indexed", scenario.isIndexed);
    reader.take("servers", 0, mostServersPlayed, scenario.servers);
    const auto longest = double(longestLatency.count());
    reader.take("leastLatencyUs", 1, longest, scenario.leastLatency);
    reader.take("mostLatencyUs", 1, longest, scenario.mostLatency);
    const auto aof = reader.text("aof", QString::fromLatin1(aofNames.front()));
    const auto at = std::ranges::find_if(aofNames, [&](const char *name) { return aof == QLatin1StringView(name); });
    if (at == aofNames.end())
        reader.wrong(u"aof"_s, u"none, everysec or always"_s);
    else
        scenario.aof = static_cast<Aof>(at - aofNames.begin());
    const auto acts = reader.has("acts") ? reader.list("acts", 0, mostListed) : QJsonArray();
    for (qsizetype i = 0; i < acts.size(); ++i)
        scenario.acts.push_back(readAct(reader.element("acts", acts, i)));
}

} // namespace

QJsonObject Scenario::toJson() const
{
    QJsonArray drawnFaults, plannedFaults;
    for (const auto fault : faults)
        drawnFaults.append(QString::fromLatin1(nameOf(fault)));
    for (const auto &fault : planned)
        plannedFaults.append(plannedJson(fault));
    QJsonObject object{{u"recipe"_s, QString::fromUtf8(recipe)},
                       {u"contenders"_s, contenders},
                       {u"rounds"_s, rounds},
                       {u"holdMs"_s, qint64(hold.count())},
                       {u"seed"_s, qint64(seed)},
                       {u"faults"_s, drawnFaults},
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
        const auto numbers = mapped<QJsonArray>(withheld, [&](const auto number) { return number; });
        object.insert(u"withheld"_s, numbers);
    }
    insertRare(object, *this);
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
            reader.wrong(u"faults"_s, u"a list of faults, each "_s + FieldReader::oneOf(faultNames()));
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
    takeRare(reader, scenario);
    reader.take("checksFencingTokens", scenario.checksFencingTokens);
    reader.take("keepsEvents", scenario.keepsEvents);
    reader.nothingElse();
    if (error)
        return Error{error->code, u"in the scenario "_s + error->message};
    return scenario;
}

Result<std::vector<Scenario>> scenariosOf(const QJsonObject &object)
{
    // A scenario has neither of these fields; what wraps one has both, or is no longer what we wrote.
    const bool isWrapped = object.contains(u"scenario"_s) || object.contains(u"schema"_s);
    const auto whole = isWrapped ? object.value(u"scenario"_s) : QJsonValue(object);
    if (!whole.isObject())
        return Error{ErrorCode::BadInput,
                     u"there is no \"scenario\" in it, as simulate --json and --save write it"_s};
    TRY(auto &first, Scenario::fromJson(whole.toObject()));
    const auto runs = isWrapped ? object.value(u"runs"_s).toArray() : QJsonArray();
    if (runs.size() < 2)
        return std::vector{std::move(first)};
    // Several recipes were played: each run says its own.
    std::vector<Scenario> all;
    for (const auto &run : runs) {
        const auto own = run.toObject().value(u"scenario"_s);
        if (!own.isObject())
            return Error{ErrorCode::BadInput, u"of several runs each has to say its \"scenario\""_s};
        TRY(auto &scenario, Scenario::fromJson(own.toObject()));
        all.push_back(std::move(scenario));
    }
    return all;
}

} // namespace lockscope::contention
