// SPDX-License-Identifier: Apache-2.0
#include "ui/models/znodefilling.h"

#include "core/base/text.h"

namespace lockscope::ui {

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
