// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/findingspage.h"

#include "core/base/text.h"
#include "ui/dialogs/mutedialog.h"
#include "ui/pages/findingdetail.h"
#include "ui/parts/notices.h"
#include "ui/views/findingstable.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHeaderView>
#include <QSplitter>

namespace lockscope::ui {

using inspect::Coverage;
using inspect::Severity;

namespace {

constexpr std::array<std::optional<Severity>, 4> chipSeverities{std::nullopt, Severity::Critical, Severity::Warning,
                                                                Severity::Info};

QString asSentence(QString words)
{
    return words.left(1).toUpper() + words.mid(1);
}

} // namespace

FindingsPage::FindingsPage(const ConnectionBook &book, QWidget *parent) : Page(parent), m_book(book)
{
    m_problem = named(new Banner(this), u"mutesProblem"_s);
    m_problem->hide();
    m_thresholds = named(new Banner(this), u"thresholdsProblem"_s);
    m_thresholds->hide();
    m_rules = named(new Banner(this), u"rulesProblem"_s);
    m_rules->hide();
    m_gaps = named(new Banner(this), u"gapsBanner"_s);
    m_gaps->hide();
    m_table = new FindingsTable(m_model, this);
    m_stack = new QStackedWidget(this);
    m_notice = new EmptyNotice(m_stack);
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_notice);
    m_detail = new FindingDetail(this);
    auto *splitter = new QSplitter(Qt::Vertical, this);
    keepSizes(splitter);
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_stack);
    splitter->addWidget(m_detail);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    splitter->setSizes({480, 300});
    auto *banners = makeColumn({.margins = {12, 0, 12, 0}, .spacing = 6}, {m_problem, m_thresholds, m_rules, m_gaps});
    makeColumn(this, {.spacing = 0}, {makeStrip(), banners, {splitter, 1}});

    connect(m_table, &FindingsTable::chosen, this, &FindingsPage::showDetail);
    connect(m_table, &FindingsTable::opened, this, &FindingsPage::goToLock);
    connect(m_detail, &FindingDetail::lockRequested, this, &FindingsPage::goToLock);
    connect(m_detail, &FindingDetail::sessionRequested, this, &FindingsPage::goToSession);
    connect(m_detail, &FindingDetail::muteRequested, this, &FindingsPage::mute);
    connect(m_detail, &FindingDetail::unmuteRequested, this, &FindingsPage::unmute);
    connect(&m_model, &FindingsModel::countsChanged, this, &FindingsPage::showCounts);
    connect(&m_model, &QAbstractItemModel::rowsInserted, this, [this] {
        showNotice();
        if (m_table->current())
            m_table->chooseGravest();
    });
    connect(&m_model, &QAbstractItemModel::rowsRemoved, this, [this] {
        showDetail();
        showNotice();
    });
    connect(&m_model, &QAbstractItemModel::dataChanged, this,
            [this](const QModelIndex &from, const QModelIndex &upTo) {
                const int row = m_table->currentIndex().row();
                if (from.column() == 0 && row >= from.row() && row <= upTo.row())
                    showDetail();
            });
    connect(&m_book, &ConnectionBook::changed, this, &FindingsPage::followBook);
    connect(&m_book, &ConnectionBook::staleChanged, this, [this](const ConnectionName &name, bool isStale) {
        const auto *status = m_book.find(name);
        m_model.setFrozen(name, isStale && status ? std::optional(status->asOf) : std::nullopt);
    });
    addKey(u"M"_s, &FindingsPage::mute);
    addKey(u"U"_s, &FindingsPage::unmute);
    addKey(u"S"_s, &FindingsPage::goToSession);
    addKey(u"B"_s, &FindingsPage::breakDeadlock);
    showCounts();
    showDetail();
    showNotice();
}

