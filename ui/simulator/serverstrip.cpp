// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/serverstrip.h"

#include "core/base/text.h"
#include "ui/simulator/lanepaint.h"
#include "ui/simulator/simulatorwords.h"
#include "ui/theme/theme.h"

#include <QPainter>
#include <QResizeEvent>

#include <algorithm>
#include <cmath>
#include <set>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using contention::ServerLine;

namespace {

constexpr int fontSize = 12;
constexpr int mostLines = 4;     // of one server's
constexpr int narrowStrip = 520; // one of them in a line
constexpr int mostNamed = 6;     // who do the same
constexpr double stripGap = 22;

// The end of a long node's name says its place in the queue.
QByteArray shortName(const QByteArray &name)
{
    constexpr qsizetype most = 26, tail = 17;
    return name.size() <= most ? name : "…" + name.last(tail);
}

QString leftText(Moment left)
{
    if (left.count() <= 0)
        return ServerStrip::tr("its time is over");
    return ServerStrip::tr("%1 s left").arg(spokenNumber(static_cast<double>(left.count()) / 1e6, 1));
}

// Words one behind the other, in lines of that width.
class Flow {
public:
    Flow(QPainter &painter, const QRectF &rect, double lineHeight)
        : m_painter(painter), m_rect(rect), m_lineHeight(lineHeight), m_x(rect.left()), m_y(rect.top())
    {
    }
    [[nodiscard]] bool isFull() const { return m_y + m_lineHeight > m_rect.bottom() + 1; }
    void put(const QString &text, const QColor &colour)
    {
        const QFontMetricsF metrics(m_painter.font());
        const double wide = std::min(metrics.horizontalAdvance(text) + 1, m_rect.width());
        if (m_x > m_rect.left() && m_x + wide > m_rect.right())
            nextLine();
        if (isFull()) {
            ++m_left;
            return;
        }
        m_painter.setPen(colour);
        m_painter.drawText(QRectF(m_x, m_y, wide, m_lineHeight), Qt::AlignVCenter,
                           metrics.elidedText(text, Qt::ElideRight, wide));
        m_x += wide + stripGap;
    }
    void nextLine()
    {
        m_x = m_rect.left();
        m_y += m_lineHeight;
    }
    [[nodiscard]] int left() const { return m_left; }

private:
    QPainter &m_painter;
    const QRectF m_rect;
    const double m_lineHeight;
    double m_x, m_y;
    int m_left = 0;
};

} // namespace

void ServersThen::setRun(PlayedRunPtr run)
{
    m_run = std::move(run);
    m_at = {};
    m_next = 0;
    m_lines.clear();
    m_isDown.assign(m_run ? static_cast<std::size_t>(m_run->recording().history.servers) : 0, false);
}

void ServersThen::goTo(Moment at)
{
    if (!m_run)
        return;
    if (at < m_at)
        setRun(m_run);
    m_at = at;
    const auto &changes = m_run->recording().history.changes;
    for (; m_next < changes.size() && changes[m_next].at <= at; ++m_next) {
        const auto &change = changes[m_next];
        if (change.line.name.isEmpty())
            m_isDown[static_cast<std::size_t>(change.line.server)] = change.line.text == "down";
        else if (change.isGone)
            m_lines.erase({change.line.server, change.line.name});
        else
            m_lines[{change.line.server, change.line.name}] = change.line;
    }
}

std::vector<ServersThen::Server> ServersThen::servers() const
{
    std::vector<Server> all(m_isDown.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i].isDown = m_isDown[i];
    for (const auto &[key, line] : m_lines) {
        // One whose time has passed is gone, though nobody has looked since.
        if (!line.ends || *line.ends > m_at)
            all[static_cast<std::size_t>(key.first)].lines.push_back(line);
    }
    return all;
}

ServerStrip::ServerStrip(QWidget *parent) : QWidget(parent)
{
    setObjectName(u"serverStrip"_s);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("What the servers have at the cursor, and what each contender believes"));
    connect(Theme::instance(), &Theme::changed, this, &QWidget::updateGeometry);
    hide();
}

void ServerStrip::setRun(const PlayedRunPtr &run)
{
    m_run = run;
    m_then.setRun(run);
    std::set<std::pair<int, QByteArray>> there;
    m_most = 1;
    for (const auto &change :
         isKnown() ? run->recording().history.changes : std::vector<contention::ServerChange>()) {
        if (change.isGone)
            there.erase({change.line.server, change.line.name});
        else if (!change.line.name.isEmpty())
            there.insert({change.line.server, change.line.name});
        m_most = std::max(m_most, static_cast<int>(there.size()));
    }
    setVisible(isKnown() && m_hasRoom);
    updateGeometry();
    update();
}

