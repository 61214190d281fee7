// SPDX-License-Identifier: Apache-2.0
#include "ui/models/sessionsmodel.h"

#include "core/base/text.h"

namespace lockscope::ui {

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;
using inspect::SessionSnapshot;
using inspect::WatchEdge;
using std::chrono::milliseconds;

namespace {

bool isBefore(const SessionSnapshot &a, const SessionSnapshot &b)
{
    return a.connection != b.connection ? a.connection < b.connection : a.session < b.session;
}

bool isSame(const SessionSnapshot &a, const SessionSnapshot &b)
{
    return a.connection == b.connection && a.session == b.session;
}

constexpr std::size_t mostInTip = 20; // no taller than any screen

QString namesText(const std::vector<QByteArray> &names, QLatin1StringView separator)
{
    return mapped<QStringList>(names, [&](const auto &name) { return nameText(name); }).join(separator);
}

QString endpointText(const SessionSnapshot &session)
{
    return session.endpoint ? label(session.endpoint->toUtf8(), 120) : u"unknown"_s;
}

QString tipText(const std::vector<QByteArray> &names)
{
    const auto shown = std::min(names.size(), mostInTip);
    const std::vector<QByteArray> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown));
    const auto more = names.size() - shown;
    return namesText(first, "\n"_L1) + (more > 0 ? u"\n… and %1 more: they stand below"_s.arg(more) : QString());
}

// "2: /locks/a, /locks/b"
QString locksText(const std::vector<QByteArray> &names)
{
    if (names.size() < 2)
        return namesText(names, ", "_L1);
    return u"%1: "_s.arg(names.size()) + namesText(names, ", "_L1);
}

// Of those that hold as much, a session that waits is listed before one without any lock; and the other way round.
RowColumn<SessionSnapshot>::Value countOrder(std::vector<QByteArray> SessionSnapshot::*first,
                                             std::vector<QByteArray> SessionSnapshot::*second)
{
    constexpr int room = 32;
    return [=](const SessionSnapshot &session) {
        return (static_cast<qint64>((session.*first).size()) << room) + static_cast<qint64>((session.*second).size());
    };
}

QVariant expiryOrder(const SessionSnapshot &session)
{
    return session.expiresAt ? qint64(session.expiresAt->time_since_epoch().count()) : LLONG_MAX;
}

// What becomes of the locks that a session holds.
struct Fall {
    int toNext = 0, toNobody = 0, toWhoAsks = 0, toOthers = 0, staying = 0, unknown = 0;
};

QString ageText(const std::optional<inspect::ServerTime> &since, const LockSnapshot &lock, SystemTime now)
{
    if (!since)
        return {};
    const auto age = std::chrono::duration_cast<milliseconds>(now - ourTime(*since, lock));
    return formatDuration(std::max(milliseconds(0), age));
}

// As it is once the session's other claims are gone with it.
LockSnapshot withoutOthersOf(const LockSnapshot &lock, const QString &session, const QByteArray &but)
{
    auto rest = lock;
    std::erase_if(rest.contenders, [&](const Contender &one) { return one.session == session && one.id != but; });
    // Who watched one of them waits for nothing else.
    for (auto &contender : rest.contenders)
        contender.watches.removeIf(
            [&](const WatchEdge &edge) { return lock.find(edge.target) && !rest.find(edge.target); });
    return rest;
}

QString leaseText(const Contender &holder, const LockSnapshot &lock, SystemTime now)
{
    if (!holder.expiresAt)
        return u"stays: it is not the session's"_s;
    const auto left = std::chrono::duration_cast<milliseconds>(ourTime(*holder.expiresAt, lock) - now);
    return u"stays until its lease ends, in %1"_s.arg(formatDuration(std::max(milliseconds(0), left)));
}

QString inheritor(const LockSnapshot &lock, const Contender &holder, SystemTime now, Fall &fall)
{
    if (recipes::recipeOf(lock.recipe).endsBy != recipes::EndsBy::Session) {
        ++fall.staying;
        return leaseText(holder, lock, now);
    }
    const auto rest = withoutOthersOf(lock, *holder.session, holder.id);
    if (const auto *next = rest.nextAfter(holder.id)) {
        ++fall.toNext;
        return u"→ "_s + whoIsByName(*next, lock.backend) + u" · "_s + shortId(next->id);
    }
    const auto isInOrder = [](const Contender &one) { return one.role == Role::Waiter && one.position.has_value(); };
    if (rest.waiterCount() == 0 && rest.waitersKnown) {
        const bool isHeld = rest.holderCount() > 1;
        ++(isHeld ? fall.toOthers : fall.toNobody);
        return isHeld ? u"the other holders keep it"_s : u"no client waits: it becomes free"_s;
    }
    if (rest.holderCount() > 1 && std::ranges::any_of(rest.contenders, isInOrder)) {
        ++fall.toOthers;
        return u"none until the other holders release it too"_s;
    }
    ++fall.toWhoAsks;
    return u"whoever asks first"_s;
}

