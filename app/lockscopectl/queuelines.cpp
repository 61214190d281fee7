// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

namespace lockscope::ctl {

using inspect::Contender;
using inspect::Evidence;
using inspect::LockSnapshot;
using inspect::Role;

namespace {

constexpr int leastHead = 10, ageCells = 12, leastTwoColumns = 76, leastWatches = 26, widestQueue = 120;
constexpr std::size_t mostLanes = 6;

struct Cell {
    QChar glyph = u' ';
    Ink ink = Ink::Plain;
};

// From one contender to those that watch it, or between the contenders of a deadlock.
struct Rail {
    std::set<int> rows; // two or more
    bool isReported = true;
    bool isCycle = false;
    [[nodiscard]] int first() const { return *rows.begin(); }
    [[nodiscard]] int last() const { return *rows.rbegin(); }
    [[nodiscard]] Ink ink() const { return isCycle ? Ink::Red : isReported ? Ink::Blue : Ink::Dim; }
    [[nodiscard]] QChar line() const
    {
        const bool isSolid = isCycle || isReported;
        if (isUnicode())
            return isSolid ? u'│' : u'┊';
        return isSolid ? u'|' : u':';
    }
};

// The rails of a queue: those to the contender above are below its sign, all others are in lanes beside the signs.
class Rails {
public:
    explicit Rails(const LockSnapshot &lock)
    {
        std::map<QByteArray, int> rows;
        for (std::size_t i = 0; i < lock.contenders.size(); ++i)
            rows.emplace(lock.contenders[i].id, static_cast<int>(i));
        std::map<std::pair<int, bool>, std::set<int>> watchers; // by what they watch, and whether that is reported
        for (std::size_t i = 0; i < lock.contenders.size(); ++i) {
            const int row = static_cast<int>(i);
            for (const auto &edge : lock.contenders[i].watches) {
                const auto target = edge.children ? rows.end() : rows.find(edge.target);
                if (target == rows.end() || target->second == row)
                    continue;
                const bool isReported = edge.evidence == Evidence::Server;
                if (target->second == row - 1)
                    m_above[row] = isReported || m_above[row];
                else
                    watchers[{target->second, isReported}].insert(row);
            }
        }
        for (auto &[key, all] : watchers) {
            all.insert(key.first);
            add({std::move(all), key.second});
        }
        for (const auto &finding : lock.findings) {
            if (finding.code != inspect::FindingCode::Deadlock)
                continue;
            Rail rail;
            rail.isCycle = true;
            for (const auto &id : finding.contenders) {
                if (const auto row = rows.find(id); row != rows.end())
                    rail.rows.insert(row->second);
            }
            if (rail.rows.size() > 1)
                add(std::move(rail));
        }
    }

    [[nodiscard]] int lanes() const { return static_cast<int>(m_lanes.size()); }
    [[nodiscard]] bool hasAny(bool isReported) const
    {
        const auto isSuch = [&](const Rail &rail) { return !rail.isCycle && rail.isReported == isReported; };
        return std::ranges::any_of(m_above, [&](const auto &each) { return each.second == isReported; })
               || std::ranges::any_of(m_lanes, [&](const auto &lane) { return std::ranges::any_of(lane, isSuch); });
    }

    // Beside the sign of that contender.
    [[nodiscard]] std::vector<Cell> cellsAtSign(int row) const
    {
        auto cells = passing(row);
        for (std::size_t lane = 0; lane < m_lanes.size(); ++lane) {
            for (const auto &rail : m_lanes[lane]) {
                if (!rail.rows.contains(row))
                    continue;
                const auto corner = row == rail.first() ? u'┐' : row == rail.last() ? u'┘' : u'┤';
                cells[lane] = {isUnicode() ? QChar(corner) : QChar(u'+'), rail.ink()};
                for (std::size_t i = 0; i < lane; ++i) {
                    if (cells[i].glyph == u' ')
                        cells[i] = {isUnicode() ? QChar(u'─') : QChar(u'-'), rail.ink()};
                }
            }
        }
        return cells;
    }

