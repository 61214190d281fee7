// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/connectionchooser.h"

#include "core/base/text.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QListWidget>
#include <QPainter>
#include <QScreen>
#include <QStyledItemDelegate>

namespace lockscope::ui {

namespace {

QString latencyText(std::chrono::microseconds latency)
{
    const auto us = latency.count();
    if (us < 100'000)
        return u"%1 ms"_s.arg(static_cast<double>(us) / 1000.0, 0, 'f', us < 10'000 ? 1 : 0);
    return u"%1 ms"_s.arg(us / 1000);
}

void showState(ConnectionLook &look, const ConnectionStatus &status)
{
    using State = ConnectionStatus::State;
    if (status.state == State::Connected) {
        look.latency = status.latency ? latencyText(*status.latency) : QString();
        return;
    }
    look.shape = PillShape::Ring;
    look.tone = Tone::Critical;
    if (status.state == State::Connecting) {
        look.tone = Tone::Wait;
        look.state = ConnectionList::tr("connecting");
    } else if (!status.isRecorded) {
        look.tone = Tone::Free; // of the time that is shown, which is past
        look.state = ConnectionList::tr("not recorded");
    } else {
        look.shape = PillShape::Cross;
        look.state = status.state == State::Broken ? ConnectionList::tr("broken") : ConnectionList::tr("refused");
    }
}

constexpr int rowHeight = 40;
constexpr int listWidth = 470;
constexpr int mostRows = 12;
constexpr int moreWidth = 34;

ConnectionLook lookWithoutShape()
{
    ConnectionLook look;
    look.shape = PillShape::None;
    look.tone = Tone::Free;
    return look;
}
class RowDelegate : public QStyledItemDelegate {
public:
    RowDelegate(const std::vector<ConnectionRow> &rows, QObject *parent) : QStyledItemDelegate(parent), m_rows(rows)
    {
    }

    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const override
    {
        return {200, rowHeight};
    }
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;

private:
    const std::vector<ConnectionRow> &m_rows;
};

// Two lines, as a row of the list of locks has: the name with its mark, below it the kind and what may be written.
void RowDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const Tokens &t = Theme::tokens();
    const auto &shown = m_rows[static_cast<std::size_t>(index.row())];
    const auto &look = shown.look;
    painter->save();
    const QRectF row(option.rect);
    painter->fillRect(row, option.state & QStyle::State_Selected ? t.selection : t.panel);
    const QRectF edge(row.left(), row.top() + 1, 6, row.height() - 2);
    if (look.isProduction)
        paintStripes(*painter, edge, shown.color.isValid() ? shown.color : t.production);
    else if (shown.color.isValid())
        painter->fillRect(edge, shown.color);
    paintShape(*painter, QRectF(row.left() + 14, row.top(), 12, row.height() / 2 + 4), look.shape,
               toneColor(t, look.tone));
    QRectF inside = row.adjusted(34, 0, -12, 0);
    if (shown.hasMenu()) {
        paintIcon(*painter, QRectF(row.right() - moreWidth, row.top() + 10, 20, 20), u"more"_s, t.muted);
        inside.setRight(row.right() - moreWidth - 8);
    }
    const QRectF above(inside.left(), row.top() + 3, inside.width(), 18);
    const QRectF below(inside.left(), row.top() + 20, inside.width(), 16);
    const QString state = look.state.isEmpty() ? look.latency : look.state;
    painter->setFont(textFont(12));
    painter->setPen(look.tone == Tone::Critical ? t.critical : t.muted);
    drawTabular(*painter, above, Qt::AlignRight, state);
    const qreal room =
        above.width() - tabularWidth(painter->font(), state) - (look.tag.isEmpty() ? 0 : tagWidth(look.tag) + 8) - 8;
    painter->setPen(t.muted);
    painter->drawText(below, Qt::AlignVCenter | Qt::TextSingleLine,
                      QFontMetricsF(painter->font()).elidedText(shown.below, Qt::ElideRight, below.width()));
    painter->setFont(textFont(13, shown.isCurrent ? QFont::DemiBold : QFont::Medium));
    painter->setPen(t.text);
    const QFontMetricsF metrics(painter->font());
    const QString name = metrics.elidedText(index.data().toString(), Qt::ElideRight, room);
    painter->drawText(above, Qt::AlignVCenter | Qt::TextSingleLine, name);
    paintTag(*painter, above.adjusted(metrics.horizontalAdvance(name) + 8, 0, 0, 0), look.tag, look.tagLook);
    painter->restore();
}

} // namespace

QString writesText(bool isReadOnly, qint64 sent)
{
    const QString count =
        sent == 1 ? ConnectionList::tr("1 write sent") : ConnectionList::tr("%1 writes sent").arg(sent);
    return (isReadOnly ? ConnectionList::tr("read-only") : ConnectionList::tr("writes allowed")) + u" · "_s + count;
}

ConnectionLook lookOf(const ConnectionBook &book, const ConnectionStatus &status)
{
    ConnectionLook look;
    showState(look, status);
    const auto environment = environmentOf(book, status);
    look.tag = environment.word;
    look.isProduction = status.production;
    look.tagLook = status.production        ? TagLook::Production
                   : environment.production ? TagLook::Warning // its server was not verified
                                            : TagLook::Plain;
    if (const auto kind = backendOf(status.scheme))
        look.kind = infoOf(*kind).title;
    look.writes = writesText(status.readOnly, status.writesSent);
    QStringList tip{label(status.uri.toUtf8(), 300)};
    if (const auto warning = transportWarning(status.uri); !warning.isEmpty())
        tip << warning;
    if (!status.message.isEmpty())
        tip << label(status.message.toUtf8(), 300);
    tip << look.writes;
    look.tip = tip.join(u'\n');
    return look;
}

ConnectionList::ConnectionList(const ConnectionBook &book, QWidget *parent)
    : QFrame(parent, Qt::Popup), m_book(book), m_rows(new QListWidget(this))
{
    setProperty("look", u"popup"_s);
    setObjectName(u"connectionList"_s);
    setAttribute(Qt::WA_StyledBackground);
    m_rows->setItemDelegate(new RowDelegate(m_shown, m_rows));
    m_rows->setUniformItemSizes(true);
    m_rows->setFrameShape(QFrame::NoFrame);
    m_rows->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_rows->setAccessibleName(tr("Connections"));
    m_rows->setMouseTracking(true);
    m_rows->installEventFilter(this);
    m_rows->viewport()->installEventFilter(this);
    setFocusProxy(m_rows);
    makeColumn(this, {.margins = {1, 5, 1, 5}, .spacing = 0}, {m_rows});
    connect(&book, &ConnectionBook::changed, this, [this] {
        if (isVisible())
            refresh();
    });
}

void ConnectionList::add(const QString &text, ConnectionRow row, const QStringList &facts)
{
    auto *item = new QListWidgetItem(text, m_rows);
    item->setToolTip(plainToolTip(row.look.tip));
    QStringList described{text, row.look.tag};
    described += facts;
    described.removeAll(QString());
    item->setData(Qt::AccessibleTextRole, described.join(u", "_s));
    m_shown.push_back(std::move(row));
}

void ConnectionList::addOpen(const ConnectionStatus &status)
{
    const auto look = lookOf(m_book, status);
    const auto saved = m_store ? m_store->all() : std::vector<SavedConnection>();
    const auto own = std::ranges::find(saved, QString::fromUtf8(status.name.bytes()), &SavedConnection::name);
    const QStringList facts{look.state.isEmpty() ? tr("connected") : look.state, look.latency, look.kind,
                            look.writes};
    add(label(status.name.bytes(), 60),
        {.look = look,
         .below = look.kind.isEmpty() ? look.writes : look.kind + u" · "_s + look.writes,
         .name = status.name,
         .saved = {},
         .color = own == saved.end() ? QColor() : colourOf(own->colour),
         .isCurrent = status.name == m_current},
        facts);
}

void ConnectionList::addSaved(const SavedConnection &saved, const QString &group)
{
    const ConnectionName name(saved.name.toUtf8());
    if (m_book.find(name))
        return;
    const auto spec = parseConnection(saved.uri); // whose text never has a password
    ConnectionRow row;
    row.look = lookWithoutShape();
    row.below = label((group + (spec ? u" · "_s + spec->displayUri() : QString())).toUtf8(), 160);
    row.saved = saved;
    row.color = colourOf(saved.colour);
    row.look.state = tr("not open");
    row.look.tag = saved.production ? u"PROD"_s : saved.development ? u"DEV"_s : QString();
    row.look.tagLook = saved.production ? TagLook::Production : TagLook::Plain;
    row.look.isProduction = saved.production;
    const QStringList facts{row.look.state, row.below};
    add(label(name.bytes(), 60), std::move(row), facts);
}

// What was chosen stays so, wherever its row is now; of a connection that is gone no other is chosen.
void ConnectionList::refresh()
{
    const auto keyOf = [this](const QListWidgetItem *item) { return std::pair(item->text(), shown(item)->name); };
    const auto *chosen = m_rows->currentItem();
    const auto before = chosen ? std::optional(keyOf(chosen)) : std::nullopt;
    m_rows->clear();
    m_shown.clear();
    const auto &all = m_book.all();
    if (all.size() > 1) {
        const auto connected = std::ranges::count(all, ConnectionStatus::State::Connected, &ConnectionStatus::state);
        add(tr("All connections"), {.look = lookWithoutShape(),
                                    .below = tr("%1 of %2 connected").arg(connected).arg(all.size()),
                                    .name = ConnectionName(),
                                    .saved = {},
                                    .color = {},
                                    .isCurrent = m_current.isEmpty()});
    }
    for (const auto &status : all)
        addOpen(status);
    add(tr("Connect…"),
        {.look = lookWithoutShape(), .below = tr("Open a new connection"), .name = {}, .saved = {}, .color = {}});
    for (const auto &[title, connections] : m_store ? m_store->groups() : std::vector<ConnectionGroup>()) {
        for (const auto &saved : connections)
            addSaved(saved, title);
    }
    int row = before ? m_rows->count() - 1 : 0;
    while (before && row >= 0 && keyOf(m_rows->item(row)) != *before)
        --row;
    m_rows->setCurrentRow(row);
}

void ConnectionList::open(const QPoint &corner)
{
    refresh();
    for (int row = 0; row < m_rows->count(); ++row) {
        if (m_shown[static_cast<std::size_t>(row)].isCurrent)
            m_rows->setCurrentRow(row);
    }
    const QRect screen = this->screen()->availableGeometry();
    const int width = std::min(listWidth, screen.width());
    const int height = std::min(m_rows->count(), mostRows) * rowHeight + 14;
    const int left = std::max(screen.left(), std::min(corner.x(), screen.right()) - width);
    setGeometry(left, corner.y() + 2, width, std::min(height, screen.bottom() - corner.y() - 4));
    show();
    m_rows->setFocus(Qt::PopupFocusReason);
}

const ConnectionRow *ConnectionList::shown(const QListWidgetItem *item) const
{
    return item ? &m_shown[static_cast<std::size_t>(m_rows->row(item))] : nullptr;
}

void ConnectionList::activate(const QListWidgetItem *item)
{
    const auto *row = shown(item);
    if (!row)
        return;
    const auto [name, saved] = std::pair(row->name, row->saved);
    hide();
    if (saved)
        emit savedChosen(*saved);
    else if (name)
        emit connectionChosen(*name);
    else
        emit connectRequested();
}

void ConnectionList::choose(const ConnectionName &name)
{
    setCurrent(name);
    emit connectionChosen(name);
}

void ConnectionList::openMenuOf(const QListWidgetItem *item)
{
    const auto *row = shown(item);
    if (!row || !row->hasMenu())
        return;
    const auto at = m_rows->viewport()->mapToGlobal(m_rows->visualItemRect(item).topRight() + QPoint(-moreWidth, 30));
    if (!row->saved) {
        showMenu(*row->name, at);
        return;
    }
    const auto saved = *row->saved;
    hide(); // its menu is the window's
    emit savedMenuRequested(saved, at);
}

bool ConnectionList::takeKey(int key, Qt::KeyboardModifiers modifiers)
{
    switch (key) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space: activate(m_rows->currentItem()); return true;
    case Qt::Key_Right:
    case Qt::Key_Menu: openMenuOf(m_rows->currentItem()); return true;
    case Qt::Key_F10:
        if (modifiers != Qt::ShiftModifier)
            return false;
        openMenuOf(m_rows->currentItem());
        return true;
    case Qt::Key_Escape: hide(); return true;
    default: return false;
    }
}

bool ConnectionList::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_rows && event->type() == QEvent::KeyPress) {
        const auto *key = static_cast<QKeyEvent *>(event);
        return takeKey(key->key(), key->modifiers());
    }
    if (event->type() == QEvent::ContextMenu) {
        const auto *menu = static_cast<QContextMenuEvent *>(event);
        if (menu->reason() == QContextMenuEvent::Mouse)
            openMenuOf(m_rows->itemAt(menu->pos()));
        return true;
    }
    if (watched == m_rows->viewport() && event->type() == QEvent::MouseButtonRelease) {
        const auto *mouse = static_cast<QMouseEvent *>(event);
        const auto *row = m_rows->itemAt(mouse->pos());
        if (!row || mouse->button() != Qt::LeftButton)
            return false;
        if (shown(row)->hasMenu() && mouse->pos().x() > m_rows->viewport()->width() - moreWidth - 6)
            openMenuOf(row);
        else
            activate(row);
        return true;
    }
    return QFrame::eventFilter(watched, event);
}

