// SPDX-License-Identifier: Apache-2.0

#include "ui/dialogs/connectform.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include <QScrollBar>

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

} // namespace lockscope::ui