    // On a line below: the rail to the next contender first. `isFirst`: the line below the sign.
    [[nodiscard]] std::vector<Cell> cellsBelow(int row, bool isFirst) const
    {
        std::vector<Cell> cells{{}};
        if (const auto next = m_above.find(row + 1); next != m_above.end()) {
            const Rail rail{.rows = {}, .isReported = next->second};
            cells.front() = {rail.line(), rail.ink()};
        }
        for (std::size_t lane = 0; lane < m_lanes.size(); ++lane) {
            Cell cell;
            for (const auto &rail : m_lanes[lane]) {
                if (row < rail.first() || row >= rail.last())
                    continue;
                const bool isMark = rail.isCycle && isFirst && row == rail.first();
                const auto mark = isUnicode() ? QChar(u'✕') : QChar(u'X');
                cell = {isMark ? mark : rail.line(), rail.ink()};
            }
            cells.push_back(cell);
        }
        return cells;
    }

private:
    [[nodiscard]] std::vector<Cell> passing(int row) const
    {
        std::vector<Cell> cells(m_lanes.size());
        for (std::size_t lane = 0; lane < m_lanes.size(); ++lane) {
            for (const auto &rail : m_lanes[lane]) {
                if (row > rail.first() && row < rail.last())
                    cells[lane] = {rail.line(), rail.ink()};
            }
        }
        return cells;
    }

    // Into the first lane that is free there. Without one the text alone names what is watched.
    void add(Rail rail)
    {
        for (auto &lane : m_lanes) {
            const bool isFree = std::ranges::all_of(
                lane, [&](const Rail &other) { return other.last() < rail.first() || rail.last() < other.first(); });
            if (isFree) {
                lane.push_back(std::move(rail));
                return;
            }
        }
        if (m_lanes.size() < mostLanes)
            m_lanes.push_back({std::move(rail)});
    }

