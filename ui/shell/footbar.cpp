// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/footbar.h"

#include "ui/theme/theme.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int footHeight = 28;
constexpr int footMargin = 14;
constexpr int betweenKeys = 16;
constexpr qreal capPadding = 5;
constexpr qreal capHeight = 18;
constexpr qreal betweenCapAndText = 5;

QFont capFont()
{
    return textFont(11, QFont::DemiBold);
}

bool areAlike(const FootKey &a, const FootKey &b)
{
    return a.key == b.key && a.text == b.text;
}

} // namespace

FootKeyButton::FootKeyButton(const FootKey &key, QWidget *parent) : QAbstractButton(parent), m_key(key.key)
{
    setText(key.text);
    setAccessibleName(u"%1, %2"_s.arg(key.key, key.text));
    setFocusPolicy(Qt::NoFocus); // the key is the way to it
    if (key.act)
        connect(this, &QAbstractButton::clicked, this, key.act);
    else
        setAttribute(Qt::WA_TransparentForMouseEvents);
}

qreal FootKeyButton::capWidth() const
{
    return std::max(capHeight, std::ceil(QFontMetricsF(capFont()).horizontalAdvance(m_key)) + capPadding * 2);
}

QSize FootKeyButton::sizeHint() const
{
    const qreal text = QFontMetricsF(textFont(12)).horizontalAdvance(this->text());
    return {static_cast<int>(std::ceil(capWidth() + betweenCapAndText + text)) + 1, footHeight - 1};
}

void FootKeyButton::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF cap(0.5, std::floor((height() - capHeight) / 2) + 0.5, capWidth() - 1, capHeight - 1);
    painter.setPen(t.edge);
    painter.setBrush(underMouse() ? t.selection : t.panel);
    painter.drawRoundedRect(cap, 4, 4);
    painter.drawLine(QPointF(cap.left() + 3, cap.bottom() - 1), QPointF(cap.right() - 3, cap.bottom() - 1));
    painter.setFont(capFont());
    painter.setPen(t.text);
    painter.drawText(cap.adjusted(0, -1, 0, -1), Qt::AlignCenter, m_key);
    painter.setFont(textFont(12));
    painter.setPen(underMouse() ? t.text : t.muted);
    painter.drawText(QRectF(cap.right() + betweenCapAndText, 0, width(), height()),
                     Qt::AlignVCenter | Qt::TextSingleLine, text());
}

FootBar::FootBar(QWidget *parent) : QFrame(parent)
{
    setObjectName(u"footBar"_s);
    setProperty("look", u"footBar"_s);
    setAccessibleName(tr("Keys"));
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

QSize FootBar::sizeHint() const
{
    return {400, footHeight};
}

void FootBar::setKeys(std::vector<FootKey> keys)
{
    if (std::ranges::equal(keys, m_keys, areAlike))
        return;
    m_keys = std::move(keys);
    for (auto *button : m_buttons)
        button->deleteLater(); // it may be the one that was clicked
    m_buttons.clear();
    for (const auto &key : m_keys)
        m_buttons.push_back(new FootKeyButton(key, this));
    place();
}

void FootBar::setLast(FootKey key)
{
    delete m_last;
    m_last = new FootKeyButton(key, this);
    place();
}

QStringList FootBar::shown() const
{
    QStringList texts;
    for (const auto *button : m_buttons) {
        if (!button->isHidden())
            texts << button->key() + u' ' + button->text();
    }
    return texts;
}

void FootBar::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    place();
}

void FootBar::place()
{
    int right = width() - footMargin;
    if (m_last) {
        const QSize size = m_last->sizeHint();
        m_last->setGeometry(right - size.width(), 1, size.width(), height() - 1);
        m_last->show();
        right -= size.width() + betweenKeys;
    }
    int x = footMargin;
    bool hasRoom = true;
    for (auto *button : m_buttons) {
        const QSize size = button->sizeHint();
        hasRoom = hasRoom && x + size.width() <= right;
        button->setGeometry(x, 1, size.width(), height() - 1);
        button->setVisible(hasRoom);
        x += size.width() + betweenKeys;
    }
}

} // namespace lockscope::ui

#include "moc_footbar.cpp"
