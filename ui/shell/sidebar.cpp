// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/sidebar.h"

#include "ui/parts/layouts.h"
#include "ui/shell/actions.h"
#include "core/base/text.h"
#include "ui/models/shown.h"
#include "ui/parts/environment.h"
#include "ui/parts/parts.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QButtonGroup>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QVBoxLayout>

namespace lockscope::ui {

using State = ConnectionStatus::State;

SideItem::SideItem(const QString &text, QWidget *parent) : QAbstractButton(parent)
{
    setText(text);
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(text);
}

void SideItem::setDot(std::optional<Tone> tone, bool hollow)
{
    m_dot = tone;
    m_hollow = hollow;
    update();
}

void SideItem::setTag(const QString &tag, Tone tone)
{
    m_tag = tag;
    m_tagTone = tone;
    update();
}

void SideItem::setNote(const QString &note, std::optional<Tone> tone)
{
    m_note = note;
    m_noteTone = tone;
    setAccessibleDescription(QStringLiteral("%1 %2").arg(m_tag, note));
    update();
}

void SideItem::setStripe(const QColor &colour)
{
    m_stripe = colour;
    update();
}

bool SideItem::event(QEvent *event)
{
    const bool isByKey = event->type() == QEvent::ContextMenu
                         && static_cast<QContextMenuEvent *>(event)->reason() == QContextMenuEvent::Keyboard;
    return isByKey || QAbstractButton::event(event); // the key itself is taken below, on every platform alike
}

void SideItem::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Menu || (event->key() == Qt::Key_F10 && event->modifiers() == Qt::ShiftModifier))
        emit customContextMenuRequested(rect().center());
    else
        QAbstractButton::keyPressEvent(event);
}

void SideItem::enterEvent(QEnterEvent *event)
{
    m_hovered = true;
    update();
    QAbstractButton::enterEvent(event);
}

void SideItem::leaveEvent(QEvent *event)
{
    m_hovered = false;
    update();
    QAbstractButton::leaveEvent(event);
}

void SideItem::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(Qt::NoPen);
    if (isChecked() || m_hovered) {
        QColor fill = t.selection;
        if (!isChecked())
            fill.setAlphaF(0.5f);
        painter.setBrush(fill);
        painter.drawRoundedRect(box, 6, 6);
    }
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(t.accent, 1.4));
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    }
    if (m_stripe.isValid())
        painter.fillRect(QRectF(box.left(), box.top() + 6, 3, box.height() - 12), m_stripe);
    QRectF inside = box.adjusted(8, 0, -8, 0);
    if (m_dot) {
        paintShape(painter, QRectF(inside.left() - 1, inside.top(), 10, inside.height()),
                   m_hollow ? PillShape::Ring : PillShape::Disc, toneColor(t, *m_dot));
        inside.setLeft(inside.left() + 17);
    }
    painter.setFont(textFont(12));
    const QFont tagFont = textFont(10, QFont::DemiBold);
    const qreal tagWidth = m_tag.isEmpty() ? 0 : QFontMetricsF(tagFont).horizontalAdvance(m_tag) + 10;
    const qreal noteWidth = m_note.isEmpty() ? 0 : tabularWidth(painter.font(), m_note) + 8;
    const qreal nameWidth = QFontMetricsF(textFont(13, QFont::DemiBold)).horizontalAdvance(text());
    // The name and the mark of production come first; the dot still tells a broken connection.
    if (nameWidth + tagWidth + 16 + noteWidth <= inside.width()) {
        painter.setPen(m_noteTone ? toneColor(t, *m_noteTone) : t.muted);
        drawTabular(painter, inside, Qt::AlignRight, m_note);
        inside.setRight(inside.right() - noteWidth);
    }
    painter.setFont(textFont(13, isChecked() ? QFont::DemiBold : QFont::Normal));
    painter.setPen(isEnabled() ? t.text : t.muted);
    const QFontMetricsF metrics(painter.font());
    const QString name =
        metrics.elidedText(text(), Qt::ElideMiddle, inside.width() - (tagWidth > 0 ? tagWidth + 8 : 0));
    painter.drawText(inside, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine, name);
    if (tagWidth > 0) {
        const QRectF tag(inside.left() + metrics.horizontalAdvance(name) + 8, box.center().y() - 8, tagWidth, 16);
        painter.setPen(Qt::NoPen);
        painter.setBrush(toneSoft(t, m_tagTone));
        painter.drawRoundedRect(tag, 4, 4);
        painter.setFont(tagFont);
        painter.setPen(toneColor(t, m_tagTone));
        painter.drawText(tag, Qt::AlignCenter, m_tag);
    }
}

