// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/znodesdetail.h"

#include "core/base/text.h"
#include "ui/pages/valueview.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QDateTime>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

// A node that changes a thousand times in a second is read four times in it.
constexpr auto readAgainAfter = 250ms;

QString hex(qint64 value)
{
    return u"0x"_s + QString::number(static_cast<quint64>(value), 16);
}

QString timeText(std::chrono::milliseconds sinceEpoch)
{
    if (sinceEpoch.count() == 0)
        return u"–"_s; // the root was not made at any time
    return QDateTime::fromMSecsSinceEpoch(sinceEpoch.count()).toString(u"yyyy-MM-dd HH:mm:ss.zzz"_s);
}

QString permsText(int perms)
{
    QString text;
    const std::pair<int, QChar> letters[] = {{zk::perms::create, u'c'},
                                             {zk::perms::remove, u'd'},
                                             {zk::perms::read, u'r'},
                                             {zk::perms::write, u'w'},
                                             {zk::perms::admin, u'a'}};
    for (const auto &[bit, letter] : letters)
        text += (perms & bit) != 0 ? letter : QChar(u'-');
    return text;
}

QString summaryText(const zk::Stat &stat)
{
    QStringList parts;
    parts << (stat.ephemeralOwner.isNone() ? u"persistent"_s
                                           : u"ephemeral, lives as long as session "_s + stat.ephemeralOwner.text());
    if (stat.numChildren > 0)
        parts << (stat.numChildren == 1 ? u"1 child"_s : u"%1 children"_s.arg(countText(stat.numChildren)));
    parts << (stat.version == 0 ? u"data never changed"_s : u"data changed %1 ×"_s.arg(countText(stat.version)));
    return parts.join(u" · "_s);
}

const QStringList &statFields()
{
    static const QStringList fields{u"czxid"_s, u"created"_s, u"mzxid"_s,    u"modified"_s,
                                    u"pzxid"_s, u"version"_s, u"cversion"_s, u"aversion"_s,
                                    u"owner"_s, u"length"_s,  u"children"_s};
    return fields;
}

} // namespace

ZnodeDetailView::ZnodeDetailView(QWidget *parent) : QWidget(parent)
{
    m_again.setSingleShot(true);
    m_again.setInterval(readAgainAfter);
    connect(&m_again, &QTimer::timeout, this, &ZnodeDetailView::ask);

    m_empty = new EmptyNotice(this);
    m_empty->say(
        u"No znode chosen"_s,
        u"Choose a node at the left, or type its path above, to see its stat, its permissions and its data."_s);
    m_value = new ValueView(this);
    auto *content = new QFrame(this);
    content->setProperty("look", u"panel"_s);
    auto *layout = new QVBoxLayout(content);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(buildHead());
    layout->addWidget(buildFacts(), 1);
    layout->addStretch();

    m_stack = new QStackedWidget(this);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(content);
    auto *outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(m_stack);
}

QWidget *ZnodeDetailView::buildHead()
{
    auto *head = new QWidget(this);
    m_pathField = new QLineEdit(head);
    m_pathField->setReadOnly(true);
    m_pathField->setFrame(false);
    m_pathField->setFont(monoFont(15, QFont::DemiBold));
    m_pathField->setStyleSheet(u"QLineEdit { border: none; padding: 0; background: transparent; }"_s);
    m_pathField->setAccessibleName(u"Path of the node"_s);
    m_copy = new QPushButton(u"Copy path"_s, head);
    connect(m_copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(escaped(m_path.bytes())); });
    m_summary = makeLabel({}, u"small"_s, head);
    m_summary->setWordWrap(true);
    m_banner = new QFrame(head);
    m_banner->setProperty("look", u"banner-warning"_s);
    m_bannerText = makeLabel({}, {}, m_banner);
    m_bannerText->setWordWrap(true);
    auto *bannerLayout = new QHBoxLayout(m_banner);
    bannerLayout->setContentsMargins(10, 6, 10, 6);
    bannerLayout->addWidget(m_bannerText);
    auto *top = new QHBoxLayout;
    top->addWidget(m_pathField, 1);
    top->addWidget(m_copy);
    auto *layout = new QVBoxLayout(head);
    layout->setContentsMargins(16, 12, 16, 8);
    layout->setSpacing(6);
    layout->addLayout(top);
    layout->addWidget(m_summary);
    layout->addWidget(m_banner);
    return head;
}