    std::map<int, bool> m_above; // by the watching contender: whether it is reported
    std::vector<std::vector<Rail>> m_lanes;
};

// A contender of this lock, as a waiter's text names it: "…0000000012, waiter 3".
QString targetText(const LockSnapshot &lock, const inspect::WatchEdge &edge)
{
    constexpr int sequenceLength = 10, shortest = 12;
    if (edge.children)
        return u"all nodes of the queue"_s;
    const auto *target = lock.find(edge.target);
    if (!target)
        return u"%1, which is not in the queue"_s.arg(escaped(edge.target));
    const auto role = target->role == Role::Holder ? (lock.holderCount() == 1 ? u"the holder"_s : u"a holder"_s)
                      : target->position           ? u"waiter %1"_s.arg(*target->position)
                                                   : u"a waiter"_s;
    const auto name = inspect::nameInId(edge.target);
    const auto digits = name.right(sequenceLength);
    const bool isSequence =
        name.size() > sequenceLength && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (isSequence)
        return u"%1%2, %3"_s.arg(isUnicode() ? u"…"_s : u"..."_s, escaped(digits), role);
    return name.size() <= shortest ? u"%1, %2"_s.arg(escaped(name), role) : role;
}

QString evidenceText(Evidence evidence)
{
    return evidence == Evidence::Server ? u"reported by the server"_s : u"inferred"_s;
}

// What the client of a contender holds and waits for elsewhere.
QStringList otherLocks(const LockSnapshot &lock, const Contender &contender, const inspect::WaitGraph *graph)
{
    constexpr qsizetype mostNames = 3;
    if (!graph)
        return {};
    const auto nameOf = [&](const inspect::GraphEdge &edge) -> const inspect::LockName & {
        return graph->locks[static_cast<std::size_t>(edge.lock)].name;
    };
    const auto own = std::ranges::find_if(graph->edges, [&](const inspect::GraphEdge &edge) {
        return edge.contender == contender.id && nameOf(edge) == lock.lock;
    });
    if (own == graph->edges.end())
        return {};
    QStringList held, awaited;
    for (const auto &edge : graph->edges) {
        if (edge.client == own->client && nameOf(edge) != lock.lock)
            (edge.kind == inspect::GraphEdge::Kind::Holds ? held : awaited) << escaped(nameOf(edge).text());
    }
    QStringList texts;
    const auto addText = [&](const QString &text, QStringList names) {
        const auto more = names.size() - mostNames;
        if (more > 0)
            names = names.first(mostNames) << u"and %1 more"_s.arg(more);
        if (!names.isEmpty())
            texts << text.arg(names.join(u", "_s));
    };
    addText(u"also holds %1"_s, held);
    addText(u"also waits for %1"_s, awaited);
    return texts;
}

QString factsText(const LockSnapshot &lock, const Contender &contender, const QString &name, inspect::ServerTime now)
{
    QStringList facts;
    if (contender.endpoint && shown(*contender.endpoint) != name)
        facts << shown(*contender.endpoint);
    if (const auto session = sessionText(contender, lock.backend); !session.isEmpty() && session != name)
        facts << session;
    if (const auto identity = identityWords(contender); identity != u"-"_s && identity != name)
        facts << identity;
    if (contender.mode != inspect::Mode::Exclusive)
        facts << inspect::word(contender.mode);
    if (contender.reentry > 1)
        facts << u"held %1 times"_s.arg(contender.reentry);
    if (contender.expiresAt)
        facts << u"expires in %1"_s.arg(formatDuration(*contender.expiresAt - now));
    return facts.join(u", "_s);
}

class QueuePrinter {
public:
    QueuePrinter(const LockSnapshot &lock, const inspect::WaitGraph *graph, inspect::ServerTime now, int width)
        : m_lock(lock), m_graph(graph), m_now(now), m_rails(lock), m_right(std::min(width, widestQueue)),
          m_isWide(m_right >= leastTwoColumns)
    {
        qsizetype place = 0;
        for (const auto &contender : lock.contenders)
            place = std::max(place, placeOf(contender).size());
        m_head = std::max<qsizetype>(leastHead, 1 + m_rails.lanes() + 1 + place + 1);
        const auto space = m_right - m_head - ageCells;
        m_watches = m_isWide ? std::max<qsizetype>(leastWatches, space / 3) : 0;
        m_client = space - m_watches;
    }

    [[nodiscard]] std::vector<Line> lines()
    {
        const auto title = infoOf(m_lock.backend).words.waitsFor.toUpper();
        Line line{{u"QUEUE"_s}};
        put(line, m_head, {u"CLIENT"_s});
        if (m_isWide)
            put(line, m_head + m_client, {title});
        putAge(line, u"AGE"_s);
        m_lines.push_back(std::move(line));
        for (std::size_t i = 0; i < m_lock.contenders.size(); ++i)
            addContender(static_cast<int>(i));
        addLegend();
        return std::move(m_lines);
    }

private:
    [[nodiscard]] static QString placeOf(const Contender &contender)
    {
        return contender.role == Role::Waiter && contender.position ? QString::number(*contender.position)
                                                                    : QString();
    }

    [[nodiscard]] static qsizetype cellsOfLine(const Line &line)
    {
        qsizetype cells = 0;
        for (const auto &span : line)
            cells += cellsOf(span.text);
        return cells;
    }
    // Begins there, or after a space where the line is longer.
    static void put(Line &line, qsizetype at, Span span)
    {
        const auto gap = at - cellsOfLine(line);
        line.push_back({QString(std::max<qsizetype>(gap, 1), u' ')});
        line.push_back(std::move(span));
    }
    void putAge(Line &line, const QString &age) const { put(line, m_right - cellsOf(age), {age}); }

    [[nodiscard]] Line headOf(int row, bool isSign, bool isFirstBelow) const
    {
        const auto &contender = m_lock.contenders[static_cast<std::size_t>(row)];
        Line line;
        if (isSign)
            line.push_back({roleSign(contender.role), contender.role == Role::Holder ? Ink::Cyan : Ink::Yellow});
        for (const auto &cell : isSign ? m_rails.cellsAtSign(row) : m_rails.cellsBelow(row, isFirstBelow))
            line.push_back({QString(cell.glyph), cell.ink});
        if (const auto place = placeOf(contender); isSign && !place.isEmpty())
            line.push_back({u" %1"_s.arg(place)});
        return line;
    }

