// SPDX-License-Identifier: Apache-2.0
// Connecting: the connections used last and the saved ones by group at the left, the fields of the chosen one at the
// right.
// The password goes to the connection and, if wished, to where passwords are kept (secretstore.h); nowhere
// else. GUI thread only.
#pragma once

#include "core/workspace/values.h"

#include <QDialog>
#include <QTreeWidget>

class QLabel;
class QPushButton;

namespace lockscope::ui {

class ConnectForm;
class ConnectList;

class ConnectDialog : public QDialog {
    Q_OBJECT
public:
    // The store outlives the dialog. `taken` are the names of connections that are open already.
    ConnectDialog(ConnectionStore &store, QStringList taken, QWidget *parent = nullptr);

    // Shows the saved connection of that name; else these fields, which nobody saved.
    void edit(const SavedConnection &connection);

    [[nodiscard]] ConnectForm *form() const { return m_form; }
    [[nodiscard]] ConnectList *list() const { return m_list; }
    [[nodiscard]] QPushButton *connectButton() const { return m_connect; }
    [[nodiscard]] QPushButton *testButton() const { return m_test; }
    [[nodiscard]] QPushButton *saveButton() const { return m_save; }
    [[nodiscard]] QPushButton *deleteButton() const { return m_delete; }
    // Of a file that people share: what was said of it stands below the form.
    void importFrom(const QString &file);
    void exportTo(const QString &file);

signals:
    // Whoever shows the dialog connects; it has closed by then.
    void connectRequested(const lockscope::ConnectionSpec &spec);

private:
    void changeEvent(QEvent *event) override;
    QWidget *buildList();
    QWidget *buildForm();
    QWidget *scrolled(QWidget *form);
    void fill();
    void importFile();
    void exportFile();
    void choose();
    [[nodiscard]] QStringList groups() const; // that there are, and none
    void startNew();
    bool save();
    void removeChosen();
    void duplicateChosen();
    void connectNow();
    // With the password that was typed, or the kept one.
    void withSpec(std::function<void(const ConnectionSpec &)> use);
    void testNow();
    // What the fields say; whether a password is kept is the store's to say.
    Result<SavedConnection> read();
    void select(const QString &id);
    bool selectRecent(const QString &name); // see ConnectList

    ConnectionStore &m_store;
    QStringList m_taken;
    ConnectList *m_list = nullptr;
    QLabel *m_none = nullptr; // instead of an empty list
    QLabel *m_teamProblem = nullptr;
    ConnectForm *m_form = nullptr;
    QPushButton *m_new = nullptr;
    QPushButton *m_duplicate = nullptr;
    QPushButton *m_delete = nullptr;
    QPushButton *m_export = nullptr;
    QPushButton *m_save = nullptr;
    QPushButton *m_connect = nullptr;
    QPushButton *m_test = nullptr;
    bool m_isSureToDelete = false;
};

// The connections to choose from: those used last, the saved ones by group, the team's. GUI thread only.
class ConnectList : public QTreeWidget {
    Q_OBJECT
public:
    // The store outlives the list. `taken`: the names of those that are open, which are not offered as used last.
    ConnectList(const ConnectionStore &store, QStringList taken, QWidget *parent);

    // Anew, with the same chosen.
    void fill();
    [[nodiscard]] bool isEmpty() const { return topLevelItemCount() == 0; }
    [[nodiscard]] QString chosenId() const;
    [[nodiscard]] std::optional<std::size_t> chosenRecent() const; // in the store's
    [[nodiscard]] std::optional<SavedConnection> chosen() const;   // also of the team's, and of those used last
    // One that is saved.
    void select(const QString &id);
    // Of those used last; empty: the last. False: not in the list.
    bool selectRecent(const QString &name);

private:
    void addRecent(std::optional<std::size_t> chosen);
    void addHeading(const QString &text);
    QTreeWidgetItem *addSaved(const SavedConnection &saved);

    const ConnectionStore &m_store;
    const QStringList m_taken;
};

} // namespace lockscope::ui
