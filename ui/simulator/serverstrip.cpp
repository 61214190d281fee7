// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/serverstrip.h"

#include "ui/parts/parts.h"
#include "ui/simulator/simulatortext.h"

#include <QPainter>
#include <QResizeEvent>

#include <cmath>

namespace lockscope::ui {

namespace {

constexpr int mostLines = 6;       // of what the servers have
constexpr int narrowStrip = 330;   // what it is called stands above it there, not beside it
constexpr qsizetype mostNamed = 6; // who do the same
constexpr double stripGap = 22;
constexpr std::size_t mostMeasured = 300; // moments of a run

int headWidth(int fontSize)
{
    const QFontMetricsF metrics(textFont(fontSize, QFont::DemiBold));
    return static_cast<int>(std::ceil(std::max({metrics.horizontalAdvance(ServerStrip::tr("They believe")),
                                                metrics.horizontalAdvance(ServerStrip::tr("On servers")),
                                                metrics.horizontalAdvance(ServerStrip::tr("On server"))})))
           + 12;
}

// Words one behind the other, in lines of that width; what is longer than a line goes on in the next.
class Flow {
public:
    struct Piece {
        QString text;
        double x = 0;
        int line = 0;
        int item = 0; // which of those that were put
    };
    Flow(const QFontMetricsF &metrics, double width) : m_metrics(metrics), m_width(width) {}
    void put(const QString &text)
    {
        const double wide = m_metrics.horizontalAdvance(text) + 1;
        if (m_x > 0 && m_x + wide > m_width)
            nextLine();
        if (wide <= m_width)
            place(text, wide);
        else
            wrap(text);
        m_x += stripGap;
        ++m_items;
    }
    void nextLine()
    {
        if (m_x > 0)
            ++m_line;
        m_x = 0;
    }
    [[nodiscard]] const std::vector<Piece> &pieces() const { return m_pieces; }
    [[nodiscard]] int lines() const { return m_pieces.empty() ? 0 : m_pieces.back().line + 1; }
    [[nodiscard]] int items() const { return m_items; }

private:
    void place(const QString &text, double wide)
    {
        m_pieces.push_back({text, m_x, m_line, m_items});
        m_x += wide;
    }
    void wrap(const QString &text)
    {
        QString line;
        for (const auto &word : text.split(u' ')) {
            const QString longer = line.isEmpty() ? word : line + u' ' + word;
            if (!line.isEmpty() && m_metrics.horizontalAdvance(longer) > m_width) {
                place(line, m_width);
                nextLine();
                line = word;
            } else {
                line = longer;
            }
        }
        line = m_metrics.elidedText(line, Qt::ElideRight, m_width);
        place(line, m_metrics.horizontalAdvance(line) + 1);
    }

    const QFontMetricsF m_metrics;
    const double m_width;
    double m_x = 0;
    int m_line = 0, m_items = 0;
    std::vector<Piece> m_pieces;
};

Flow flowOf(const std::vector<ServerWords> &all, const QFontMetricsF &metrics, double width)
{
    Flow flow(metrics, width);
    for (const auto &one : all) {
        if (!one.which.isEmpty() || one.isBad)
            flow.nextLine();
        for (qsizetype i = 0; i < one.texts.size(); ++i)
            flow.put(i == 0 && !one.which.isEmpty() ? one.which + u"  "_s + one.texts[i] : one.texts[i]);
        if (!one.which.isEmpty() || one.isBad)
            flow.nextLine();
    }
    return flow;
}

} // namespace

ServerStrip::ServerStrip(QWidget *parent) : QWidget(parent)
{
    setObjectName(u"serverStrip"_s);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("What the servers have at the cursor, and what each contender believes"));
    connect(Theme::instance(), &Theme::changed, this, &QWidget::updateGeometry);
    sayInEachLanguage(this, [this] { m_linesFor.clear(); });
    hide();
}

void ServerStrip::setRun(const PlayedRunPtr &run)
{
    m_run = run;
    m_then.setRun(run);
    m_linesFor.clear();
    setVisible(isKnown() && m_hasRoom);
    updateGeometry();
    update();
}

void ServerStrip::setHasRoom(bool hasRoom)
{
    m_hasRoom = hasRoom;
    setVisible(isKnown() && hasRoom);
}

