// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/connectdialog.h"

#include "ui/dialogs/connectform.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QDir>
#include <QEvent>
#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QShortcut>
#include <QTimer>
#include <QTreeWidget>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int idRole = Qt::UserRole;
constexpr int teamRole = Qt::UserRole + 1; // which of the team's
constexpr int listWidth = 248;
constexpr int rowHeight = 28;

QIcon discOf(ConnectionColour colour)
{
    constexpr int size = 14;
    QPixmap picture(size * 2, size * 2);
    picture.setDevicePixelRatio(2);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor fill = colourOf(colour);
    painter.setPen(fill.isValid() ? Qt::NoPen : QPen(Theme::tokens().muted, 1.2));
    painter.setBrush(fill.isValid() ? QBrush(fill) : Qt::NoBrush);
    painter.drawEllipse(QRectF(3, 3, 8, 8));
    return QIcon(picture);
}

} // namespace

ConnectDialog::ConnectDialog(ConnectionStore &store, QStringList taken, QWidget *parent)
    : QDialog(parent), m_store(store), m_taken(std::move(taken))
{
    setWindowTitle(u"Connect"_s);
    resize(880, 680);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(buildList());
    layout->addWidget(buildForm(), 1);
    connect(&m_store, &ConnectionStore::changed, this, &ConnectDialog::fill);
    fill();
    if (m_store.all().empty())
        startNew();
    else
        select(m_store.all().front().id);
    if (!m_store.loadError().isEmpty())
        m_form->say(m_store.loadError());
}

QWidget *ConnectDialog::buildList()
{
    auto *side = new QFrame(this);
    side->setProperty("look", u"sidebar"_s);
    side->setFixedWidth(listWidth);
    m_list = new QTreeWidget(side);
    m_list->setHeaderHidden(true);
    m_list->setRootIsDecorated(false);
    m_list->setIndentation(0);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setUniformRowHeights(true);
    m_list->setAccessibleName(u"Saved connections"_s);
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
    auto *buttons = new QHBoxLayout;
    buttons->setContentsMargins(4, 0, 4, 0);
    buttons->setSpacing(0);
    buttons->addWidget(m_new);
    buttons->addWidget(m_duplicate);
    buttons->addWidget(m_delete);
    buttons->addStretch();
    auto *importButton = button(u"Import…"_s);
    importButton->setToolTip(u"Adds the connections of a lockscope.toml"_s);
    m_export = button(u"Export…"_s);
    m_export->setToolTip(u"Writes all saved connections, without passwords, as a lockscope.toml to share"_s);
    connect(importButton, &QPushButton::clicked, this, &ConnectDialog::importFile);
    connect(m_export, &QPushButton::clicked, this, &ConnectDialog::exportFile);
    auto *shared = new QHBoxLayout;
    shared->setContentsMargins(4, 0, 4, 0);
    shared->setSpacing(0);
    shared->addWidget(importButton);
    shared->addWidget(m_export);
    shared->addStretch();
    auto *title = makeLabel(u"SAVED CONNECTIONS"_s, u"section"_s, side);
    title->setContentsMargins(14, 14, 8, 6);
    auto *layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 0, 1, 8);
    layout->setSpacing(4);
    layout->addWidget(title);
    m_none = makeLabel(u"None yet. Fill in the form and press Save to keep a connection here."_s, u"muted"_s, side);
    m_none->setWordWrap(true);
    m_none->setContentsMargins(14, 0, 12, 0);
    m_teamProblem = makeLabel({}, u"critical"_s, side);
    m_teamProblem->setWordWrap(true);
    m_teamProblem->setTextFormat(Qt::PlainText);
    m_teamProblem->setContentsMargins(14, 0, 12, 0);
    layout->addWidget(m_none);
    layout->addWidget(m_list, 1);
    layout->addWidget(m_teamProblem);
    layout->addLayout(buttons);
    layout->addLayout(shared);
    return side;
}

// All fields of TLS, and what a trial said, are more than small screens have room for.
QWidget *ConnectDialog::scrolled(QWidget *form)
{
    auto *area = new QScrollArea(this);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setWidget(form);
    // It scrolls up and down only; which rows it has decides how wide it is.
    const auto fit = [area, form] {
        area->setMinimumWidth(form->minimumSizeHint().width() + area->verticalScrollBar()->sizeHint().width());
    };
    fit();
    connect(m_form, &ConnectForm::edited, area, fit, Qt::QueuedConnection);
    connect(m_form, &ConnectForm::said, area, [area](QWidget *where) {
        // Its room is made first: what scrolls has the height it likes, not what its words need at this width.
        QTimer::singleShot(0, where, [area, where] {
            where->setMinimumHeight(where->heightForWidth(where->width()));
            QTimer::singleShot(0, where, [area, where] { area->ensureWidgetVisible(where); });
        });
    });
    return area;
}