QWidget *FindingsPage::makeStrip()
{
    auto *strip = makeToolStrip(this);
    auto *layout = stripLayout(strip);
    m_chips = new QButtonGroup(this);
    for (int i = 0; i < static_cast<int>(chipSeverities.size()); ++i) {
        auto *button = makeChip({}, strip);
        button->setChecked(i == 0);
        m_chips->addButton(button, i);
        layout->addWidget(button);
    }
    m_chips->button(1)->setProperty("tone", u"critical"_s);
    m_chips->button(2)->setProperty("tone", u"warning"_s);
    connect(m_chips, &QButtonGroup::idClicked, this, [this](int chip) {
        narrow([chip](FindingFilter &filter) { filter.severity = chipSeverities[static_cast<std::size_t>(chip)]; });
    });
    m_codes = new QComboBox(strip);
    m_codes->setAccessibleName(tr("Which findings"));
    m_codes->addItem(tr("Every finding"));
    // The last two are of no lock: a banner reports them.
    for (const auto &kind : inspect::findingKinds()) {
        if (kind.code < inspect::FindingCode::UnexplainedWait)
            m_codes->addItem(kind.title.toString());
    }
    connect(m_codes, &QComboBox::currentIndexChanged, this, [this](int at) {
        narrow([at](FindingFilter &filter) {
            filter.code = at <= 0 ? std::nullopt
                                  : std::optional(inspect::findingKinds()[static_cast<std::size_t>(at - 1)].code);
        });
    });
    layout->addWidget(m_codes);
    layout->addStretch(1);
    m_showMuted = named(new QCheckBox(strip), u"showMuted"_s);
    keepChoice(u"showMuted"_s, m_showMuted);
    connect(m_showMuted, &QCheckBox::toggled, this,
            [this](bool isOn) { narrow([isOn](FindingFilter &filter) { filter.showMuted = isOn; }); });
    layout->addWidget(m_showMuted);
    return strip;
}

void FindingsPage::addKey(const QKeySequence &keys, void (FindingsPage::*act)())
{
    auto *action = new QAction(this);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, act);
    addAction(action);
}

void FindingsPage::useMutes(MuteStore &mutes)
{
    m_mutes = &mutes;
    const auto take = [this] {
        m_model.setMutes(m_mutes->all());
        m_problem->say(Banner::Look::Warning, tr("Nothing is muted"), harmless(m_mutes->loadError()));
        m_problem->setVisible(!m_mutes->loadError().isEmpty());
        showDetail();
        showNotice();
    };
    connect(m_mutes, &MuteStore::changed, this, take);
    take();
}

void FindingsPage::showThresholdsProblem(const QString &why)
{
    m_thresholds->say(Banner::Look::Warning, tr("This run began with the usual thresholds"), harmless(why));
    m_thresholds->show();
}

void FindingsPage::showRuleProblems(const QStringList &problems)
{
    constexpr qsizetype mostSaid = 5;
    auto said =
        mapped<QStringList>(problems.mid(0, mostSaid), [&](const auto &problem) { return harmless(problem); });
    if (problems.size() > mostSaid)
        said << tr("and %1 more: lockscopectl recognise").arg(problems.size() - mostSaid);
    m_rules->say(Banner::Look::Warning, tr("Recogniser rules with mistakes are not used"), said.join(u'\n'));
    m_rules->setVisible(!problems.isEmpty());
}

void FindingsPage::narrow(const std::function<void(FindingFilter &)> &change)
{
    auto filter = m_model.filter();
    change(filter);
    m_model.setFilter(std::move(filter));
    showDetail();
    showNotice();
}

void FindingsPage::showConnection(const ConnectionName &name)
{
    m_connection = name;
    narrow([&name](FindingFilter &filter) { filter.connection = name; });
}

void FindingsPage::setFilter(const QString &text)
{
    if (text.trimmed().toLower() != m_model.filter().text)
        narrow([&text](FindingFilter &filter) { filter.text = text.trimmed().toLower(); });
}

