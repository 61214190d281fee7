// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/scenariodialog.h"

#include "ui/parts/parts.h"
#include "ui/simulator/simulatortext.h"

#include <QCheckBox>

namespace lockscope::ui {

using contention::FaultKind;

FaultChoice::FaultChoice(QWidget *parent)
    : QWidget(parent), m_plannedTitle(makeLabel(tr("PLANNED FOR CERTAIN MOMENTS OF THE RUN"), u"section"_s, this)),
      m_planned(new PlannedList(this)), m_drawnTitle(makeLabel({}, u"section"_s, this))
{
    auto *grid = makeGrid(this, {.margins = {2, 2, 2, 2}, .across = 12, .down = 4});
    grid->addWidget(m_plannedTitle, 0, 0, 1, 2);
    grid->addWidget(m_planned, 1, 0, 1, 2);
    grid->addWidget(m_drawnTitle, 2, 0, 1, 2);
    int row = 3;
    for (const auto kind : contention::allFaults()) {
        auto *check = named(new QCheckBox(QString::fromLatin1(nameOf(kind)), this),
                            u"fault-"_s + QString::fromLatin1(nameOf(kind)));
        connect(check, &QCheckBox::toggled, this, &FaultChoice::changed);
        m_drawn.emplace(kind, check);
        grid->addWidget(check, row, 0, Qt::AlignTop);
        auto *summary = makeWrapped(faultSummary(kind), u"small"_s, this);
        grid->addWidget(summary, row++, 1);
    }
    grid->setRowStretch(row, 1);
    connect(m_planned, &PlannedList::changed, this, &FaultChoice::changed);
}

void FaultChoice::fill(const contention::Scenario &scenario)
{
    m_planned->fill(scenario);
    for (const auto kind : scenario.faults) {
        if (const auto check = m_drawn.find(kind); check != m_drawn.end())
            check->second->setChecked(true);
    }
}

void FaultChoice::offerFor(const Comparison &probe)
{
    m_isReal = probe.place.isReal();
    for (const auto &[kind, check] : m_drawn) {
        const bool can = probe.allows(kind);
        check->setEnabled(can && !m_isReal);
        check->setToolTip(!can       ? tr("Cannot happen to these recipes")
                          : m_isReal ? tr("Simulator only: real servers play no faults")
                                     : QString());
    }
    m_planned->setEnabled(!m_isReal);
    m_plannedTitle->setVisible(!m_planned->isEmpty());
    m_drawnTitle->setText(m_isReal ? tr("WHAT GOES WRONG: NOTHING, ON REAL SERVERS")
                                   : tr("WHAT GOES WRONG, AT LEAST ONCE IN EACH ROUND"));
}

bool FaultChoice::isWanted(FaultKind kind) const
{
    const auto at = m_drawn.find(kind);
    return at != m_drawn.end() && at->second->isChecked() && at->second->isEnabled();
}

void FaultChoice::read(contention::Scenario &scenario) const
{
    scenario.planned = m_isReal ? std::vector<contention::PlannedFault>() : m_planned->faults();
    scenario.acts = m_isReal ? std::vector<contention::Act>() : m_planned->acts();
    const auto before = scenario.faults;
    // In their order, by which those that are withheld are counted.
    std::erase_if(scenario.faults, [this](FaultKind kind) { return !isWanted(kind); });
    for (const auto &[kind, check] : m_drawn) {
        if (isWanted(kind) && std::ranges::count(scenario.faults, kind) == 0)
            scenario.faults.push_back(kind);
    }
    if (scenario.faults != before)
        scenario.withheld.clear();
}

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
    auto *remove =
        named(new QPushButton(tr("Remove"), row), u"remove%1"_s.arg(m_texts.size()), tr("Remove: %1").arg(text));
    remove->setProperty("look", u"chip"_s);
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
    auto *words = makeWrapped(text, {}, row);
    makeRow(row, {.spacing = 10}, {{remove, 0, Qt::AlignTop}, {words, 1}});
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
