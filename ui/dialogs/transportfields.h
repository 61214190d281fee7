// SPDX-License-Identifier: Apache-2.0
// The rows of a connection's form that say how it gets there: TLS and ssh. GUI thread only.
#pragma once

#include "core/base/transportoptions.h"

#include <QObject>

class QCheckBox;
class QFormLayout;
class QLineEdit;

namespace lockscope::ui {

class TransportFields : public QObject {
    Q_OBJECT
public:
    TransportFields(QFormLayout *form, QWidget *parent);

    void show(const TransportOptions &options);
    // Rows that mean nothing are not shown: those of TLS without it, all for what has no address.
    void setShown(bool hasAddress);
    // "Encrypt with TLS", and how an address says it.
    void setScheme(const QString &tlsWord);
    [[nodiscard]] bool isTls() const;
    // What stands behind the ? of the address: as typed, so that whoever reads it says what is wrong.
    [[nodiscard]] QStringList query(bool isTlsScheme) const;

signals:
    void edited(); // a box was clicked; the form hears of its lines itself

private:
    QLineEdit *addLine(const QString &label, const QString &placeholder, const QString &whatFor);
    void showRows();

    QFormLayout *m_form;
    QCheckBox *m_tls;
    QLineEdit *m_ca;
    QLineEdit *m_cert;
    QLineEdit *m_key;
    QLineEdit *m_serverName;
    QCheckBox *m_unverified;
    QLineEdit *m_ssh;
    bool m_hasAddress = true;
};

} // namespace lockscope::ui
