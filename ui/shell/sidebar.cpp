// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/sidebar.h"

#include "ui/parts/parts.h"
#include "ui/shell/actions.h"

#include <QPainter>

#include <cmath>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int railWidth = 76;
constexpr int narrowRailWidth = 52;
constexpr int itemHeight = 50;
constexpr int narrowItemHeight = 40;
constexpr int leastItemHeight = 20; // of a window that is not high
constexpr int edgeHeight = 6;
constexpr int betweenItems = 2;
constexpr qreal iconSide = 20;
constexpr qreal wordHeight = 15;
constexpr qreal betweenIconAndWord = 2;

} // namespace

RailItem::RailItem(const QString &text, const QString &icon, const QString &keys, QWidget *parent)
    : QAbstractButton(parent), m_icon(icon), m_keys(keys)
{
    setText(text);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    setAccessibleName(text);
    showToolTip();
}

void RailItem::setBadge(const QString &count, bool isCritical)
{
    m_badge = count;
    m_isBadgeCritical = isCritical;
    update();
}

void RailItem::setNote(const QString &note)
{
    if (m_note == note)
        return;
    m_note = note;
    setAccessibleDescription(note);
    showToolTip();
}

void RailItem::setShowsWord(bool shows)
{
    m_showsWord = shows;
    showToolTip();
    updateGeometry();
    update();
}

// What can be read beside it is not repeated.
void RailItem::showToolTip()
{
    QStringList lines;
    if (!m_showsWord || !m_keys.isEmpty())
        lines << (m_keys.isEmpty() ? text() : u"%1 (%2)"_s.arg(text(), m_keys));
    if (!m_note.isEmpty())
        lines << m_note;
    setToolTip(plainToolTip(lines.join(u'\n')));
}

QSize RailItem::sizeHint() const
{
    return {narrowRailWidth - 8, m_showsWord ? itemHeight : narrowItemHeight};
}

QSize RailItem::minimumSizeHint() const
{
    return {narrowRailWidth - 8, leastItemHeight};
}

void RailItem::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect());
    if (isChecked() || underMouse()) {
        QColor fill = t.selection;
        if (!isChecked())
            fill.setAlphaF(0.5f);
        painter.setPen(Qt::NoPen);
        painter.setBrush(fill);
        painter.drawRoundedRect(box, 7, 7);
    }
    if (isChecked()) {
        painter.save();
        painter.setClipRect(QRectF(box.left(), box.top(), 3, box.height()));
        painter.setBrush(t.accent);
        painter.drawRoundedRect(box, 7, 7);
        painter.restore();
    }
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(t.accent, 2));
        painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 6, 6);
    }
    const bool hasWord = m_showsWord && height() >= itemHeight - 8;
    const qreal inside = hasWord ? iconSide + betweenIconAndWord + wordHeight : std::min(iconSide, box.height() - 2);
    QRectF icon(box.center().x() - iconSide / 2, std::floor(box.center().y() - inside / 2), iconSide,
                std::min(iconSide, inside));
    const QColor color = isChecked() ? t.text : t.muted;
    paintIcon(painter, icon, m_icon, color);
    if (hasWord) {
        painter.setFont(textFont(11, isChecked() ? QFont::DemiBold : QFont::Normal));
        painter.setPen(color);
        const QRectF word(box.left(), icon.bottom() + betweenIconAndWord, box.width(), wordHeight);
        painter.drawText(word, Qt::AlignCenter | Qt::TextSingleLine,
                         QFontMetricsF(painter.font()).elidedText(text(), Qt::ElideRight, word.width()));
    }
    if (!m_badge.isEmpty())
        paintBadge(painter, icon);
}

void RailItem::paintBadge(QPainter &painter, const QRectF &icon) const
{
    const Tokens &t = Theme::tokens();
    painter.setFont(textFont(11, QFont::DemiBold));
    const qreal high = QFontMetricsF(painter.font()).height() + 1;
    const qreal wide = std::max(high, tabularWidth(painter.font(), m_badge) + 8);
    const qreal left = std::min(icon.right() - 4, rect().right() - wide - 1);
    const QRectF place(left, std::max(1.0, icon.top() - 6), wide, high);
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_isBadgeCritical ? t.critical : t.production);
    painter.drawRoundedRect(place, high / 2, high / 2);
    painter.setPen(m_isBadgeCritical ? t.onCritical : t.onProduction);
    drawTabular(painter, place, Qt::AlignHCenter, m_badge);
}

SideBar::SideBar(QWidget *parent)
    : QFrame(parent), m_pages(new QVBoxLayout), m_pageGroup(new QButtonGroup(this)),
      m_sandbox(named(new RailItem(tr("Sandbox"), u"sandbox"_s, {}, this), u"sandboxItem"_s)),
      m_settings(named(new RailItem(tr("Settings"), u"settings"_s, u"Ctrl+,"_s, this), u"settingsItem"_s))
{
    setProperty("look", u"sidebar"_s);
    named(this, u"sideBar"_s, tr("Pages"));
    m_pages->setSpacing(betweenItems);
    m_sandbox->setNote(tr("No sandbox"));
    makeColumn(this, {.margins = {6, edgeHeight, 6, edgeHeight}, .spacing = betweenItems},
               {m_pages, Stretch{1}, m_sandbox, m_settings});
    connect(m_pageGroup, &QButtonGroup::idClicked, this, &SideBar::pageChosen);
    connect(m_sandbox, &RailItem::clicked, this, &SideBar::sandboxRequested);
    connect(m_settings, &RailItem::clicked, this, &SideBar::settingsRequested);
    setNarrow(false);
}

void SideBar::addPage(const QString &title, const QString &icon, int number)
{
    auto *item = new RailItem(title, icon, keysOfPage(number), this);
    item->setCheckable(true);
    item->setAutoExclusive(true); // screen readers announce one of several, not a check box
    m_pageGroup->addButton(item, number);
    m_pages->addWidget(item);
}

void SideBar::setCurrentPage(int page)
{
    if (auto *button = m_pageGroup->button(page))
        button->setChecked(true);
}

void SideBar::focusPage()
{
    if (auto *button = m_pageGroup->checkedButton())
        button->setFocus();
}

void SideBar::setPageCount(int page, const QString &count)
{
    if (auto *of = item(page))
        of->setNote(count);
}

void SideBar::setBadge(int page, const QString &count, bool isCritical)
{
    if (auto *of = item(page))
        of->setBadge(count, isCritical);
}

void SideBar::setNarrow(bool isNarrow)
{
    setFixedWidth(isNarrow ? narrowRailWidth : railWidth);
    const int edge = isNarrow ? 4 : 6;
    layout()->setContentsMargins(edge, edgeHeight, edge, edgeHeight);
    for (auto *each : findChildren<RailItem *>(Qt::FindDirectChildrenOnly))
        each->setShowsWord(!isNarrow);
    fit();
}

void SideBar::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    fit();
}

// All of one height: where there is little, all give up their words, not the last ones.
void SideBar::fit()
{
    const auto items = findChildren<RailItem *>(Qt::FindDirectChildrenOnly);
    const auto count = static_cast<int>(items.size());
    const int room = height() - 2 * edgeHeight - (count + 1) * betweenItems;
    for (auto *each : items)
        each->setFixedHeight(std::clamp(room / count, leastItemHeight, each->sizeHint().height()));
}

} // namespace lockscope::ui

#include "moc_sidebar.cpp"
