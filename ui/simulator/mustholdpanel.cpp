// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/mustholdpanel.h"

#include "ui/parts/parts.h"
#include "ui/simulator/runpanel.h"
#include "ui/simulator/simulatortext.h"

#include <QStyle>

namespace lockscope::ui {

using contention::Violation;

namespace {

struct Invariant {
    QByteArray name;
    QString words;
    QString why;
};

std::vector<Invariant> invariants()
{
    return {
        {"exclusion", MustHoldPanel::tr("never two holders"),
         MustHoldPanel::tr("Never do more contenders believe that they hold it than the lock permits")},
        {"effect", MustHoldPanel::tr("no late write"),
         MustHoldPanel::tr("No client writes to the guarded resource after its turn is over")},
        {"order", MustHoldPanel::tr("first come, first served"),
         MustHoldPanel::tr("Grants follow the order of the queue, where the recipe promises it")},
        {"progress", MustHoldPanel::tr("no lost wake-up"),
         MustHoldPanel::tr("Whoever waits gets the lock once nothing goes wrong any more")},
        {"cleanliness", MustHoldPanel::tr("nothing left behind"),
         MustHoldPanel::tr("No node and no key of it is left at the end")},
        {"tokens", MustHoldPanel::tr("fencing tokens only grow"),
         MustHoldPanel::tr("A later holder has a larger token")},
    };
}

bool isPromised(const PlayedRun &run, const QByteArray &invariant)
{
    const auto &scenario = run.recording().scenario;
    // Readers overtake each other, and of two locks each has an order of its own.
    const bool hasOrder = scenario.readersPercent == 0 && scenario.locks == 1;
    return contention::isOffered(scenario.recipe, invariant) && (invariant != "order" || hasOrder);
}

// How it held, in as few words as there are.
QString heldText(const PlayedRun &run, const QByteArray &invariant)
{
    const auto &recording = run.recording();
    if (!isPromised(run, invariant))
        return invariant == "tokens"      ? MustHoldPanel::tr("not offered: it has no tokens")
               : invariant == "exclusion" ? MustHoldPanel::tr("not offered: no client is kept out")
                                          : MustHoldPanel::tr("not promised");
    if (invariant == "progress")
        return MustHoldPanel::tr("%1 grants").arg(formatCount(recording.counters.grants));
    if (invariant == "cleanliness")
        return recording.leftBehind.empty() ? MustHoldPanel::tr("nothing")
                                            : MustHoldPanel::tr("%1 may stay")
                                                  .arg(formatCount(static_cast<qint64>(recording.leftBehind.size())));
    return MustHoldPanel::tr("held");
}

} // namespace

MustHoldPanel::MustHoldPanel(QWidget *parent) : QFrame(parent), m_grid(nullptr)
{
    setProperty("look", u"card"_s);
    m_title = makeLabel({}, u"title"_s, this);
    m_guarantees = named(makeButton({}, this, &MustHoldPanel::guaranteesRequested, u"flat"_s), u"promisesButton"_s);
    auto *head = makeRow({}, {{m_title, 1}, m_guarantees});
    makeColumn(this, {.margins = {14, 10, 14, 10}, .spacing = 4}, {head, Stretch{}});
    sayInEachLanguage(this, [this] { retranslate(); });
}

void MustHoldPanel::retranslate()
{
    m_title->setText(tr("Guarantees"));
    m_guarantees->setText(tr("All guarantees…"));
    m_guarantees->setToolTip(tr("Show the guarantees by recipe and fault (H)"));
}

void MustHoldPanel::setRuns(const std::vector<PlayedRunPtr> &runs)
{
    m_cells.clear();
    delete m_rows;
    m_rows = new QWidget(this);
    qobject_cast<QVBoxLayout *>(layout())->insertWidget(1, m_rows);
    m_grid = new QGridLayout(m_rows);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(14);
    m_grid->setVerticalSpacing(1);
    const int columns = static_cast<int>(runs.size());
    int row = 0;
    for (std::size_t i = 0; i < runs.size() && runs.size() > 1; ++i)
        m_grid->addWidget(makeLabel(label(runs[i]->recording().scenario.recipe, 24), u"small"_s, m_rows), row,
                          1 + static_cast<int>(i));
    const auto addRow = [&](const QString &words, const QString &why) {
        ++row;
        auto *line = makeHairline(m_rows);
        m_grid->addWidget(line, row++, 0, 1, columns + 1);
        auto *name = makeLabel(words, {}, m_rows);
        name->setToolTip(why);
        m_grid->addWidget(name, row, 0);
    };
    for (const auto &invariant : invariants()) {
        addRow(invariant.words, invariant.why);
        for (std::size_t i = 0; i < runs.size(); ++i)
            addCell(runs[i], i, invariant.name, row, 1 + static_cast<int>(i));
    }
    for (int i = 1; i <= columns; ++i)
        m_grid->setColumnStretch(i, 1);
    m_rows->show();
}

void MustHoldPanel::addCell(const PlayedRunPtr &run, std::size_t number, const QByteArray &invariant, int row,
                            int column)
{
    const auto &violations = run->recording().violations;
    const auto broken = std::find_if(violations.begin(), violations.end(),
                                     [&](const Violation &violation) { return violation.invariant == invariant; });
    const bool isBroken = broken != violations.end();
    Cell cell = isBroken ? brokenCell(number, *broken) : Cell{};
    cell.pill = new PillLabel(m_rows);
    const QString name = QString::fromLatin1(invariant) + QString::number(number);
    cell.pill->setObjectName(isBroken ? name + u"-so-far"_s : name);
    const bool isGuaranteed = isPromised(*run, invariant);
    cell.held = {isGuaranteed ? PillShape::Disc : PillShape::Ring, isGuaranteed ? Tone::Ok : Tone::Free,
                 heldText(*run, invariant)};
    cell.soFar = isGuaranteed ? Pill{PillShape::Ring, Tone::Free, tr("so far")} : cell.held;
    m_grid->addWidget(cell.pill, row, column, Qt::AlignLeft);
    if (isBroken) {
        cell.button->setObjectName(name);
        m_grid->addWidget(cell.button, row, column, Qt::AlignLeft);
    }
    m_cells.push_back(cell);
    light(cell);
}

MustHoldPanel::Cell MustHoldPanel::brokenCell(std::size_t run, const Violation &violation)
{
    auto *jump = makeButton(
        {}, m_rows, this, [this, run, violation] { emit violationChosen(run, violation); }, u"violation"_s);
    jump->setToolTip(plainToolTip(label(violation.message.toUtf8(), 300)));
    return {nullptr, {}, {}, jump, violation.at};
}

void MustHoldPanel::setMoment(Moment at, bool isAtEnd)
{
    m_moment = at;
    m_seen = std::max(m_seen, at);
    m_isAtEnd = isAtEnd;
    lightAll();
}

void MustHoldPanel::setHidesFuture(bool isHidden)
{
    m_hidesFuture = isHidden;
    m_seen = m_moment;
    lightAll();
}

void MustHoldPanel::lightAll() const
{
    for (const auto &cell : m_cells)
        light(cell);
}

void MustHoldPanel::light(const Cell &cell) const
{
    const bool isKnown = !m_hidesFuture || (cell.button && cell.at <= m_seen);
    cell.pill->setPill(isKnown ? cell.held : cell.soFar);
    cell.pill->setVisible(!cell.button || !isKnown);
    if (!cell.button)
        return;
    cell.button->setVisible(isKnown);
    const bool isAhead = m_moment < cell.at && !m_isAtEnd;
    cell.button->setText(isAhead ? tr("● until %1").arg(momentText(cell.at))
                                 : tr("✕ at %1").arg(momentText(cell.at)));
    setStyleProperty(cell.button, "tone", isAhead ? u"ahead"_s : u"broken"_s);
}

} // namespace lockscope::ui

#include "moc_mustholdpanel.cpp"