void FindingsPage::focusContent()
{
    if (m_model.rowCount() == 0) {
        m_chips->button(0)->setFocus(); // until there is a row
        return;
    }
    if (!m_table->current()) // before it has the focus: then Qt chooses, and does not show it
        m_table->chooseGravest();
    m_table->setFocus();
    if (!m_table->current())
        m_table->setCurrentIndex(m_model.index(0, 0));
}

// What is not in the book any more was closed.
void FindingsPage::followBook()
{
    const auto now = mapped<std::set<ConnectionName>>(m_book.all(), [&](const auto &status) { return status.name; });
    for (const auto &name : std::exchange(m_connections, now)) {
        if (!now.contains(name))
            m_model.removeConnection(name);
    }
    m_table->showConnections(now.size() > 1);
    showNotice();
}

void FindingsPage::goToLock()
{
    m_table->keepChoice();
    const auto *row = m_table->current();
    if (!row)
        return;
    if (row->locks.size() == 1) {
        emit lockActivated(inspect::LockName(row->lock));
        return;
    }
    const auto &victim = row->finding.victim;
    auto *menu = makePassingMenu(u"deadlockedLocks"_s, this);
    for (const auto &lock : row->locks) {
        auto *action = menu->addAction(label(lock.text(), 120).replace(u'&', u"&&"_s));
        connect(action, &QAction::triggered, this, [this, lock] { emit lockActivated(lock); });
        // What the victim holds is what its end gives back.
        if (!menu->activeAction() && (victim.empty() || lock == victim.front().lock))
            menu->setActiveAction(action);
    }
    menu->popup(m_detail->belowLockButton());
}

void FindingsPage::goToSession()
{
    m_table->keepChoice();
    const auto *row = m_table->current();
    const auto session = row ? row->session() : std::nullopt;
    if (session)
        emit subjectActivated({Subject::Kind::Session, session->connection, session->id.toUtf8()});
}

void FindingsPage::breakDeadlock()
{
    m_table->keepChoice();
    const auto *row = m_table->current();
    if (!row || row->finding.victim.empty())
        return;
    const auto place = row->finding.victim.front(); // the row may change meanwhile
    emit releaseRequested(place.lock, place.contender);
}

void FindingsPage::offerActs(QMenu &menu)
{
    const auto *row = m_table->current();
    if (!row)
        return;
    const auto offer = [&](const QString &words, const QKeySequence &keys, void (FindingsPage::*act)()) {
        auto *action = menu.addAction(words);
        action->setShortcut(keys);
        connect(action, &QAction::triggered, this, act);
    };
    offer(tr("Go to the lock"), Qt::Key_Return, &FindingsPage::goToLock);
    if (!row->finding.victim.empty())
        offer(tr("Break the deadlock…"), Qt::Key_B, &FindingsPage::breakDeadlock);
    if (row->session())
        offer(tr("Go to the session"), Qt::Key_S, &FindingsPage::goToSession);
    if (m_mutes && row->muted)
        offer(tr("Unmute"), Qt::Key_U, &FindingsPage::unmute);
    else if (m_mutes)
        offer(tr("Mute…"), Qt::Key_M, &FindingsPage::mute);
}

void FindingsPage::mute()
{
    m_table->keepChoice();
    const auto *row = m_table->current();
    if (!row || !m_mutes || row->muted)
        return;
    passing(new MuteDialog(*m_mutes, *row, programClock().wallOf(clock().present()), this))->open();
}

void FindingsPage::unmute()
{
    const auto *row = m_table->current();
    if (!row || !m_mutes || !row->muted)
        return;
    if (const auto removed = m_mutes->remove(Mute(*row->muted)); !removed) {
        m_problem->say(Banner::Look::Warning, tr("Still muted"), harmless(removed.error().message));
        m_problem->show();
    }
}

