// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/faultmenu.h"

#include "ui/parts/parts.h"
#include "ui/simulator/comparison.h"
#include "ui/simulator/playedrun.h"
#include "ui/simulator/simulatortext.h"

#include <QCheckBox>

namespace lockscope::ui {

using contention::FaultKind;
using contention::Moment;
using contention::PlannedFault;

namespace {

using OnFault = std::function<void(const PlannedFault &)>;

void addChoice(QMenu &menu, const QString &text, const QString &name, const PlannedFault &fault,
               const OnFault &chosen)
{
    auto *action = menu.addAction(text);
    action->setObjectName(name);
    action->setToolTip(faultSummary(fault.kind));
    QObject::connect(action, &QAction::triggered, &menu, [chosen, fault] { chosen(fault); });
}

PlannedFault faultAt(FaultKind kind, Moment at, int contender)
{
    PlannedFault fault;
    fault.kind = kind;
    fault.at = at;
    fault.contender = contender;
    return fault;
}

// As long as somebody chose: shorter than the lease and longer than it are different stories.
void addDurations(QMenu &menu, const QString &title, PlannedFault fault, std::chrono::milliseconds lease,
                  const OnFault &chosen)
{
    auto *lengths = menu.addMenu(title);
    const QString name = QString::fromLatin1(nameOf(fault.kind));
    const auto add = [&](std::chrono::milliseconds lasts, const QString &text, const QString &suffix) {
        fault.lasts = lasts;
        addChoice(*lengths, text.arg(durationText(lasts)), name + suffix, fault, chosen);
    };
    add(std::chrono::milliseconds(100), Simulator::tr("%1"), u"-moment"_s);
    add(lease / 2, Simulator::tr("half its lease: %1"), u"-half"_s);
    add(2 * lease, Simulator::tr("twice its lease: %1"), u"-twice"_s);
}

// Whose clock, and which way; by more than a lease.
void addClocks(QMenu &menu, const ForkPlace &place, int contender, std::chrono::milliseconds lease,
               const OnFault &chosen)
{
    using Clock = PlannedFault::Clock;
    auto *clocks = menu.addMenu(Simulator::tr("Jump a clock by twice the lease: %1").arg(durationText(2 * lease)));
    auto fault = faultAt(FaultKind::ClockJump, place.at, contender);
    fault.lasts = 2 * lease;
    const auto addBoth = [&](const QString &whose, const QString &name) {
        for (const bool isBack : {false, true}) {
            fault.isBack = isBack;
            addChoice(*clocks, (isBack ? Simulator::tr("%1, back") : Simulator::tr("%1, forward")).arg(whose),
                      name + (isBack ? u"-back"_s : u"-forward"_s), fault, chosen);
        }
    };
    fault.clock = Clock::Client;
    if (!place.server)
        addBoth(place.name, u"clock-client"_s);
    fault.clock = Clock::Server;
    for (fault.server = place.server.value_or(0); fault.server <= place.server.value_or(place.servers - 1);
         ++fault.server)
        addBoth(place.servers > 1 ? Simulator::tr("server s%1").arg(fault.server + 1) : Simulator::tr("the server"),
                u"clock-server%1"_s.arg(fault.server + 1));
}

// Which of several servers: as many as it takes, or one.
void addServers(QMenu &menu, int servers, PlannedFault fault, const OnFault &chosen)
{
    auto *which = menu.addMenu(faultTitle(fault.kind));
    const QString name = QString::fromLatin1(nameOf(fault.kind));
    addChoice(*which, Simulator::tr("a majority of them"), name, fault, chosen);
    for (fault.only = 0; fault.only < servers; ++fault.only)
        addChoice(*which, Simulator::tr("server s%1").arg(fault.only + 1),
                  u"%1-s%2"_s.arg(name, QString::number(fault.only + 1)), fault, chosen);
}

void addServerFaults(QMenu &menu, const Comparison &comparison, const ForkPlace &place, const OnFault &chosen)
{
    const QString at = momentText(place.at);
    addMenuHeading(menu, place.server && place.servers > 1
                             ? Simulator::tr("%1 at %2").arg(Simulator::tr("server s%1").arg(*place.server + 1), at)
                             : Simulator::tr("The server at %1").arg(at));
    for (const auto kind : contention::allFaults()) {
        if (isOfContender(kind) || !comparison.allows(kind))
            continue;
        auto fault = faultAt(kind, place.at, place.contender);
        const bool isOfOne = kind == FaultKind::RestartEmpty || kind == FaultKind::Failover;
        if (isOfOne && place.servers > 1 && !place.server) {
            addServers(menu, place.servers, fault, chosen);
            continue;
        }
        if (isOfOne && place.servers > 1)
            fault.only = *place.server;
        addChoice(menu, faultTitle(kind), QString::fromLatin1(nameOf(kind)), fault, chosen);
    }
}

} // namespace

void addFaults(QMenu &menu, const Comparison &comparison, const ForkPlace &place,
               std::function<void(const PlannedFault &)> chosen)
{
    menu.setToolTipsVisible(true);
    const auto scenarios = comparison.scenarios();
    const auto lease = scenarios.empty() ? std::chrono::milliseconds(0) : leaseOf(scenarios.front());
    if (place.server) {
        addServerFaults(menu, comparison, place, chosen);
        if (comparison.allows(FaultKind::ClockJump))
            addClocks(menu, place, PlannedFault().contender, lease, chosen);
        return;
    }
    addMenuHeading(menu, Simulator::tr("%1 at %2").arg(place.name, momentText(place.at)));
    const auto here = [&](FaultKind kind) { return faultAt(kind, place.at, place.contender); };
    for (const auto kind : contention::allFaults()) {
        if (isOfContender(kind) && comparison.allows(kind))
            addChoice(menu, faultTitle(kind), QString::fromLatin1(nameOf(kind)), here(kind), chosen);
    }
    for (const auto &[kind, title] : {std::pair(FaultKind::Pause, Simulator::tr("Pause for")),
                                      std::pair(FaultKind::Partition, Simulator::tr("Cut off for"))}) {
        if (comparison.allows(kind))
            addDurations(menu, title, here(kind), lease, chosen);
    }
    addServerFaults(menu, comparison, place, chosen);
    if (comparison.allows(FaultKind::ClockJump))
        addClocks(menu, place, place.contender, lease, chosen);
}

void addTakeBack(QMenu &menu, const Comparison &comparison, const QString &lane, std::function<void()> chosen)
{
    if (comparison.scenario.planned.empty())
        return;
    menu.addSeparator();
    const QString last = plannedText(comparison.scenario.planned.back(), lane);
    auto *undo = menu.addAction(Simulator::tr("Undo: %1").arg(last));
    undo->setObjectName(u"takeBack"_s);
    QObject::connect(undo, &QAction::triggered, &menu, std::move(chosen));
}

std::optional<std::size_t> messageBetween(const PlayedRun &run, int lane, Moment from, Moment to)
{
    const Moment middle = from + (to - from) / 2;
    std::optional<std::size_t> nearest;
    const auto distance = [&](std::size_t index) { return std::chrono::abs(run.event(index).at - middle); };
    for (const auto *events : {&run.requestsOf(), &run.signalsOf()}) {
        const auto all = events->of(lane);
        auto at = std::ranges::lower_bound(all, from, {}, [&](quint32 index) { return run.event(index).at; });
        for (; at != all.end() && run.event(*at).at <= to; ++at) {
            if (!nearest || distance(*at) < distance(*nearest))
                nearest = *at;
        }
    }
    return nearest;
}

void addMessageFaults(QMenu &menu, const Comparison &comparison, const PlayedRun &run, std::size_t event,
                      std::function<void(const PlannedFault &)> chosen)
{
    const auto &message = run.event(event);
    const QString who = run.laneName(message.contender);
    const bool isRequest = message.mark == contention::Mark::Request;
    const QString what = isRequest ? label(message.what, 40) : Simulator::tr("its notification");
    menu.setToolTipsVisible(true);
    addMenuHeading(menu, Simulator::tr("%1: %2 at %3").arg(who, what, momentText(message.at)));
    const auto add = [&](FaultKind kind, const QString &text) {
        const Moment before = std::max(Moment{}, message.at - Moment(1)); // it lies in wait, or strikes, just then
        if (comparison.allows(kind))
            addChoice(menu, text, u"message-"_s + QString::fromLatin1(nameOf(kind)),
                      faultAt(kind, before, message.contender), chosen);
    };
    if (isRequest) {
        add(FaultKind::LoseRequest, Simulator::tr("Lose this request"));
        add(FaultKind::LoseReply, Simulator::tr("Lose the reply to it"));
        add(FaultKind::Delay, Simulator::tr("Delay it"));
        add(FaultKind::Crash, Simulator::tr("Crash with it: sent or not, the seed decides"));
    } else {
        add(FaultKind::Pause, Simulator::tr("Pause %1 just before it hears of this").arg(who));
        add(FaultKind::Partition, Simulator::tr("Cut %1 off just before").arg(who));
        add(FaultKind::Expire, Simulator::tr("Expire its session just before"));
    }
}

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

#include "moc_faultmenu.cpp"
