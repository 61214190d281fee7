// SPDX-License-Identifier: Apache-2.0
// The page of locks: chips and filter, the incidents, the list, and the chosen lock's detail beside or below it.
#pragma once

#include "ui/models/alertwatch.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/page.h"
#include "ui/pages/startpage.h"
#include "ui/parts/notices.h"
#include "ui/views/holdspanel.h"

class QButtonGroup;
class QSplitter;

namespace lockscope::ui {

class IncidentList;

// How a list and the detail below it divide their page: the list takes what its rows need, half of the page at most,
// the detail the rest. Once somebody drags the handle between them it stays where he left it, over restarts, too.
//
// Nothing moves below the pointer or while the detail has the keyboard: it waits for the next change.
class ListShare : public QObject {
    Q_OBJECT
public:
    // `list` stands in the first part of the splitter, alone, in a stack or below other things; all outlive this.
    // While the splitter divides the width, this does nothing.
    ListShare(QSplitter &splitter, QTableView &list);

    // After rows came or went.
    void divide();
    void save(QSettings &settings, const QString &key) const;
    void restore(QSettings &settings, const QString &key);

    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    [[nodiscard]] int neededHeight() const;
    [[nodiscard]] bool isDetailInUse() const;

    QSplitter &m_splitter;
    QTableView &m_list;
    bool m_isTheirs = false; // somebody dragged it
};

class LocksPage : public Page {
    Q_OBJECT
public:
    // `book` outlives the page and hears each batch before it.
    explicit LocksPage(const ConnectionBook &book, QWidget *parent = nullptr);

    void setBackend(Backend *backend) override;
    void showConnection(const ConnectionName &name) override;
    // Without a choice, the connection of the lock in the detail.
    [[nodiscard]] ConnectionName connectionShown(const ConnectionName &chosen) const override
    {
        const auto lock = currentLock();
        return chosen.isEmpty() && lock ? lock->connection : chosen;
    }
    void setFilter(const QString &text) override;
    void freeze(std::optional<std::chrono::system_clock::time_point>) override;
    void focusContent() override;
    [[nodiscard]] KeyHints keys() const override { return m_start->isHidden() ? KeyHints() : m_start->keys(); }
    [[nodiscard]] bool showSubject(const Subject &subject) override;
    void saveView(QSettings &settings) const override;
    void restoreView(QSettings &settings) override;

    // Shows this lock as soon as it is known.
    void selectLock(const inspect::LockName &lock);
    void setChip(LocksModel::Chip chip);
    void showAll() { setChip(LocksModel::Chip::All); } // lifts the chip
    // How many locks this window itself holds or waits for.
    [[nodiscard]] qsizetype ownLocks() const { return m_holds->locks().size(); }
    void removeConnection(const ConnectionName &name);
    [[nodiscard]] LocksModel &model() { return m_model; }
    [[nodiscard]] LockDetail &detail() { return *m_detail; }
    // Gives another detail what this page's detail knows beside its lock. This page outlives it.
    void equip(LockDetail &detail) const;
    [[nodiscard]] LocksTable &table() { return *m_table; }
    // Instead of all else while nothing is connected.
    [[nodiscard]] StartPage &start() const { return *m_start; }
    [[nodiscard]] std::optional<inspect::LockName> currentLock() const { return m_table->currentLock(); }
    // The demo that was asked for plays, or cannot. The worst lock is chosen, unless another one is.
    void showFilled();
    // All incidents of all connections, worst first.
    [[nodiscard]] const std::vector<inspect::Incident> &incidents() const { return m_watch.incidents(); }
    // Shows the lock of the incident, and there the contender that its action is about.
    void showIncident(inspect::Incident incident);
    // The same, with the form of its action.
    void actOn(inspect::Incident incident);
    // For tests and screenshots: a present that stands still.
    void setClock(LocksModel::Clock source);
    // The present, paused or not.
    [[nodiscard]] SystemTime now() const { return clock().present(); }

signals:
    void acquireRequested();
    void forceReleaseRequested();
    // What its owner could be asked about it, where there is nothing to release.
    void askRequested(const lockscope::inspect::Incident &incident);
    // Of a connection that is not there.
    void retryRequested(const lockscope::ConnectionName &name);
    void editRequested(const lockscope::ConnectionName &name);
    // A sandbox with demo locks is wanted; showFilled() follows.
    void demoRequested();
    void filterCleared();
    void currentLockChanged();
    void incidentsChanged();
    // More incidents than have room are asked for.
    void findingsRequested();
    // Of the chosen lock's timeline.
    void momentActivated(std::chrono::sys_time<std::chrono::milliseconds> moment);

private:
    void ticked() override;
    void resizeEvent(QResizeEvent *event) override;
    QWidget *makeChips();
    void arrange();
    void showChips();
    QPushButton *makeSortBy(QWidget *parent);
    void showGroups() { m_table->setConnections(groupHeadsOf(m_book, m_model)); }
    [[nodiscard]] IncidentWatch::Question incidentQuestion() const;
    void showIncidents();
    void followWorst();
    void apply(const Batch &batch) { m_model.apply(batch.locks); }
    void showSnapshot();
    void showOwn();
    void showCounts();
    void leaveHidden();
    void followList();
    void holdOrder();
    void showWaiting();
    void showEmptyNotice();
    void showEmptyText(const ConnectionStatus *looking, const ConnectionStatus *unconnected, bool isSandbox);
    void offer(const QString &title, const QString &text, const QString &action = {}, std::function<void()> act = {},
               const QString &second = {}, std::function<void()> actSecond = {});
    void askForDemo();
    void chooseFirst();
    void showBroken() { m_banners->show(m_book, m_connection, clock().isElsewhere()); }
    void showOrder();
    void onStale(const ConnectionName &name, bool stale);

    const ConnectionBook &m_book;
    LocksModel m_model;
    ConnectionName m_connection;
    QString m_filter;
    int m_ticks = 0;

    BrokenBanners *m_banners;
    HoldsPanel *m_holds;
    QButtonGroup *m_chips = nullptr;
    QPushButton *m_resort = nullptr;
    GapsLine *m_gaps;
    QPushButton *m_sortBy = nullptr;
    IncidentList *m_incidents;
    bool m_isWide = false; // list and lock stand side by side
    QByteArray m_wideSizes, m_stackedSizes;
    bool m_hasChosen = false; // the user chose a lock: the page chooses none any more
    QSplitter *m_splitter;
    QStackedWidget *m_stack;
    LocksTable *m_table;
    ListShare *m_share;
    EmptyNotice *m_empty;
    StartPage *m_start;
    std::function<void()> m_emptyFirst, m_emptySecond; // what its buttons do
    bool m_isFilling = false;                          // demo locks were asked for and are to come
    LockDetail *m_detail;
    Backend *m_backend = nullptr;
    bool m_isElsewhere = false; // another moment than now is on screen
    IncidentWatch m_watch;      // last: its look reads the others
};

} // namespace lockscope::ui
