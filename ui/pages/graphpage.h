// SPDX-License-Identifier: Apache-2.0
// The page of who waits for whom, over all connections: a sentence, the graph, what its shapes mean.
#pragma once

#include "ui/graph/graphview.h"
#include "ui/pages/page.h"

namespace lockscope::ui {

class ClauseLabel;
class ConnectionBook;
class EmptyNotice;
class LocksModel;

class GraphPage : public Page {
    Q_OBJECT
public:
    explicit GraphPage(const ConnectionBook &book, QWidget *parent = nullptr);
    ~GraphPage() override { stopListening(this); }

    // Where the locks are; it outlives the page. Looked at only while the page is on screen.
    void useLocks(const LocksModel &locks) override;

    void setBackend(Backend *backend) override;
    void showConnection(const ConnectionName &name) override;
    void setFilter(const QString &text) override;
    void focusContent() override { m_view->setFocus(Qt::OtherFocusReason); }
    // A lock, or a session's client.
    [[nodiscard]] bool showSubject(const Subject &subject) override;
    [[nodiscard]] KeyHints keys() const override
    {
        return m_sight->heading.victim.empty() ? KeyHints() : KeyHints{{u"B"_s, u"Break deadlock"_s}};
    }
    [[nodiscard]] bool isSettled() const override { return m_isSettled; }

    [[nodiscard]] GraphView &view() const { return *m_view; }
    [[nodiscard]] const GraphSight &sight() const { return *m_sight; }

private:
    void breakDeadlock();
    void ticked() override;
    QWidget *makeStrip();
    QWidget *makeFoot();
    void lookSoon();
    void gather();
    void show(std::shared_ptr<const GraphSight> sight);
    void showWords();
    void showChosen();
    void showNotice();
    void open(const GraphNode &node);
    [[nodiscard]] QString unseen() const;
    [[nodiscard]] bool isFirstLookOver() const;
    [[nodiscard]] QByteArray keyOf(const Subject &subject) const;

    const ConnectionBook &m_book;
    Backend *m_backend = nullptr;
    const LocksModel *m_locks = nullptr;
    GraphMaker m_maker;
    GraphChoice m_choice;
    std::optional<Subject> m_wanted; // shown as soon as it is there
    std::shared_ptr<const GraphSight> m_sight = std::make_shared<GraphSight>();
    QTimer m_timer;
    // The locks are taken a part at a time: of 50,000 all at once would hold up the window.
    std::vector<inspect::LockName> m_left;
    std::vector<inspect::LockSnapshot> m_gathered;
    bool m_isGathering = false;
    bool m_isStale = false; // something changed since the locks were taken
    bool m_isWhole = false; // what is gathered is of after the first look
    bool m_isSettled = false;

    QStackedWidget *m_stack = nullptr;
    EmptyNotice *m_empty = nullptr;
    GraphView *m_view = nullptr;
    PillLabel *m_pill = nullptr;
    ClauseLabel *m_sentence = nullptr;
    ClauseLabel *m_more = nullptr;
    ClauseLabel *m_unseen = nullptr;
    QLabel *m_chosen = nullptr;
    QPushButton *m_all = nullptr;
    QPushButton *m_zoom = nullptr;
};

} // namespace lockscope::ui
