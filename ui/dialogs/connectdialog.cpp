// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/connectdialog.h"

#include "ui/dialogs/connectform.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QShortcut>
#include <QTreeWidget>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int idRole = Qt::UserRole;
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
    resize(820, 620);
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
    auto *title = makeLabel(u"SAVED CONNECTIONS"_s, u"section"_s, side);
    title->setContentsMargins(14, 14, 8, 6);
    auto *layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 0, 1, 8);
    layout->setSpacing(4);
    layout->addWidget(title);
    m_none = makeLabel(u"None yet. Fill in the form and press Save to keep a connection here."_s, u"muted"_s, side);
    m_none->setWordWrap(true);
    m_none->setContentsMargins(14, 0, 12, 0);
    layout->addWidget(m_none);
    layout->addWidget(m_list, 1);
    layout->addLayout(buttons);
    return side;
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
    auto *buttons = new QHBoxLayout;
    buttons->addWidget(m_save);
    buttons->addStretch();
    buttons->addWidget(cancel);
    buttons->addWidget(m_connect);
    auto *layout = new QVBoxLayout(panel);
    layout->setContentsMargins(24, 18, 24, 18);
    layout->setSpacing(14);
    layout->addWidget(title);
    layout->addWidget(m_form, 1);
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
            const bool isNeeded = !group.isEmpty() || m_list->topLevelItemCount() > 0;
            if (isNeeded) {
                auto *heading = new QTreeWidgetItem(m_list, {group.isEmpty() ? u"Without a group"_s : group});
                heading->setFlags(Qt::ItemIsEnabled);
                heading->setSizeHint(0, {0, rowHeight});
                heading->setForeground(0, Theme::tokens().muted);
                heading->setFont(0, textFont(11, QFont::DemiBold));
            }
        }
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
        if (saved.id == chosen)
            m_list->setCurrentItem(item);
    }
    m_none->setVisible(m_store.all().empty());
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
    const auto *saved = m_store.find(chosenId());
    m_delete->setEnabled(saved);
    m_duplicate->setEnabled(saved);
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
        m_store.writePassword(*saved, forgets ? QString() : password, this, [this](const QString &why) {
            if (!why.isEmpty())
                m_form->say(u"The password was not kept: %1"_s.arg(why));
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
    if (!m_form->password().isEmpty() || !connection->hasPassword) {
        finishWith(m_form->password());
        return;
    }
    m_store.readPassword(connection->id, this, [this](const std::optional<QString> &secret) {
        if (secret)
            finishWith(*secret);
        else
            m_form->say(u"The keychain did not give the password; type it."_s);
    });
}

void ConnectDialog::finishWith(const QString &password)
{
    auto connection = m_form->read();
    if (!connection)
        return;
    const auto spec = specOf(*connection, password);
    if (!spec) {
        m_form->say(spec.error().message);
        return;
    }
    accept();
    emit connectRequested(*spec);
}

} // namespace lockscope::ui
