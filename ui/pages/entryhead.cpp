// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/entryhead.h"

#include "core/base/text.h"
#include "ui/parts/layouts.h"
#include "ui/parts/parts.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QLineEdit>
#include <QPushButton>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

constexpr int lineMargin = 2; // QLineEdit's own, which no style sheet takes away

EntryHead::EntryHead(const QString &copy, const QString &accessibleName, QWidget *parent) : QWidget(parent)
{
    m_name = new QLineEdit(this);
    m_name->setReadOnly(true);
    m_name->setFrame(false);
    m_name->setFont(monoFont(15, QFont::DemiBold));
    m_name->setStyleSheet(u"QLineEdit { border: none; padding: 0; background: transparent; }"_s);
    m_name->setTextMargins(-lineMargin, 0, 0, 0);
    m_name->setAccessibleName(accessibleName);
    auto *copyButton = makeButton(copy, this, [this] { QGuiApplication::clipboard()->setText(escaped(m_bytes)); });
    m_edit = named(new QPushButton(u"Edit"_s, this), u"editButton"_s);
    m_edit->hide();
    m_summary = makeWrapped({}, u"small"_s, this);
    m_linkRow = new QWidget(this);
    m_linkLayout = makeRow(m_linkRow, {.spacing = 16}, {Stretch{}});
    m_linkRow->hide();
    m_banner = new QFrame(this);
    m_banner->setProperty("look", u"banner-warning"_s);
    m_bannerText = makeWrapped({}, {}, m_banner);
    makeRow(m_banner, {.margins = {10, 6, 10, 6}}, {m_bannerText});
    auto *top = makeRow({}, {{m_name, 1}, m_edit, copyButton});
    makeColumn(this, {.margins = {16, 12, 16, 8}, .spacing = 6}, {top, m_summary, m_linkRow, m_banner});
    warn({});
}

void EntryHead::setName(const QByteArray &name)
{
    m_bytes = name;
    m_name->setText(label(name, 4000));
    m_name->setCursorPosition(0);
}

void EntryHead::warn(const QString &text)
{
    m_bannerText->setText(text);
    m_banner->setVisible(!text.isEmpty());
}

void EntryHead::setLinks(std::vector<Link> links)
{
    for (auto *button : std::exchange(m_links, {}))
        button->deleteLater();
    for (auto &link : links) {
        auto *button = new QPushButton(link.text, m_linkRow);
        button->setProperty("look", u"link"_s); // its words begin where those above and below do
        button->setToolTip(plainToolTip(link.tip));
        connect(button, &QPushButton::clicked, this, [follow = std::move(link.follow)] { follow(); });
        m_linkLayout->insertWidget(static_cast<int>(m_links.size()), button);
        m_links.push_back(button);
    }
    m_linkRow->setVisible(!m_links.empty());
}

void EntryHead::setEditMenu(QMenu *menu)
{
    m_edit->setMenu(menu);
    m_edit->setVisible(menu != nullptr);
}

} // namespace lockscope::ui

#include "moc_entryhead.cpp"
