// SPDX-License-Identifier: Apache-2.0
// The fields of one connection. It reads them through parseConnection, so that the window and the
// command line understand the same, and says what is wrong beside the fields. GUI thread only.
#pragma once

#include "core/workspace/values.h"

#include <QCheckBox>
#include <QDialog>
#include <QLineEdit>
#include <QPointer>

class QButtonGroup;
class QComboBox;
class QFormLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace lockscope::ui {

class CodeLabel;
class TransportFields;

// What became of a trial of a connection, line by line: passed, failed or to be known, and a link to what fixes it.
// An edit drops the answer that is awaited. GUI thread only.
class TrialChecklist : public QWidget {
    Q_OBJECT
public:
    explicit TrialChecklist(QWidget *parent = nullptr);

    // Asks for a trial; show() is told of it, unless clear() or another trial comes first.
    void begin(const ConnectionSpec &spec);
    void clear() { set({}); }
    void show(const Result<std::vector<TrialCheck>> &checks);
    void set(std::vector<TrialCheck> checks); // shown() is not emitted
    // The context of the awaited answer: gone once it is wanted no more.
    [[nodiscard]] QObject *awaited() const { return m_awaited.get(); }
    [[nodiscard]] const std::vector<TrialCheck> &checks() const { return m_checks; }

signals:
    // Whoever can try connections asks in the name of awaited().
    void trialRequested(const lockscope::ConnectionSpec &spec);
    void fixRequested(lockscope::TrialCheck::Fix fix);
    void shown(); // an answer, which is to be seen

private:
    void fill();

    QVBoxLayout *m_rows;
    std::vector<TrialCheck> m_checks;
    std::unique_ptr<QObject> m_awaited;
};

class ConnectForm : public QWidget {
    Q_OBJECT
public:
    ConnectForm(bool canKeepPasswords, QWidget *parent = nullptr);

    void show(const SavedConnection &connection, const QStringList &groups);
    // What the fields say; an error is shown in place as well.
    Result<SavedConnection> read();
    Result<ConnectionSpec> spec();
    [[nodiscard]] QString password() const { return m_password->text(); }
    void setPassword(const QString &password, bool keeps);
    [[nodiscard]] bool keepsPassword() const { return m_keep->isEnabled() && m_keep->isChecked(); }
    [[nodiscard]] bool isDevelopment() const; // marked so
    [[nodiscard]] bool hasServer() const;     // that is there already: all but the sandbox
    // What is wrong, and what a trial of the fields found.
    [[nodiscard]] TrialChecklist &checklist() const { return *m_checklist; }
    // What is wrong, or what went wrong; empty clears it.
    void say(const QString &problem);
    [[nodiscard]] QString problem() const;

signals:
    void edited();

private:
    void markField(QWidget *field); // null: none is wrong
    // Null: no field is to be marked.
    [[nodiscard]] QWidget *fieldOf(TrialCheck::Fix fix) const;
    void fix(TrialCheck::Fix fix);
    void markFailed();
    void buildAddress(QFormLayout *form);
    void buildMarks(QFormLayout *form);
    QWidget *buildColours();
    // Null for the sandbox, which has no address.
    [[nodiscard]] const BackendScheme *scheme() const;
    [[nodiscard]] const BackendInfo *backend() const;
    [[nodiscard]] const BackendScheme *tlsScheme() const; // null where there is none
    [[nodiscard]] QString uri() const;
    [[nodiscard]] QString hostsProblem() const; // what can be said while they are typed; empty: nothing
    // A whole address, pasted: every part goes into its field.
    void spread();
    void showKind();
    void preview();

    QString m_id;
    quint16 m_adminPort = 0; // from a saved address; 0 is the default
    QLineEdit *m_name = nullptr;
    QComboBox *m_kind = nullptr;
    QLineEdit *m_hosts = nullptr;
    QLabel *m_hostsLabel = nullptr;
    QString m_hostsBefore;        // as it stood before the last change
    QLineEdit *m_place = nullptr; // chroot or database number
    QLabel *m_placeLabel = nullptr;
    TransportFields *m_transport = nullptr;
    QLineEdit *m_user = nullptr;
    QLineEdit *m_password = nullptr;
    QCheckBox *m_keep = nullptr;
    QComboBox *m_group = nullptr;
    QButtonGroup *m_colours = nullptr;
    QCheckBox *m_production = nullptr;
    QCheckBox *m_development = nullptr;
    QCheckBox *m_readOnly = nullptr;
    CodeLabel *m_preview = nullptr; // the address that all fields make, whole
    QPointer<QWidget> m_wrong;      // the field that is marked
    TrialChecklist *m_checklist = nullptr;
    QFormLayout *m_form = nullptr;
};

// The rows of a connection's form that say how it gets there: TLS and ssh. GUI thread only.
class TransportFields : public QObject {
    Q_OBJECT
public:
    TransportFields(QFormLayout *form, QWidget *parent);

    void show(const TransportOptions &options);
    // Rows that mean nothing are not shown: those of TLS without it, all for what has no address.
    void setShown(bool hasAddress);
    // "Encrypt with TLS", and how an address says it.
    void setScheme(const QString &tlsWord)
    {
        m_tls->setText(tlsWord.isEmpty() ? tr("Encrypt with TLS") : tr("Encrypt with TLS (%1://)").arg(tlsWord));
    }
    void turnOn();
    [[nodiscard]] QLineEdit *firstFile() const { return m_lines.front().first; }
    [[nodiscard]] bool isTls() const { return m_tls->isChecked(); }
    // What stands behind the ? of the address: as typed, so that whoever reads it says what is wrong.
    [[nodiscard]] QStringList query(bool isTlsScheme) const;

signals:
    void edited(); // a box was clicked; the form hears of its lines itself

private:
    // A file has a button that chooses it.
    QLineEdit *addLine(const QString &label, const QString &placeholder, const QString &whatFor, bool isFile = false);
    void showRows();

    QFormLayout *m_form;
    QCheckBox *m_tls;
    // Each with what it says; the first is the authorities'.
    std::vector<std::pair<QLineEdit *, QString TlsOptions::*>> m_lines;
    QCheckBox *m_unverified;
    QLineEdit *m_ssh;
    QLineEdit *m_kube;
    QLineEdit *m_passwordCommand;
    bool m_hasAddress = true;
};

// Connecting: the fields of one connection, new or saved.
// The password goes to the connection and, if wished, to where passwords are kept (connectionstore.h); nowhere
// else. GUI thread only.
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
