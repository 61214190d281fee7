// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/connectionchooser.h"

#include "core/base/text.h"

#include <QKeyEvent>
#include <QPainter>

#include <cmath>

namespace lockscope::ui {

namespace {

constexpr int chooserHeight = 28;
constexpr qreal stripesWidth = 10;
constexpr qreal padding = 10;
constexpr qreal between = 8;
constexpr qreal arrowWidth = 10;
constexpr qreal leastName = 60;

QFont nameFont()
{
    return textFont(13, QFont::DemiBold);
}

} // namespace

ConnectionChooser::ConnectionChooser(const ConnectionBook &book, QWidget *parent)
    : QAbstractButton(parent), m_book(book), m_list(new ConnectionList(book, this))
{
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setFixedHeight(chooserHeight);
    connect(this, &QAbstractButton::clicked, this, &ConnectionChooser::open);
    connect(&book, &ConnectionBook::changed, this, &ConnectionChooser::refresh);
    refresh();
}

void ConnectionChooser::setContext(const ConnectionName &connection)
{
    m_context = connection;
    refresh();
}

void ConnectionChooser::setShowsServers(bool shows)
{
    m_showsServers = shows;
    refresh();
}

void ConnectionChooser::open()
{
    m_list->open(mapToGlobal(QPoint(width(), chooserHeight)));
}

void ConnectionChooser::showOne(const ConnectionStatus &status)
{
    m_look = lookOf(m_book, status);
    m_name = label(status.name.bytes(), 60);
    if (m_look.state.isEmpty())
        m_look.state = m_look.writes;
    setToolTip(plainToolTip(m_look.tip));
}

void ConnectionChooser::showSeveral()
{
    const auto &all = m_book.all();
    const auto production = std::ranges::count_if(all, &ConnectionStatus::production);
    const auto readOnly = std::ranges::count_if(all, &ConnectionStatus::readOnly);
    const auto broken =
        std::ranges::count_if(all, [&](const auto &status) { return lookOf(m_book, status).tone == Tone::Critical; });
    qint64 writes = 0;
    for (const auto &status : all)
        writes += status.writesSent;
    m_look.isProduction = production > 0;
    m_look.tagLook = TagLook::Production;
    m_look.tag = production > 0 ? tr("%1 PROD").arg(production) : QString();
    m_name = tr("%1 connections").arg(all.size());
    m_look.tone = broken > 0 ? Tone::Critical : Tone::Ok;
    m_look.state = writesText(readOnly == static_cast<qsizetype>(all.size()), writes);
    if (broken > 0)
        m_look.state = tr("%1 not connected").arg(broken);
    else if (readOnly > 0 && readOnly < static_cast<qsizetype>(all.size()))
        m_look.state = tr("read-only %1 of %2").arg(readOnly).arg(all.size());
}

void ConnectionChooser::refresh()
{
    const auto &all = m_book.all();
    const auto *one = m_book.find(m_context);
    if (!one && all.size() == 1)
        one = &all.front();
    m_look = {};
    setToolTip(tr("Choose a connection (F4)"));
    if (!m_showsServers) {
        m_name = tr("nothing live on this page");
    } else if (all.empty()) {
        m_name = tr("not connected");
    } else if (one) {
        showOne(*one);
    } else {
        showSeveral();
    }
    setAccessibleName(tr("Connection: %1").arg(shownName()));
    setAccessibleDescription(m_look.state);
    updateGeometry();
    update();
}

// With everything that is asked for; the name in full.
qreal ConnectionChooser::widthOf(bool withKind, bool withState) const
{
    const QFontMetricsF small(textFont(12));
    qreal width = padding * 2 + arrowWidth + between + QFontMetricsF(nameFont()).horizontalAdvance(m_name);
    width += m_look.isProduction ? stripesWidth : 0;
    width += m_look.tag.isEmpty() ? 0 : tagWidth(m_look.tag) + between;
    width += withKind && !m_look.kind.isEmpty() ? small.horizontalAdvance(m_look.kind) + between : 0;
    width += withState && !m_look.state.isEmpty() ? tabularWidth(textFont(12), m_look.state) + between : 0;
    return std::ceil(width);
}

QSize ConnectionChooser::sizeHint() const
{
    return {std::min(560, static_cast<int>(widthOf(true, true))), chooserHeight};
}

// The mark of production and the beginning of the name are never given up.
QSize ConnectionChooser::minimumSizeHint() const
{
    const qreal name = std::min(leastName, QFontMetricsF(nameFont()).horizontalAdvance(m_name));
    const qreal others = widthOf(false, false) - QFontMetricsF(nameFont()).horizontalAdvance(m_name);
    return {static_cast<int>(std::ceil(others + name)), chooserHeight};
}

void ConnectionChooser::keyPressEvent(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Down:
    case Qt::Key_Return:
    case Qt::Key_Enter: open(); break;
    default: QAbstractButton::keyPressEvent(event);
    }
}

void ConnectionChooser::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(QPen(hasFocus() ? t.accent : t.edge, hasFocus() ? 2 : 1));
    painter.setBrush(underMouse() ? t.selection : t.panel);
    painter.drawRoundedRect(hasFocus() ? box.adjusted(0.5, 0.5, -0.5, -0.5) : box, 6, 6);
    QRectF inside = box.adjusted(padding, 0, -padding, 0);
    if (m_look.isProduction) {
        paintStripes(painter, QRectF(box.left() + 1, box.top() + 1, stripesWidth - 1, box.height() - 2),
                     t.production);
        inside.setLeft(box.left() + stripesWidth + between);
    }
    painter.setPen(QPen(t.muted, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QPointF tip(inside.right() - 4, inside.center().y() + 2);
    painter.drawPolyline(QPolygonF(QList<QPointF>{tip + QPointF(-3.5, -4), tip, tip + QPointF(3.5, -4)}));
    inside.setRight(inside.right() - arrowWidth - between);
    if (!m_look.tag.isEmpty()) {
        paintTag(painter, inside, m_look.tag, m_look.tagLook);
        inside.setLeft(inside.left() + tagWidth(m_look.tag) + between);
    }
    const bool withState = !m_look.state.isEmpty() && widthOf(false, true) <= width();
    const bool withKind = withState && !m_look.kind.isEmpty() && widthOf(true, true) <= width();
    painter.setFont(textFont(12));
    const QFontMetricsF small(painter.font());
    if (withState) {
        painter.setPen(m_look.tone == Tone::Critical ? t.critical : t.muted);
        drawTabular(painter, inside, Qt::AlignRight, m_look.state);
        inside.setRight(inside.right() - tabularWidth(painter.font(), m_look.state) - between);
    }
    if (withKind) {
        painter.setPen(t.muted);
        painter.drawText(inside, Qt::AlignRight | Qt::AlignVCenter, m_look.kind);
        inside.setRight(inside.right() - small.horizontalAdvance(m_look.kind) - between);
    }
    painter.setFont(m_showsServers && !m_book.all().empty() ? nameFont() : textFont(13));
    painter.setPen(m_showsServers && !m_book.all().empty() ? t.text : t.muted);
    painter.drawText(inside, Qt::AlignVCenter | Qt::TextSingleLine,
                     QFontMetricsF(painter.font()).elidedText(m_name, Qt::ElideRight, inside.width() + 1));
}

} // namespace lockscope::ui

#include "moc_connectionchooser.cpp"
