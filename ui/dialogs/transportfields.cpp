// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/connectform.h"

#include "ui/parts/layouts.h"
#include "ui/theme/theme.h"

#include <QCheckBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLineEdit>
#include <QUrl>

namespace lockscope::ui {

TransportFields::TransportFields(QFormLayout *form, QWidget *parent) : QObject(parent), m_form(form)
{
    m_tls = new QCheckBox(parent);
    form->addRow(QString(), m_tls);
    m_ca = addFile(tr("Authorities (CA)"), tr("the system's, or a PEM file"),
                   tr("The file of those whose signature on the server's certificate counts, and no others"));
    m_cert = addFile(tr("Certificate"), tr("none, or a PEM file"),
                     tr("What a server is shown that asks who its client is"));
    m_key =
        addFile(tr("Its key"), tr("a PEM file"), tr("A passphrase of it is read from LOCKSCOPE_PASSWORD_<NAME>_KEY"));
    m_serverName = addLine(tr("Server's name"), tr("the host's, as above"),
                           tr("What the server's certificate has to be for, where that is not the host's name"));
    m_unverified =
        new QCheckBox(tr("Do not verify the server: whoever is in between can read and change all"), parent);
    form->addRow(QString(), m_unverified);
    m_ssh = addLine(tr("Through SSH"), tr("no, or [user@]host[:port]"),
                    tr("By the system's ssh: its configuration and agent, host keys as it knows them"));
    connect(m_tls, &QCheckBox::toggled, this, &TransportFields::showRows);
    for (auto *box : {m_tls, m_unverified})
        connect(box, &QCheckBox::clicked, this, &TransportFields::edited);
    showRows();
}

QLineEdit *TransportFields::makeLine(QWidget *parent, const QString &placeholder, const QString &whatFor)
{
    auto *line = new QLineEdit(parent);
    line->setFont(monoFont());
    line->setPlaceholderText(placeholder);
    line->setToolTip(whatFor);
    return line;
}

QLineEdit *TransportFields::addLine(const QString &label, const QString &placeholder, const QString &whatFor)
{
    auto *line = makeLine(m_tls->parentWidget(), placeholder, whatFor);
    m_form->addRow(label, line);
    return line;
}

QLineEdit *TransportFields::addFile(const QString &label, const QString &placeholder, const QString &whatFor)
{
    auto *row = new QWidget(m_tls->parentWidget());
    auto *line = makeLine(row, placeholder, whatFor);
    line->setAccessibleName(label);
    auto *choose = makeButton(tr("Choose…"), row, this, [this, line, label] {
        const auto file = QFileDialog::getOpenFileName(line->window(), label, QFileInfo(line->text()).path(),
                                                       tr("PEM files (*.pem *.crt *.cer *.key);;All files (*)"));
        if (file.isEmpty())
            return;
        line->setText(file);
        emit edited();
    });
    choose->setAutoDefault(false);
    choose->setAccessibleName(tr("Choose a file: %1").arg(label));
    makeRow(row, {.spacing = 6}, {{line, 1}, choose});
    m_form->addRow(label, row);
    return line;
}

void TransportFields::show(const TransportOptions &options)
{
    m_tls->setChecked(options.tls.isOn);
    m_ca->setText(options.tls.ca);
    m_cert->setText(options.tls.cert);
    m_key->setText(options.tls.key);
    m_serverName->setText(options.tls.serverName);
    m_unverified->setChecked(!options.tls.isVerified);
    m_ssh->setText(options.ssh.target());
}

void TransportFields::setShown(bool hasAddress)
{
    m_hasAddress = hasAddress;
    showRows();
}

void TransportFields::showRows()
{
    m_form->setRowVisible(m_tls, m_hasAddress);
    m_form->setRowVisible(m_ssh, m_hasAddress);
    const std::initializer_list<QWidget *> rows{m_ca->parentWidget(), m_cert->parentWidget(), m_key->parentWidget(),
                                                m_serverName, m_unverified};
    for (auto *row : rows)
        m_form->setRowVisible(row, m_hasAddress && m_tls->isChecked());
}

void TransportFields::turnOn()
{
    m_tls->setChecked(true);
    m_tls->setFocus();
    emit edited();
}

void TransportFields::setScheme(const QString &tlsWord)
{
    m_tls->setText(tlsWord.isEmpty() ? tr("Encrypt with TLS") : tr("Encrypt with TLS (%1://)").arg(tlsWord));
}

bool TransportFields::isTls() const
{
    return m_tls->isChecked();
}

QStringList TransportFields::query(bool isTlsScheme) const
{
    TransportOptions options;
    options.tls.isOn = m_tls->isChecked();
    if (options.tls.isOn) {
        options.tls.ca = m_ca->text().trimmed();
        options.tls.cert = m_cert->text().trimmed();
        options.tls.key = m_key->text().trimmed();
        options.tls.serverName = m_serverName->text().trimmed();
        options.tls.isVerified = !m_unverified->isChecked();
    }
    auto parts = options.query(isTlsScheme);
    if (const auto ssh = m_ssh->text().trimmed(); !ssh.isEmpty())
        parts << u"ssh="_s + QString::fromLatin1(QUrl::toPercentEncoding(ssh, "@:[]"));
    return parts;
}

} // namespace lockscope::ui