QString before(const LockSnapshot &lock, const Contender &waiter)
{
    const auto at = std::ranges::find(lock.contenders, waiter.id, &Contender::id);
    if (at == lock.contenders.end() || at == lock.contenders.begin())
        return {};
    const auto holders = lock.holderCount();
    const auto isFirst = std::prev(at)->role == Role::Holder;
    if (isFirst && holders > 1)
        return u"behind %1 holders"_s.arg(holders);
    return u"behind "_s + whoIsByName(*std::prev(at), lock.backend);
}

QString placeText(const LockSnapshot &lock, const Contender &waiter)
{
    int place = 0;
    for (const auto &contender : lock.contenders) {
        place += contender.role == Role::Waiter ? 1 : 0;
        if (contender.id == waiter.id)
            break;
    }
    const auto all = lock.waiterCount();
    const auto text =
        waiter.position ? u"waits, %1 of %2"_s.arg(place).arg(all) : u"waits with %1 others"_s.arg(all - 1);
    return lock.waitersKnown ? text : u"waits"_s;
}

QString lockCount(int count)
{
    return count == 1 ? u"1 lock"_s : u"%1 locks"_s.arg(count);
}

// Of a lease: what is deleted with it besides.
QString otherKeys(const SessionSnapshot &session)
{
    const auto first = label(session.alsoEnds.front(), 80);
    return session.alsoEndsCount == 1 ? u"1 other key goes with it, %1"_s.arg(first)
                                      : u"%1 other keys go with it, %2 first"_s.arg(session.alsoEndsCount).arg(first);
}

QString endText(const Fall &fall, const SessionSnapshot &session)
{
    const auto waits = session.waits.size();
    const int falling = fall.toNext + fall.toNobody + fall.toWhoAsks + fall.toOthers;
    QStringList parts;
    if (fall.toNext > 0)
        parts << (fall.toNext == falling ? u"to who waits next"_s : u"%1 to who waits next"_s.arg(fall.toNext));
    if (fall.toWhoAsks > 0)
        parts << u"%1 to whoever asks first"_s.arg(fall.toWhoAsks);
    if (fall.toNobody > 0)
        parts << (fall.toNobody == falling ? u"no client waits"_s : u"for %1 no client waits"_s.arg(fall.toNobody));
    if (fall.toOthers > 0)
        parts << u"%1 that others hold, too"_s.arg(fall.toOthers);
    QStringList sentences;
    if (falling > 0)
        sentences
            << (falling == 1 ? u"%1 falls: %2"_s : u"%1 fall: %2"_s).arg(lockCount(falling), parts.join(u", "_s));
    if (fall.staying > 0)
        sentences << (fall.staying == 1 ? u"%1 stays: it ends by itself, not with the connection"_s
                                        : u"%1 stay: they end by themselves, not with the connection"_s)
                         .arg(lockCount(fall.staying));
    if (fall.unknown > 0)
        sentences << u"of %1 it is not known"_s.arg(lockCount(fall.unknown));
    if (waits > 0)
        sentences << (waits == 1 ? u"its wait is given up"_s : u"its %1 waits are given up"_s.arg(waits));
    if (session.alsoEndsCount > 0)
        sentences << otherKeys(session);
    return u"If this session ends: %1."_s.arg(sentences.isEmpty() ? u"no lock that is seen here changes hands"_s
                                                                  : sentences.join(u"; "_s));
}

constexpr std::size_t mostBeats = 60;
constexpr auto leastRenewal = 100ms; // less is how well clocks agree

QString span(std::chrono::system_clock::duration duration)
{
    return formatDuration(std::max(0ms, std::chrono::duration_cast<milliseconds>(duration)));
}

} // namespace

