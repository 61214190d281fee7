// SPDX-License-Identifier: Apache-2.0
#include "core/contention/scenario.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"
#include "core/contention/backendrules.h"
#include "core/contention/mutants/mutantlist.h"

#include <algorithm>
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

} // namespace lockscope::contention
