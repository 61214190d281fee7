// SPDX-License-Identifier: Apache-2.0
#include "ui/views/queuetable.h"

#include "core/base/text.h"
#include "ui/parts/labels.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

namespace lockscope::ui {

using inspect::Contender;
using inspect::Role;

namespace {

// Of that role the one that is chosen, else the first of which the server tells something.
const Contender *clientOf(const inspect::LockSnapshot &lock, Role role, const QByteArray &chosen)
{
    const Contender *first = nullptr;
    for (const auto &one : lock.contenders) {
        if (one.role != role || !one.work)
            continue;
        if (one.id == chosen)
            return &one;
        first = first ? first : &one;
    }
    return first;
}

} // namespace

StatementPair::StatementPair(QWidget *parent) : QWidget(parent), m_blocking(makeSide()), m_blocked(makeSide())
{
    named(this, u"statements"_s, tr("Statements"));
    makeRow(this, {.margins = {16, 8, 16, 8}, .spacing = 16}, {{m_blocking.box, 1}, {m_blocked.box, 1}});
    hide();
}

StatementPair::Side StatementPair::makeSide()
{
    Side side{};
    side.box = new QWidget(this);
    side.role = makeLabel({}, u"section"_s, side.box);
    side.since = makeLabel({}, u"muted"_s, side.box);
    side.client = new ElidedLabel(side.box);
    side.client->setFont(textFont(13, QFont::DemiBold));
    side.statement = new WholeLinesLabel(side.box);
    side.statement->setProperty("look", u"code"_s);
    side.statement->setFont(monoFont(12));
    side.facts = makeWrapped({}, u"muted"_s, side.box);
    makeColumn(
        side.box, {.spacing = 4},
        {makeRow({}, {side.role, Stretch{1}, side.since}), side.client, side.statement, side.facts, Stretch{1}});
    return side;
}

void StatementPair::setRoom(Room room)
{
    for (auto *side : {&m_blocking, &m_blocked}) {
        side->statement->setMostLines(room == Room::OneLine ? 1 : room == Room::Little ? 2 : 5);
        side->client->setVisible(room != Room::OneLine);
        side->facts->setVisible(room == Room::Much);
    }
}

void StatementPair::show(const inspect::LockSnapshot &lock, const QByteArray &chosen, inspect::ServerTime now)
{
    const auto *holder = clientOf(lock, Role::Holder, chosen);
    const auto *waiter = clientOf(lock, Role::Waiter, chosen);
    setVisible(holder || waiter);
    if (isHidden())
        return;
    m_blocking.role->setText(tr("BLOCKING"));
    m_blocked.role->setText(tr("BLOCKED"));
    fill(m_blocking, lock, holder, now);
    fill(m_blocked, lock, waiter, now);
}

void StatementPair::fill(Side &side, const inspect::LockSnapshot &lock, const Contender *client,
                         inspect::ServerTime now) const
{
    side.box->setVisible(client);
    if (!client)
        return;
    const auto &work = *client->work;
    const auto span = [now](inspect::ServerTime since) {
        return formatDuration(std::max(std::chrono::milliseconds(0), now - since));
    };
    side.client->setText(whoIsByName(*client, lock.backend));
    side.since->setText(!work.since      ? QString()
                        : work.isRunning ? tr("runs for %1").arg(span(*work.since))
                                         : tr("idle for %1").arg(span(*work.since)));
    const auto statement = label(work.statement, int(work.statement.size()));
    side.statement->setText(!statement.isEmpty() ? statement
                            : work.isRunning     ? tr("The server does not report its statement.")
                                                 : tr("The server does not report its last statement."));
    side.statement->setToolTip(plainToolTip(statement));
    side.statement->setAccessibleName(
        (work.isRunning ? tr("Statement: %1") : tr("Last statement: %1")).arg(side.statement->text()));
    QStringList facts;
    if (client->identity && !client->identity->isEmpty())
        facts << tr("Account: %1").arg(label(*client->identity, 80));
    if (!work.application.isEmpty() && !client->program) // else it is the client's name
        facts << tr("Application: %1").arg(label(work.application, 80));
    if (work.transactionSince)
        facts << tr("Transaction: open for %1").arg(span(*work.transactionSince));
    if (work.rowsModified > 0)
        facts << tr("Lost if ended: %1").arg(amountOf(work.rowsModified, "modified row"_L1, "modified rows"_L1));
    for (const auto &limit : client->limits) {
        if (client->waitingSince && limit.setting.endsWith("wait_timeout"))
            facts << tr("Gives up in %1 (%2)")
                         .arg(span(now - (*client->waitingSince + limit.longest - now)), label(limit.setting, 60));
    }
    side.facts->setText(facts.join(u'\n'));
}

} // namespace lockscope::ui
