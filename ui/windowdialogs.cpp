// SPDX-License-Identifier: Apache-2.0
#include "ui/windowdialogs.h"

#include "ui/dialogs/acquiredialog.h"
#include "ui/dialogs/connectform.h"
#include "ui/dialogs/editdialog.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/dialogs/guaranteesdialog.h"
#include "ui/dialogs/settingsdialog.h"
#include "ui/mainwindow.h"
#include "ui/pages/lessonspage.h"
#include "ui/pages/lockspage.h"

#include <QMessageBox>
#include <QStyle>

namespace lockscope::ui {

WindowDialogs::WindowDialogs(Backend &backend, const ConnectionBook &book, const ScreenClock &clock,
                             MainWindow &window)
    : QObject(&window), m_backend(backend), m_book(book), m_clock(clock), m_window(window)
{
}

bool WindowDialogs::refusesInPast()
{
    if (m_clock.isElsewhere())
        emit refused();
    return m_clock.isElsewhere();
}

void WindowDialogs::askReadOnly(const ConnectionName &name, bool readOnly, QWidget *over)
{
    if (refusesInPast())
        return;
    const auto *status = m_book.find(name);
    if (!status || readOnly || !status->production) {
        m_backend.execute(SetReadOnly{name, readOnly});
        return;
    }
    const QString shown = label(name.bytes(), 60);
    auto *question =
        passing(named(new QMessageBox(QMessageBox::Warning, tr("Allow writes"),
                                      tr("%1 is marked as production. Allow Lockscope to write to it?").arg(shown),
                                      QMessageBox::Cancel, over ? over : &m_window),
                      u"armQuestion"_s));
    question->setTextFormat(Qt::PlainText);
    question->setInformativeText(
        tr("Looking stays as it is. Acquire, force-release and edits become possible, each with its own "
           "confirmation, until you make it read-only again or close the window."));
    auto *arm = question->addButton(tr("Allow writes on %1").arg(shown), QMessageBox::AcceptRole);
    setStyleProperty(arm, "look", u"danger"_s); // the box has measured it already, and so given it its look
    question->setDefaultButton(QMessageBox::Cancel);
    connect(arm, &QAbstractButton::clicked, this, [this, name] {
        if (!refusesInPast()) // it may have been asked now, and answered over another moment
            m_backend.execute(SetReadOnly{name, false});
    });
    question->open();
}

void WindowDialogs::openEdit(const ConnectionName &name, const SavedConnection &chosen)
{
    if (refusesInPast())
        return;
    if (!m_store) {
        emit connectRequested();
        return;
    }
    QStringList taken;
    for (const auto &status : m_book.all()) {
        if (status.name != name)
            taken << QString::fromUtf8(status.name.bytes());
    }
    auto *dialog = passing(new ConnectDialog(*m_store, taken, &m_window));
    if (const auto *status = m_book.find(name)) {
        SavedConnection asItIs;
        asItIs.name = QString::fromUtf8(name.bytes());
        asItIs.uri = status->uri;
        asItIs.production = status->production;
        asItIs.development = m_book.isDevelopment(name);
        asItIs.readOnly = status->readOnly;
        const auto own = std::ranges::find(m_store->all(), asItIs.name, &SavedConnection::name);
        dialog->edit(own == m_store->all().end() ? asItIs : *own);
    } else if (chosen != SavedConnection()) {
        dialog->edit(chosen);
    }
    carryOut(dialog->form()->checklist());
    connect(dialog, &ConnectDialog::connectRequested, this, [this, name, dialog](const ConnectionSpec &spec) {
        emit aboutToConnect(spec, name);
        if (const auto fields = dialog->form()->read())
            m_window.connections().mark(spec.name, {spec.displayUri(), fields->development, fields->colour});
        m_backend.execute(Connect{spec});
    });
    dialog->open();
}

void WindowDialogs::carryOut(TrialChecklist &checklist)
{
    connect(&checklist, &TrialChecklist::trialRequested, this, [this, &checklist](const ConnectionSpec &spec) {
        m_backend.ask(TryConnection{spec}, checklist.awaited(),
                      [&checklist](const auto &checks) { checklist.show(checks); });
    });
}

void WindowDialogs::openForceRelease()
{
    if (refusesInPast())
        return;
    const auto *lock = m_locks->detail().snapshot();
    if (!m_locks->isVisibleTo(&m_window) || !lock || m_locks->detail().holder().isEmpty()
        || m_locks->currentLock() != lock->lock || !m_locks->detail().releaseDisabledReason().isEmpty())
        return;
    openReleaseForm(*lock, m_locks->detail().chosen());
}

ForceReleaseDialog *WindowDialogs::openReleaseForm(const inspect::LockSnapshot &lock, const QByteArray &contender)
{
    auto *dialog = passing(new ForceReleaseDialog(m_backend, m_book, lock, contender, &m_window));
    // What is done is done in the present, paused or not; else the form says what the row behind it says.
    dialog->setClock([this] { return m_clock.isFrozen() ? m_clock.present() : m_clock.now(); });
    dialog->setHeldWith([this](const inspect::LockSnapshot &one) { return heldWith(one, m_locks->model().all()); });
    connect(&m_clock, &ScreenClock::ticked, dialog, &ForceReleaseDialog::tick);
    connect(dialog, &ForceReleaseDialog::armRequested, this,
            [this, dialog](const ConnectionName &name) { askReadOnly(name, false, dialog); });
    dialog->open();
    return dialog;
}

void WindowDialogs::openForceReleaseOf(const inspect::LockName &lock, const QByteArray &contender)
{
    if (refusesInPast())
        return;
    const auto *snapshot = m_locks->model().snapshot(lock);
    if (!snapshot)
        return;
    m_window.selectLock(lock); // what the form is about is in sight behind it
    m_locks->detail().chooseContender(contender);
    const auto *one = snapshot->find(contender);
    if (one && one->role == inspect::Role::Holder && m_locks->detail().releaseDisabledReason().isEmpty())
        openReleaseForm(*snapshot, contender);
}

namespace {

// What the victim of the deadlock that this lock is in holds; null if it is in none.
const inspect::FindingPlace *victimOn(const inspect::LockSnapshot &lock)
{
    const auto found = std::ranges::find_if(lock.findings, [](const inspect::Finding &finding) {
        return finding.code == inspect::FindingCode::Deadlock && !finding.victim.empty();
    });
    return found == lock.findings.end() ? nullptr : &found->victim.front();
}

// Of these locks, those that are held and not released with the others.
QString leftOut(const std::vector<const inspect::LockSnapshot *> &locks,
                const std::vector<operate::BulkTarget> &targets)
{
    QStringList names;
    for (const auto *lock : locks) {
        const bool isTarget = std::ranges::any_of(targets, [lock](const operate::BulkTarget &target) {
            return target.lock == lock->lock || std::ranges::count(target.goWithIt, lock->lock) > 0;
        });
        if (!isTarget && lock->holderCount() > 0)
            names << label(lock->lock.name, 60);
    }
    return names.isEmpty()
               ? QString()
               : WindowDialogs::tr("Left out, as each needs a look of its own: %1.").arg(firstNamed(names, 3));
}

} // namespace

bool WindowDialogs::isChosenDeadlocked() const
{
    const auto *chosen = m_locks->detail().snapshot();
    return chosen && victimOn(*chosen);
}

std::optional<inspect::FindingPlace> WindowDialogs::placeToBreak() const
{
    if (isChosenDeadlocked())
        return *victimOn(*m_locks->detail().snapshot());
    for (const auto *row : m_locks->model().all()) {
        if (row->gone || row->facts.worst != inspect::Severity::Critical)
            continue;
        if (const auto *place = victimOn(row->snapshot))
            return *place;
    }
    return std::nullopt;
}

bool WindowDialogs::openBreak()
{
    const auto place = placeToBreak();
    if (place)
        openForceReleaseOf(place->lock, place->contender);
    return place.has_value();
}

void WindowDialogs::openRehearsal()
{
    const auto *lock = m_locks->detail().snapshot();
    if (refusesInPast() || !lock || m_locks->detail().holder().isEmpty())
        return;
    openReleaseForm(*lock, m_locks->detail().chosen())->rehearse();
}

bool WindowDialogs::mayCancelWait() const
{
    const auto *lock = m_locks->detail().snapshot();
    const auto *waiter = lock ? lock->find(m_locks->detail().chosen()) : nullptr;
    if (!waiter || waiter->role != inspect::Role::Waiter)
        return false;
    return std::ranges::count(operate::waysFor(*lock, *waiter), operate::ReleaseAction::KillWaiter,
                              &operate::OfferedAction::way)
           > 0;
}

void WindowDialogs::openCancelWait()
{
    if (refusesInPast() || !mayCancelWait())
        return;
    const auto &detail = m_locks->detail();
    openReleaseForm(*detail.snapshot(), detail.chosen())->prefer(operate::ReleaseAction::KillWaiter);
}

void WindowDialogs::openAsk(const inspect::Incident &incident)
{
    QStringList lines{label(incident.cause.toUtf8(), 1000), label(incident.action.toUtf8(), 1000)};
    for (const auto &lock : incident.locks)
        lines << linkOf(lock);
    auto *message = passing(named(new QMessageBox(QMessageBox::Information, tr("Ask the owner"), lines.join(u'\n'),
                                                  QMessageBox::Close, &m_window),
                                  u"askMessage"_s));
    message->setTextFormat(Qt::PlainText);
    message->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    message->setInformativeText(tr("Nothing here can be released. Send this to the owner of the client."));
    auto *copy = message->addButton(tr("Copy"), QMessageBox::AcceptRole);
    connect(copy, &QAbstractButton::clicked, this, [text = lines.join(u'\n')] { copyToClipboard(text); });
    message->setDefaultButton(qobject_cast<QPushButton *>(copy));
    message->open();
}

void WindowDialogs::openAcquire()
{
    if (refusesInPast() || m_book.all().empty())
        return;
    const auto *lock = m_locks->isVisibleTo(&m_window) ? m_locks->detail().snapshot() : nullptr;
    auto *dialog = passing(new AcquireDialog(m_backend, m_book, lock, &m_window));
    connect(dialog, &AcquireDialog::acquiring, this,
            [this](quint64, const inspect::LockName &name) { emit acquiring(name); });
    connect(dialog, &AcquireDialog::armRequested, this,
            [this, dialog](const ConnectionName &name) { askReadOnly(name, false, dialog); });
    dialog->open();
}

bool WindowDialogs::areSeveralChosen() const
{
    const auto *focus = m_window.focusWidget();
    const bool isInQueue = focus && m_locks->detail().isAncestorOf(focus); // there one contender is chosen
    return !isInQueue && m_locks->table().chosenRows().size() > 1;
}

void WindowDialogs::openReleaseOfChosen()
{
    if (areSeveralChosen() && m_locks->isVisibleTo(&m_window))
        openBulk(Bulk::Chosen);
    else
        openForceRelease();
}

std::vector<const inspect::LockSnapshot *> WindowDialogs::locksFor(Bulk bulk) const
{
    const auto &model = m_locks->model();
    std::vector<const inspect::LockSnapshot *> locks;
    if (bulk != Bulk::Listed && bulk != Bulk::Chosen) {
        for (const auto *row : model.all()) {
            if (!row->gone)
                locks.push_back(&row->snapshot);
        }
        return locks;
    }
    std::vector<int> rows(static_cast<std::size_t>(model.rowCount()));
    std::iota(rows.begin(), rows.end(), 0);
    for (const int row : bulk == Bulk::Chosen ? m_locks->table().chosenRows() : rows) {
        if (!model.isGoneAt(row))
            locks.push_back(&model.snapshotAt(row));
    }
    return locks;
}

WindowDialogs::BulkScope WindowDialogs::scopeOf(Bulk bulk) const
{
    const auto locks = locksFor(bulk);
    BulkScope scope;
    if (bulk == Bulk::Stale) {
        scope.targets = operate::staleEntriesOf(locks);
        scope.what = tr(
            "Entries left by disconnected clients (findings persistent-node and stale-queue). Check each one: some clients create persistent nodes on purpose.");
        scope.whyNone = tr("No lock has the finding persistent-node or stale-queue.");
    } else if (bulk == Bulk::Session) {
        const auto *shown = m_locks->detail().snapshot();
        const auto *one = shown ? shown->find(m_locks->detail().chosen()) : nullptr;
        if (shown && !one)
            one = shown->find(m_locks->detail().holder());
        const auto session = one && one->session ? *one->session : QString();
        if (session.isEmpty()) {
            scope.whyNone = tr("Choose a lock whose holder's session is known first.");
            return scope;
        }
        scope.targets = operate::targetsOfSession(locks, shown->lock.connection, session);
        scope.what = tr("All that %1 of %2 holds, as far as it is seen.")
                         .arg(label(session.toUtf8(), 60), label(shown->lock.connection.bytes(), 60));
    } else {
        scope.targets = operate::targetsOf(locks, [](const auto &, const auto &) { return true; });
        scope.what = bulk == Bulk::Listed ? tr("All that is held of what the list of locks shows now.")
                                          : tr("All that is held of the %1 chosen locks.").arg(locks.size());
        if (const auto left = leftOut(locks, scope.targets); !left.isEmpty())
            scope.what += u' ' + left;
    }
    if (scope.whyNone.isEmpty())
        scope.whyNone = tr("There is nothing here that could be released.");
    return scope;
}

void WindowDialogs::openBulk(Bulk bulk)
{
    if (refusesInPast())
        return;
    auto [targets, what, why] = scopeOf(bulk);
    const bool areSeveral = std::ranges::any_of(
        targets, [&](const auto &target) { return target.lock.connection != targets.front().lock.connection; });
    if (areSeveral)
        why = bulk == Bulk::Chosen
                  ? tr("These are locks of several connections. Choose locks of one.")
                  : tr("These are locks of several connections. Choose one of them in the header first.");
    if (targets.empty() || areSeveral) {
        auto *nothing = passing(named(
            new QMessageBox(QMessageBox::Information, tr("Nothing is released"), why, QMessageBox::Close, &m_window),
            u"nothingToRelease"_s));
        nothing->open();
        return;
    }
    const auto *status = m_book.find(targets.front().lock.connection);
    for (auto &target : targets)
        target.server = status ? status->uri : QString();
    auto *dialog = passing(new BulkDialog(m_backend, m_book, what, std::move(targets),
                                          m_clock.isFrozen() ? m_clock.present() : m_clock.now(), &m_window));
    connect(dialog, &BulkDialog::armRequested, this,
            [this, dialog](const ConnectionName &name) { askReadOnly(name, false, dialog); });
    dialog->open();
}

void WindowDialogs::openEditOf(const operate::EditRequest &request)
{
    if (refusesInPast())
        return;
    openEditForm(new EditDialog(m_backend, m_book, request, &m_window));
}

void WindowDialogs::openUndoOf(const operate::EditRequest &undo, const operate::EditRequest &undone)
{
    if (refusesInPast())
        return;
    openEditForm(new EditDialog(m_backend, m_book, undo, &m_window, undone));
}

void WindowDialogs::openEditForm(EditDialog *dialog)
{
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &EditDialog::armRequested, this,
            [this, dialog](const ConnectionName &name) { askReadOnly(name, false, dialog); });
    connect(dialog, &EditDialog::edited, this,
            [this](const operate::EditRequest &request, const operate::EditOutcome &outcome) {
                m_edited = request;
                m_undo = outcome.undo;
                emit edited(request, outcome);
            });
    connect(dialog, &EditDialog::undoRequested, this, &WindowDialogs::openUndoOf);
    dialog->open();
}