QWidget *ZnodeDetailView::buildFacts()
{
    m_facts = new QWidget(this);
    auto *facts = new QWidget(m_facts);
    m_stat = new QGridLayout;
    m_stat->setHorizontalSpacing(14);
    m_stat->setVerticalSpacing(3);
    const int rows = static_cast<int>(statFields().size() + 1) / 2;
    for (int i = 0; i < statFields().size(); ++i) {
        auto *value = makeSelectable({}, facts);
        m_stat->addWidget(makeLabel(statFields()[i], u"small"_s, facts), i % rows, i / rows * 2);
        m_stat->addWidget(value, i % rows, i / rows * 2 + 1);
        m_statValues.emplace_back(statFields()[i], value);
    }
    m_stat->setColumnStretch(1, 1);
    m_stat->setColumnStretch(3, 1);
    m_acls = makeSelectable({}, facts);
    m_acls->setWordWrap(true);

    auto *layout = new QVBoxLayout(facts);
    layout->setContentsMargins(16, 4, 16, 12);
    layout->setSpacing(6);
    layout->addWidget(makeLabel(u"STAT"_s, u"section"_s, facts));
    layout->addLayout(m_stat);
    layout->addSpacing(6);
    layout->addWidget(makeLabel(u"WHO MAY DO WHAT (ACL)"_s, u"section"_s, facts));
    layout->addWidget(m_acls);
    auto *all = new QVBoxLayout(m_facts);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(0);
    all->addWidget(facts);
    all->addWidget(makeHairline(m_facts));
    all->addWidget(m_value, 1);
    return m_facts;
}

void ZnodeDetailView::show(Backend *backend, const ConnectionName &connection, const ZPath &path)
{
    const bool isSame = connection == m_connection && path == m_path;
    m_backend = backend;
    m_connection = connection;
    m_path = path;
    m_again.stop();
    if (path.isEmpty() || !backend) {
        m_stack->setCurrentIndex(0);
        m_isRead = false;
        return;
    }
    if (!isSame) {
        m_isRead = false;
        m_pathField->setText(label(path.bytes(), 4000));
        m_pathField->setCursorPosition(0);
        m_summary->setText(u"reading…"_s);
        warn({});
        m_value->clear();
        m_facts->hide();
    }
    m_stack->setCurrentIndex(1);
    ask();
}

void ZnodeDetailView::ask()
{
    m_backend->readZnode(m_connection, m_path, this,
                         [this, connection = m_connection, path = m_path](const Result<ZnodeDetail> &answer) {
                             if (connection == m_connection)
                                 take(path, answer);
                         });
}

void ZnodeDetailView::take(const ZPath &path, const Result<ZnodeDetail> &answer)
{
    if (path != m_path)
        return; // another node is on show by now
    if (!answer) {
        if (answer.error().code == ErrorCode::NoNode)
            showGone();
        else
            warn(answer.error().message);
        if (!m_isRead)
            m_summary->clear();
        return;
    }
    warn({});
    m_summary->setText(summaryText(answer->stat));
    fillStat(answer->stat);
    fillAcls(answer->acls);
    m_value->setValue(answer->data, answer->stat.dataLength, m_isRead);
    m_isRead = true;
    m_facts->show();
    emit looked(path, answer->stat);
}

void ZnodeDetailView::fillStat(const zk::Stat &stat)
{
    const QString values[] = {
        hex(stat.czxid),
        timeText(stat.ctime),
        hex(stat.mzxid),
        timeText(stat.mtime),
        hex(stat.pzxid),
        QString::number(stat.version),
        QString::number(stat.cversion),
        QString::number(stat.aversion),
        stat.ephemeralOwner.isNone() ? u"none"_s : stat.ephemeralOwner.text(),
        countText(stat.dataLength),
        countText(stat.numChildren),
    };
    for (std::size_t i = 0; i < m_statValues.size(); ++i)
        m_statValues[i].second->setText(values[i]);
}

void ZnodeDetailView::fillAcls(const zk::Acls &acls)
{
    QStringList lines;
    for (const auto &acl : acls)
        lines << u"%1  %2:%3"_s.arg(permsText(acl.perms), label(acl.scheme), label(acl.id));
    m_acls->setText(lines.isEmpty() ? u"not readable"_s : lines.join(u'\n'));
}

void ZnodeDetailView::warn(const QString &text)
{
    m_bannerText->setText(text);
    m_banner->setVisible(!text.isEmpty());
}

void ZnodeDetailView::showGone()
{
    m_again.stop();
    const QString since = QDateTime::currentDateTime().toString(u"HH:mm:ss"_s);
    warn(m_isRead ? u"This node is gone; found missing at %1. What was last read stays below."_s.arg(since)
                  : u"There is no such node (asked at %1)."_s.arg(since));
}

void ZnodeDetailView::changed()
{
    if (m_isRead && !m_again.isActive())
        m_again.start();
}

QString ZnodeDetailView::statText(const QString &field) const
{
    for (const auto &[name, value] : m_statValues) {
        if (name == field)
            return value->text();
    }
    return {};
}

QString ZnodeDetailView::aclText() const
{
    return m_acls->text();
}

QString ZnodeDetailView::bannerText() const
{
    return m_bannerText->text();
}

} // namespace lockscope::ui