QWidget *ConnectDialog::buildForm()
{
    auto *panel = new QWidget(this);
    m_form = new ConnectForm(m_store.canKeepPasswords(), panel);
    auto *title = makeLabel(u"Connect"_s, u"heading"_s, panel);
    m_save = new QPushButton(u"Save"_s, panel);
    m_save->setAutoDefault(false);
    auto *cancel = new QPushButton(u"Cancel"_s, panel);
    cancel->setAutoDefault(false);
    m_connect = new QPushButton(u"Connect"_s, panel);
    m_connect->setProperty("look", u"primary"_s);
    m_connect->setDefault(true);
    connect(m_save, &QPushButton::clicked, this, &ConnectDialog::save);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_connect, &QPushButton::clicked, this, &ConnectDialog::connectNow);
    m_test = new QPushButton(u"Test"_s, panel);
    m_test->setAutoDefault(false);
    m_test->setToolTip(u"Connects for a moment, and says what answers, what its user may do and what is not seen"_s);
    connect(m_test, &QPushButton::clicked, this, &ConnectDialog::testNow);
    connect(m_form, &ConnectForm::edited, this, [this] { m_test->setEnabled(m_form->hasServer()); });
    auto *buttons = new QHBoxLayout;
    buttons->addWidget(m_save);
    buttons->addWidget(m_test);
    buttons->addStretch();
    buttons->addWidget(cancel);
    buttons->addWidget(m_connect);
    auto *layout = new QVBoxLayout(panel);
    layout->setContentsMargins(24, 18, 24, 18);
    layout->setSpacing(14);
    layout->addWidget(title);
    layout->addWidget(scrolled(m_form), 1);
    layout->addLayout(buttons);
    return panel;
}

void ConnectDialog::fill()
{
    const QString chosen = chosenId();
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    QString group;
    for (const auto &saved : m_store.all()) {
        if (m_list->topLevelItemCount() == 0 || saved.group != group) {
            group = saved.group;
            if (!group.isEmpty() || m_list->topLevelItemCount() > 0)
                addHeading(group.isEmpty() ? u"Without a group"_s : group);
        }
        auto *item = addSaved(saved);
        if (saved.id == chosen)
            m_list->setCurrentItem(item);
    }
    const auto &team = m_store.team();
    if (!team.connections.empty())
        addHeading(u"Team: %1"_s.arg(QDir(QFileInfo(team.file).path()).dirName() + u"/lockscope.toml"_s));
    for (int i = 0; i < int(team.connections.size()); ++i)
        addSaved(team.connections[std::size_t(i)])->setData(0, teamRole, i);
    m_none->setVisible(m_store.all().empty() && team.connections.empty());
    m_export->setEnabled(!m_store.all().empty());
    m_teamProblem->setText(m_store.teamError());
    m_teamProblem->setVisible(!m_store.teamError().isEmpty());
}

void ConnectDialog::addHeading(const QString &text)
{
    auto *heading = new QTreeWidgetItem(m_list, {text});
    heading->setFlags(Qt::ItemIsEnabled);
    heading->setSizeHint(0, {0, rowHeight});
    heading->setForeground(0, Theme::tokens().muted);
    heading->setFont(0, textFont(11, QFont::DemiBold));
    heading->setToolTip(0, text);
}

QTreeWidgetItem *ConnectDialog::addSaved(const SavedConnection &saved)
{
    QString text = saved.name.isEmpty() ? saved.uri : saved.name;
    if (saved.production)
        text += u"   PROD"_s;
    else if (saved.development)
        text += u"   DEV"_s;
    auto *item = new QTreeWidgetItem(m_list, {text});
    item->setData(0, idRole, saved.id);
    item->setIcon(0, discOf(saved.colour));
    item->setSizeHint(0, {0, rowHeight});
    item->setToolTip(0, saved.uri);
    if (saved.production)
        item->setForeground(0, Theme::tokens().critical);
    return item;
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
    m_form->say(said ? QString() : said.error().message);
    if (said)
        m_form->tell(*said);
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
    m_form->say(done ? QString() : done.error().message);
    if (done)
        m_form->tell(u"%1 written without passwords: %2"_s.arg(QString::number(m_store.all().size()), file));
}

void ConnectDialog::changeEvent(QEvent *event)
{
    QDialog::changeEvent(event);
    // The list paints with the theme's colours.
    if (event->type() == QEvent::PaletteChange && m_list)
        fill();
}

QString ConnectDialog::chosenId() const
{
    const auto *item = m_list->currentItem();
    return item ? item->data(0, idRole).toString() : QString();
}

const SavedConnection *ConnectDialog::chosen() const
{
    if (const auto *own = m_store.find(chosenId()))
        return own;
    const auto *item = m_list->currentItem();
    const auto which = item ? item->data(0, teamRole) : QVariant();
    const auto &team = m_store.team().connections;
    return which.isValid() && which.toUInt() < team.size() ? &team[which.toUInt()] : nullptr;
}

void ConnectDialog::select(const QString &id)
{
    for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
        if (m_list->topLevelItem(i)->data(0, idRole).toString() == id)
            m_list->setCurrentItem(m_list->topLevelItem(i));
    }
    choose();
}

void ConnectDialog::edit(const SavedConnection &connection)
{
    for (const auto &saved : m_store.all()) {
        if (saved.name == connection.name) {
            select(saved.id);
            return;
        }
    }
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
    m_delete->setText(u"Delete"_s);
    const auto *saved = chosen();
    // The team's are the file's to change; Save makes one of one's own.
    const bool isOwn = saved && !saved->id.isEmpty();
    m_delete->setEnabled(isOwn);
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
    select(*saved);
    m_form->setPassword(password); // not kept yet, or not at all: still good for connecting
    return true;
}

void ConnectDialog::removeChosen()
{
    const QString id = chosenId();
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
    const auto made = m_store.duplicate(chosenId());
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
    withSpec([this](const ConnectionSpec &spec) {
        accept();
        emit connectRequested(spec);
    });
}

void ConnectDialog::testNow()
{
    withSpec([this](const ConnectionSpec &spec) {
        m_test->setEnabled(false);
        m_form->say({});
        m_form->tell(u"Trying %1 …"_s.arg(spec.displayUri()));
        emit testRequested(spec);
    });
}

void ConnectDialog::shows(const Result<ConnectionAccount> &account)
{
    m_test->setEnabled(true);
    m_form->say(account ? QString() : account.error().message);
    if (account)
        m_form->tell(linesOf(*account).join(u'\n'));
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
