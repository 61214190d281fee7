// SPDX-License-Identifier: Apache-2.0
#include "ui/views/lockstable.h"

#include "core/base/text.h"
#include "ui/parts/notices.h"

#include <QPainter>
#include <QUrl>

namespace lockscope::ui {

using inspect::Severity;

struct StackedRow {
    Pill state;
    QString name;
    QString waiting; // "3 wait"
    QString holder;
    QString finding;
    Tone findingTone = Tone::Free;
    QString age;
    bool isSelected = false;
    bool hasFocus = false;
    bool isStale = false;
};

namespace {

constexpr int edgeWidth = 5;
constexpr int stateLeft = 12;
constexpr int stateWidth = 16;
constexpr int textLeft = 36;
constexpr int rightMargin = 12;
constexpr int partGap = 10;
constexpr int leastOfAHolder = 60;

// Draws one line from `left` and returns where the next one may begin.
qreal drawPart(QPainter &painter, const QRectF &line, const QString &text, const QFont &font, const QColor &color,
               Qt::TextElideMode elide = Qt::ElideRight)
{
    if (text.isEmpty() || line.width() <= 0)
        return line.left();
    const QFontMetricsF metrics(font);
    painter.setFont(font);
    painter.setPen(color);
    const auto shown = elidedClient(metrics, text, line.width(), elide);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, shown);
    return line.left() + metrics.horizontalAdvance(shown) + partGap;
}

QRectF lineOf(const QRect &box, int line)
{
    const qreal height = (box.height() - 6) / 2.0;
    return {qreal(box.left() + textLeft), box.top() + 3 + line * height, qreal(box.width() - textLeft - rightMargin),
            height};
}

void paintGroupHead(QPainter &painter, const QRect &box, const GroupHead &group)
{
    const Tokens &t = Theme::tokens();
    painter.fillRect(box, t.background);
    painter.fillRect(QRect(box.left(), box.bottom(), box.width(), 1), t.line);
    paintEdge(painter, box, group);
    QRectF line = QRectF(box).adjusted(stateLeft, 0, -rightMargin, 0);
    const QFont small = textFont(12);
    const qreal statusWidth = std::min(line.width() / 2, tabularWidth(small, group.status) + 1);
    painter.setPen(t.muted);
    painter.setFont(small);
    drawTabular(painter, QRectF(line.right() - statusWidth, line.top(), statusWidth, line.height()),
                Qt::AlignRight | Qt::AlignVCenter, group.status);
    line.setRight(line.right() - statusWidth - partGap);
    line.setLeft(drawPart(painter, line, group.name, textFont(13, QFont::DemiBold), t.text));
    if (line.width() > tagWidth(group.tag)) {
        paintTag(painter, line, group.tag, group.isProduction ? TagLook::Production : TagLook::Plain);
        line.setLeft(line.left() + tagWidth(group.tag) + (group.tag.isEmpty() ? 0 : partGap));
    }
    drawPart(painter, line, group.facts, small, t.muted);
}

void paintStackedRow(QPainter &painter, const QRect &box, const StackedRow &row, const GroupHead &group)
{
    const Tokens &t = Theme::tokens();
    painter.save();
    painter.fillRect(box, row.isSelected ? t.selection : t.panel);
    painter.fillRect(QRect(box.left(), box.bottom(), box.width(), 1), t.line);
    paintEdge(painter, box, group);
    if (row.hasFocus) // beside the edge, which says whose the lock is
        painter.fillRect(QRect(box.left() + edgeWidth, box.top(), 3, box.height() - 1), t.accent);
    if (row.isStale)
        painter.setOpacity(0.5);

    QRectF first = lineOf(box, 0), second = lineOf(box, 1);
    const QColor tone = toneColor(t, row.state.tone);
    paintShape(painter, QRectF(box.left() + stateLeft, first.top(), stateWidth, first.height()), row.state.shape,
               tone);
    const QFont numbers = textFont(12);
    const auto drawRight = [&](QRectF &line, const QString &text, const QColor &color) {
        const qreal width = text.isEmpty() ? 0 : tabularWidth(numbers, text) + 1;
        painter.setFont(numbers);
        painter.setPen(color);
        drawTabular(painter, QRectF(line.right() - width, line.top(), width, line.height()),
                    Qt::AlignRight | Qt::AlignVCenter, text);
        line.setRight(line.right() - width - (width > 0 ? partGap : 0));
    };
    drawRight(first, row.waiting, t.text);
    drawRight(second, row.age, t.muted);
    drawPart(painter, first, row.name, monoFont(12, QFont::DemiBold), t.text, Qt::ElideMiddle);

    second.setLeft(drawPart(painter, second, row.state.word, textFont(12, QFont::DemiBold), tone));
    // The holder first: the finding has what is left.
    const QFont plain = textFont(12);
    const qreal findingWidth = QFontMetricsF(plain).horizontalAdvance(row.finding);
    const qreal holderWidth = QFontMetricsF(plain).horizontalAdvance(row.holder);
    QRectF holder = second;
    if (!row.finding.isEmpty())
        holder.setWidth(std::min(
            second.width(), std::max({holderWidth, qreal(leastOfAHolder), second.width() - findingWidth - partGap})));
    QRectF finding = second;
    finding.setLeft(drawPart(painter, holder, row.holder, plain, t.text));
    if (finding.width() > leastOfAHolder)
        drawPart(painter, finding, row.finding, plain, toneColor(t, row.findingTone));
    painter.restore();
}

QString hostsOf(const QString &uri)
{
    const QUrl url(uri);
    return url.host().isEmpty() ? uri.section(u"://"_s, 1).section(u'/', 0, 0).section(u'@', -1) : url.host();
}

} // namespace

