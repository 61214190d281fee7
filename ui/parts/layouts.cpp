// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/layouts.h"

#include <QScrollArea>

namespace lockscope::ui {

namespace {

template <typename Box>
Box *filled(Box *box, const BoxLook &look, std::initializer_list<BoxPart> parts)
{
    box->setContentsMargins(look.margins);
    if (look.spacing >= 0)
        box->setSpacing(look.spacing);
    addParts(*box, parts);
    return box;
}

} // namespace

void BoxPart::addTo(QBoxLayout &box) const
{
    if (m_widget)
        box.addWidget(m_widget, m_stretch, m_alignment);
    else if (m_layout)
        box.addLayout(m_layout, m_stretch);
    else if (m_gap >= 0)
        box.addSpacing(m_gap);
    else
        box.addStretch(m_stretch);
}

void addParts(QBoxLayout &box, std::initializer_list<BoxPart> parts)
{
    for (const auto &part : parts)
        part.addTo(box);
}

QHBoxLayout *makeRow(QWidget *owner, const BoxLook &look, std::initializer_list<BoxPart> parts)
{
    return filled(new QHBoxLayout(owner), look, parts);
}

QVBoxLayout *makeColumn(QWidget *owner, const BoxLook &look, std::initializer_list<BoxPart> parts)
{
    return filled(new QVBoxLayout(owner), look, parts);
}

QHBoxLayout *makeRow(const BoxLook &look, std::initializer_list<BoxPart> parts)
{
    return filled(new QHBoxLayout, look, parts);
}

QVBoxLayout *makeColumn(const BoxLook &look, std::initializer_list<BoxPart> parts)
{
    return filled(new QVBoxLayout, look, parts);
}

QScrollArea *makeScroll(QWidget *inside, QWidget *parent)
{
    auto *scroll = new QScrollArea(parent);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(inside);
    return scroll;
}

} // namespace lockscope::ui
