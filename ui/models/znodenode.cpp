// SPDX-License-Identifier: Apache-2.0
#include "ui/models/znodenode.h"

#include "core/base/text.h"
#include "ui/theme/text.h"

#include <QDateTime>

namespace lockscope::ui {

namespace {

QDateTime timeOf(std::chrono::milliseconds sinceEpoch)
{
    return QDateTime::fromMSecsSinceEpoch(sinceEpoch.count());
}

// As short as it can be without being unclear.
QString timeText(std::chrono::milliseconds sinceEpoch)
{
    const QDateTime time = timeOf(sinceEpoch);
    const QDate today = QDate::currentDate();
    if (time.date() == today)
        return time.toString(u"HH:mm:ss"_s);
    return time.toString(time.date().year() == today.year() ? u"d MMM HH:mm"_s : u"yyyy-MM-dd"_s);
}

bool isZnodeNumber(int column)
{
    return column == ZnodeNode::Children || column == ZnodeNode::Bytes || column >= ZnodeNode::Version;
}

} // namespace

std::unique_ptr<ZnodeNode> ZnodeNode::make(ZnodeRow &row)
{
    auto node = std::make_unique<ZnodeNode>();
    node->name = std::move(row.name);
    node->stat = row.stat;
    node->isStatKnown = row.statKnown && !row.error;
    if (row.error)
        node->error = std::make_unique<Error>(*std::move(row.error));
    return node;
}

ZPath ZnodeNode::path() const
{
    return !above() || !above()->above() ? ZPath("/"_ba) : above()->path().child(name);
}

QString ZnodeNode::childrenText() const
{
    if (error)
        return error->code == ErrorCode::NoPermission ? u"no access"_s : u"not readable"_s;
    // "/" has no stat, since nobody lists its parent, nor have the children of a folder of thousands.
    if (!isStatKnown && children.empty() && !isLoaded())
        return load == Load::Asked ? u"…"_s : QString();
    return countText(stat.numChildren);
}

QString ZnodeNode::cell(int column) const
{
    switch (column) {
    case Name: return name.isEmpty() ? u"/"_s : nameText(name.bytes());
    case Children: return childrenText();
    case Bytes: return isStatKnown ? countText(stat.dataLength) : QString();
    case Owner: return stat.ephemeralOwner.isNone() ? QString() : stat.ephemeralOwner.text();
    case Version: return isStatKnown ? QString::number(stat.version) : QString();
    case Modified:
        return isStatKnown && stat.mtime.count() != 0 ? timeText(stat.mtime)
               : isStatKnown                          ? u"–"_s
                                                      : QString(); // the root has none
    default: return {};
    }
}

QVariant ZnodeNode::data(int column, int role) const
{
    switch (role) {
    case Qt::DisplayRole: return cell(column);
    case Qt::ToolTipRole:
        if (error)
            return plainToolTip(error->message);
        if (column == Modified && isStatKnown && stat.mtime.count() != 0)
            return timeOf(stat.mtime).toString(u"yyyy-MM-dd HH:mm:ss.zzz"_s);
        return column == Name ? plainToolTip(label(path().bytes(), 2000)) : QVariant();
    case Qt::TextAlignmentRole:
        return isZnodeNumber(column) ? QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
    case PathRole: return path().bytes();
    case ErrorRole: return error ? error->message : QString();
    case ForbiddenRole: return error && error->code == ErrorCode::NoPermission;
    case EphemeralRole: return !stat.ephemeralOwner.isNone();
    case FilterRole: return escaped(name.bytes());
    default: return {};
    }
}

QVariant ZnodeNode::header(int column, int role)
{
    static const std::array titles{u"Name"_s,    u"Children"_s, u"Bytes"_s, u"Ephemeral owner"_s,
                                   u"Version"_s, u"Modified"_s};
    if (role == Qt::DisplayRole)
        return titles[static_cast<std::size_t>(column)];
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((isZnodeNumber(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
}

bool ZnodeFilling::isDone() const
{
    const bool isSlid = toRewind == 0 && toDropFirst == 0 && toDropLast == 0 && toPutBefore == 0;
    return !wanted && isCleared && isSlid && isFull() && at == node->count();
}

ZnodePart ZnodeFilling::part() const
{
    ZnodePart part{before(), shown(), after(), static_cast<int>(rows.size()), isHeaped() && toRewind == 0};
    if (filter.isEmpty() && isHeaped())
        part.total = part.matching(); // a name that was listed twice is one
    return part;
}

NodeName ZnodeFilling::beginning() const
{
    return m_before.empty() || m_shown.empty() ? NodeName() : rows[m_shown.front()].name;
}

void ZnodeFilling::begin(const NodeName &from, bool around)
{
    m_from = from;
    m_isAround = around;
    m_heaped = 0;
    m_largest = {};
    m_before.clear();
    m_after.clear();
    m_shown.clear();
    toRewind = toDropFirst = toDropLast = toPutBefore = 0;
    at = 0;
    limit = rowsOfPart;
    isCleared = node->count() == 0;
}

void ZnodeFilling::filterAgain(const QString &text)
{
    filter = text;
    begin({});
}

void ZnodeFilling::lookFor(const NodeName &name)
{
    wanted = name;
    m_looked = 0;
}

int ZnodeFilling::lookOn(int atMost)
{
    const auto end = std::min(rows.size(), m_looked + static_cast<std::size_t>(atMost));
    const auto count = static_cast<int>(end - m_looked);
    while (m_looked < end && rows[m_looked].name != *wanted)
        ++m_looked;
    const bool isThere = m_looked < end;
    if (isThere) {
        filter.clear(); // it is wanted by its name
        begin(*wanted, true);
    }
    if (isThere || m_looked == rows.size())
        wanted.reset();
    return count;
}

// --- the heaps ---

auto ZnodeFilling::isBelow(const std::vector<quint32> &heap) const
{
    return [this, isBefore = &heap == &m_before](quint32 a, quint32 b) {
        return isBefore ? rows[a].name < rows[b].name : rows[b].name < rows[a].name;
    };
}

void ZnodeFilling::push(std::vector<quint32> &heap, quint32 row)
{
    heap.push_back(row);
    std::push_heap(heap.begin(), heap.end(), isBelow(heap));
}

quint32 ZnodeFilling::pop(std::vector<quint32> &heap)
{
    std::pop_heap(heap.begin(), heap.end(), isBelow(heap));
    const auto row = heap.back();
    heap.pop_back();
    return row;
}

int ZnodeFilling::heapUp(int atMost)
{
    int count = 0;
    for (; !isHeaped() && count < atMost; ++count, ++m_heaped) {
        const auto &name = rows[m_heaped].name;
        if (!filter.isEmpty() && !escaped(name.bytes()).contains(filter, Qt::CaseInsensitive))
            continue;
        if (m_largest < name)
            m_largest = name;
        push(name < m_from ? m_before : m_after, static_cast<quint32>(m_heaped));
    }
    if (isHeaped()) // where there is little after it, the part begins earlier
        toRewind = std::min(std::max(m_isAround ? rowsOfPart / 2 : 0, rowsOfPart - after()), before());
    return count;
}

int ZnodeFilling::rewind(int atMost)
{
    const int count = std::min(atMost, toRewind);
    for (int i = 0; i < count; ++i)
        push(m_after, pop(m_before));
    toRewind -= count;
    return count;
}

// --- the part ---

void ZnodeFilling::slideOn()
{
    toDropFirst = std::max(0, shown() - rowsOfPart + rowsOfSlide);
    limit = shown() - toDropFirst + rowsOfSlide;
}

void ZnodeFilling::slideBack()
{
    toDropLast = std::max(0, shown() - rowsOfPart + rowsOfSlide);
    toPutBefore = std::min(rowsOfSlide, before());
    limit = shown() - toDropLast;
}

void ZnodeFilling::dropFirst(int count)
{
    for (int i = 0; i < count; ++i) {
        push(m_before, m_shown.front());
        m_shown.pop_front();
    }
    toDropFirst -= count;
    at -= count;
}

void ZnodeFilling::dropLast(int count)
{
    for (int i = 0; i < count; ++i) {
        push(m_after, m_shown.back());
        m_shown.pop_back();
    }
    toDropLast -= count;
    at -= count;
}

std::vector<ZnodeRow> ZnodeFilling::page(int atMost)
{
    std::vector<ZnodeRow> rowsOfPage;
    while (!isFull() && static_cast<int>(rowsOfPage.size()) < atMost) {
        const auto row = pop(m_after);
        if (!m_shown.empty() && rows[m_shown.back()].name == rows[row].name)
            continue;
        m_shown.push_back(row);
        rowsOfPage.push_back(rows[row]);
    }
    return rowsOfPage;
}

std::vector<ZnodeRow> ZnodeFilling::pageBefore(int atMost)
{
    std::vector<ZnodeRow> rowsOfPage;
    for (const int count = std::min(atMost, toPutBefore); static_cast<int>(rowsOfPage.size()) < count;) {
        m_shown.push_front(pop(m_before));
        rowsOfPage.push_back(rows[m_shown.front()]);
    }
    std::ranges::reverse(rowsOfPage);
    toPutBefore -= static_cast<int>(rowsOfPage.size());
    at += static_cast<int>(rowsOfPage.size());
    limit += static_cast<int>(rowsOfPage.size());
    return rowsOfPage;
}

} // namespace lockscope::ui