void WindowDialogs::openUndo()
{
    if (m_undo)
        openUndoOf(*m_undo, *m_edited);
}

QString WindowDialogs::undoDisabledReason() const
{
    return m_undo     ? QString()
           : m_edited ? tr("The last edit cannot be undone")
                      : tr("No znode or key was edited in this window");
}

void WindowDialogs::openGuarantees()
{
    passing(new GuaranteesDialog({}, &m_window))->open();
}

void WindowDialogs::openFindingsHelp()
{
    passing(new FindingsDialog(&m_window))->open();
}

void WindowDialogs::openSettingsAt(int tab)
{
    auto *settings = new QSettings;
    auto *dialog = passing(new SettingsDialog(*settings, m_mutes, thresholdFile(), &m_window));
    settings->setParent(dialog);
    connect(dialog, &SettingsDialog::languageChosen, this, [this](lessons::Language language) {
        m_window.pages().whenMade<LessonsPage>([language](LessonsPage &page) { page.setLanguage(language); });
    });
    connect(dialog, &SettingsDialog::thresholdsChanged, this,
            [this](const inspect::ThresholdRules &rules) { m_backend.execute(SetThresholds{rules}); });
    connect(dialog, &SettingsDialog::labelsChanged, this,
            [this](const std::vector<inspect::ClientLabel> &labels) { m_backend.execute(SetClientLabels{labels}); });
    dialog->tabs().setCurrentIndex(tab);
    dialog->open();
}

} // namespace lockscope::ui

#include "moc_windowdialogs.cpp"
