// SPDX-License-Identifier: Apache-2.0
// What the window opens over itself: forms, questions, menus. Each closes by itself and is then deleted.
#pragma once

#include "ui/models/connectionbook.h"

namespace lockscope::ui {

class EditDialog;
class ForceReleaseDialog;
class LocksPage;
class MainWindow;
class ScreenClock;
class TrialChecklist;

class WindowDialogs : public QObject {
    Q_OBJECT
public:
    // Acts go to `backend`, which is never paused. All of them outlive this.
    WindowDialogs(Backend &backend, const ConnectionBook &book, const ScreenClock &clock, MainWindow &window);

    void useLocks(LocksPage &page) { m_locks = &page; }
    void useConnections(ConnectionStore &store) { m_store = &store; }
    void useMutes(MuteStore &mutes) { m_mutes = &mutes; }

    // While another moment than now is shown nothing is done: says so, and is true.
    [[nodiscard]] bool refusesInPast();
    // Of the lock in the detail, while its page is on screen.
    void openForceRelease();
    // Of what is chosen in the list: one lock, or several at once.
    void openReleaseOfChosen();
    [[nodiscard]] bool areSeveralChosen() const;
    // Of that contender: its hold is released, or what else ends it.
    void openForceReleaseOf(const inspect::LockName &lock, const QByteArray &contender);
    // The form for the victim of a deadlock: of that in which the chosen lock is, else of the first. False: there is
    // none.
    bool openBreak();
    [[nodiscard]] bool isChosenDeadlocked() const;
    // The form of a force-release, with the release simulated.
    void openRehearsal();
    // The form that ends the wait of the contender chosen in the queue, if mayCancelWait().
    void openCancelWait();
    [[nodiscard]] bool mayCancelWait() const;
    // A message to the owner of what blocks, to be copied.
    void openAsk(const inspect::Incident &incident);
    void openAcquire();
    // Several force-releases: of the session of the chosen contender, of the rows that are chosen together, of what
    // the list shows, of what dead clients left.
    enum class Bulk { Session, Chosen, Listed, Stale };
    void openBulk(Bulk bulk);
    void openEditOf(const operate::EditRequest &request);
    void openUndoOf(const operate::EditRequest &undo, const operate::EditRequest &undone);
    // The form that takes the last edit back, if undoDisabledReason() is empty.
    void openUndo();
    [[nodiscard]] QString undoDisabledReason() const;
    void openGuarantees();
    void openFindingsHelp();
    void openSettings() { openSettingsAt(0); }
    void openSettingsAt(int tab);
    void openConnect() { openEdit({}); }
    // The dialog with that connection's entry, which then replaces it; or with these fields.
    void openEdit(const ConnectionName &name, const SavedConnection &chosen = {});
    // Tries connections for it.
    void carryOut(TrialChecklist &checklist);
    // Production is armed by a question only.
    void askReadOnly(const ConnectionName &name, bool readOnly, QWidget *over = nullptr);

signals:
    // "+ Connect…" was chosen and there is no store.
    void connectRequested();
    // Just before: it may carry a password. What `replaces` names, if anything, goes.
    void aboutToConnect(const lockscope::ConnectionSpec &spec, const lockscope::ConnectionName &replaces);
    void refused();
    void acquiring(const lockscope::inspect::LockName &lock);
    // A znode or a key was changed, wholly or in part.
    void edited(const lockscope::operate::EditRequest &request, const lockscope::operate::EditOutcome &outcome);

private:
    // What several force-releases take, in words, and why there is nothing to take.
    struct BulkScope {
        std::vector<operate::BulkTarget> targets;
        QString what;
        QString whyNone;
    };
    [[nodiscard]] std::vector<const inspect::LockSnapshot *> locksFor(Bulk bulk) const;
    [[nodiscard]] BulkScope scopeOf(Bulk bulk) const;
    void openEditForm(EditDialog *dialog);
    [[nodiscard]] std::optional<inspect::FindingPlace> placeToBreak() const;
    ForceReleaseDialog *openReleaseForm(const inspect::LockSnapshot &lock, const QByteArray &contender);

    Backend &m_backend;
    const ConnectionBook &m_book;
    const ScreenClock &m_clock;
    MainWindow &m_window;
    LocksPage *m_locks = nullptr;
    ConnectionStore *m_store = nullptr;
    MuteStore *m_mutes = nullptr;
    std::optional<operate::EditRequest> m_edited; // last, wholly or in part
    std::optional<operate::EditRequest> m_undo;   // what takes it back
};

} // namespace lockscope::ui