namespace {

QLabel *sectionLabel(const QString &text, QWidget *parent)
{
    auto *section = makeLabel(text, u"section"_s, parent);
    section->setContentsMargins(8, 8, 8, 3);
    return section;
}

QString latencyText(std::chrono::microseconds latency)
{
    const auto us = latency.count();
    if (us < 100'000)
        return u"%1 ms"_s.arg(static_cast<double>(us) / 1000.0, 0, 'f', us < 10'000 ? 1 : 0);
    return u"%1 ms"_s.arg(us / 1000);
}

void describe(SideItem &item, const ConnectionStatus &status, const Environment &environment)
{
    switch (status.state) {
    case State::Connected:
        item.setDot(Tone::Ok);
        item.setNote(status.latency ? latencyText(*status.latency) : QString());
        break;
    case State::Connecting:
        item.setDot(Tone::Wait, true);
        item.setNote(u"connecting"_s, Tone::Wait);
        break;
    case State::Broken:
        if (status.message == nothingRecorded()) { // of the moment shown, which is not now
            item.setDot(Tone::Free, true);
            item.setNote(u"not recorded"_s, Tone::Free);
            break;
        }
        item.setDot(Tone::Critical, true);
        item.setNote(u"broken"_s, Tone::Critical);
        break;
    case State::AuthFailed:
        item.setDot(Tone::Critical, true);
        item.setNote(u"refused"_s, Tone::Critical);
        break;
    }
    item.setTag(environment.word, environment.production ? Tone::Critical : Tone::Free);
    QStringList tip{label(status.uri.toUtf8(), 300)};
    if (const auto warning = transportWarning(status.uri); !warning.isEmpty())
        tip << warning;
    if (!status.message.isEmpty())
        tip << label(status.message.toUtf8(), 300);
    tip << (status.readOnly ? SideBar::tr("read-only") : SideBar::tr("writes allowed"));
    item.setToolTip(plainToolTip(tip.join(u'\n')));
}

} // namespace

SideBar::SideBar(const ConnectionBook &book, QWidget *parent)
    : QFrame(parent), m_book(book), m_connections(new QVBoxLayout), m_pages(new QVBoxLayout),
      m_pageGroup(new QButtonGroup(this)), m_sandbox(new QLabel(this))
{
    setProperty("look", u"sidebar"_s);
    setObjectName(u"sideBar"_s);
    setFixedWidth(228);
    m_connections->setSpacing(0);
    auto *connectButton =
        named(makeButton(tr("+ Connect…"), this, &SideBar::connectRequested, u"flat"_s), u"connectButton"_s);
    m_pages->setSpacing(0);
    m_sandbox->setTextFormat(Qt::PlainText);
    m_sandbox->setProperty("look", u"muted"_s);
    m_sandbox->setContentsMargins(8, 4, 8, 4);
    m_sandbox->setWordWrap(true);
    m_sandbox->setText(tr("No sandbox"));
    makeColumn(this, {.margins = {8, 8, 8, 8}, .spacing = 0},
               {sectionLabel(tr("CONNECTIONS"), this),
                m_connections,
                {connectButton, 0, Qt::AlignLeft},
                sectionLabel(tr("PAGES"), this),
                m_pages,
                Stretch{},
                m_sandbox});
    connect(m_pageGroup, &QButtonGroup::idClicked, this, &SideBar::pageChosen);
    connect(&book, &ConnectionBook::changed, this, &SideBar::refresh);
    refresh();
}

void SideBar::addPage(const QString &title, int number)
{
    auto *item = new SideItem(title, this);
    item->setToolTip(keysOfPage(number));
    m_pageGroup->addButton(item, number);
    m_pages->addWidget(item);
}

void SideBar::setCurrentPage(int page)
{
    if (auto *button = m_pageGroup->button(page))
        button->setChecked(true);
}

void SideBar::focusPage()
{
    if (auto *button = m_pageGroup->checkedButton())
        button->setFocus();
}

void SideBar::setPageCount(int page, const QString &count)
{
    if (auto *item = qobject_cast<SideItem *>(m_pageGroup->button(page)))
        item->setNote(count);
}

void SideBar::setSandbox(const QString &state)
{
    m_sandbox->setText(state);
}

void SideBar::setColours(Colours colours)
{
    m_colours = std::move(colours);
    refresh();
}

void SideBar::setCurrentConnection(const ConnectionName &name)
{
    m_connection = name;
    for (auto &[known, item] : m_items)
        item->setChecked(known == name);
}

SideItem *SideBar::itemOf(const ConnectionName &name)
{
    const auto known = m_items.find(name);
    if (known != m_items.end())
        return known->second;
    auto *item = new SideItem(label(name.bytes(), 60), this);
    item->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(item, &SideItem::clicked, this, [this, name] {
        // A second click goes back to all connections.
        setCurrentConnection(m_connection == name ? ConnectionName() : name);
        emit connectionChosen(m_connection);
    });
    connect(item, &QWidget::customContextMenuRequested, this,
            [this, name, item](const QPoint &at) { showMenu(name, item->mapToGlobal(at)); });
    m_connections->addWidget(item);
    m_items.emplace(name, item);
    return item;
}

void SideBar::refresh()
{
    for (const auto &status : m_book.all()) {
        auto *item = itemOf(status.name);
        describe(*item, status, environmentOf(m_book, status));
        item->setStripe(m_colours ? m_colours(status.name) : QColor());
    }
    std::erase_if(m_items, [this](const auto &entry) {
        if (m_book.find(entry.first))
            return false;
        entry.second->deleteLater();
        return true;
    });
}

void SideBar::showMenu(const ConnectionName &name, const QPoint &at)
{
    const auto *status = m_book.find(name);
    if (!status)
        return;
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    auto *readOnly = menu->addAction(status->readOnly ? tr("Allow writes…") : tr("Make read-only"));
    readOnly->setEnabled(!status->readOnlyForGood);
    connect(readOnly, &QAction::triggered, this,
            [this, name, now = status->readOnly] { emit readOnlyRequested(name, !now); });
    if (status->state != State::Connected) { // why it is not stands on the page
        connect(menu->addAction(tr("Retry")), &QAction::triggered, this, [this, name] { emit retryRequested(name); });
        connect(menu->addAction(tr("Edit…")), &QAction::triggered, this, [this, name] { emit editRequested(name); });
    }
    const auto addCopy = [menu](const QString &words, const QString &text) {
        connect(menu->addAction(words), &QAction::triggered, menu,
                [text] { QGuiApplication::clipboard()->setText(text); });
    };
    menu->addSeparator();
    addCopy(tr("Copy name"), escaped(name.bytes()));
    addCopy(tr("Copy address"), status->uri);
    addCopy(tr("Copy as command"), u"lockscopectl --connect '%1=%2' locks"_s.arg(
                                       escaped(name.bytes()), QString(status->uri).replace(u'\'', u"'\\''"_s)));
    menu->addSeparator();
    connect(menu->addAction(tr("Disconnect")), &QAction::triggered, this,
            [this, name] { emit disconnectRequested(name); });
    menu->popup(at);
}

} // namespace lockscope::ui

#include "moc_sidebar.cpp"