    void addContender(int row)
    {
        const auto &contender = m_lock.contenders[static_cast<std::size_t>(row)];
        const auto name = clientText(contender, m_lock.backend);
        const auto whole = m_right - m_head; // of a text over all columns
        QStringList right;
        if (contender.role == Role::Holder)
            right << u"holds the lock"_s;
        for (const auto &edge : contender.watches)
            right << targetText(m_lock, edge) << evidenceText(edge.evidence);
        QStringList below;
        if (!m_isWide) {
            for (qsizetype i = 0; i + 1 < right.size() && contender.role == Role::Waiter; i += 2)
                below += wrappedWhole(
                    u"%1 %2, %3"_s.arg(infoOf(m_lock.backend).words.waitsFor, right[i], right[i + 1]), whole);
            right.clear();
        }
        if (contender.work) {
            for (const auto &text : inspect::workLines(*contender.work, m_now))
                below += wrappedWhole(text, whole);
        }
        for (const auto &text : otherLocks(m_lock, contender, m_graph))
            below += wrappedWhole(text, whole);
        below << u"ID %1"_s.arg(escaped(contender.id));
        auto left = QStringList(name)
                    + wrappedWhole(factsText(m_lock, contender, name, m_now), m_isWide ? m_client - 1 : whole);
        QStringList watches;
        for (const auto &text : right)
            watches += wrappedWhole(text, m_watches - 1);
        if (m_isWide && cellsOf(name) >= m_client && !watches.isEmpty())
            watches.prepend({});
        const auto isAgeBelow = cellsOf(name) + m_head + 1 + ageCells > m_right;
        const auto age = ageWords(contender, m_now);
        const auto columns = std::max(left.size(), watches.size());
        for (qsizetype i = 0; i < columns; ++i) {
            auto line = headOf(row, i == 0, i == 1);
            if (!left.value(i).isEmpty())
                put(line, m_head, {left[i], i == 0 ? Ink::Bold : Ink::Dim});
            if (!watches.value(i).isEmpty())
                put(line, m_head + m_client, {watches[i]});
            if (i == (isAgeBelow ? 1 : 0))
                putAge(line, age);
            m_lines.push_back(std::move(line));
        }
        bool isFirstBelow = columns == 1;
        for (const auto &text : below) {
            auto line = headOf(row, false, isFirstBelow);
            put(line, m_head, {text, Ink::Dim});
            if (isFirstBelow && isAgeBelow)
                putAge(line, age);
            isFirstBelow = false;
            m_lines.push_back(std::move(line));
        }
    }

    // Of the rails that are there.
    void addLegend()
    {
        Line line;
        for (const bool isReported : {true, false}) {
            if (!m_rails.hasAny(isReported))
                continue;
            const Rail rail{.rows = {}, .isReported = isReported};
            if (!line.empty())
                line.push_back({u"   "_s});
            line.push_back({QString(rail.line()), rail.ink()});
            line.push_back({u' ' + evidenceText(isReported ? Evidence::Server : Evidence::Inferred), Ink::Dim});
        }
        if (!line.empty())
            m_lines.push_back(std::move(line));
    }

    const LockSnapshot &m_lock;
    const inspect::WaitGraph *m_graph;
    inspect::ServerTime m_now;
    Rails m_rails;
    qsizetype m_right;
    bool m_isWide;
    qsizetype m_head = 0, m_watches = 0, m_client = 0;
    std::vector<Line> m_lines;
};

} // namespace

std::vector<Line> queueLines(const LockSnapshot &lock, const inspect::WaitGraph *graph, inspect::ServerTime now,
                             int width)
{
    return QueuePrinter(lock, graph, now, width).lines();
}

} // namespace lockscope::ctl
