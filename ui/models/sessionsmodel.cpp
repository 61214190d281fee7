// SPDX-License-Identifier: Apache-2.0
#include "ui/models/sessionsmodel.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "ui/theme/pill.h"
#include "ui/theme/text.h"

#include <algorithm>
#include <array>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
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

} // namespace

SessionsModel::SessionsModel(QObject *parent, Clock clock) : QAbstractTableModel(parent), m_clock(std::move(clock)) {}

void SessionsModel::apply(const std::vector<ConnectionName> &connections, std::vector<SessionSnapshot> sessions)
{
    const auto isTold = [&](const SessionSnapshot &row) {
        return std::find(connections.begin(), connections.end(), row.connection) != connections.end();
    };
    std::erase_if(sessions, [&](const SessionSnapshot &row) { return !isTold(row); });
    std::sort(sessions.begin(), sessions.end(), isBefore);
    sessions.erase(std::unique(sessions.begin(), sessions.end(), isSame), sessions.end());
    feel(connections, sessions);
    const auto isGone = [&](const SessionSnapshot &row) {
        return isTold(row) && !std::binary_search(sessions.begin(), sessions.end(), row, isBefore);
    };
    for (int last = rowCount() - 1; last >= 0; --last) {
        if (!isGone(at(last)))
            continue;
        int first = last;
        while (first > 0 && isGone(at(first - 1)))
            --first;
        beginRemoveRows({}, first, last);
        m_rows.erase(m_rows.begin() + first, m_rows.begin() + last + 1);
        endRemoveRows();
        last = first;
    }
    int firstChanged = -1;
    int lastChanged = -1;
    for (std::size_t next = 0; next < sessions.size();) {
        const auto place = std::lower_bound(m_rows.begin(), m_rows.end(), sessions[next], isBefore);
        const int row = static_cast<int>(place - m_rows.begin());
        if (place != m_rows.end() && isSame(*place, sessions[next])) {
            if (!(*place == sessions[next])) {
                *place = std::move(sessions[next]);
                firstChanged = firstChanged < 0 ? row : firstChanged;
                lastChanged = row;
            }
            ++next;
            continue;
        }
        auto end = next + 1;
        while (end < sessions.size() && (place == m_rows.end() || isBefore(sessions[end], *place)))
            ++end;
        beginInsertRows({}, row, row + static_cast<int>(end - next) - 1);
        m_rows.insert(place, std::make_move_iterator(sessions.begin() + static_cast<std::ptrdiff_t>(next)),
                      std::make_move_iterator(sessions.begin() + static_cast<std::ptrdiff_t>(end)));
        endInsertRows();
        next = end;
    }
    if (firstChanged >= 0)
        emit dataChanged(index(firstChanged, 0), index(lastChanged, ColumnCount - 1));
}

// Of those that are gone nothing is kept.
void SessionsModel::feel(const std::vector<ConnectionName> &connections, const std::vector<SessionSnapshot> &sessions)
{
    std::map<std::pair<ConnectionName, QString>, LeasePulse> kept;
    for (auto &[key, pulse] : m_pulses) {
        if (std::find(connections.begin(), connections.end(), key.first) == connections.end())
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
    if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int SessionsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int SessionsModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

// "root (billing-1)", "kazoo (app-9)".
QString SessionsModel::clientWords(const SessionSnapshot &session) const
{
    const auto client = session.client ? label(session.client->toUtf8(), 120) : QString();
    const auto self = m_selfName ? m_selfName(session) : QString();
    return self.isEmpty() ? client : client.isEmpty() ? self : u"%1 (%2)"_s.arg(client, self);
}

QString SessionsModel::display(const SessionSnapshot &session, int column) const
{
    switch (column) {
    case Connection: return escaped(session.connection.bytes());
    case Session: return session.session;
    case Endpoint: return session.endpoint ? label(session.endpoint->toUtf8(), 120) : u"unknown"_s;
    case Client: return clientWords(session);
    case Holds: return locksText(session.holds);
    case Waits: return locksText(session.waits);
    case Expires: {
        if (m_down.contains(session.connection))
            return u"not known"_s;
        if (!session.expiresAt)
            return {};
        const auto ours = *session.expiresAt - session.serverAhead;
        const auto left = std::chrono::duration_cast<milliseconds>(ours - m_clock());
        return left <= 0ms ? u"now"_s : u"in "_s + spokenDuration(left);
    }
    default: return {};
    }
}

QVariant SessionsModel::sortKey(const SessionSnapshot &session, int column) const
{
    // Of those that hold as much, who waits comes before who has to do with no lock; and the other way round.
    constexpr int room = 32;
    const auto holds = static_cast<qint64>(session.holds.size()), waits = static_cast<qint64>(session.waits.size());
    if (column == Holds)
        return (holds << room) + waits;
    if (column == Waits)
        return (waits << room) + holds;
    if (column == Expires)
        return session.expiresAt ? QVariant(qint64(session.expiresAt->time_since_epoch().count()))
                                 : QVariant(LLONG_MAX);
    return display(session, column);
}

QVariant SessionsModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const auto &session = at(index.row());
    switch (role) {
    case Qt::DisplayRole: return display(session, index.column());
    case Qt::ToolTipRole:
        if (index.column() == Holds)
            return plainToolTip(tipText(session.holds));
        if (index.column() == Waits)
            return plainToolTip(tipText(session.waits));
        return plainToolTip(display(session, index.column()));
    case Qt::TextAlignmentRole:
        return index.column() == Expires ? QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
    case SortRole: return sortKey(session, index.column());
    case FilterRole: {
        QStringList all;
        for (int column = 0; column < Expires; ++column)
            all << display(session, column);
        return all.join(u'\n');
    }
    case ToneRole:
        if (m_down.contains(session.connection))
            return static_cast<int>(Tone::Free);
        if (index.column() == Holds)
            return static_cast<int>(Tone::Hold);
        if (index.column() == Waits)
            return static_cast<int>(Tone::Wait);
        return {};
    default: return {};
    }
}

QVariant SessionsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static const std::array titles{u"Connection"_s, u"Session"_s,   u"Endpoint"_s,       u"Client"_s,
                                   u"Holds"_s,      u"Waits for"_s, u"If silent, ends"_s};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::DisplayRole)
        return titles[static_cast<std::size_t>(section)];
    static const std::array tips{u"Where it is a client"_s,
                                 u"As the server names it"_s,
                                 u"The client's address"_s,
                                 u"What it says it is: a library, a name, a user"_s,
                                 u"The locks it holds"_s,
                                 u"The locks it waits for"_s,
                                 u"A live client renews this all the time. Should it fall silent now, its session, "
                                 u"and what it holds, ends then"_s};
    if (role == Qt::ToolTipRole)
        return tips[static_cast<std::size_t>(section)];
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((section == Expires ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
}

} // namespace lockscope::ui

#include "moc_sessionsmodel.cpp"
