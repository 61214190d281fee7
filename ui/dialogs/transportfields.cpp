// SPDX-License-Identifier: Apache-2.0

#include "core/base/text.h"
#include "ui/dialogs/connectform.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QUrl>

namespace lockscope::ui {

TransportFields::TransportFields(QFormLayout *form, QWidget *parent) : QObject(parent), m_form(form)
{
    m_tls = new QCheckBox(parent);
    form->addRow(QString(), m_tls);
    m_lines = {
        {addLine(tr("Authorities (CA)"), tr("the system's, or a PEM file"),
                 tr("The file of those whose signature on the server's certificate counts, and no others"), true),
         &TlsOptions::ca},
        {addLine(tr("Certificate"), tr("none, or a PEM file"),
                 tr("What a server is shown that asks who its client is"), true),
         &TlsOptions::cert},
        {addLine(tr("Its key"), tr("a PEM file"), tr("A passphrase of it is read from LOCKSCOPE_PASSWORD_<NAME>_KEY"),
                 true),
         &TlsOptions::key},
        {addLine(tr("Server's name"), tr("the host's, as above"),
                 tr("What the server's certificate has to be for, where that is not the host's name")),
         &TlsOptions::serverName}};
    m_unverified =
        new QCheckBox(tr("Do not verify the server: whoever is in between can read and change all"), parent);
    form->addRow(QString(), m_unverified);
    m_ssh = addLine(tr("Through SSH"), tr("no, or [user@]host[:port]"),
                    tr("By the system's ssh: its configuration and agent, host keys as it knows them"));
    m_kube =
        addLine(tr("Through Kubernetes"), tr("no, or [context/]namespace/name[:port]"),
                tr("By the system's kubectl port-forward: a service or pod of that name, or svc/name, pod/name"));
    m_passwordCommand = addLine(tr("Password command"), tr("none, or a command that prints the password"),
                                tr("Run by /bin/sh at each connect, for tokens that last for minutes"));
    connect(m_tls, &QCheckBox::toggled, this, &TransportFields::showRows);
    for (auto *box : {m_tls, m_unverified})
        connect(box, &QCheckBox::clicked, this, &TransportFields::edited);
    showRows();
}

QLineEdit *TransportFields::addLine(const QString &label, const QString &placeholder, const QString &whatFor,
                                    bool isFile)
{
    auto *row = new QWidget(m_tls->parentWidget());
    auto *line = new QLineEdit(row);
    line->setFont(monoFont());
    line->setPlaceholderText(placeholder);
    line->setToolTip(whatFor);
    line->setAccessibleName(label);
    auto *layout = makeRow(row, {.spacing = 6}, {{line, 1}});
    m_form->addRow(label, row);
    if (!isFile)
        return line;
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
    layout->addWidget(choose);
    return line;
}

void TransportFields::show(const TransportOptions &options)
{
    m_tls->setChecked(options.tls.isOn);
    for (const auto &[line, text] : m_lines)
        line->setText(options.tls.*text);
    m_unverified->setChecked(!options.tls.isVerified);
    m_ssh->setText(options.ssh.target());
    m_kube->setText(options.kube.target());
    m_passwordCommand->setText(options.passwordCommand);
    showRows();
}

void TransportFields::setShown(bool hasAddress)
{
    m_hasAddress = hasAddress;
    showRows();
}

void TransportFields::showRows()
{
    m_form->setRowVisible(m_tls, m_hasAddress);
    m_form->setRowVisible(m_ssh->parentWidget(), m_hasAddress);
    // Rare ones have room only where the address that was pasted or saved has them.
    for (auto *line : {m_kube, m_passwordCommand})
        m_form->setRowVisible(line->parentWidget(), m_hasAddress && !line->text().isEmpty());
    for (const auto &[line, text] : m_lines)
        m_form->setRowVisible(line->parentWidget(), m_hasAddress && m_tls->isChecked());
    m_form->setRowVisible(m_unverified, m_hasAddress && m_tls->isChecked());
}

void TransportFields::turnOn()
{
    m_tls->setChecked(true);
    m_tls->setFocus();
    emit edited();
}

QStringList TransportFields::query(bool isTlsScheme) const
{
    TransportOptions options;
    options.tls.isOn = m_tls->isChecked();
    if (options.tls.isOn) {
        for (const auto &[line, text] : m_lines)
            options.tls.*text = line->text().trimmed();
        options.tls.isVerified = !m_unverified->isChecked();
    }
    options.passwordCommand = m_passwordCommand->text().trimmed();
    auto parts = options.query(isTlsScheme);
    for (const auto &[key, line] : {std::pair(u"ssh="_s, m_ssh), std::pair(u"kube="_s, m_kube)}) {
        if (const auto text = line->text().trimmed(); !text.isEmpty())
            parts << key + QString::fromLatin1(QUrl::toPercentEncoding(text, "@:[]/"));
    }
    return parts;
}

namespace {

struct CheckLook {
    QString sign, word, tone;
};

CheckLook lookOfState(TrialCheck::State state)
{
    switch (state) {
    case TrialCheck::State::Passed: return {u"✓"_s, TrialChecklist::tr("Passed"), u"ok"_s};
    case TrialCheck::State::Failed: return {u"✗"_s, TrialChecklist::tr("Failed"), u"critical"_s};
    case TrialCheck::State::Warning: return {u"!"_s, TrialChecklist::tr("Warning"), u"warning"_s};
    case TrialCheck::State::Note: break;
    }
    return {u"i"_s, TrialChecklist::tr("Note"), {}};
}

QString textOfFix(TrialCheck::Fix fix)
{
    switch (fix) {
    case TrialCheck::Fix::None: break;
    case TrialCheck::Fix::Hosts: return TrialChecklist::tr("Correct host or port");
    case TrialCheck::Fix::Login: return TrialChecklist::tr("Correct user or password");
    case TrialCheck::Fix::TurnOnTls: return TrialChecklist::tr("Turn on TLS");
    case TrialCheck::Fix::Tls: return TrialChecklist::tr("Correct the TLS files");
    }
    return {};
}

} // namespace

TrialChecklist::TrialChecklist(QWidget *parent) : QWidget(parent), m_rows(makeColumn(this, {.spacing = 3}, {}))
{
    setAccessibleName(tr("Result of the connection test"));
    hide();
}

void TrialChecklist::begin(const ConnectionSpec &spec)
{
    set({{TrialCheck::State::Note, tr("Testing %1 …").arg(spec.displayUri())}});
    m_awaited = std::make_unique<QObject>();
    emit trialRequested(spec);
}

void TrialChecklist::set(std::vector<TrialCheck> checks)
{
    m_awaited.reset();
    m_checks = std::move(checks);
    fill();
}

void TrialChecklist::show(const Result<std::vector<TrialCheck>> &checks)
{
    set(checks ? *checks
               : std::vector{TrialCheck{TrialCheck::State::Failed, label(checks.error().message.toUtf8(), 400)}});
    emit shown();
}

void TrialChecklist::fill()
{
    clearLayout(*m_rows);
    for (const auto &check : m_checks) {
        const auto look = lookOfState(check.state);
        auto *row = new QWidget(this);
        auto *sign = makeLabel(look.sign, u"check"_s, row);
        sign->setProperty("tone", look.tone);
        sign->setAccessibleName(look.word);
        sign->setFixedWidth(14);
        auto *text = makeWrapped(check.text, {}, row);
        text->setAccessibleName(look.word + u": "_s + check.text);
        auto *column = makeColumn({.spacing = 0}, {text});
        if (check.fix != TrialCheck::Fix::None)
            column->addWidget(
                makeButton(
                    textOfFix(check.fix), row, this, [this, fix = check.fix] { emit fixRequested(fix); }, u"link"_s),
                0, Qt::AlignLeft);
        makeRow(row, {.spacing = 6}, {{sign, 0, Qt::AlignTop}, {column, 1}});
        m_rows->addWidget(row);
    }
    setVisible(!m_checks.empty());
}

} // namespace lockscope::ui