SessionsModel::SessionsModel(QObject *parent, Clock clock) : RowsModel(parent), m_clock(std::move(clock))
{
    m_values = {{ToneRole, toned({})}};
    m_columns = {
        {.title = u"Connection"_s,
         .text = [](const SessionSnapshot &session) { return escaped(session.connection.bytes()); },
         .help = u"Where it is a client"_s},
        {.title = u"Session"_s,
         .text = [](const SessionSnapshot &session) { return session.session; },
         .help = u"As the server names it"_s},
        {.title = u"Endpoint"_s, .text = &endpointText, .help = u"The client's address"_s},
        {.title = u"Client"_s,
         .text = [this](const SessionSnapshot &session) { return clientWords(session); },
         .help = u"What it says it is: a library, a name, a user"_s},
        {.title = u"Holds"_s,
         .text = [](const SessionSnapshot &session) { return locksText(session.holds); },
         .help = u"The locks it holds"_s,
         .tip = [](const SessionSnapshot &session) { return tipText(session.holds); },
         .values = {{ToneRole, toned(Tone::Hold)},
                    {SortRole, countOrder(&SessionSnapshot::holds, &SessionSnapshot::waits)}}},
        {.title = u"Waits for"_s,
         .text = [](const SessionSnapshot &session) { return locksText(session.waits); },
         .help = u"The locks it waits for"_s,
         .tip = [](const SessionSnapshot &session) { return tipText(session.waits); },
         .values = {{ToneRole, toned(Tone::Wait)},
                    {SortRole, countOrder(&SessionSnapshot::waits, &SessionSnapshot::holds)}}},
        {.title = u"If silent, ends"_s,
         .text = [this](const SessionSnapshot &session) { return expiryText(session); },
         .help = u"A live client renews this all the time. Should it fall silent now, its session, "
                 u"and what it holds, ends then"_s,
         .isNumber = true,
         .isSearched = false,
         .values = {{SortRole, &expiryOrder}}},
    };
}

void SessionsModel::apply(const std::vector<inspect::SessionsSeen> &seen)
{
    std::set<ConnectionName> connections;
    std::vector<SessionSnapshot> sessions;
    for (const auto &of : seen) {
        connections.insert(of.connection);
        sessions.insert(sessions.end(), of.sessions.begin(), of.sessions.end());
    }
    const auto isTold = [&](const SessionSnapshot &row) { return connections.contains(row.connection); };
    std::sort(sessions.begin(), sessions.end(), isBefore);
    sessions.erase(std::unique(sessions.begin(), sessions.end(), isSame), sessions.end());
    feel(connections, sessions);
    mergeRows(std::move(sessions), isBefore, isTold);
}

// Of those that are gone nothing is kept.
void SessionsModel::feel(const std::set<ConnectionName> &connections, const std::vector<SessionSnapshot> &sessions)
{
    std::map<std::pair<ConnectionName, QString>, LeasePulse> kept;
    for (auto &[key, pulse] : m_pulses) {
        if (!connections.contains(key.first))
            kept.emplace(key, std::move(pulse));
    }
    for (const auto &session : sessions) {
        if (!session.expiresAt)
            continue;
        const std::pair key(session.connection, session.session);
        const auto known = m_pulses.find(key);
        auto &pulse =
            kept.emplace(key, known == m_pulses.end() ? LeasePulse() : std::move(known->second)).first->second;
        pulse.heard(LeasePulse::Time(std::chrono::duration_cast<LeasePulse::Time::duration>(
                        (*session.expiresAt - session.serverAhead).time_since_epoch())),
                    m_clock());
    }
    m_pulses = std::move(kept);
}

const LeasePulse &SessionsModel::pulseOf(const SessionSnapshot &session) const
{
    static const LeasePulse none;
    const auto known = m_pulses.find({session.connection, session.session});
    return known == m_pulses.end() ? none : known->second;
}

int SessionsModel::find(const ConnectionName &connection, const QString &session) const
{
    SessionSnapshot wanted;
    wanted.connection = connection;
    wanted.session = session;
    const auto place = std::lower_bound(m_rows.begin(), m_rows.end(), wanted, isBefore);
    return place != m_rows.end() && isSame(*place, wanted) ? static_cast<int>(place - m_rows.begin()) : -1;
}

void SessionsModel::setDown(const ConnectionName &name, bool down)
{
    if (m_down.contains(name) == down)
        return;
    if (down)
        m_down.insert(name);
    else
        m_down.erase(name);
    reportAll();
}

// "root (billing-1)", "kazoo (app-9)".
QString SessionsModel::clientWords(const SessionSnapshot &session) const
{
    const auto client = session.client ? label(session.client->toUtf8(), 120) : QString();
    const auto self = m_selfName ? m_selfName(session) : QString();
    return self.isEmpty() ? client : client.isEmpty() ? self : u"%1 (%2)"_s.arg(client, self);
}

