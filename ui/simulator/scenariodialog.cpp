// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/scenariodialog.h"

#include "core/base/text.h"
#include "ui/parts/parts.h"
#include "ui/simulator/faultmenu.h"
#include "ui/simulator/simulatortext.h"

#include <QCheckBox>
#include <QComboBox>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStandardItemModel>

namespace lockscope::ui {

using contention::Arrival;
using contention::Scenario;

namespace {

constexpr int mostContenders = 100'000;
constexpr int mostRows = 1000; // as a scenario may have

Error bad(const QString &why)
{
    return Error{ErrorCode::BadInput, why};
}

int rowsIndex(const Scenario &scenario)
{
    return !scenario.isIndexed ? 2 : scenario.rows > 1 ? 1 : 0;
}

} // namespace

ScenarioDialog::ScenarioDialog(const Comparison &now, const ConnectionBook &book, QWidget *parent)
    : QDialog(parent), m_before(now), m_book(book)
{
    setWindowTitle(tr("Scenario"));
    setObjectName(u"scenarioDialog"_s);
    m_why = named(makeWrapped({}, u"critical"_s, this), u"obstacle"_s);
    auto *cancel = makeButton(tr("Cancel"), this, &QDialog::reject);
    m_play = named(new QPushButton(tr("Play it"), this), u"play"_s);
    m_play->setProperty("look", u"primary"_s);
    m_play->setDefault(true);
    auto *buttons = makeRow({.spacing = 10}, {{m_why, 1}, cancel, m_play});
    makeColumn(
        this, {.margins = {24, 20, 24, 20}, .spacing = 12},
        {makeLabel(tr("Scenario"), u"heading"_s, this), makeRecipes(), makeNumbers(), {makeFaults(), 1}, buttons});
    resizeWithinParent(*this, {860, 680});
    fill(now);
    connect(&m_book, &ConnectionBook::changed, this, &ScenarioDialog::fillPlaces);
    connect(m_play, &QPushButton::clicked, this, [this] {
        if (const auto wanted = comparison()) {
            emit chosen(*wanted);
            accept();
        }
    });
    update_();
}

// Those that cannot be chosen stand there with their reason.
void ScenarioDialog::fillPlaces()
{
    const RunPlace before = place();
    auto choices = placeChoices(m_book);
    if (choices == m_choices)
        return; // a list that is open stays as it is
    const QSignalBlocker quiet(m_place);
    m_choices = std::move(choices);
    m_place->clear();
    auto *model = qobject_cast<QStandardItemModel *>(m_place->model());
    for (const auto &choice : m_choices) {
        m_place->addItem(choice.text());
        model->item(m_place->count() - 1)->setEnabled(choice.obstacle.isEmpty());
        if (choice.place.kind == before.kind && choice.place.connection == before.connection)
            m_place->setCurrentIndex(m_place->count() - 1);
    }
    update_();
}

RunPlace ScenarioDialog::place() const
{
    const auto at = static_cast<std::size_t>(std::max(0, m_place->currentIndex()));
    RunPlace chosen = at < m_choices.size() ? m_choices[at].place : m_before.place;
    chosen.mostSessions = m_sessions->value();
    return chosen;
}

QWidget *ScenarioDialog::makeRecipes()
{
    auto *fields = new QWidget(this);
    auto *grid = makeGrid(fields, {.across = 12});
    const auto add = [&](const QString &title, QComboBox *choice, int row) {
        choice->setMinimumContentsLength(20);
        choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        addField(*grid, title, choice, row, 0);
    };
    m_place = makeChoice("place", {});
    add(tr("Where"), m_place, 0);
    const std::array<QString, 3> titles{tr("Recipe"), tr("against"), tr("and against")};
    for (std::size_t i = 0; i < m_recipes.size(); ++i) {
        auto *choice = makeChoice("recipe" + QByteArray::number(i), {});
        if (i > 0)
            choice->addItem(tr("nothing"), QByteArray());
        for (const auto &recipe : recipes::catalogue()) {
            if (recipe.acquirable && recipe.simulated)
                choice->addItem(QString::fromLatin1(recipe.id) + u" — "_s + recipe.summary, recipe.id);
        }
        for (const auto &mutant : contention::mutants())
            choice->addItem(QString::fromLatin1(mutant.id) + u" — "_s + mutant.summary, mutant.id);
        m_recipes[i] = choice;
        add(titles[i], choice, 1 + static_cast<int>(i));
    }
    return fields;
}

void ScenarioDialog::addField(QGridLayout &grid, const QString &title, QWidget *field, int row, int column)
{
    auto *name = makeLabel(title, u"muted"_s, field->parentWidget());
    name->setBuddy(field);
    field->setAccessibleName(title);
    grid.addWidget(name, row, column);
    grid.addWidget(field, row, column + 1);
}

QSpinBox *ScenarioDialog::makeSpin(const char *name, int from, int to, int Scenario::*count)
{
    auto *spin = named(new QSpinBox(this), QString::fromLatin1(name));
    spin->setRange(from, to);
    spin->setGroupSeparatorShown(true);
    connect(spin, &QSpinBox::valueChanged, this, &ScenarioDialog::update_);
    if (count)
        m_counts.emplace_back(spin, count);
    return spin;
}

QLineEdit *ScenarioDialog::makeLine(const char *name)
{
    auto *edit = named(new QLineEdit(this), QString::fromLatin1(name));
    connect(edit, &QLineEdit::textChanged, this, &ScenarioDialog::update_);
    return edit;
}

QLineEdit *ScenarioDialog::makeDuration(const char *name, const QString &title,
                                        std::chrono::milliseconds Scenario::*span)
{
    m_durations.push_back({makeLine(name), title, span});
    return m_durations.back().edit;
}

QComboBox *ScenarioDialog::makeChoice(const QByteArray &name, const QStringList &items)
{
    auto *choice = named(new QComboBox(this), QString::fromLatin1(name));
    choice->addItems(items);
    connect(choice, &QComboBox::currentIndexChanged, this, &ScenarioDialog::update_);
    return choice;
}

QWidget *ScenarioDialog::makeNumbers()
{
    auto *fields = new QWidget(this);
    auto *grid = makeGrid(fields, {.across = 12});
    for (const int column : {3, 5})
        grid->setColumnStretch(column, 1);
    int count = 0;
    const auto add = [&](const QString &title, auto *field) { // three in a row
        addField(*grid, title, field, count / 3, count % 3 * 2);
        ++count;
        return field;
    };
    add(tr("Contenders"), makeSpin("contenders", 1, mostContenders, &Scenario::contenders));
    add(tr("Rounds"), makeSpin("rounds", 1, 1'000, &Scenario::rounds));
    m_seed = add(tr("Seed"), makeLine("seed"));
    m_arrival = add(tr("They arrive"), makeChoice("arrival", {tr("all queue first"), tr("spread over a time")}));
    m_arriveWithin = add(tr("within"), makeDuration("arriveWithin", tr("within"), &Scenario::arriveWithin));
    add(tr("Hold"), makeDuration("hold", tr("hold"), &Scenario::hold));
    m_wait = add(tr("Wait at most"), makeLine("wait"));
    m_wait->setPlaceholderText(tr("without limit"));
    m_tries = add(tr("Tries"), makeSpin("tries", 1, 1'000, &Scenario::tries));
    m_tries->setToolTip(tr("Consecutive acquires, each waiting this long and queueing again"));
    m_acquires = add(tr("Taken by each"), makeSpin("acquires", 1, 10, &Scenario::acquires));
    m_acquires->setToolTip(
        tr("How often each takes the lock, one inside the other: who is reentrant has it at once"));
    add(tr("Lease (TTL)"), makeDuration("ttl", tr("lease"), &Scenario::ttl));
    m_sessionTimeout =
        add(tr("Session timeout"), makeDuration("sessionTimeout", tr("session timeout"), &Scenario::sessionTimeout));
    add(tr("Share a process"), makeSpin("perProcess", 1, 10'000, &Scenario::perProcess));
    m_locks = add(tr("Locks"), makeChoice("locks", {tr("one"), tr("two, same order"), tr("two, opposite order")}));
    m_limit = add(tr("Permits"), makeSpin("limit", 1, 10'000, &Scenario::limit));
    m_readers = add(tr("Readers"), makeSpin("readers", 0, 100, &Scenario::readersPercent));
    m_readers->setSuffix(u" %"_s);
    m_servers = add(tr("Servers"), makeChoice("servers", {}));
    m_servers->addItem(tr("as many as it needs"), 0);
    for (const int servers : {1, 3, 5, 7})
        m_servers->addItem(QString::number(servers), servers);
    m_aof = add(tr("A restart finds"), makeChoice("aof", {tr("nothing"), tr("all but a second"), tr("everything")}));
    m_latency = add(tr("A message takes"), makeSpin("latency", 1, 100'000));
    m_latency->setSuffix(tr(" µs"));
    m_latency->setToolTip(tr("At most; the least is two thirds of it"));
    m_sessions = add(tr("Sessions at most"), makeSpin("sessions", 1, mostContendersOnServers));
    m_sessions->setToolTip(
        tr("On real servers: one allows some 60 connections from one address; more contenders share sessions"));
    m_rows =
        add(tr("Rows"),
            makeChoice("rows", {tr("one for all"), tr("one each, by an index"), tr("one each, without an index")}));
    m_checksTokens = new QCheckBox(tr("What the lock guards refuses older fencing tokens"), this);
    grid->addWidget(m_checksTokens, 7, 0, 1, 6);
    return fields;
}

QWidget *ScenarioDialog::makeFaults()
{
    m_faults = new FaultChoice;
    connect(m_faults, &FaultChoice::changed, this, &ScenarioDialog::update_);
    auto *scroll = makeScroll(m_faults, this);
    scroll->setMinimumHeight(110);
    return scroll;
}

void ScenarioDialog::fill(const Comparison &now)
{
    const auto &scenario = now.scenario;
    m_sessions->setValue(now.place.mostSessions);
    fillPlaces();
    for (std::size_t i = 0; i < m_recipes.size(); ++i) {
        const QByteArray recipe = i < now.recipes.size() ? now.recipes[i] : QByteArray();
        m_recipes[i]->setCurrentIndex(std::max(0, m_recipes[i]->findData(recipe)));
    }
    for (const auto &[spin, count] : m_counts)
        spin->setValue(scenario.*count);
    m_arrival->setCurrentIndex(scenario.arrival == Arrival::Queued ? 0 : 1);
    const auto words = [](std::chrono::milliseconds span) {
        const bool isWhole = span.count() > 0 && span.count() % 1000 == 0;
        return isWhole ? u"%1s"_s.arg(span.count() / 1000) : u"%1ms"_s.arg(span.count());
    };
    for (const auto &duration : m_durations)
        duration.edit->setText(words(scenario.*duration.span));
    m_locks->setCurrentIndex(scenario.locks == 1 ? 0 : scenario.isOppositeOrder ? 2 : 1);
    m_rows->setCurrentIndex(rowsIndex(scenario));
    if (m_servers->findData(scenario.servers) < 0) // a file may have any number of them
        m_servers->addItem(QString::number(scenario.servers), scenario.servers);
    m_servers->setCurrentIndex(m_servers->findData(scenario.servers));
    m_aof->setCurrentIndex(static_cast<int>(scenario.aof));
    m_latency->setValue(static_cast<int>(scenario.mostLatency.count()));
    m_wait->setText(scenario.wait ? words(*scenario.wait) : QString());
    m_seed->setText(QString::number(scenario.seed));
    m_checksTokens->setChecked(scenario.checksFencingTokens);
    m_faults->fill(scenario);
}

std::vector<QByteArray> ScenarioDialog::recipes() const
{
    std::vector<QByteArray> all;
    for (const auto *choice : m_recipes) {
        if (!choice->currentData().toByteArray().isEmpty())
            all.push_back(choice->currentData().toByteArray());
    }
    return all;
}

Result<Scenario> ScenarioDialog::readDurations(Scenario scenario) const
{
    for (const auto &[edit, name, into] : m_durations) {
        const auto span = parseDuration(edit->text().trimmed());
        if (!span)
            return bad(tr("%1: %2").arg(name, span.error().message));
        scenario.*into = *span;
    }
    scenario.wait.reset();
    if (!m_wait->text().trimmed().isEmpty()) {
        const auto span = parseDuration(m_wait->text().trimmed());
        if (!span)
            return bad(tr("wait at most: %1").arg(span.error().message));
        scenario.wait = *span;
    }
    return scenario;
}

void ScenarioDialog::readNumbers(Scenario &scenario) const
{
    const Scenario &before = m_before.scenario;
    for (const auto &[spin, count] : m_counts)
        scenario.*count = spin->value();
    scenario.arrival = m_arrival->currentIndex() == 0 ? Arrival::Queued : Arrival::Spread;
    scenario.checksFencingTokens = m_checksTokens->isChecked();
    scenario.tries = m_tries->isEnabled() ? m_tries->value() : 1;
    scenario.locks = m_locks->currentIndex() == 0 ? 1 : 2;
    scenario.isOppositeOrder = m_locks->currentIndex() == 2;
    const bool hasRows = m_rows->isEnabled() && m_rows->currentIndex() > 0;
    const bool areRowsAsBefore = hasRows && m_rows->currentIndex() == rowsIndex(before)
                                 && scenario.contenders == before.contenders; // a file may have any number of them
    if (!areRowsAsBefore)
        scenario.rows = hasRows ? std::min(scenario.contenders, mostRows) : 1;
    scenario.isIndexed = !hasRows || m_rows->currentIndex() == 1;
    scenario.servers = m_servers->isEnabled() ? m_servers->currentData().toInt() : 0;
    scenario.aof = m_aof->isEnabled() ? static_cast<contention::Aof>(m_aof->currentIndex()) : contention::Aof::None;
    if (m_latency->value() == static_cast<int>(before.mostLatency.count()))
        return; // and the least as it was
    scenario.mostLatency = std::chrono::microseconds(m_latency->value());
    scenario.leastLatency = std::chrono::microseconds(std::max(1, m_latency->value() * 2 / 3));
}

// As it came, with what the fields say: of that there is more than there are fields.
Result<Comparison> ScenarioDialog::comparison() const
{
    Comparison wanted;
    wanted.recipes = recipes();
    Scenario scenario = m_before.scenario;
    readNumbers(scenario);
    bool isNumber = false;
    scenario.seed = m_seed->text().trimmed().toULongLong(&isNumber);
    if (!isNumber)
        return bad(tr("seed: a whole number, not negative"));
    m_faults->read(scenario);
    if (scenario.rounds != m_before.scenario.rounds)
        scenario.withheld.clear(); // they are counted through all rounds
    TRY(auto &read, readDurations(scenario));
    wanted.scenario = std::move(read);
    wanted.place = place();
    TRY_VOID(wanted.check());
    if (wanted.place.isReal() && !wantsSandbox(m_book, wanted)) {
        TRY_VOID(realRuns(m_book, wanted));
    }
    return wanted;
}

// What these recipes have no use for cannot be set.
void ScenarioDialog::enableFields(const Comparison &probe)
{
    const auto isAny = [&](auto is) {
        return std::ranges::any_of(probe.recipes, [&](const QByteArray &id) {
            const auto *recipe = contention::playable(id);
            return recipe && is(*recipe);
        });
    };
    const bool isReal = probe.place.isReal();
    const bool isOnZooKeeper = isAny([](const auto &recipe) { return recipe.backend == BackendKind::ZooKeeper; });
    m_sessions->setEnabled(isReal);
    m_seed->setEnabled(!isReal);
    m_latency->setEnabled(!isReal);
    m_limit->setEnabled(isAny([](const auto &recipe) { return recipe.counted; }));
    m_readers->setEnabled(isAny([](const auto &recipe) { return recipe.readWrite; }));
    m_arriveWithin->setEnabled(m_arrival->currentIndex() == 1);
    m_tries->setEnabled(!m_wait->text().trimmed().isEmpty());
    m_sessionTimeout->setEnabled(isOnZooKeeper);
    m_locks->setEnabled(isOnZooKeeper && !isReal);
    m_acquires->setEnabled(!isReal);
    m_rows->setEnabled(!isReal && isAny([](const auto &recipe) { return contention::locksOneOfRows(recipe); }));
    m_servers->setEnabled(!isReal && (isOnZooKeeper || isAny([](const auto &recipe) { return recipe.quorum; })));
    m_aof->setEnabled(!isReal && isAny([](const auto &recipe) { return recipe.backend == BackendKind::Redis; }));
}

void ScenarioDialog::update_()
{
    if (!m_faults)
        return; // still being made
    Comparison probe;
    probe.recipes = recipes();
    probe.place = place();
    m_faults->offerFor(probe);
    enableFields(probe);
    const auto wanted = comparison();
    m_play->setEnabled(bool(wanted));
    m_why->setText(wanted ? QString() : wanted.error().message);
}

} // namespace lockscope::ui

#include "moc_scenariodialog.cpp"
