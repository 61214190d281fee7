// SPDX-License-Identifier: Apache-2.0
// The first screen, while nothing is connected: the saved connections as cards by group, and three doors. GUI thread
// only.
#pragma once

#include "ui/parts/parts.h"
#include "ui/views/lockstable.h"

#include <QContextMenuEvent>
#include <QTime>

namespace lockscope::ui {

class TrialChecklist;

// A saved connection: a check box with a button of its own, which opens it, cancels or tries again.
class ConnectionCard : public QAbstractButton {
    Q_OBJECT
public:
    ConnectionCard(SavedConnection saved, const LastSeen &seen, int number, QWidget *parent);

    [[nodiscard]] const SavedConnection &saved() const { return m_saved; }
    [[nodiscard]] ConnectionName name() const { return ConnectionName(m_saved.name.toUtf8()); }
    enum class State { Closed, Connecting, Failed };
    // `cause`: of a failure.
    void setState(State state, const QString &cause = {});
    [[nodiscard]] State state() const { return m_state; }
    [[nodiscard]] QPushButton *button() const { return m_button; }
    [[nodiscard]] QPushButton *editButton() const { return m_edit; }
    [[nodiscard]] QPushButton *moreButton() const { return m_more; }
    [[nodiscard]] QSize sizeHint() const override;

signals:
    void openRequested(); // also after a failure
    void cancelRequested();
    void editRequested();
    void menuRequested(const QPoint &at);

private:
    void contextMenuEvent(QContextMenuEvent *event) override { emit menuRequested(event->globalPos()); }
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void showState();

    const SavedConnection m_saved;
    const int m_number; // for its color
    GroupHead m_head;
    QString m_badge;         // "Zk"
    QString m_address;       // without user and password
    QString m_seen, m_count; // "Last seen today 07:54", "404 locks, 2 incidents"
    State m_state = State::Closed;
    QString m_cause;
    QTime m_since; // the state
    QPushButton *m_button;
    QPushButton *m_edit;
    QPushButton *m_more;
};

class StartPage : public QWidget {
    Q_OBJECT
public:
    // `book` outlives it.
    StartPage(const ConnectionBook &book, QWidget *parent);

    // Whose connections are offered. It outlives this.
    void useConnections(ConnectionStore &store);
    // Nothing is connected, and what is on its way was opened here.
    [[nodiscard]] bool isNeeded() const;
    void focusContent();
    [[nodiscard]] KeyHints keys() const;
    [[nodiscard]] const std::vector<ConnectionCard *> &cards() const { return m_cards; }
    [[nodiscard]] QPushButton *openButton() const { return m_open; }
    [[nodiscard]] QLineEdit *uriField() const { return m_uri; }
    [[nodiscard]] TrialChecklist &checklist() const { return *m_checklist; }

signals:
    void openRequested(const lockscope::ConnectionSpec &spec);
    void cancelRequested(const lockscope::ConnectionName &name);
    void editRequested(const lockscope::ConnectionName &name);
    void menuRequested(const lockscope::SavedConnection &saved, const QPoint &at);
    // The dialog with these fields.
    void optionsRequested(const lockscope::SavedConnection &typed);
    void demoRequested();
    void lessonsRequested();
    void importRequested();
    void recordingRequested();

private:
    void resizeEvent(QResizeEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;
    QWidget *makeDoor(const QString &icon, const QString &title, const QString &text,
                      std::initializer_list<BoxPart> parts);
    void buildDoors();
    void fill();
    void addGroup(const QString &title, const std::vector<SavedConnection> &connections);
    void arrange();
    void fitHead();
    void showSelection();
    void follow();
    [[nodiscard]] std::vector<ConnectionCard *> checked() const;
    void openChecked() { open(checked(), m_isLastSession); }
    void open(const std::vector<ConnectionCard *> &cards, bool isReadOnly);
    void cancel(const ConnectionCard &card);
    void move(const ConnectionCard &from, int key);
    [[nodiscard]] Result<ConnectionSpec> typed();
    [[nodiscard]] SavedConnection typedFields();
    void test();
    void connectTyped();
    void fix(TrialCheck::Fix fix);

    const ConnectionBook &m_book;
    ConnectionStore *m_store = nullptr;
    QBoxLayout *m_panes;
    QWidget *m_left; // the cards, in a scroll area
    QWidget *m_list;
    QWidget *m_doors;
    QLabel *m_title;
    QLabel *m_problem; // why saved connections are missing
    QPushButton *m_open;
    QLineEdit *m_uri;
    TrialChecklist *m_checklist;
    std::vector<ConnectionCard *> m_cards;
    std::vector<std::pair<QGridLayout *, std::vector<ConnectionCard *>>> m_groups;
    // Opened from here, and not connected yet: its password is asked for, the one that failed has to go first, it is
    // on its way, the window has it.
    enum class Opened { Asked, Replacing, Sent, Here };
    std::map<ConnectionName, Opened> m_opened;
    int m_columns = 0;
    bool m_isLastSession = false; // what is checked is what was preselected
};

} // namespace lockscope::ui