QString SessionsModel::expiryText(const SessionSnapshot &session) const
{
    if (m_down.contains(session.connection))
        return u"not known"_s;
    if (!session.expiresAt)
        return {};
    const auto ours = *session.expiresAt - session.serverAhead;
    const auto left = std::chrono::duration_cast<milliseconds>(ours - m_clock());
    return left <= 0ms ? u"now"_s : u"in "_s + formatDuration(left);
}

// Rows of a connection that is down are pale in all columns.
RowColumn<SessionSnapshot>::Value SessionsModel::toned(std::optional<Tone> tone) const
{
    return [this, tone](const SessionSnapshot &session) {
        const auto shown = m_down.contains(session.connection) ? Tone::Free : tone;
        return shown ? QVariant(static_cast<int>(*shown)) : QVariant();
    };
}

SessionFacts sessionFactsOf(const SessionSnapshot &session, const FindLock &find, SystemTime now)
{
    SessionFacts facts;
    Fall fall;
    for (const bool holds : {true, false}) {
        for (const auto &name : holds ? session.holds : session.waits) {
            const inspect::LockName lockName{session.connection, name};
            const auto *lock = find(lockName);
            const Contender *claim = nullptr;
            for (const auto &one : lock ? lock->contenders : std::vector<Contender>()) {
                if (!claim && one.session == session.session && (one.role == Role::Holder) == holds)
                    claim = lock->find(one.id);
            }
            SessionLock row{lockName, holds, holds ? u"holds"_s : u"waits"_s, {}, {}};
            if (claim) {
                row.place = holds ? row.place : placeText(*lock, *claim);
                row.age = ageText(holds ? claim->heldSince : claim->waitingSince, *lock, now);
                if (holds && claim->heldAtMost && !row.age.isEmpty())
                    row.age = u"≤ "_s + row.age;
                row.next = holds ? inheritor(*lock, *claim, now, fall) : before(*lock, *claim);
            } else if (holds) {
                row.next = u"not known"_s;
                ++fall.unknown;
            }
            facts.locks.push_back(std::move(row));
        }
    }
    facts.ifItEnds = endText(fall, session);
    return facts;
}

QString selfNameOf(const inspect::SessionSnapshot &session, const FindLock &find)
{
    for (const auto *names : {&session.holds, &session.waits}) {
        const auto *lock = names->empty() ? nullptr : find({session.connection, names->front()});
        if (!lock)
            continue;
        const auto own = std::ranges::find(lock->contenders, std::optional(session.session), &Contender::session);
        if (own == lock->contenders.end())
            continue;
        if (!own->label.isEmpty())
            return label(own->label.toUtf8(), 40);
        if (const auto name = inspect::selfNameOf(*own, lock->backend))
            return inspect::nameLabel(*name);
    }
    return {};
}

SessionLocksModel::SessionLocksModel(QObject *parent)
    : RowsModel(
        parent,
        {{.title = u"Holds or waits"_s,
          .text = [](const SessionLock &lock) { return lock.place; },
          .values = {{ToneRole,
                      [](const SessionLock &lock) {
                          return static_cast<int>(lock.holds ? Tone::Hold : Tone::Wait);
                      }}}},
         {.title = u"Lock"_s, .text = [](const SessionLock &lock) { return nameText(lock.lock.name); }},
         {.title = u"For"_s, .text = [](const SessionLock &lock) { return lock.age; }, .isNumber = true},
         {.title = u"Inherits it, or is before it"_s, .text = [](const SessionLock &lock) { return lock.next; }}})
{
}

void SessionLocksModel::setLocks(std::vector<SessionLock> locks)
{
    replaceRows(std::move(locks),
                [](const SessionLock &a, const SessionLock &b) { return a.lock == b.lock && a.holds == b.holds; });
}

void LeasePulse::heard(Time expires, Time now)
{
    if (!m_beats.empty() && expires < m_beats.back().expires + leastRenewal)
        return;
    m_beats.push_back({now, expires});
    if (m_beats.size() > mostBeats)
        m_beats.pop_front();
}

QString LeasePulse::text(Time now) const
{
    if (m_beats.empty())
        return u"its lease is unknown"_s;
    if (m_beats.size() == 1)
        return u"no renewal was seen in %1"_s.arg(span(now - m_beats.front().at));
    const auto renewals = static_cast<int>(m_beats.size()) - 1;
    const auto seen = m_beats.back().at - m_beats.front().at;
    const auto times = renewals == 1 ? u"once"_s : u"%1 times"_s.arg(renewals);
    return u"renewed %1 in %2, about every %3; the last time %4 ago"_s.arg(
        times, span(now - m_beats.front().at), span(seen / renewals), span(now - m_beats.back().at));
}

} // namespace lockscope::ui

#include "moc_sessionsmodel.cpp"
