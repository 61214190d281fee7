// SPDX-License-Identifier: Apache-2.0
// The page of locks: chips and filter, the table, and the chosen lock's detail below.
#pragma once

#include <version>

#include "ui/models/connectionbook.h"
#include "ui/models/locksmodel.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/page.h"

class QButtonGroup;
class QLabel;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QVBoxLayout;

namespace lockscope::ui {

class Banner;
class EmptyNotice;
class HoldsPanel;
class ListShare;
class LocksTable;

class LocksPage : public Page {
    Q_OBJECT
public:
    // `book` outlives the page and hears each batch before it.
    explicit LocksPage(const ConnectionBook &book, QWidget *parent = nullptr);

    void setBackend(Backend *backend) override;
    void showConnection(const ConnectionName &name) override;
    void setFilter(const QString &text) override;
    void freeze(std::optional<std::chrono::system_clock::time_point>) override
    {
        m_detail->setPast(clock().isElsewhere());
    }
    void focusContent() override;
    [[nodiscard]] bool showSubject(const Subject &subject) override;
    void saveView(QSettings &settings) const override;
    void restoreView(QSettings &settings) override;

    // Shows this lock as soon as it is known.
    void selectLock(const inspect::LockName &lock);
    void setChip(LocksModel::Chip chip);
    void showAll() { setChip(LocksModel::Chip::All); } // lifts the chip
    // How many locks this window itself holds or waits for.
    [[nodiscard]] qsizetype ownLocks() const;
    void removeConnection(const ConnectionName &name);
    [[nodiscard]] LocksModel &model() { return m_model; }
    [[nodiscard]] LockDetail &detail() { return *m_detail; }
    [[nodiscard]] LocksTable &table() { return *m_table; }
    [[nodiscard]] std::optional<inspect::LockName> currentLock() const;
    // For tests and screenshots: a present that stands still.
    void setClock(LocksModel::Clock source);
    // The present, paused or not.
    [[nodiscard]] SystemTime now() const { return clock().present(); }
    // What a lock that is not there is: gone by now, or not there yet or any more at the moment shown.
    [[nodiscard]] LockDetail::Gone goneAs() const
    {
        return clock().isElsewhere() ? LockDetail::Gone::Then : LockDetail::Gone::Now;
    }

signals:
    void acquireRequested();
    void forceReleaseRequested();
    void connectRequested();
    // Of a connection that is not there.
    void retryRequested(const lockscope::ConnectionName &name);
    void editRequested(const lockscope::ConnectionName &name);
    void sandboxRequested();
    void filterCleared();
    void currentLockChanged();
    // Of the chosen lock's timeline.
    void momentActivated(std::chrono::sys_time<std::chrono::milliseconds> moment);

protected:
    void ticked() override;

private:
    QWidget *makeChips();
    void apply(const Batch &batch);
    void showSnapshot();
    void showOwn();
    void showCounts();
    void leaveHidden();
    void followList();
    void holdOrder();
    void showWaiting();
    void showEmptyNotice();
    void showBroken();
    void showOrder();
    void onStale(const ConnectionName &name, bool stale);

    const ConnectionBook &m_book;
    LocksModel m_model;
    ConnectionName m_connection;
    QString m_filter;
    int m_ticks = 0;

    QVBoxLayout *m_banners;
    std::vector<ConnectionName> m_broken; // what each of them is about
    HoldsPanel *m_holds;
    QButtonGroup *m_chips = nullptr;
    QPushButton *m_resort = nullptr;
    QLabel *m_order = nullptr;
    QSplitter *m_splitter;
    QStackedWidget *m_stack;
    LocksTable *m_table;
    ListShare *m_share;
    EmptyNotice *m_empty;
    LockDetail *m_detail;
    Backend *m_backend = nullptr;
};

} // namespace lockscope::ui
