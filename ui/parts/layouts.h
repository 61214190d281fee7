// SPDX-License-Identifier: Apache-2.0
// Rows, columns and buttons in one expression each: what stands in them, and how, is read in one place.
#pragma once

#include <QBoxLayout>
#include <QMargins>
#include <QPushButton>
#include <QString>

#include <initializer_list>

class QScrollArea;

namespace lockscope::ui {

// Room that takes what is left over, and room of a fixed size.
struct Stretch {
    int factor = 0;
};
struct Gap {
    int pixels = 0;
};

// One part of a row or a column: a widget, another layout, or room.
class BoxPart {
public:
    BoxPart(QWidget *widget, int stretch = 0, Qt::Alignment alignment = {})
        : m_widget(widget), m_stretch(stretch), m_alignment(alignment)
    {
    }
    BoxPart(QLayout *layout, int stretch = 0) : m_layout(layout), m_stretch(stretch) {}
    BoxPart(Stretch stretch) : m_stretch(stretch.factor) {}
    BoxPart(Gap gap) : m_gap(gap.pixels) {}

    void addTo(QBoxLayout &box) const;

private:
    QWidget *m_widget = nullptr;
    QLayout *m_layout = nullptr;
    int m_gap = -1; // room of a fixed size; negative: it is not room, or grows
    int m_stretch = 0;
    Qt::Alignment m_alignment;
};

struct BoxLook {
    QMargins margins{}; // none unless they are named
    int spacing = -1;   // negative: the style's
};

// The layout of `owner`.
QHBoxLayout *makeRow(QWidget *owner, const BoxLook &look, std::initializer_list<BoxPart> parts);
QVBoxLayout *makeColumn(QWidget *owner, const BoxLook &look, std::initializer_list<BoxPart> parts);
// A layout inside another one.
[[nodiscard]] QHBoxLayout *makeRow(const BoxLook &look, std::initializer_list<BoxPart> parts);
[[nodiscard]] QVBoxLayout *makeColumn(const BoxLook &look, std::initializer_list<BoxPart> parts);

// For a box that is there already.
void addParts(QBoxLayout &box, std::initializer_list<BoxPart> parts);

// A frameless area in which `inside` scrolls up and down.
[[nodiscard]] QScrollArea *makeScroll(QWidget *inside, QWidget *parent);

// The widget, with the name under which tests and style sheets find it, and what a screen reader calls it.
template <typename Widget>
Widget *named(Widget *widget, const QString &name, const QString &accessibleName = {})
{
    widget->setObjectName(name);
    if (!accessibleName.isEmpty())
        widget->setAccessibleName(accessibleName);
    return widget;
}

// A button that calls `slot` of `receiver`. `look` is one of the style sheet's.
template <typename Receiver, typename Slot>
QPushButton *makeButton(const QString &text, QWidget *parent, Receiver *receiver, Slot slot, const QString &look = {})
{
    auto *button = new QPushButton(text, parent);
    if (!look.isEmpty())
        button->setProperty("look", look);
    QObject::connect(button, &QPushButton::clicked, receiver, std::move(slot));
    return button;
}

// The same, where the receiver is the parent.
template <typename Parent, typename Slot>
QPushButton *makeButton(const QString &text, Parent *parent, Slot slot, const QString &look = {})
{
    return makeButton(text, parent, parent, std::move(slot), look);
}

} // namespace lockscope::ui