void ServerStrip::setMoment(Moment at, bool isBeforeAll)
{
    m_isBeforeAll = isBeforeAll;
    m_then.goTo(isBeforeAll ? Moment(-1) : at);
    setAccessibleDescription((serverWords() + beliefs()).join(u"; "_s));
    update();
}

QStringList ServerStrip::serverWords() const
{
    QStringList all;
    for (const auto &group : m_run ? serverWordsOf(*m_run, m_then) : std::vector<ServerWords>()) {
        for (const auto &text : group.texts)
            all << (group.which.isEmpty() ? text : group.which + u"  "_s + text);
    }
    return all;
}

QString ServerStrip::beliefOf(int lane, const LaneSpan &span) const
{
    const auto &scenario = m_run->recording().scenario;
    const auto lock = [&](bool isSecond) { return letterOfLock(scenario, lane, isSecond); };
    const bool areTwo = scenario.locks > 1;
    QString does;
    switch (span.state) {
    case LaneState::Away: break;
    case LaneState::Waits: does = areTwo ? tr("waits for %1").arg(lock(false)) : tr("waits"); break;
    case LaneState::HasOne:
        does = areTwo ? tr("has %1, waits for %2").arg(lock(false), lock(true)) : tr("has one, waits for the other");
        break;
    case LaneState::Holds: does = span.isReader ? tr("holds to read") : tr("holds"); break;
    case LaneState::Works: does = tr("works"); break;
    case LaneState::Dead: does = tr("is dead"); break;
    }
    return span.isPaused ? tr("paused, believes it %1").arg(does) : does;
}

// Of a hundred thousand a few are named; so the others need no words, once in each frame.
std::vector<ServerStrip::Belief> ServerStrip::grouped() const
{
    std::vector<Belief> groups;
    const bool areTwo = m_run && m_run->recording().scenario.locks > 1;
    for (int lane = 0; m_run && lane < m_run->lanes() && !m_isBeforeAll; ++lane) {
        const auto span = m_run->laneAt(lane, m_then.at());
        if (span.state == LaneState::Away)
            continue;
        // Of two locks it depends on who it is which of them it has first.
        const QString words = areTwo ? beliefOf(lane, span) : QString();
        const bool reads = span.state == LaneState::Holds && span.isReader; // who waits says no more than that
        auto group = std::ranges::find_if(groups, [&](const Belief &one) {
            return one.state == span.state && one.isPaused == span.isPaused && one.isReader == reads
                   && (!areTwo || one.does == words);
        });
        if (group == groups.end())
            group = groups.insert(groups.end(),
                                  {span.state, span.isPaused, reads, areTwo ? words : beliefOf(lane, span), {}, 0});
        if (++group->count <= mostNamed)
            group->first << m_run->laneName(lane);
    }
    return groups;
}

QString ServerStrip::beliefText(const Belief &belief, qsizetype most)
{
    const bool areMany = belief.count > most;
    const QString names =
        belief.first.first(std::min(belief.count, std::max<qsizetype>(1, most - areMany))).join(u' ');
    return tr("%1: %2").arg(belief.does, areMany ? tr("%1 … (%2)").arg(names).arg(belief.count) : names);
}

QStringList ServerStrip::beliefs() const
{
    return mapped<QStringList>(grouped(), [&](const auto &belief) { return beliefText(belief, mostNamed); });
}

// The most that it has at any moment, so that it does not change its height while the run goes on.
int ServerStrip::linesFor(int width) const
{
    const QFontMetricsF metrics(monoFont(m_fontSize));
    const std::pair key(width, metrics.height());
    if (const auto known = m_linesFor.find(key); known != m_linesFor.end())
        return known->second;
    int most = 1;
    ServersThen then;
    then.setRun(m_run);
    const auto &changes = m_run->recording().history.changes;
    const std::size_t step = std::max<std::size_t>(1, changes.size() / mostMeasured);
    for (std::size_t i = 0; i < changes.size() && most < mostLines; i += step) {
        then.goTo(changes[i].at);
        most = std::max(most, flowOf(serverWordsOf(*m_run, then), metrics, roomFor(width)).lines());
    }
    return m_linesFor[key] = std::min(most, mostLines);
}

