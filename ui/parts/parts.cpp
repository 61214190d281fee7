// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/parts.h"

#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

QLabel *makeLabel(const QString &text, const QString &look, QWidget *parent)
{
    auto *label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText);
    if (!look.isEmpty())
        label->setProperty("look", look);
    return label;
}

QLabel *makeSelectable(const QString &text, QWidget *parent, bool isMono)
{
    auto *label = makeLabel(text, {}, parent);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setFont(isMono ? monoFont() : textFont());
    return label;
}

QFrame *makeHairline(QWidget *parent)
{
    auto *line = new QFrame(parent);
    line->setProperty("look", u"hairline"_s);
    return line;
}

QFrame *makeToolStrip(QWidget *parent)
{
    auto *strip = new QFrame(parent);
    auto *layout = new QHBoxLayout(strip);
    layout->setContentsMargins(12, 8, 12, 8);
    layout->setSpacing(10);
    return strip;
}

QHBoxLayout *stripLayout(QFrame *strip)
{
    return qobject_cast<QHBoxLayout *>(strip->layout());
}

void addMenuHeading(QMenu &menu, const QString &text)
{
    if (!menu.isEmpty())
        menu.addSeparator();
    auto *heading = menu.addAction(QString(text).replace(u'&', u"&&"_s));
    heading->setObjectName(u"heading"_s);
    heading->setEnabled(false);
    QFont font = menu.font();
    font.setWeight(QFont::DemiBold);
    heading->setFont(font);
}

void stopListening(QObject *owner)
{
    const auto children = owner->findChildren<QObject *>();
    for (auto *child : children)
        child->disconnect(owner);
}

PillLabel::PillLabel(QWidget *parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void PillLabel::setPill(const Pill &pill)
{
    if (pill == m_pill)
        return;
    m_pill = pill;
    setAccessibleName(pill.word);
    updateGeometry();
    update();
}

QSize PillLabel::sizeHint() const
{
    return pillSize(m_pill).toSize() + QSize(0, 2);
}

void PillLabel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    paintPill(painter, rect(), m_pill);
}

} // namespace lockscope::ui

#include "moc_parts.cpp"
