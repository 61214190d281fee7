// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/sidebar.h"

#include "core/base/text.h"
#include "ui/theme/text.h"

#include <QButtonGroup>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using State = ConnectionStatus::State;

namespace {

QLabel *sectionLabel(const QString &text, QWidget *parent)
{
    auto *section = new QLabel(text, parent);
    section->setProperty("look", u"section"_s);
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

void describe(SideItem &item, const ConnectionStatus &status)
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
        item.setDot(Tone::Critical, true);
        item.setNote(u"broken"_s, Tone::Critical);
        break;
    case State::AuthFailed:
        item.setDot(Tone::Critical, true);
        item.setNote(u"refused"_s, Tone::Critical);
        break;
    }
    item.setTag(status.production ? u"PROD"_s : u"DEV"_s, status.production ? Tone::Critical : Tone::Ok);
    QStringList tip{label(status.uri.toUtf8(), 300)};
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
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 8);
    column->setSpacing(0);
    column->addWidget(sectionLabel(tr("CONNECTIONS"), this));
    m_connections->setSpacing(0);
    column->addLayout(m_connections);
    auto *connectButton = new QPushButton(tr("+ Connect…"), this);
    connectButton->setProperty("look", u"flat"_s);
    connectButton->setObjectName(u"connectButton"_s);
    connect(connectButton, &QPushButton::clicked, this, &SideBar::connectRequested);
    column->addWidget(connectButton, 0, Qt::AlignLeft);
    column->addWidget(sectionLabel(tr("LOOK"), this));
    m_pages->setSpacing(0);
    column->addLayout(m_pages);
    column->addStretch();
    m_sandbox->setTextFormat(Qt::PlainText);
    m_sandbox->setProperty("look", u"muted"_s);
    m_sandbox->setContentsMargins(8, 4, 8, 4);
    m_sandbox->setWordWrap(true);
    m_sandbox->setText(tr("Sandbox not running"));
    column->addWidget(m_sandbox);
    connect(m_pageGroup, &QButtonGroup::idClicked, this, &SideBar::pageChosen);
    connect(&book, &ConnectionBook::changed, this, &SideBar::refresh);
    refresh();
}

void SideBar::addPage(const QString &title, int number)
{
    auto *item = new SideItem(title, this);
    item->setToolTip(tr("Ctrl+%1").arg(number + 1));
    m_pageGroup->addButton(item, number);
    m_pages->addWidget(item);
}

void SideBar::setCurrentPage(int page)
{
    if (auto *button = m_pageGroup->button(page))
        button->setChecked(true);
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
    connect(item, &QWidget::customContextMenuRequested, this, [this, name, item](const QPoint &at) {
        showMenu(name, item->mapToGlobal(at));
    });
    m_connections->addWidget(item);
    m_items.emplace(name, item);
    return item;
}

void SideBar::refresh()
{
    for (const auto &status : m_book.all()) {
        auto *item = itemOf(status.name);
        describe(*item, status);
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
    menu->addSeparator();
    connect(menu->addAction(tr("Disconnect")), &QAction::triggered, this,
            [this, name] { emit disconnectRequested(name); });
    menu->popup(at);
}

} // namespace lockscope::ui