void FindingsPage::showCounts()
{
    const auto &found = m_model.found();
    const std::array counts{found.unmuted(), found.critical, found.warning, found.info};
    const std::array words{tr("All"), tr("Critical"), tr("Warning"), tr("Info")};
    for (std::size_t i = 0; i < counts.size(); ++i)
        m_chips->button(static_cast<int>(i))->setText(words[i] + u' ' + countText(counts[i]));
    m_showMuted->setText(tr("Show muted (%1)").arg(countText(found.muted)));
    const auto &all = m_model.all();
    const int grave = all.critical + all.warning;
    emit countChanged(grave > 0 ? countText(grave) : QString());
    showNotice();
}

void FindingsPage::showDetail()
{
    if (const auto *row = m_table->current())
        m_detail->setFinding(*row, m_model.nowOf(row->lock.connection), m_mutes != nullptr);
    else
        m_detail->clear();
}

// As lockscopectl says it: what is not connected, and what a connection itself could not see.
std::vector<Coverage> FindingsPage::coverage() const
{
    std::vector<Coverage> all;
    for (const auto &status : m_book.all()) {
        if (!m_connection.isEmpty() && status.name != m_connection)
            continue;
        if (status.state != ConnectionStatus::State::Connected) {
            all.push_back({status.name, false, status.message.isEmpty() ? u"not connected"_s : status.message});
            continue;
        }
        for (auto &part : m_book.coverageOf(status.name))
            all.push_back(std::move(part));
        if (!status.progress.firstSnapshotComplete)
            all.push_back({status.name, false, u"the initial scan is still running"_s});
    }
    return all;
}

void FindingsPage::showNotice()
{
    const auto seen = coverage();
    const auto gaps = inspect::endedDeadlockLines(seen) + inspect::gapsIn(seen);
    const bool isAnySeen = std::ranges::any_of(m_book.all(), [this](const ConnectionStatus &status) {
        return status.state == ConnectionStatus::State::Connected
               && (m_connection.isEmpty() || status.name == m_connection);
    });
    const bool isEmpty = m_model.rowCount() == 0;
    m_gaps->setVisible(!gaps.isEmpty() && !isEmpty);
    const bool hasWaits = std::ranges::any_of(seen, [](const Coverage &part) {
        return std::ranges::any_of(part.unexplained, &inspect::Unexplained::isWait);
    });
    m_gaps->say(hasWaits ? Banner::Look::Warning : Banner::Look::Info, {}, gaps.join(u'\n'));
    m_stack->setCurrentIndex(isEmpty ? 1 : 0);
    m_detail->setVisible(!isEmpty);
    if (!isEmpty) {
        auto *focus = window()->focusWidget();
        if (isVisible() && (!focus || focus == m_chips->button(0)) && !m_table->current())
            focusContent();
        return;
    }
    const auto &found = m_model.found();
    const auto &filter = m_model.filter();
    const bool isNarrowed = filter.code || !filter.text.isEmpty() || filter.severity;
    if (m_book.all().empty())
        m_notice->say(tr("No connection yet"), tr("Findings of all locks appear here, most severe first."));
    else if (isNarrowed)
        m_notice->say(tr("No finding is in this view"),
                      tr("It is narrowed by what was chosen above, or by the find field. Of all findings, %1 are "
                         "critical or warnings.")
                              .arg(countText(m_model.all().critical + m_model.all().warning))
                          + (gaps.isEmpty() ? QString() : u'\n' + gaps.join(u'\n')));
    else if (found.muted > 0)
        m_notice->say(found.muted == 1 ? tr("1 finding, and it is muted")
                                       : tr("%1 findings, and all are muted").arg(countText(found.muted)),
                      tr("“Show muted” shows them, with why, and until when.") + u'\n' + gaps.join(u'\n'));
    else
        m_notice->say(asSentence(inspect::noneFound(inspect::Question::Findings, isAnySeen, seen)), gaps.join(u'\n'));
}

void FindingsPage::ticked()
{
    const auto [first, last] = m_table->visibleRows();
    m_model.tick(first, last);
    if (const auto *row = m_table->current())
        m_detail->tick(*row, m_model.nowOf(row->lock.connection));
}

} // namespace lockscope::ui

#include "moc_findingspage.cpp"
