// SPDX-License-Identifier: Apache-2.0
// A page that shows what one connection stores: a tree at the left, the chosen entry at the right, and what can be
// done with it. The pages of znodes and of keys are such.
#pragma once

#include "ui/pages/page.h"
#include "ui/parts/notices.h"

class QHBoxLayout;
class QSortFilterProxyModel;

namespace lockscope::ui {

class EntryHead;
class LiveTree;
class TreeCellDelegate;
class TreeModel;

// The lock and the session of a znode or a key. Names only, of all connections.
class EntryLinks {
public:
    // Which locks there are; it outlives this.
    void useLocks(const LocksModel &locks) { m_locks = &locks; }
    void apply(const Batch &batch);
    // The lock that this entry is, or is a part of: of a path also that of its folder, or the one above.
    [[nodiscard]] std::optional<inspect::LockName> lockOf(const ConnectionName &connection, const QByteArray &entry,
                                                          bool isPath) const;
    // "10.0.3.7:56332"; empty where it is not known.
    [[nodiscard]] QString hostOf(const ConnectionName &connection, const QString &session) const;

private:
    const LocksModel *m_locks = nullptr;
    std::map<inspect::LockName, std::vector<QByteArray>> m_withCompanions; // the locks that have some
    std::map<inspect::LockName, inspect::LockName> m_companions;           // entry → lock
    std::map<ConnectionName, std::map<QString, QString>> m_hosts;
};

class TreePage : public Page {
    Q_OBJECT
public:
    ~TreePage() override;

    void useLocks(const LocksModel &locks) override { m_links.useLocks(locks); }
    void setBackend(Backend *backend) override;
    void showConnection(const ConnectionName &name) override;
    [[nodiscard]] ConnectionName connectionShown(const ConnectionName &) const override { return m_shown; }
    // How each connection is marked; it outlives the page.
    void useConnections(const ConnectionBook &book);
    void setFilter(const QString &text) override { m_filter->setText(text); }
    void focusContent() override;
    [[nodiscard]] bool isRecorded() const override { return false; }
    // One of ours was changed, here or by another page: says it, and offers to take it back.
    void edited(const operate::EditRequest &request, const operate::EditOutcome &outcome) override;

    [[nodiscard]] LiveTree *tree() const { return m_tree; }
    [[nodiscard]] QString statusText() const { return m_status->text(); }
    [[nodiscard]] Banner *notice() const { return m_notice; }
    // What the menus offer, by its words.
    [[nodiscard]] QAction *action(const QString &text) const;

protected:
    // What stands on the page where there is nothing to show.
    struct Words {
        QString emptyTitle, emptyText;
        QString entries; // "nodes"
        QString noMatch; // what the filter looks through
        QString kind;    // "znodes"
    };
    using MakeRequest = std::function<std::optional<operate::EditRequest>()>;

    TreePage(std::initializer_list<Scheme> schemes, Words words, QWidget *parent);
    // The derived page's own, once it is made. What is connected to the model before hears of it first.
    void useModel(TreeModel &model, int filterRole);
    // Once, by the derived page: what stands beside what this one has.
    void assemble(QWidget *strip, QWidget *detail, const QList<int> &sizes);
    // In the context menu, and in that of the detail. Without a request there is nothing to be edited.
    void addEdit(const QString &text, const QKeySequence &key, MakeRequest request);
    QAction *addAct(const QString &text, const QKeySequence &key, std::function<void()> act);
    void offerEdits(EntryHead &head);
    // A request of that kind on the connection that is shown.
    [[nodiscard]] operate::EditRequest requestOf(operate::EditKind kind, const QByteArray &name) const;
    // Its lock, and the session that owns it, as links.
    void showLinks(EntryHead &head, const QByteArray &name, bool isPath, const QString &owner = {});
    // Whether that connection can be shown, and is by now.
    bool turnTo(const ConnectionName &name);
    void showNoMatch();
    // Instead of the tree, until showNoMatch() is asked again.
    void showNothingText(const QString &title, const QString &text);
    // Another entry is chosen, or was read.
    void updateEdits();

    // Another connection is shown from now on.
    virtual void connectionChosen(const ConnectionStatus &status) = 0;
    virtual void cameBack() = 0;
    virtual void applyFilter() = 0;
    // What was edited is in the tree as it is now.
    virtual void follow(const operate::EditRequest &request, const operate::EditOutcome &outcome) = 0;
    virtual void statusesTaken() {}

    Backend *m_backend = nullptr;
    ConnectionChoice m_choice;
    bool m_isStale = false;
    EntryLinks m_links;
    QTimer m_filterSoon;
    QSortFilterProxyModel *m_proxy = nullptr;
    QStackedWidget *m_rows = nullptr; // the tree, or that nothing in it matches
    LiveTree *m_tree = nullptr;
    TreeCellDelegate *m_cells = nullptr;
    QLineEdit *m_filter = nullptr;
    QLabel *m_status = nullptr;

private:
    void takeStatuses(const std::vector<ConnectionStatus> &statuses);
    void choose();
    void showHeader();

    Words m_words;
    const ConnectionBook *m_book = nullptr;
    ConnectionName m_shown;
    ConnectionName m_asked; // the choice in the header, which this page may not be able to show
    QLabel *m_environment = nullptr;
    QLabel *m_absent = nullptr;
    std::vector<std::pair<QAction *, MakeRequest>> m_edits;
    std::optional<operate::EditRequest> m_undo;
    operate::EditRequest m_undone; // by that
    QMenu *m_menu = nullptr;
    QStackedWidget *m_stack = nullptr;
    StaleBanner *m_banner = nullptr;
    Banner *m_notice = nullptr;
    EmptyNotice *m_noMatch = nullptr;
};

// Above the detail of a znode or a key: its name, what can be done with it, where else it leads, and what is wrong.
class EntryHead : public QWidget {
    Q_OBJECT
public:
    struct Link {
        QString text; // short: the pane is as wide as the person made it
        QString tip;
        std::function<void()> follow;
    };
    // `copy`: the words on the button that copies the name; `accessibleName`: of the name.
    EntryHead(const QString &copy, const QString &accessibleName, QWidget *parent = nullptr);

    void setName(const QByteArray &name);
    void setSummary(const QString &text) { m_summary->setText(text); }
    [[nodiscard]] QString summary() const { return m_summary->text(); }
    // A banner; empty: none.
    void warn(const QString &text);
    [[nodiscard]] QString warning() const { return m_bannerText->text(); }
    void setLinks(std::vector<Link> links);
    [[nodiscard]] std::vector<QPushButton *> links() const { return m_links; }
    // What the button "Edit" offers; without a menu there is none.
    void setEditMenu(QMenu *menu);

private:
    QByteArray m_bytes;
    QLineEdit *m_name = nullptr;
    QPushButton *m_edit = nullptr;
    QLabel *m_summary = nullptr;
    QWidget *m_linkRow = nullptr;
    QHBoxLayout *m_linkLayout = nullptr;
    std::vector<QPushButton *> m_links;
    QFrame *m_banner = nullptr;
    QLabel *m_bannerText = nullptr;
};

} // namespace lockscope::ui
