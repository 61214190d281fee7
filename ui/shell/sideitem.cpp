// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/sideitem.h"

#include "ui/theme/theme.h"

#include <QPainter>

namespace lockscope::ui {

SideItem::SideItem(const QString &text, QWidget *parent) : QAbstractButton(parent)
{
    setText(text);
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(text);
}

void SideItem::setDot(std::optional<Tone> tone, bool hollow)
{
    m_dot = tone;
    m_hollow = hollow;
    update();
}

void SideItem::setTag(const QString &tag, Tone tone)
{
    m_tag = tag;
    m_tagTone = tone;
    update();
}

void SideItem::setNote(const QString &note, std::optional<Tone> tone)
{
    m_note = note;
    m_noteTone = tone;
    setAccessibleDescription(QStringLiteral("%1 %2").arg(m_tag, note));
    update();
}

void SideItem::setStripe(const QColor &colour)
{
    m_stripe = colour;
    update();
}

QSize SideItem::sizeHint() const
{
    return {180, 31};
}

void SideItem::enterEvent(QEnterEvent *event)
{
    m_hovered = true;
    update();
    QAbstractButton::enterEvent(event);
}

void SideItem::leaveEvent(QEvent *event)
{
    m_hovered = false;
    update();
    QAbstractButton::leaveEvent(event);
}

void SideItem::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(Qt::NoPen);
    if (isChecked() || m_hovered) {
        QColor fill = t.selection;
        if (!isChecked())
            fill.setAlphaF(0.5f);
        painter.setBrush(fill);
        painter.drawRoundedRect(box, 6, 6);
    }
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(t.accent, 1.4));
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    }
    if (m_stripe.isValid())
        painter.fillRect(QRectF(box.left(), box.top() + 6, 3, box.height() - 12), m_stripe);
    QRectF inside = box.adjusted(8, 0, -8, 0);
    if (m_dot) {
        paintShape(painter, QRectF(inside.left() - 1, inside.top(), 10, inside.height()),
                   m_hollow ? PillShape::Ring : PillShape::Disc, toneColor(t, *m_dot));
        inside.setLeft(inside.left() + 17);
    }
    painter.setFont(textFont(12));
    const QFont tagFont = textFont(10, QFont::DemiBold);
    const qreal tagWidth = m_tag.isEmpty() ? 0 : QFontMetricsF(tagFont).horizontalAdvance(m_tag) + 10;
    const qreal noteWidth = m_note.isEmpty() ? 0 : tabularWidth(painter.font(), m_note) + 8;
    const qreal nameWidth = QFontMetricsF(textFont(13, QFont::DemiBold)).horizontalAdvance(text());
    // The name and the mark of production come first; the dot still tells a broken connection.
    if (nameWidth + tagWidth + 16 + noteWidth <= inside.width()) {
        painter.setPen(m_noteTone ? toneColor(t, *m_noteTone) : t.muted);
        drawTabular(painter, inside, Qt::AlignRight, m_note);
        inside.setRight(inside.right() - noteWidth);
    }
    painter.setFont(textFont(13, isChecked() ? QFont::DemiBold : QFont::Normal));
    painter.setPen(isEnabled() ? t.text : t.muted);
    const QFontMetricsF metrics(painter.font());
    const QString name = metrics.elidedText(text(), Qt::ElideMiddle, inside.width() - (tagWidth > 0 ? tagWidth + 8 : 0));
    painter.drawText(inside, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine, name);
    if (tagWidth > 0) {
        const QRectF tag(inside.left() + metrics.horizontalAdvance(name) + 8, box.center().y() - 8, tagWidth, 16);
        painter.setPen(Qt::NoPen);
        painter.setBrush(toneSoft(t, m_tagTone));
        painter.drawRoundedRect(tag, 4, 4);
        painter.setFont(tagFont);
        painter.setPen(toneColor(t, m_tagTone));
        painter.drawText(tag, Qt::AlignCenter, m_tag);
    }
}

} // namespace lockscope::ui
