// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/connectdialog.h"

#include "ui/theme/theme.h"

#include <QDir>
#include <QPainter>

namespace lockscope::ui {

namespace {

constexpr int idRole = Qt::UserRole;
constexpr int teamRole = Qt::UserRole + 1;   // which of the team's
constexpr int recentRole = Qt::UserRole + 2; // which of those used last
constexpr std::size_t mostRecentShown = 5;
constexpr int rowPixels = 28;

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

ConnectList::ConnectList(const ConnectionStore &store, QStringList taken, QWidget *parent)
    : QTreeWidget(parent), m_store(store), m_taken(std::move(taken))
{
    setHeaderHidden(true);
    setRootIsDecorated(false);
    setIndentation(0);
    setFrameShape(QFrame::NoFrame);
    setUniformRowHeights(true);
    setAccessibleName(u"Connections used last, and saved ones"_s);
}

void ConnectList::fill()
{
    const QString chosen = chosenId();
    const auto recent = chosenRecent();
    const QSignalBlocker quiet(this);
    clear();
    addRecent(recent);
    const bool isFirst = topLevelItemCount() == 0;
    QString group;
    bool isBegun = false;
    for (const auto &saved : m_store.all()) {
        if (!isBegun || saved.group != group) {
            group = saved.group;
            if (!group.isEmpty() || isBegun || !isFirst)
                addHeading(!group.isEmpty() ? group : isBegun ? u"Without a group"_s : u"Saved"_s);
            isBegun = true;
        }
        auto *item = addSaved(saved);
        if (saved.id == chosen && !recent)
            setCurrentItem(item);
    }
    const auto &team = m_store.team();
    if (!team.connections.empty())
        addHeading(u"Team: %1"_s.arg(QDir(QFileInfo(team.file).path()).dirName() + u"/lockscope.toml"_s));
    for (int i = 0; i < int(team.connections.size()); ++i)
        addSaved(team.connections[std::size_t(i)])->setData(0, teamRole, i);
}

// Not those that are open.
void ConnectList::addRecent(std::optional<std::size_t> chosen)
{
    const auto recent = m_store.recent();
    std::size_t shown = 0;
    for (std::size_t i = 0; i < recent.size() && shown < mostRecentShown; ++i) {
        if (m_taken.contains(recent[i].name))
            continue;
        if (shown++ == 0)
            addHeading(u"Used last"_s);
        auto *item = addSaved(recent[i]);
        item->setData(0, recentRole, QVariant::fromValue(qulonglong(i)));
        if (i == chosen)
            setCurrentItem(item);
    }
}

void ConnectList::addHeading(const QString &text)
{
    auto *heading = new QTreeWidgetItem(this, {text});
    heading->setFlags(Qt::NoItemFlags); // no arrow stops there: it is no connection
    heading->setSizeHint(0, {0, rowPixels});
    heading->setForeground(0, Theme::tokens().muted);
    heading->setFont(0, textFont(11, QFont::DemiBold));
    heading->setToolTip(0, text);
}

QTreeWidgetItem *ConnectList::addSaved(const SavedConnection &saved)
{
    QString text = saved.name.isEmpty() ? saved.uri : saved.name;
    if (saved.production)
        text += u"   PROD"_s;
    else if (saved.development)
        text += u"   DEV"_s;
    auto *item = new QTreeWidgetItem(this, {text});
    item->setData(0, idRole, saved.id);
    item->setIcon(0, discOf(saved.colour));
    item->setSizeHint(0, {0, rowPixels});
    item->setToolTip(0, saved.uri);
    return item;
}

QString ConnectList::chosenId() const
{
    const auto *item = currentItem();
    return item ? item->data(0, idRole).toString() : QString();
}

std::optional<std::size_t> ConnectList::chosenRecent() const
{
    const auto *item = currentItem();
    const auto which = item ? item->data(0, recentRole) : QVariant();
    return which.isValid() ? std::optional(std::size_t(which.toULongLong())) : std::nullopt;
}

std::optional<SavedConnection> ConnectList::chosen() const
{
    if (const auto *own = m_store.find(chosenId()))
        return *own;
    if (const auto which = chosenRecent()) {
        const auto recent = m_store.recent();
        return *which < recent.size() ? std::optional(recent[*which]) : std::nullopt;
    }
    const auto *item = currentItem();
    const auto which = item ? item->data(0, teamRole) : QVariant();
    const auto &team = m_store.team().connections;
    return which.isValid() && which.toUInt() < team.size() ? std::optional(team[which.toUInt()]) : std::nullopt;
}

bool ConnectList::selectRecent(const QString &name)
{
    const auto recent = m_store.recent();
    for (int i = 0; i < topLevelItemCount(); ++i) {
        const auto which = topLevelItem(i)->data(0, recentRole);
        if (!which.isValid() || (!name.isEmpty() && recent[which.toULongLong()].name != name))
            continue;
        setCurrentItem(topLevelItem(i));
        return true;
    }
    return false;
}

void ConnectList::select(const QString &id)
{
    for (int i = 0; i < topLevelItemCount(); ++i) {
        const auto *item = topLevelItem(i);
        if (item->data(0, idRole).toString() == id && !item->data(0, recentRole).isValid())
            setCurrentItem(topLevelItem(i));
    }
}

} // namespace lockscope::ui
