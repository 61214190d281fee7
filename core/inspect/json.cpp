// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/json.h"

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/waits/clients.h"

namespace lockscope::inspect {

using std::chrono::milliseconds;

namespace {

// Words come from tables: a new enumerator without a word is a compiler error away.
template <class Enum, size_t Count>
QString wordAt(Enum value, const char16_t *const (&words)[Count])
{
    const auto index = static_cast<size_t>(value);
    return index < Count ? QString::fromUtf16(words[index]) : QString();
}

QJsonValue textOrNull(const std::optional<QString> &text)
{
    return text ? QJsonValue(escaped(text->toUtf8())) : QJsonValue(QJsonValue::Null);
}

QJsonValue textOrNull(const std::optional<QByteArray> &bytes)
{
    return bytes ? QJsonValue(escaped(*bytes)) : QJsonValue(QJsonValue::Null);
}

// A clock read twice may seem to run backwards by a few milliseconds; an age never does.
QJsonValue spanOrNull(std::optional<milliseconds> span)
{
    return span ? QJsonValue(static_cast<qint64>(std::max<milliseconds>(milliseconds(0), *span).count()))
                : QJsonValue(QJsonValue::Null);
}

std::optional<milliseconds> since(const std::optional<ServerTime> &moment, ServerTime now)
{
    return moment ? std::optional(now - *moment) : std::nullopt;
}

std::optional<milliseconds> until(const std::optional<ServerTime> &moment, ServerTime now)
{
    return moment ? std::optional(*moment - now) : std::nullopt;
}

QJsonArray texts(const std::vector<QByteArray> &all)
{
    return mapped<QJsonArray>(all, escaped);
}

QJsonObject toJson(const WatchEdge &edge)
{
    return {{u"target"_s, edge.children ? u"children"_s : escaped(edge.target)},
            {u"evidence"_s, edge.evidence == Evidence::Server ? u"server"_s : u"inferred"_s}};
}

QJsonObject toJson(const Contender &contender, ServerTime now)
{
    QJsonObject out{
        {u"id"_s, escaped(contender.id)},
        {u"role"_s, word(contender.role)},
        {u"mode"_s, word(contender.mode)},
        {u"position"_s, contender.position ? QJsonValue(*contender.position) : QJsonValue(QJsonValue::Null)},
        {u"session"_s, textOrNull(contender.session)},
        {u"endpoint"_s, textOrNull(contender.endpoint)},
        {u"identity"_s, textOrNull(contender.identity)},
        {u"reentry"_s, contender.reentry},
        {u"heldMs"_s, spanOrNull(since(contender.heldSince, now))},
        {u"waitingMs"_s, spanOrNull(since(contender.waitingSince, now))},
        {u"ttlMs"_s, spanOrNull(until(contender.expiresAt, now))},
        {u"watches"_s, mapped<QJsonArray>(contender.watches, [](const auto &edge) { return toJson(edge); })},
    };
    if (contender.heldAtMost)
        out.insert(u"heldAtMost"_s, true);
    if (!contender.label.isEmpty())
        out.insert(u"label"_s, escaped(contender.label.toUtf8()));
    if (contender.program)
        out.insert(u"program"_s, escaped(*contender.program));
    if (contender.pid)
        out.insert(u"pid"_s, *contender.pid);
    if (const auto &work = contender.work)
        out.insert(u"work"_s,
                   QJsonObject{{u"statement"_s, work->statement.isEmpty() ? QJsonValue() : escaped(work->statement)},
                               {u"running"_s, work->isRunning},
                               {u"sinceMs"_s, spanOrNull(since(work->since, now))},
                               {u"transactionMs"_s, spanOrNull(since(work->transactionSince, now))},
                               {u"application"_s, escaped(work->application)},
                               {u"rowsModified"_s, work->rowsModified}});
    return out;
}

QJsonObject toJson(const Finding &finding)
{
    QJsonObject out{{u"code"_s, word(finding.code)},
                    {u"severity"_s, word(finding.severity)},
                    {u"message"_s, finding.message},
                    {u"contenders"_s, texts(finding.contenders)}};
    if (!finding.victim.empty())
        out.insert(u"victim"_s, toJson(finding.victim));
    return out;
}

QJsonObject toJson(const NodeSaid &said, ServerTime now)
{
    return {{u"node"_s, escaped(said.node.toUtf8())},
            {u"answered"_s, said.answered},
            {u"value"_s, textOrNull(said.value)},
            {u"ttlMs"_s, spanOrNull(until(said.expiresAt, now))}};
}

constexpr int labelLength = 64;

// "10.0.3.7" of "10.0.3.7:56332": the port says nothing to a person.
QString host(const QString &endpoint)
{
    const auto colon = endpoint.lastIndexOf(u':');
    const QString address = colon < 0 ? endpoint : endpoint.left(colon);
    return label(address.toUtf8(), labelLength);
}

// "app-9 (10.0.3.7)": a host has many clients.
QString whom(const Contender &contender, BackendKind backend)
{
    const auto &words = infoOf(backend).words;
    const auto at = contender.endpoint                                     ? host(*contender.endpoint)
                    : contender.identity && !contender.identity->isEmpty() ? nameLabel(*contender.identity)
                    : contender.session ? words.client + u' ' + label(contender.session->toUtf8(), labelLength)
                                        : label(contender.id, labelLength);
    const auto name = nameBeside(contender, backend);
    return name ? u"%1 (%2)"_s.arg(nameLabel(*name), at) : at;
}

QString holders(const std::vector<const Contender *> &all, BackendKind backend)
{
    const Contender &first = *all.front();
    const bool reading = std::ranges::all_of(all, [](const auto *one) { return one->mode == Mode::Read; });
    if (all.size() == 1)
        return reading ? u"reader "_s + whom(first, backend) : whom(first, backend);
    if (reading)
        return u"%1 readers"_s.arg(all.size());
    // A writer that also took the read lock is one client with two nodes.
    const bool oneSession = first.session && std::ranges::all_of(all, [&first](const auto *one) {
                                return one->session == first.session && one->mode != Mode::Permit;
                            });
    if (oneSession)
        return whom(first, backend);
    const bool permits = std::ranges::all_of(all, [](const auto *one) { return one->mode == Mode::Permit; });
    return permits ? u"%1 permit holders"_s.arg(all.size()) : u"%1 holders"_s.arg(all.size());
}

QString withAge(const QString &who, const std::vector<const Contender *> &all, ServerTime now)
{
    const Contender *longest = nullptr;
    for (const auto *one : all) {
        if (one->heldSince && (!longest || *one->heldSince < *longest->heldSince))
            longest = one;
    }
    if (!longest)
        return who;
    const QString span = formatDuration(now - *longest->heldSince);
    const QString bound = longest->heldAtMost ? u"at most "_s : QString();
    return (all.size() == 1 ? u"%1 for %2%3"_s : u"%1, the longest for %2%3"_s).arg(who, bound, span);
}

QString waiting(const LockSnapshot &lock, ServerTime now, bool isPast)
{
    const int count = lock.waiterCount();
    const QString unseen = isPast ? u"others may have waited unseen"_s : u"others may wait unseen"_s;
    if (count == 0 && lock.waitersKnown)
        return isPast ? u"no client waited"_s : u"no client waits"_s;
    if (count == 0)
        return isPast ? u"waiters were not visible"_s : u"waiters are not visible"_s;
    std::optional<ServerTime> oldest;
    for (const auto &contender : lock.contenders) {
        if (contender.role == Role::Waiter && contender.waitingSince)
            oldest = oldest ? std::min(*oldest, *contender.waitingSince) : *contender.waitingSince;
    }
    const auto verb = isPast ? u"waited"_s : count == 1 ? u"waits"_s : u"wait"_s;
    QString text = u"%1 %2"_s.arg(QString::number(count), verb);
    if (oldest)
        text = (count == 1 ? u"%1, for %2"_s : u"%1, the oldest %2"_s).arg(text, formatDuration(now - *oldest));
    return lock.waitersKnown ? text : text + clause(unseen);
}

} // namespace

QString word(LockState state)
{
    return wordAt(state, {u"free", u"held", u"contended"});
}

QString word(Role role)
{
    return wordAt(role, {u"holder", u"waiter"});
}

QString word(Mode mode)
{
    return wordAt(mode, {u"exclusive", u"read", u"write", u"permit"});
}

QString word(Confidence confidence)
{
    return wordAt(confidence, {u"low", u"medium", u"high"});
}

QString word(Severity severity)
{
    return wordAt(severity, {u"info", u"warning", u"critical"});
}

QString word(ChangeKind change)
{
    return wordAt(change, {u"added", u"changed", u"removed"});
}

QString isoTime(ServerTime time)
{
    return lockscope::isoTime(time.time_since_epoch());
}

QJsonObject toJson(const LockSnapshot &lock)
{
    const auto withTime = [&lock](const auto &part) { return toJson(part, lock.observed); };
    QJsonObject out{
        {u"lock"_s, escaped(lock.lock.text())},
        {u"backend"_s, infoOf(lock.backend).word},
        {u"recipe"_s, escaped(lock.recipe)},
        {u"client"_s, textOrNull(lock.client)},
        {u"why"_s, lock.why},
        {u"confidence"_s, word(lock.confidence)},
        {u"state"_s, word(lock.state)},
        {u"contenders"_s, mapped<QJsonArray>(lock.contenders, withTime)},
        {u"findings"_s, mapped<QJsonArray>(lock.findings, [](const auto &finding) { return toJson(finding); })},
        {u"observed"_s, isoTime(lock.observed)},
    };
    if (!lock.nodes.empty())
        out.insert(u"nodes"_s, mapped<QJsonArray>(lock.nodes, withTime));
    return out;
}

QJsonArray toJson(const std::vector<FindingPlace> &places)
{
    return mapped<QJsonArray>(places, [](const auto &place) {
        return QJsonObject{{u"lock"_s, escaped(place.lock.text())}, {u"id"_s, escaped(place.contender)}};
    });
}

QJsonObject toJson(const EndedDeadlock &deadlock)
{
    QJsonArray parties;
    for (const auto &party : deadlock.parties)
        parties.append(QJsonObject{{u"session"_s, escaped(party.session.toUtf8())},
                                   {u"client"_s, escaped(party.client)},
                                   {u"statement"_s, escaped(party.statement)},
                                   {u"waitedFor"_s, escaped(party.awaited)},
                                   {u"rolledBack"_s, party.isRolledBack}});
    return {{u"time"_s, isoTime(deadlock.at)},
            {u"isTimeExact"_s, !deadlock.isAtLatest},
            {u"count"_s, deadlock.count},
            {u"parties"_s, parties},
            {u"unknown"_s, deadlock.unknown.isEmpty() ? QJsonValue(QJsonValue::Null) : harmless(deadlock.unknown)}};
}

QJsonArray toJson(const std::vector<Coverage> &coverage)
{
    return mapped<QJsonArray>(coverage, [](const auto &one) {
        return QJsonObject{{u"connection"_s, escaped(one.connection.bytes())},
                           {u"complete"_s, one.complete},
                           {u"message"_s, one.message}};
    });
}

QJsonObject toJson(const SessionSnapshot &session, std::optional<ServerTime> now)
{
    const auto ours = std::chrono::time_point_cast<milliseconds>(programClock().now());
    QJsonObject json{
        {u"session"_s, escaped(session.session.toUtf8())},
        {u"connection"_s, escaped(session.connection.bytes())},
        {u"endpoint"_s, textOrNull(session.endpoint)},
        {u"client"_s, textOrNull(session.client)},
        {u"holds"_s, texts(session.holds)},
        {u"waits"_s, texts(session.waits)},
        {u"expiresMs"_s, spanOrNull(until(session.expiresAt, now.value_or(ours)))},
    };
    if (session.alsoEndsCount > 0) {
        json[u"alsoEnds"_s] = texts(session.alsoEnds);
        json[u"alsoEndsCount"_s] = session.alsoEndsCount;
    }
    return json;
}

// The answer first: one sentence that a person would say about a lock.
QString answerSentence(const LockSnapshot &lock, ServerTime now, Tense tense)
{
    const bool isPast = tense == Tense::Past;
    const QString is = isPast ? u"was"_s : u"is"_s;
    const QString name = label(lock.lock.name, 120);
    std::vector<const Contender *> holding;
    for (const auto &contender : lock.contenders) {
        if (contender.role == Role::Holder)
            holding.push_back(&contender);
    }
    const auto elsewhere = firstAwaitsElsewhere(lock);
    QString sentence = name;
    if (!holding.empty())
        sentence = u"%1 %2 held by %3"_s.arg(name, is, withAge(holders(holding, lock.backend), holding, now));
    else if (lock.state == LockState::Free)
        sentence = u"%1 %2 free"_s.arg(name, is);
    else if ((lock.state == LockState::Contended && lock.backend != BackendKind::MariaDb
              && lock.backend != BackendKind::PostgreSql)
             || elsewhere) // SQL servers do not report every holder
        sentence = u"no client %1 "_s.arg(isPast ? u"held"_s : u"holds"_s) + name;
    else
        sentence = u"%1 %2 held by a client that %2 not visible"_s.arg(name, is);
    sentence += clause(waiting(lock, now, isPast));
    if (elsewhere)
        sentence +=
            clause((isPast ? u"the first in the queue waited for %1"_s : u"the first in the queue waits for %1"_s)
                       .arg(label(*elsewhere, labelLength)));
    const auto *neverEnds = lock.find(FindingCode::NoTtl);
    const bool isHolders =
        neverEnds
        && (neverEnds->contenders.empty() || holding.empty() || std::ranges::any_of(holding, [&](const auto *one) {
                return std::ranges::count(neverEnds->contenders, one->id) > 0;
            }));
    if (isHolders)
        sentence += clause(isPast ? u"it had no expiry"_s : u"it never expires by itself"_s);
    return sentence;
}

} // namespace lockscope::inspect