double ServerStrip::roomFor(int width) const
{
    return std::max(40, width < narrowStrip ? width - 8 : width - headWidth(m_fontSize) - 4);
}

int ServerStrip::heightFor(int width) const
{
    const int heads = width < narrowStrip ? 2 : 0;
    const int lines = (isKnown() ? linesFor(width) : 1) + 2 + heads;
    return static_cast<int>(std::ceil(QFontMetricsF(monoFont(m_fontSize)).height() * lines)) + 10;
}

void ServerStrip::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    if (heightFor(event->oldSize().width()) != heightFor(event->size().width()))
        updateGeometry();
}

void ServerStrip::paintEvent(QPaintEvent *)
{
    if (!m_run)
        return;
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    painter.setPen(t.line);
    painter.drawLine(0, 0, width(), 0);
    const QFont words = monoFont(m_fontSize), head = textFont(m_fontSize, QFont::DemiBold);
    const QFontMetricsF metrics(words);
    const double line = metrics.height();
    const bool isNarrow = width() < narrowStrip;
    const double believed = (isNarrow ? 3 : 2) * line;
    const auto section = [&](const QString &title, double top, double bottom) {
        painter.setFont(head);
        painter.setPen(t.muted);
        painter.drawText(QRectF(2, top, width() - 4, line), Qt::AlignVCenter, title);
        painter.setFont(words);
        const double left = isNarrow ? 2 : headWidth(m_fontSize);
        top += isNarrow ? line : 0;
        return QRectF(left, top, roomFor(width()), bottom - top);
    };
    const auto draw = [&](const Flow &flow, const QRectF &rect, auto colourOf) {
        const int most = static_cast<int>((rect.height() + 1) / line);
        for (const auto &piece : flow.pieces()) {
            if (piece.line >= most)
                return flow.items() - piece.item; // this one and those behind it are not all there
            painter.setPen(colourOf(piece.item));
            painter.drawText(QRectF(rect.left() + piece.x, rect.top() + piece.line * line, rect.width(), line),
                             Qt::AlignVCenter, piece.text);
        }
        return 0;
    };
    const auto servers = serverWordsOf(*m_run, m_then);
    const QString title = m_run->recording().history.servers > 1 ? tr("On servers") : tr("On server");
    std::vector<bool> areBad;
    for (const auto &group : servers)
        areBad.insert(areBad.end(), static_cast<std::size_t>(group.texts.size()), group.isBad);
    const QRectF there = section(title, 5, height() - believed - 4);
    const int left = draw(flowOf(servers, metrics, there.width()), there,
                          [&](int item) { return areBad[static_cast<std::size_t>(item)] ? t.critical : t.text; });
    // At the end of the last line that has room.
    const auto notifyOfMore = [&](int count, double top) {
        if (count <= 0)
            return;
        const QString more = u"  "_s + tr("and %1 more").arg(count);
        const QRectF last(0, top, width() - 6, line);
        const double wide = metrics.horizontalAdvance(more) + 1;
        painter.fillRect(QRectF(last.right() - wide, last.top(), wide, line), t.panel);
        painter.setPen(t.muted);
        painter.drawText(last, Qt::AlignRight | Qt::AlignVCenter, more);
    };
    notifyOfMore(left, height() - believed - line - 4);
    const auto beliefs = grouped();
    const QRectF here = section(tr("They believe"), height() - believed - 3, height());
    // As many of their names as there is room for.
    const auto flowNaming = [&](qsizetype most) {
        Flow all(metrics, here.width());
        for (const auto &belief : beliefs)
            all.put(beliefText(belief, most));
        return all;
    };
    qsizetype named = mostNamed;
    while (named > 1 && flowNaming(named).lines() * line > here.height() + 1)
        --named;
    const Flow flow = flowNaming(named);
    const int unsaid = draw(flow, here, [&](int item) {
        const auto state = beliefs[static_cast<std::size_t>(item)].state;
        return state == LaneState::Holds || state == LaneState::Works ? t.hold : t.muted;
    });
    notifyOfMore(unsaid, here.top() + (std::floor((here.height() + 1) / line) - 1) * line);
}

} // namespace lockscope::ui

#include "moc_serverstrip.cpp"
