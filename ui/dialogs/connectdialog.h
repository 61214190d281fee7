// SPDX-License-Identifier: Apache-2.0
// Connecting: the saved connections at the left by group, the fields of the chosen one at the right.
// The password goes to the connection and, if wished, to the keychain; nowhere else. GUI thread only.
#pragma once

#include "core/workspace/values.h"

#include <QDialog>

class QLabel;
class QPushButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace lockscope::ui {

class ConnectForm;

class ConnectDialog : public QDialog {
    Q_OBJECT
public:
    // The store outlives the dialog. `taken` are the names of connections that are open already.
    ConnectDialog(ConnectionStore &store, QStringList taken, QWidget *parent = nullptr);

    // Shows the saved connection of that name; else these fields, which nobody saved.
    void edit(const SavedConnection &connection);

    [[nodiscard]] ConnectForm *form() const { return m_form; }
    [[nodiscard]] QTreeWidget *list() const { return m_list; }
    [[nodiscard]] QPushButton *connectButton() const { return m_connect; }
    [[nodiscard]] QPushButton *saveButton() const { return m_save; }
    [[nodiscard]] QPushButton *deleteButton() const { return m_delete; }

signals:
    // Whoever shows the dialog connects; it has closed by then.
    void connectRequested(const lockscope::ConnectionSpec &spec);

protected:
    void changeEvent(QEvent *event) override;

private:
    QWidget *buildList();
    QWidget *buildForm();
    void fill();
    void choose();
    [[nodiscard]] QStringList groups() const; // that there are, and none
    void startNew();
    bool save();
    void removeChosen();
    void duplicateChosen();
    void connectNow();
    void finishWith(const QString &password);
    // What the fields say; whether a password is kept is the store's to say.
    Result<SavedConnection> read();
    [[nodiscard]] QString chosenId() const;
    void select(const QString &id);

    ConnectionStore &m_store;
    QStringList m_taken;
    QTreeWidget *m_list = nullptr;
    QLabel *m_none = nullptr; // instead of an empty list
    ConnectForm *m_form = nullptr;
    QPushButton *m_new = nullptr;
    QPushButton *m_duplicate = nullptr;
    QPushButton *m_delete = nullptr;
    QPushButton *m_save = nullptr;
    QPushButton *m_connect = nullptr;
    bool m_isSureToDelete = false;
};

} // namespace lockscope::ui