QMenu *ConnectionList::showMenu(const ConnectionName &name, const QPoint &at)
{
    const auto *status = m_book.find(name);
    if (!status)
        return nullptr;
    auto *menu = passing(new QMenu(this));
    const auto add = [this, menu](const QString &text, auto act) {
        auto *action = menu->addAction(text);
        connect(action, &QAction::triggered, this, [this, act] {
            hide(); // what follows may be a question, which is read without a list over it
            act();
        });
        return action;
    };
    add(status->readOnly ? tr("Allow writes…") : tr("Make read-only"), [this, name, now = status->readOnly] {
        emit readOnlyRequested(name, !now);
    })->setEnabled(!status->readOnlyForGood);
    if (status->state != ConnectionStatus::State::Connected) { // why it is not stands on the page
        add(tr("Retry"), [this, name] { emit retryRequested(name); });
        add(tr("Edit…"), [this, name] { emit editRequested(name); });
    }
    const auto addCopy = [&add](const QString &words, const QString &text) {
        add(words, [text] { copyToClipboard(text); });
    };
    menu->addSeparator();
    addCopy(tr("Copy name"), escaped(name.bytes()));
    addCopy(tr("Copy address"), status->uri);
    addCopy(tr("Copy as command"),
            u"lockscopectl --connect %1 locks"_s.arg(quotedForShell(escaped(name.bytes()) + u'=' + status->uri)));
    menu->addSeparator();
    add(tr("Disconnect"), [this, name] { emit disconnectRequested(name); });
    menu->popup(at);
    return menu;
}

} // namespace lockscope::ui
