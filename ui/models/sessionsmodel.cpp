// SPDX-License-Identifier: Apache-2.0
#include "ui/models/sessionsmodel.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "ui/theme/pill.h"
#include "ui/theme/text.h"

#include <algorithm>

namespace lockscope::ui {

using inspect::SessionSnapshot;
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
    QStringList shown;
    for (const auto &name : names)
        shown << nameText(name);
    return shown.join(separator);
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

} // namespace lockscope::ui

#include "moc_sessionsmodel.cpp"