QColor connectionColor(int number)
{
    const auto &colors = Theme::tokens().connections;
    return colors[static_cast<std::size_t>(number) % colors.size()];
}

void paintEdge(QPainter &painter, const QRect &box, const GroupHead &group)
{
    const QRect edge(box.left(), box.top(), edgeWidth, box.height());
    if (group.isProduction)
        paintStripes(painter, edge, group.edge);
    else
        painter.fillRect(edge, group.edge);
}

StackedRow LocksDelegate::stackedRow(const QModelIndex &index) const
{
    const auto text = [&index](int column) { return index.siblingAtColumn(column).data().toString(); };
    const auto brief = [&index](int column) {
        return index.siblingAtColumn(column).data(LocksModel::BriefRole).toString();
    };
    const LockFacts &facts = m_model.factsAt(index.row());
    const auto &lock = m_model.snapshotAt(index.row());
    StackedRow row;
    row.state =
        m_model.isGoneAt(index.row()) ? Pill{PillShape::Ring, Tone::Free, text(LockRow::State)} : facts.pill();
    row.name = text(LockRow::Lock);
    if (facts.waiters > 0 || !lock.waitersKnown)
        row.waiting = facts.waiters == 1 && lock.waitersKnown
                          ? LocksDelegate::tr("1 waits")
                          : LocksDelegate::tr("%1 wait").arg(text(LockRow::Waiting));
    row.holder = brief(LockRow::Holder);
    if (row.holder.isEmpty())
        row.holder = text(LockRow::Holder);
    const bool endsBySelf = facts.expiresAt && (facts.holderDisconnected || !facts.worst);
    if (endsBySelf || !facts.worst)
        row.finding = text(LockRow::FindingColumn);
    else if (!facts.isStateOfFinding())
        row.finding = brief(LockRow::FindingColumn);
    row.findingTone = facts.worst == Severity::Critical  ? Tone::Critical
                      : facts.worst == Severity::Warning ? Tone::Warning
                                                         : Tone::Free;
    if (const auto match = m_model.matchAt(index.row()); !match.isEmpty()) {
        row.finding = match;
        row.findingTone = Tone::Hold;
    }
    row.age = text(LockRow::Held);
    row.isStale = m_model.isGoneAt(index.row()) || m_model.isFrozen(lock.lock.connection);
    return row;
}

void LocksDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const auto group = groups.find(m_model.snapshotAt(index.row()).lock.connection);
    const auto head = group == groups.end() ? GroupHead() : group->second;
    auto row = stackedRow(index);
    row.isSelected = option.state & QStyle::State_Selected;
    const auto *view = qobject_cast<const QAbstractItemView *>(option.widget);
    row.hasFocus = view && view->hasFocus() && view->currentIndex().row() == index.row();
    QRect box = option.rect;
    if (box.height() > shownSize(stackedRowHeight)) {
        box.setTop(box.bottom() + 1 - shownSize(stackedRowHeight));
        paintGroupHead(*painter, QRect(option.rect.topLeft(), QPoint(box.right(), box.top() - 1)), head);
    }
    paintStackedRow(*painter, box, row, head);
}

std::map<ConnectionName, GroupHead> groupHeadsOf(const ConnectionBook &book, const LocksModel &model)
{
    std::map<ConnectionName, GroupHead> heads;
    const auto starts = model.groupStarts();
    std::map<ConnectionName, int> rows;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const int end = i + 1 < starts.size() ? starts[i + 1] : model.rowCount();
        rows[model.snapshotAt(starts[i]).lock.connection] = end - starts[i];
    }
    int number = 0;
    for (const auto &status : book.all()) {
        GroupHead head;
        head.name = label(status.name.bytes(), 60);
        if (const auto backend = backendOf(status.scheme))
            head.facts = u"%1  %2"_s.arg(infoOf(*backend).title, label(hostsOf(status.uri).toUtf8(), 80));
        QStringList facts;
        if (const auto count = rows[status.name]; count > 0)
            facts << (count == 1 ? LocksDelegate::tr("1 lock")
                                 : LocksDelegate::tr("%1 locks").arg(QLocale(QLocale::English).toString(count)));
        if (ConnectionBook::isStale(status))
            facts << LocksDelegate::tr("not connected");
        else if (status.latency)
            facts << u"%1 ms"_s.arg(static_cast<double>(status.latency->count()) / 1000.0, 0, 'f', 1);
        head.status = facts.join(u" · "_s);
        const auto environment = environmentOf(book, status);
        head.tag = environment.word;
        head.isProduction = environment.production;
        const auto own = colourOf(book.colourOf(status.name));
        head.edge = own.isValid() ? own : connectionColor(number);
        ++number;
        heads.emplace(status.name, std::move(head));
    }
    return heads;
}

} // namespace lockscope::ui
