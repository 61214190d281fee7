// SPDX-License-Identifier: Apache-2.0
#include "core/contention/scenario.h"

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

// Reads the fields of an object, and remembers the first that is wrong.
class Reader {
public:
    explicit Reader(const QJsonObject &object) : m_object(object) {}

    template <class Number>
    void number(const QString &field, double least, double most, Number &into)
    {
        const auto value = valueOf(field);
        if (value.isUndefined())
            return;
        const auto read = value.toDouble(std::nan(""));
        if (!(read >= least && read <= most) || std::floor(read) != read)
            wrong(field, u"a whole number from %1 to %2"_s.arg(least, 0, 'f', 0).arg(most, 0, 'f', 0));
        else
            into = Number(static_cast<qint64>(read));
    }
    void flag(const QString &field, bool &into)
    {
        const auto value = valueOf(field);
        if (value.isUndefined())
            return;
        if (!value.isBool())
            wrong(field, u"true or false"_s);
        else
            into = value.toBool();
    }
    [[nodiscard]] QJsonArray array(const QString &field)
    {
        const auto value = valueOf(field);
        if (!value.isUndefined() && !value.isArray())
            wrong(field, u"a list"_s);
        return value.toArray();
    }
    [[nodiscard]] QByteArray text(const QString &field, const QByteArray &otherwise)
    {
        const auto value = valueOf(field);
        if (!value.isUndefined() && !value.isString())
            wrong(field, u"a text"_s);
        return value.isString() ? value.toString().toUtf8() : otherwise;
    }
    void wrong(const QString &field, const QString &wanted)
    {
        if (!m_error)
            m_error = Error{ErrorCode::BadInput, u"the scenario's \"%1\" has to be %2"_s.arg(field, wanted)};
    }
    [[nodiscard]] bool has(const QString &field) { return !valueOf(field).isUndefined(); }
    // At last: what nobody asked for is misspelt, and would be played as its default without a word.
    void nothingElse()
    {
        for (const auto &field : m_object.keys()) {
            if (!m_known.contains(field) && !m_error)
                m_error = Error{ErrorCode::BadInput, u"no scenario has a field \"%1\"; there are: %2"_s.arg(
                                                         label(field.toUtf8(), 60), m_known.join(u", "_s))};
        }
    }
    [[nodiscard]] const std::optional<Error> &error() const { return m_error; }

private:
    [[nodiscard]] QJsonValue valueOf(const QString &field)
    {
        if (!m_known.contains(field))
            m_known << field;
        return m_object.value(field);
    }

    const QJsonObject &m_object;
    QStringList m_known;
    std::optional<Error> m_error;
};

QString knownFaults()
{
    QStringList names;
    for (const auto &entry : words())
        names << QString::fromLatin1(entry.name);
    return u"one of "_s + names.join(u", "_s);
}

QJsonObject plannedJson(const PlannedFault &fault)
{
    return {{u"fault"_s, QString::fromLatin1(nameOf(fault.kind))},
            {u"atUs"_s, qint64(fault.at.count())},
            {u"contender"_s, fault.contender},
            {u"lastsMs"_s, qint64(fault.lasts.count())}};
}

constexpr double longestMs = 24.0 * 3600 * 1000;

PlannedFault readPlanned(Reader &outer, const QJsonObject &object)
{
    Reader reader(object);
    PlannedFault fault;
    const auto kind = faultByName(reader.text(u"fault"_s, {}));
    if (kind)
        fault.kind = *kind;
    else
        outer.wrong(u"planned"_s, u"a list of faults, each "_s + knownFaults());
    reader.number(u"atUs"_s, 0, longestMs * 1000, fault.at);
    reader.number(u"contender"_s, 0, mostContenders - 1, fault.contender);
    reader.number(u"lastsMs"_s, 0, longestMs, fault.lasts);
    reader.nothingElse();
    if (reader.error())
        outer.wrong(u"planned"_s, u"right in every part ("_s + reader.error()->message + u')');
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
    Reader reader(object);
    Scenario scenario;
    scenario.recipe = reader.text(u"recipe"_s, scenario.recipe);
    reader.number(u"contenders"_s, 1, mostContenders, scenario.contenders);
    reader.number(u"rounds"_s, 1, 1'000'000, scenario.rounds);
    reader.number(u"holdMs"_s, 0, longestMs, scenario.hold);
    reader.number(u"seed"_s, 0, double(seedLimit - 1), scenario.seed);
    for (const auto &value : reader.array(u"faults"_s)) {
        if (const auto kind = faultByName(value.toString().toUtf8()))
            scenario.faults.push_back(*kind);
        else
            reader.wrong(u"faults"_s, u"a list of faults, each "_s + knownFaults());
    }
    for (const auto &value : reader.array(u"planned"_s))
        scenario.planned.push_back(readPlanned(reader, value.toObject()));
    for (const auto &value : reader.array(u"withheld"_s)) {
        const auto number = value.toInt(-1);
        if (number < 0)
            reader.wrong(u"withheld"_s, u"a list of whole numbers from 0"_s);
        else
            scenario.withheld.push_back(number);
    }
    const auto arrival = reader.text(u"arrival"_s, "queued");
    if (arrival == "spread")
        scenario.arrival = Arrival::Spread;
    else if (arrival != "queued")
        reader.wrong(u"arrival"_s, u"queued or spread"_s);
    reader.number(u"arriveWithinMs"_s, 0, longestMs, scenario.arriveWithin);
    reader.number(u"perProcess"_s, 1, mostContenders, scenario.perProcess);
    reader.number(u"limit"_s, 1, mostContenders, scenario.limit);
    reader.number(u"locks"_s, 1, 2, scenario.locks);
    const auto order = reader.text(u"order"_s, "same");
    scenario.isOppositeOrder = order == "opposite";
    if (!scenario.isOppositeOrder && order != "same")
        reader.wrong(u"order"_s, u"same or opposite"_s);
    reader.number(u"readersPercent"_s, 0, 100, scenario.readersPercent);
    reader.number(u"ttlMs"_s, 1, longestMs, scenario.ttl);
    reader.number(u"sessionTimeoutMs"_s, 1, longestMs, scenario.sessionTimeout);
    if (reader.has(u"waitMs"_s)) {
        scenario.wait.emplace();
        reader.number(u"waitMs"_s, 0, longestMs, *scenario.wait);
    }
    reader.flag(u"checksFencingTokens"_s, scenario.checksFencingTokens);
    reader.flag(u"keepsEvents"_s, scenario.keepsEvents);
    reader.nothingElse();
    if (reader.error())
        return *reader.error();
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