bool ServerStrip::isKnown() const
{
    return m_run && m_run->recording().history.isKept && m_run->eventCount() > 0;
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

// Tokens and nodes by whose they are: nobody reads 20 random characters.
QString ServerStrip::named(QByteArray text) const
{
    for (const auto &[name, lane] : m_run->heldAs())
        text.replace(name, tr("%1’s").arg(m_run->laneName(lane)).toUtf8());
    return label(text, 160);
}

QString ServerStrip::wordsOf(const ServerLine &line) const
{
    QString words = label(shortName(line.name), 60);
    if (!line.text.isEmpty())
        words += u"  "_s + spokenState(named(line.text));
    if (line.ends)
        words += u" · "_s + leftText(*line.ends - m_then.at());
    return words;
}

QStringList ServerStrip::serverWords() const
{
    QStringList all;
    const auto servers = m_then.servers();
    for (std::size_t i = 0; i < servers.size(); ++i) {
        const QString which = servers.size() > 1 ? tr("s%1  ").arg(i + 1) : QString();
        if (servers[i].isDown)
            all << which + tr("down");
        else if (servers[i].lines.empty())
            all << which + tr("empty");
        for (const auto &line : servers[i].lines)
            all << which + wordsOf(line);
    }
    const auto until = m_run ? m_run->recording().history.until : std::nullopt;
    if (until && m_then.at() > *until)
        all = QStringList{tr("not kept beyond %1").arg(momentText(*until))};
    return all;
}

QStringList ServerStrip::beliefs() const
{
    QStringList all;
    for (int lane = 0; m_run && lane < m_run->lanes() && !m_isBeforeAll; ++lane) {
        const auto span = m_run->laneAt(lane, m_then.at());
        QString does;
        switch (span.state) {
        case LaneState::Away: continue;
        case LaneState::Waits: does = tr("waits"); break;
        case LaneState::HasOne: does = tr("has one, waits for the other"); break;
        case LaneState::Holds: does = span.isReader ? tr("holds to read") : tr("holds"); break;
        case LaneState::Works: does = tr("works"); break;
        case LaneState::Dead: does = tr("is dead"); break;
        }
        if (span.isPaused)
            does = tr("paused, believes it %1").arg(does);
        all << m_run->laneName(lane) + u' ' + does;
    }
    return all;
}

// Those who believe the same together: "holds: c00", "waits: c01 c02 c03 c04 c05 … (9)".
QStringList ServerStrip::groupedBeliefs() const
{
    std::vector<std::pair<QString, QStringList>> groups;
    for (const auto &one : beliefs()) {
        const auto space = one.indexOf(u' ');
        const QString does = one.sliced(space + 1);
        auto group = std::ranges::find(groups, does, &std::pair<QString, QStringList>::first);
        if (group == groups.end())
            group = groups.insert(groups.end(), {does, {}});
        group->second << one.first(space);
    }
    QStringList all;
    for (const auto &[does, who] : groups) {
        const bool areMany = who.size() > mostNamed;
        const QString names = who.first(std::min<qsizetype>(who.size(), mostNamed - 1 + !areMany)).join(u' ');
        all << u"%1: %2"_s.arg(does, areMany ? tr("%1 … (%2)").arg(names).arg(who.size()) : names);
    }
    return all;
}

QSize ServerStrip::sizeHint() const
{
    const QFontMetricsF metrics(monoFont(fontSize));
    const int servers = m_run ? m_run->recording().history.servers : 1;
    const int lines =
        (servers > 1 ? servers : std::clamp(width() < narrowStrip ? m_most : (m_most + 1) / 2, 1, mostLines)) + 2;
    return {300, static_cast<int>(std::ceil(metrics.height() * lines)) + 10};
}

void ServerStrip::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    if ((event->oldSize().width() < narrowStrip) != (event->size().width() < narrowStrip))
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
    const QFont words = monoFont(fontSize), head = textFont(fontSize, QFont::DemiBold);
    const double line = QFontMetricsF(words).height();
    double headWide = 0; // each language has its longest
    for (const auto &one : {tr("They believe"), tr("On servers"), tr("On server")})
        headWide = std::max(headWide, QFontMetricsF(head).horizontalAdvance(one) + 12);
    const double believed = 2 * line;
    const auto servers = m_then.servers();
    const auto section = [&](const QString &title, double top, double height) {
        painter.setFont(head);
        painter.setPen(t.muted);
        painter.drawText(QRectF(2, top, headWide, line), Qt::AlignVCenter, title);
        painter.setFont(words);
        return QRectF(headWide, top, width() - headWide - 4, height);
    };
    Flow there(painter, section(servers.size() > 1 ? tr("On servers") : tr("On server"), 5, height() - believed - 9),
               line);
    // An empty one is worth a look where the others have something.
    const bool isAnythingThere =
        std::ranges::any_of(servers, [](const auto &server) { return !server.lines.empty() && !server.isDown; });
    for (const auto &text : serverWords()) {
        const bool isBad = text.endsWith(tr("down")) || (isAnythingThere && text.endsWith(tr("empty")));
        there.put(text, isBad && servers.size() > 1 ? t.critical : t.text);
        if (servers.size() > 1)
            there.nextLine();
    }
    if (there.left() > 0) {
        const QString more = u"  "_s + tr("and %1 more").arg(there.left());
        const QRectF last(0, height() - believed - line - 4, width() - 6, line);
        const double wide = QFontMetricsF(words).horizontalAdvance(more) + 1;
        painter.fillRect(QRectF(last.right() - wide, last.top(), wide, line), t.panel);
        painter.setPen(t.muted);
        painter.drawText(last, Qt::AlignRight | Qt::AlignVCenter, more);
    }
    Flow here(painter, section(tr("They believe"), height() - believed - 3, believed), line);
    for (const auto &text : groupedBeliefs()) {
        const bool holds = text.contains(tr("holds")) || text.contains(tr("works"));
        here.put(text, holds ? t.hold : t.muted);
    }
}

} // namespace lockscope::ui

#include "moc_serverstrip.cpp"
