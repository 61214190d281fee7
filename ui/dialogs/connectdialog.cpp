// SPDX-License-Identifier: Apache-2.0
// The dialog of a new connection, and its fields for TLS and the ways through SSH and Kubernetes.
#include "core/base/text.h"
#include "ui/dialogs/connectform.h"
#include "ui/parts/parts.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QScrollBar>
#include <QUrl>

namespace lockscope::ui {

ConnectDialog::ConnectDialog(ConnectionStore &store, QStringList taken, QWidget *parent)
    : QDialog(parent), m_store(store), m_taken(std::move(taken))
{
    setWindowTitle(u"Connect"_s);
    resizeWithinParent(*this, {632, 720});
    m_form = new ConnectForm(m_store.canKeepPasswords(), this);
    auto *title = makeLabel(u"Connect"_s, u"heading"_s, this);
    m_save = makeButton(u"Save"_s, this, this, &ConnectDialog::save);
    m_save->setAutoDefault(false);
    auto *cancel = makeButton(u"Cancel"_s, this, this, &QDialog::reject);
    cancel->setAutoDefault(false);
    m_connect = makeButton(u"Connect"_s, this, this, &ConnectDialog::connectNow, u"primary"_s);
    m_connect->setDefault(true);
    m_test = makeButton(u"Test"_s, this, this, [this] {
        withSpec([this](const ConnectionSpec &spec) { m_form->checklist().begin(spec); });
    });
    m_test->setAutoDefault(false);
    m_test->setToolTip(u"Connects, reports what it reaches and may do, and disconnects"_s);
    connect(m_form, &ConnectForm::edited, this, [this] { m_test->setEnabled(m_form->hasServer()); });
    auto *buttons = makeRow({}, {m_save, m_test, Stretch{}, cancel, m_connect});
    makeColumn(this, {.margins = {24, 18, 24, 18}, .spacing = 14}, {title, {scrolled(m_form), 1}, buttons});
    edit({});
    m_form->setFocus();
    if (!m_store.problem().isEmpty())
        m_form->say(m_store.problem());
}

// All fields of TLS, and what a trial said, are more than small screens have room for.
QWidget *ConnectDialog::scrolled(QWidget *form)
{
    auto *area = makeScroll(form, this);
    // It scrolls up and down only; which rows it has decides how wide it is.
    const auto fit = [area, form] {
        area->setMinimumWidth(form->minimumSizeHint().width() + area->verticalScrollBar()->sizeHint().width());
    };
    fit();
    connect(m_form, &ConnectForm::edited, area, fit, Qt::QueuedConnection);
    // Its room is made first: what scrolls has the height it likes, not what its words need at this width.
    connect(&m_form->checklist(), &TrialChecklist::shown, area, [area, list = &m_form->checklist()] {
        QTimer::singleShot(0, list, [area, list] { area->ensureWidgetVisible(list); });
    });
    return area;
}

void ConnectDialog::edit(const SavedConnection &connection)
{
    QStringList groups{QString()};
    for (const auto &saved : m_store.all()) {
        if (!groups.contains(saved.group))
            groups << saved.group;
    }
    m_form->show(connection, groups);
}

Result<SavedConnection> ConnectDialog::read()
{
    auto connection = m_form->read();
    if (connection) {
        const auto *saved = m_store.find(connection->id);
        connection->hasPassword = saved && saved->hasPassword;
    }
    return connection;
}

bool ConnectDialog::save()
{
    const auto fields = read();
    if (!fields)
        return false;
    const SavedConnection &connection = *fields;
    if (connection.name.isEmpty()) {
        m_form->say(u"Give it a name to save it."_s);
        return false;
    }
    const QString password = m_form->password();
    const auto saved = m_store.save(connection);
    if (!saved) {
        m_form->say(saved.error().message);
        return false;
    }
    const bool forgets = connection.hasPassword && !m_form->keepsPassword();
    if (forgets || (m_form->keepsPassword() && !password.isEmpty())) {
        m_store.writePassword(*saved, forgets ? QString() : password, this, [this](const SecretKept &kept) {
            if (!kept.problem.isEmpty())
                m_form->say(u"The password was not kept: %1"_s.arg(kept.problem));
            else if (!kept.remark.isEmpty())
                m_form->say(u"Saved; %1."_s.arg(kept.remark));
        });
    }
    const bool keeps = m_form->keepsPassword();
    edit(*m_store.find(*saved));
    // Not kept yet, or not at all: still good for connecting. Who saves once more means the same by it.
    m_form->setPassword(password, keeps);
    return true;
}

void ConnectDialog::connectNow()
{
    const auto connection = read();
    if (!connection)
        return;
    if (m_taken.contains(connection->name)) {
        m_form->say(u"%1 is open already; give this one another name."_s.arg(connection->name));
        return;
    }
    withSpec([this, used = *connection](const ConnectionSpec &spec) {
        m_store.noteUsed(used);
        accept();
        emit connectRequested(spec);
    });
}

void ConnectDialog::withSpec(std::function<void(const ConnectionSpec &)> use)
{
    const auto connection = read();
    if (!connection)
        return;
    // Of what was chosen when it was asked for: a keychain may take its time, and its answer belongs to no other.
    const auto finish = [this, asked = *connection, use = std::move(use)](const QString &password) {
        const auto spec = specOf(asked, password);
        if (spec)
            use(*spec);
        else
            m_form->say(spec.error().message);
    };
    if (!m_form->password().isEmpty() || !connection->hasPassword) {
        finish(m_form->password());
        return;
    }
    m_store.readPassword(connection->id, this, [this, finish](const std::optional<QString> &secret) {
        if (secret)
            finish(*secret);
        else
            m_form->say(u"The password is not where it was kept, or the keychain did not give it; type it."_s);
    });
}

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
