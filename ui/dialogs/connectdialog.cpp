// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/connectdialog.h"

#include "ui/dialogs/connectform.h"
#include "ui/dialogs/trialchecklist.h"
#include "ui/parts/layouts.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include <QEvent>
#include <QFileDialog>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QShortcut>
#include <QTimer>

namespace lockscope::ui {

constexpr int listWidth = 248;

ConnectDialog::ConnectDialog(ConnectionStore &store, QStringList taken, QWidget *parent)
    : QDialog(parent), m_store(store), m_taken(std::move(taken))
{
    setWindowTitle(u"Connect"_s);
    resizeWithinParent(*this, {880, 720});
    makeRow(this, {.spacing = 0}, {buildList(), {buildForm(), 1}});
    connect(&m_store, &ConnectionStore::changed, this, &ConnectDialog::fill);
    fill();
    if (!selectRecent({})) {
        if (m_store.all().empty())
            startNew();
        else
            select(m_store.all().front().id);
    }
    if (m_list->currentItem())
        m_list->setFocus(); // the arrows choose, Enter connects
    if (!m_store.loadError().isEmpty())
        m_form->say(m_store.loadError());
}

QWidget *ConnectDialog::buildList()
{
    auto *side = new QFrame(this);
    side->setProperty("look", u"sidebar"_s);
    side->setFixedWidth(listWidth);
    m_list = new ConnectList(m_store, m_taken, side);
    connect(m_list, &QTreeWidget::currentItemChanged, this, &ConnectDialog::choose);
    connect(m_list, &QTreeWidget::itemActivated, this, &ConnectDialog::connectNow);
    auto *deleteKey = new QShortcut(QKeySequence::Delete, m_list);
    deleteKey->setContext(Qt::WidgetShortcut);
    connect(deleteKey, &QShortcut::activated, this, &ConnectDialog::removeChosen);

    const auto button = [side](const QString &text) {
        auto *made = new QPushButton(text, side);
        made->setProperty("look", u"flat"_s);
        made->setAutoDefault(false);
        return made;
    };
    m_new = button(u"New"_s);
    m_duplicate = button(u"Duplicate"_s);
    m_delete = button(u"Delete"_s);
    connect(m_new, &QPushButton::clicked, this, &ConnectDialog::startNew);
    connect(m_duplicate, &QPushButton::clicked, this, &ConnectDialog::duplicateChosen);
    connect(m_delete, &QPushButton::clicked, this, &ConnectDialog::removeChosen);
    auto *buttons = makeRow({.margins = {4, 0, 4, 0}, .spacing = 0}, {m_new, m_duplicate, m_delete, Stretch{}});
    auto *importButton = button(u"Import…"_s);
    importButton->setToolTip(u"Adds the connections of a lockscope.toml"_s);
    m_export = button(u"Export…"_s);
    m_export->setToolTip(u"Writes all saved connections, without passwords, as a lockscope.toml to share"_s);
    connect(importButton, &QPushButton::clicked, this, &ConnectDialog::importFile);
    connect(m_export, &QPushButton::clicked, this, &ConnectDialog::exportFile);
    auto *shared = makeRow({.margins = {4, 0, 4, 0}, .spacing = 0}, {importButton, m_export, Stretch{}});
    auto *title = makeLabel(u"CONNECTIONS"_s, u"section"_s, side);
    title->setContentsMargins(14, 14, 8, 6);
    m_none = makeWrapped(u"None yet. Fill in the form and press Save to keep a connection here."_s, u"muted"_s, side);
    m_none->setContentsMargins(14, 0, 12, 0);
    m_teamProblem = makeWrapped({}, u"critical"_s, side);
    m_teamProblem->setTextFormat(Qt::PlainText);
    m_teamProblem->setContentsMargins(14, 0, 12, 0);
    makeColumn(side, {.margins = {0, 0, 1, 8}, .spacing = 4},
               {title, m_none, {m_list, 1}, m_teamProblem, buttons, shared});
    return side;
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

QWidget *ConnectDialog::buildForm()
{
    auto *panel = new QWidget(this);
    m_form = new ConnectForm(m_store.canKeepPasswords(), panel);
    auto *title = makeLabel(u"Connect"_s, u"heading"_s, panel);
    m_save = makeButton(u"Save"_s, panel, this, &ConnectDialog::save);
    m_save->setAutoDefault(false);
    auto *cancel = makeButton(u"Cancel"_s, panel, this, &QDialog::reject);
    cancel->setAutoDefault(false);
    m_connect = makeButton(u"Connect"_s, panel, this, &ConnectDialog::connectNow, u"primary"_s);
    m_connect->setDefault(true);
    m_test = makeButton(u"Test"_s, panel, this, &ConnectDialog::testNow);
    m_test->setAutoDefault(false);
    m_test->setToolTip(u"Connects, reports what it reaches and may do, and disconnects"_s);
    connect(m_form, &ConnectForm::edited, this, [this] { m_test->setEnabled(m_form->hasServer()); });
    auto *buttons = makeRow({}, {m_save, m_test, Stretch{}, cancel, m_connect});
    makeColumn(panel, {.margins = {24, 18, 24, 18}, .spacing = 14}, {title, {scrolled(m_form), 1}, buttons});
    return panel;
}

void ConnectDialog::fill()
{
    m_list->fill();
    m_none->setVisible(m_list->isEmpty());
    m_export->setEnabled(!m_store.all().empty());
    m_teamProblem->setText(m_store.teamError());
    m_teamProblem->setVisible(!m_store.teamError().isEmpty());
}

void ConnectDialog::select(const QString &id)
{
    m_list->select(id);
    choose();
}

bool ConnectDialog::selectRecent(const QString &name)
{
    if (!m_list->selectRecent(name))
        return false;
    choose();
    return true;
}

void ConnectDialog::importFile()
{
    const auto file =
        QFileDialog::getOpenFileName(this, u"Import connections"_s, {}, u"Connections (*.toml);;All files (*)"_s);
    if (!file.isEmpty())
        importFrom(file);
}

void ConnectDialog::importFrom(const QString &file)
{
    const auto said = m_store.importFrom(file);
    said ? m_form->tell(*said) : m_form->say(said.error().message);
}

void ConnectDialog::exportFile()
{
    const auto file = QFileDialog::getSaveFileName(this, u"Export connections"_s, u"lockscope.toml"_s,
                                                   u"Connections (*.toml);;All files (*)"_s);
    if (!file.isEmpty())
        exportTo(file);
}

void ConnectDialog::exportTo(const QString &file)
{
    const auto done = m_store.exportTo(file);
    if (!done)
        m_form->say(done.error().message);
    else
        m_form->tell(u"%1 written without passwords: %2"_s.arg(QString::number(m_store.all().size()), file));
}

void ConnectDialog::changeEvent(QEvent *event)
{
    QDialog::changeEvent(event);
    // The list paints with the theme's colours.
    if (event->type() == QEvent::PaletteChange && m_list)
        fill();
}

void ConnectDialog::edit(const SavedConnection &connection)
{
    for (const auto &saved : m_store.all()) {
        if (saved.name == connection.name) {
            select(saved.id);
            return;
        }
    }
    if (connection.uri.isEmpty() && selectRecent(connection.name))
        return;
    startNew();
    m_form->show(connection, groups());
}

QStringList ConnectDialog::groups() const
{
    QStringList groups{QString()};
    for (const auto &saved : m_store.all()) {
        if (!groups.contains(saved.group))
            groups << saved.group;
    }
    return groups;
}

void ConnectDialog::choose()
{
    m_isSureToDelete = false;
    const bool isRecent = m_list->chosenRecent().has_value();
    m_delete->setText(isRecent ? u"Forget"_s : u"Delete"_s);
    m_delete->setToolTip(isRecent ? u"Takes it out of those used last; what is saved stays"_s : QString());
    const auto saved = m_list->chosen();
    // The team's are the file's to change; Save makes one of one's own.
    const bool isOwn = saved && !saved->id.isEmpty();
    m_delete->setEnabled(isOwn || isRecent);
    m_duplicate->setEnabled(isOwn);
    m_form->show(saved ? *saved : SavedConnection(), groups());
}

void ConnectDialog::startNew()
{
    m_list->setCurrentItem(nullptr);
    choose();
    m_form->setFocus();
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
    select(*saved);
    // Not kept yet, or not at all: still good for connecting. Who saves once more means the same by it.
    m_form->setPassword(password, keeps);
    return true;
}

void ConnectDialog::removeChosen()
{
    if (const auto recent = m_list->chosenRecent()) {
        m_store.forgetRecent(*recent); // the one below it has its place now
        if (m_list->chosenRecent())
            choose();
        else if (!selectRecent({}))
            m_store.all().empty() ? startNew() : select(m_store.all().front().id);
        return;
    }
    const QString id = m_list->chosenId();
    if (id.isEmpty())
        return;
    if (!m_isSureToDelete) {
        m_isSureToDelete = true;
        m_delete->setText(u"Really delete?"_s);
        return;
    }
    const auto done = m_store.remove(id);
    if (!done) {
        m_form->say(done.error().message);
        return;
    }
    if (m_store.all().empty())
        startNew();
    else
        select(m_store.all().front().id);
}

void ConnectDialog::duplicateChosen()
{
    const auto made = m_store.duplicate(m_list->chosenId());
    if (made)
        select(*made);
    else
        m_form->say(made.error().message);
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

void ConnectDialog::testNow()
{
    withSpec([this](const ConnectionSpec &spec) { m_form->checklist().begin(spec); });
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

#include "moc_connectdialog.cpp"
