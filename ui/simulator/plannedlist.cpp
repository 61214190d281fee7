// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/plannedlist.h"

#include "ui/parts/parts.h"
#include "ui/simulator/simulatorwords.h"

#include <QBoxLayout>
#include <QLabel>
#include <QPushButton>

#include <utility>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

PlannedList::PlannedList(QWidget *parent) : QWidget(parent), m_rows(new QVBoxLayout(this))
{
    setObjectName(u"planned"_s);
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setSpacing(2);
}

void PlannedList::fill(const contention::Scenario &scenario)
{
    m_faults = scenario.planned;
    m_acts = scenario.acts;
    m_contenders = scenario.contenders;
    show_();
}

void PlannedList::addRow(const QString &text, std::function<void()> takeOut)
{
    auto *row = new QWidget(this);
    auto *line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(10);
    auto *remove = new QPushButton(tr("Remove"), row);
    remove->setObjectName(u"remove%1"_s.arg(m_texts.size()));
    remove->setProperty("look", u"chip"_s);
    remove->setAccessibleName(tr("Remove: %1").arg(text));
    remove->setAutoDefault(false); // Enter plays
    // Once the click is over: the button goes with its row.
    connect(
        remove, &QPushButton::clicked, this,
        [this, act = std::move(takeOut)] {
            act();
            show_();
            emit changed();
        },
        Qt::QueuedConnection);
    auto *words = makeLabel(text, {}, row);
    words->setWordWrap(true);
    line->addWidget(remove, 0, Qt::AlignTop);
    line->addWidget(words, 1);
    m_rows->addWidget(row);
    m_texts << text;
}

void PlannedList::show_()
{
    m_texts.clear();
    while (auto *item = m_rows->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (std::size_t i = 0; i < m_faults.size(); ++i) {
        const auto lane = QString::fromLatin1(contention::contenderName(m_faults[i].contender, m_contenders));
        const QString text = plannedText(m_faults[i], lane);
        const auto lasts = m_faults[i].lasts;
        addRow(lasts.count() > 0 ? u"%1 (%2)"_s.arg(text, durationText(lasts)) : text,
               [this, i] { m_faults.erase(m_faults.begin() + static_cast<std::ptrdiff_t>(i)); });
    }
    for (std::size_t i = 0; i < m_acts.size(); ++i)
        addRow(actText(m_acts[i], m_contenders),
               [this, i] { m_acts.erase(m_acts.begin() + static_cast<std::ptrdiff_t>(i)); });
    setVisible(!isEmpty());
}

} // namespace lockscope::ui

#include "moc_plannedlist.cpp"
