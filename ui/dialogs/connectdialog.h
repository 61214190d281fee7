// SPDX-License-Identifier: Apache-2.0
// Connecting: the fields of one connection, new or saved.
// The password goes to the connection and, if wished, to where passwords are kept (connectionstore.h); nowhere
// else. GUI thread only.
#pragma once

#include "core/workspace/values.h"

#include <QDialog>

class QPushButton;

namespace lockscope::ui {

class ConnectForm;

class ConnectDialog : public QDialog {
    Q_OBJECT
public:
    // The store outlives the dialog. `taken` are the names of connections that are open already.
    ConnectDialog(ConnectionStore &store, QStringList taken, QWidget *parent = nullptr);

    // Shows these fields, saved ones or others.
    void edit(const SavedConnection &connection);

    [[nodiscard]] ConnectForm *form() const { return m_form; }
    [[nodiscard]] QPushButton *connectButton() const { return m_connect; }
    [[nodiscard]] QPushButton *testButton() const { return m_test; }
    [[nodiscard]] QPushButton *saveButton() const { return m_save; }

signals:
    // Whoever shows the dialog connects; it has closed by then.
    void connectRequested(const lockscope::ConnectionSpec &spec);

private:
    QWidget *scrolled(QWidget *form);
    bool save();
    void connectNow();
    // With the password that was typed, or the kept one.
    void withSpec(std::function<void(const ConnectionSpec &)> use);
    // What the fields say; whether a password is kept is the store's to say.
    Result<SavedConnection> read();

    ConnectionStore &m_store;
    QStringList m_taken;
    ConnectForm *m_form = nullptr;
    QPushButton *m_save = nullptr;
    QPushButton *m_connect = nullptr;
    QPushButton *m_test = nullptr;
};

} // namespace lockscope::ui
