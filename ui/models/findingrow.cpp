// SPDX-License-Identifier: Apache-2.0
#include "ui/models/findingrow.h"

#include "core/base/text.h"
#include "ui/models/screenclock.h"

namespace lockscope::ui {

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;
using inspect::Severity;

namespace {

constexpr int longestMessage = 4000;

QString partyWords(const Contender &one, BackendKind backend)
{
    QStringList words{(one.role == Role::Holder ? u"holder "_s : u"waiter "_s) + whoIsByName(one, backend)};
    const bool isSaid = one.identity == inspect::selfNameOf(one, backend);
    if (one.identity && one.endpoint && !one.identity->isEmpty() && !isSaid)
        words << inspect::nameLabel(*one.identity);
    if (one.session)
        words << label(one.session->toUtf8(), 60);
    words << label(one.id, 80);
    return words.join(u" · "_s);
}

int sign(std::strong_ordering order)
{
    return order < 0 ? -1 : order > 0 ? 1 : 0;
}

QString partyName(const FindingParty &party)
{
    return party.words.section(u' ', 1).section(u" · "_s, 0, 0);
}

QString firstOf(const FindingRow &row)
{
    return row.parties.empty() ? QString() : partyName(row.parties.front());
}

QString whoOf(const FindingRow &row)
{
    const auto all = std::max(row.concerned, row.everybody().size());
    return row.parties.size() > 0 && all > 1 ? u"%1 +%2"_s.arg(firstOf(row), QString::number(all - 1)) : firstOf(row);
}

} // namespace

FindingRow::FindingRow(const LockSnapshot &snapshot, inspect::Finding what)
    : lock(snapshot.lock), finding(std::move(what)), concerned(finding.contenders.size()), why(snapshot.why),
      serverAhead(snapshot.serverAhead)
{
    locks = finding.also;
    locks.push_back(lock);
    std::ranges::sort(locks);
    finding.contenders.resize(std::min(concerned, mostParties));
    for (const auto &id : finding.contenders) {
        const auto *one = snapshot.find(id);
        parties.push_back(one ? FindingParty{id, one->session, partyWords(*one, snapshot.backend)}
                              : FindingParty{id, {}, u"contender "_s + label(id, 80)});
    }
    std::ranges::stable_partition(parties, [this](const FindingParty &party) {
        return std::ranges::any_of(finding.victim, [&](const inspect::FindingPlace &place) {
            return place.lock == lock && place.contender == party.id;
        });
    });
}

std::optional<FindingRow::Session> FindingRow::session() const
{
    for (const auto &place : finding.victim) {
        if (place.session)
            return Session{place.lock.connection, *place.session};
    }
    if (!finding.victim.empty() || parties.empty() || !parties.front().session)
        return std::nullopt;
    return Session{lock.connection, *parties.front().session};
}

std::vector<FindingParty> FindingRow::everybody() const
{
    auto all = parties;
    for (const auto &one : elsewhere) {
        const bool isThere = std::ranges::any_of(all, [&one](const FindingParty &known) {
            return one.session == known.session && partyName(one) == partyName(known);
        });
        if (!isThere)
            all.push_back(one);
    }
    return all;
}

bool FindingRow::isAnothers(const inspect::LockName &lock, const inspect::Finding &finding)
{
    return std::ranges::any_of(finding.also, [&lock](const inspect::LockName &one) { return one < lock; });
}

QString FindingRow::lockWords(const QString &between) const
{
    return mapped<QStringList>(locks, [&](const auto &one) { return nameText(one.name); }).join(between);
}

bool FindingRow::isLater(const FindingRow &earlier) const
{
    return finding.code == earlier.finding.code && finding.contenders == earlier.finding.contenders;
}

QString FindingRow::messageAtTime(SystemTime now) const
{
    const auto server = std::chrono::time_point_cast<std::chrono::milliseconds>(now) + serverAhead;
    return harmless(inspect::messageAt(finding, server), longestMessage);
}

QString FindingRow::sinceWords(SystemTime now) const
{
    const auto moment = timeOfDay(since);
    const auto words = moment.date() == timeOfDay(now).date() ? moment.toString(u"HH:mm:ss"_s)
                                                              : moment.toString(u"yyyy-MM-dd HH:mm"_s);
    return isOlder ? u"≤ "_s + words : words;
}

Pill FindingRow::pill() const
{
    switch (finding.severity) {
    case Severity::Critical: return {PillShape::Cross, Tone::Critical, u"critical"_s};
    case Severity::Warning: return {PillShape::Bars, Tone::Warning, u"warning"_s};
    case Severity::Info: break;
    }
    return {PillShape::Ring, Tone::Free, u"info"_s};
}

QString FindingRow::cell(int column, SystemTime now) const
{
    switch (column) {
    case State: return pill().word;
    case Title: return inspect::kindOf(finding.code).title.toString();
    case Lock: return lockWords(u", "_s);
    case Connection: {
        auto names = mapped<QStringList>(locks, [&](const auto &named) { return escaped(named.connection.bytes()); });
        names.removeDuplicates();
        return names.join(u", "_s);
    }
    case Who: return whoOf(*this);
    case Message: return muted ? u"muted · "_s + messageAtTime(now) : messageAtTime(now);
    case Since: return sinceWords(now);
    default: return {};
    }
}

const QString &FindingRow::haystack() const
{
    if (m_haystack.isEmpty()) {
        QStringList all{inspect::kindOf(finding.code).title.toString(), inspect::word(finding.code),
                        harmless(finding.message, longestMessage)};
        for (const auto &named : locks)
            all << escaped(named.text());
        for (const auto &party : parties)
            all << party.words;
        m_haystack = all.join(u'\n').toLower();
    }
    return m_haystack;
}

int FindingOrder::compare(const FindingRow &a, const FindingRow &b) const
{
    int first = 0;
    switch (column) {
    case FindingRow::Title: first = sign(a.finding.code <=> b.finding.code); break;
    case FindingRow::Lock: first = a.lock.name.compare(b.lock.name); break;
    case FindingRow::Connection: first = sign(a.lock.connection <=> b.lock.connection); break;
    case FindingRow::Who: first = firstOf(a).compare(firstOf(b)); break;
    case FindingRow::Since: first = a.since < b.since ? -1 : a.since > b.since; break;
    default: break;
    }
    if (column == FindingRow::State)
        first = sign(b.finding.severity <=> a.finding.severity);
    if (first != 0)
        return direction == Qt::AscendingOrder ? first : -first;
    if (const int graver = sign(b.finding.severity <=> a.finding.severity))
        return graver;
    if (const int code = sign(a.finding.code <=> b.finding.code))
        return code;
    if (const int name = sign(a.lock <=> b.lock))
        return name;
    return a.number < b.number ? -1 : a.number > b.number;
}

bool FindingFilter::finds(const FindingRow &row) const
{
    const auto isThere = [this](const inspect::LockName &one) { return one.connection == connection; };
    return (connection.isEmpty() || std::ranges::any_of(row.locks, isThere)) && (!code || row.finding.code == *code)
           && (text.isEmpty() || row.haystack().contains(text));
}

bool FindingFilter::shows(const FindingRow &row) const
{
    return (!severity || row.finding.severity == *severity) && (showMuted || !row.muted) && finds(row);
}

void FindingCounts::add(const FindingRow &row, int by)
{
    int &count = row.muted                                    ? muted
                 : row.finding.severity == Severity::Critical ? critical
                 : row.finding.severity == Severity::Warning  ? warning
                                                              : info;
    count += by;
}

} // namespace lockscope::ui
