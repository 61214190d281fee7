// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/znodespage.h"

#include "core/base/text.h"
#include "ui/pages/valueview.h"

namespace lockscope::ui {

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

QString summaryText(const zk::Stat &stat, const QString &owner)
{
    QStringList parts;
    parts << (stat.ephemeralOwner.isNone() ? u"persistent"_s : u"ephemeral, lives as long as session "_s + owner);
    if (stat.numChildren > 0)
        parts << (stat.numChildren == 1 ? u"1 child"_s : u"%1 children"_s.arg(countText(stat.numChildren)));
    parts << (stat.version == 0 ? u"data never changed"_s : u"data changed %1 ×"_s.arg(countText(stat.version)));
    return parts.join(u" · "_s);
}

std::vector<std::pair<QString, QString>> statLines(const zk::Stat &stat, const QString &owner)
{
    return {{u"czxid"_s, hex(stat.czxid)},
            {u"created"_s, timeText(stat.ctime)},
            {u"mzxid"_s, hex(stat.mzxid)},
            {u"modified"_s, timeText(stat.mtime)},
            {u"pzxid"_s, hex(stat.pzxid)},
            {u"version"_s, QString::number(stat.version)},
            {u"cversion"_s, QString::number(stat.cversion)},
            {u"aversion"_s, QString::number(stat.aversion)},
            {u"owner"_s, stat.ephemeralOwner.isNone() ? u"none"_s : owner},
            {u"length"_s, countText(stat.dataLength)},
            {u"children"_s, countText(stat.numChildren)}};
}

} // namespace

ZnodeDetailView::ZnodeDetailView(QWidget *parent) : QWidget(parent)
{
    callAfter(m_again, readAgainAfter, this, &ZnodeDetailView::ask);

    m_stack = new QStackedWidget(this);
    m_empty = new EmptyNotice(m_stack);
    m_empty->say(
        u"No znode chosen"_s,
        u"Choose a node at the left, or type its path above, to see its stat, its permissions and its data."_s);
    m_value = new ValueView(this);
    auto *content = new QFrame(m_stack);
    content->setProperty("look", u"panel"_s);
    makeColumn(
        content, {.spacing = 0},
        {m_head = new EntryHead(u"Copy path"_s, u"Path of the node"_s, content), {buildFacts(), 1}, Stretch{}});

    m_stack->addWidget(m_empty);
    m_stack->addWidget(content);
    makeColumn(this, {}, {m_stack});
}

QWidget *ZnodeDetailView::buildFacts()
{
    m_facts = new QWidget(this);
    auto *facts = new QWidget(m_facts);
    m_stat = new QGridLayout;
    m_stat->setHorizontalSpacing(14);
    m_stat->setVerticalSpacing(3);
    const auto lines = statLines({}, {});
    const int rows = static_cast<int>(lines.size() + 1) / 2;
    for (int i = 0; i < static_cast<int>(lines.size()); ++i) {
        const auto &field = lines[static_cast<std::size_t>(i)].first;
        auto *value = makeSelectable({}, facts);
        m_stat->addWidget(makeLabel(field, u"small"_s, facts), i % rows, i / rows * 2);
        m_stat->addWidget(value, i % rows, i / rows * 2 + 1);
        m_statValues.emplace_back(field, value);
    }
    m_stat->setColumnStretch(1, 1);
    m_stat->setColumnStretch(3, 1);
    m_acls = makeSelectable({}, facts);
    m_acls->setWordWrap(true);

    makeColumn(facts, {.margins = {16, 4, 16, 12}, .spacing = 6},
               {makeLabel(u"STAT"_s, u"section"_s, facts), m_stat, Gap{6},
                makeLabel(u"WHO MAY DO WHAT (ACL)"_s, u"section"_s, facts), m_acls});
    makeColumn(m_facts, {.spacing = 0}, {facts, makeHairline(m_facts), {m_value, 1}});
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
        m_head->setName(path.bytes());
        m_head->setSummary(u"reading…"_s);
        m_head->setLinks({});
        m_head->warn({});
        m_value->clear();
        m_facts->hide();
    }
    m_stack->setCurrentIndex(1);
    ask();
}

void ZnodeDetailView::ask()
{
    m_backend->ask(ReadZnode{m_connection, m_path}, this,
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
            m_head->warn(answer.error().message);
        if (!m_isRead)
            m_head->setSummary({});
        return;
    }
    m_head->warn({});
    const auto owner = ownerText(answer->stat);
    m_head->setSummary(summaryText(answer->stat, owner));
    const auto lines = statLines(answer->stat, owner);
    for (std::size_t i = 0; i < m_statValues.size(); ++i)
        m_statValues[i].second->setText(lines[i].second);
    const auto acls = mapped<QStringList>(answer->acls, [](const auto &acl) {
        return u"%1  %2:%3"_s.arg(operate::permissionLetters(acl.perms), label(acl.scheme), label(acl.id));
    });
    m_acls->setText(acls.isEmpty() ? u"not readable"_s : acls.join(u'\n'));
    m_value->setValue(answer->data, answer->stat.dataLength, m_isRead);
    m_isRead = true;
    m_facts->show();
    emit looked(path, answer->stat);
}

// The session, and where it is connected from as far as that is known.
QString ZnodeDetailView::ownerText(const zk::Stat &stat) const
{
    const auto session = stat.ephemeralOwner.text();
    const auto host = m_hostOf ? m_hostOf(session) : QString();
    return host.isEmpty() ? session : u"%1 at %2"_s.arg(session, label(host.toUtf8(), 80));
}

void ZnodeDetailView::showGone()
{
    m_again.stop();
    const QString since = QDateTime::currentDateTime().toString(u"HH:mm:ss"_s);
    m_head->warn(m_isRead ? u"This node no longer exists (read at %1). The last known data is below."_s.arg(since)
                          : u"This node does not exist (read at %1)."_s.arg(since));
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

} // namespace lockscope::ui
