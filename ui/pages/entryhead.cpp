// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/entryhead.h"

#include "core/base/text.h"
#include "ui/parts/parts.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int lineMargin = 2; // QLineEdit's own, which no style sheet takes away

} // namespace

EntryHead::EntryHead(const QString &copy, const QString &accessibleName, QWidget *parent) : QWidget(parent)
{
    m_name = new QLineEdit(this);
    m_name->setReadOnly(true);
    m_name->setFrame(false);
    m_name->setFont(monoFont(15, QFont::DemiBold));
    m_name->setStyleSheet(u"QLineEdit { border: none; padding: 0; background: transparent; }"_s);
    m_name->setTextMargins(-lineMargin, 0, 0, 0);
    m_name->setAccessibleName(accessibleName);
    auto *copyButton = new QPushButton(copy, this);
    connect(copyButton, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(escaped(m_bytes)); });
    m_edit = new QPushButton(u"Edit"_s, this);
    m_edit->setObjectName(u"editButton"_s);
    m_edit->hide();
    m_summary = makeLabel({}, u"small"_s, this);
    m_summary->setWordWrap(true);
    m_linkRow = new QWidget(this);
    m_linkLayout = new QHBoxLayout(m_linkRow);
    m_linkLayout->setContentsMargins(0, 0, 0, 0);
    m_linkLayout->setSpacing(16);
    m_linkLayout->addStretch();
    m_linkRow->hide();
    m_banner = new QFrame(this);
    m_banner->setProperty("look", u"banner-warning"_s);
    m_bannerText = makeLabel({}, {}, m_banner);
    m_bannerText->setWordWrap(true);
    auto *bannerLayout = new QHBoxLayout(m_banner);
    bannerLayout->setContentsMargins(10, 6, 10, 6);
    bannerLayout->addWidget(m_bannerText);
    auto *top = new QHBoxLayout;
    top->addWidget(m_name, 1);
    top->addWidget(m_edit);
    top->addWidget(copyButton);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 12, 16, 8);
    layout->setSpacing(6);
    layout->addLayout(top);
    layout->addWidget(m_summary);
    layout->addWidget(m_linkRow);
    layout->addWidget(m_banner);
    warn({});
}

void EntryHead::setName(const QByteArray &name)
{
    m_bytes = name;
    m_name->setText(label(name, 4000));
    m_name->setCursorPosition(0);
}

void EntryHead::setSummary(const QString &text)
{
    m_summary->setText(text);
}

QString EntryHead::summary() const
{
    return m_summary->text();
}

void EntryHead::warn(const QString &text)
{
    m_bannerText->setText(text);
    m_banner->setVisible(!text.isEmpty());
}

QString EntryHead::warning() const
{
    return m_bannerText->text();
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
