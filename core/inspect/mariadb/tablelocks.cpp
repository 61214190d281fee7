// SPDX-License-Identifier: Apache-2.0
// Tables: who has a table, and who waits for it, by the server's locks on its name ("metadata locks"): LOCK TABLES,
// ALTER and the like, and every open transaction that has used the table. The same kind of lock is on the whole
// server (FLUSH TABLES WITH READ LOCK, backups), on schemas and on procedures.
//
// Who is in the way is said by the modes, after MySQL's sql/mdl.cc. A mode is the one that was asked for at first, so
// more may be in the way than it says: where it explains nothing, and one connection only has the table, it is that
// one; where there are several, it is nobody by name.
#include "core/base/fieldreader.h"
#include "core/inspect/findings.h"
#include "core/inspect/mariadb/pollindex.h"

namespace lockscope::inspect {

namespace {

using Modes = QByteArrayList;

struct MdlRule {
    QByteArray asked;
    Modes granted; // in whose way it cannot be had
    Modes asking;  // that have precedence
};

const std::vector<MdlRule> &mdlRules()
{
    static const auto all = [] {
        std::vector<MdlRule> rules;
        readResourceList(u"rules/mariadb-lock-modes.json"_s, "modes", [&rules](FieldReader &reader) {
            rules.push_back({reader.text("asked").toLatin1(), reader.texts("granted"), reader.texts("asking")});
        });
        return rules;
    }();
    return all;
}

const MdlRule &ruleOf(const QByteArray &asked)
{
    static const MdlRule none;
    const auto at = std::ranges::find(mdlRules(), asked, &MdlRule::asked);
    return at == mdlRules().end() ? none : *at;
}

// What keeps others out at rest. The rest is what any statement has of a table.
bool isStrong(const SqlTableLock &one)
{
    static const Modes ofTables{"EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_NO_WRITE", "SHARED_READ_ONLY"};
    static const Modes ofStatements{"BACKUP_DML", "BACKUP_TRANS_DML",  "BACKUP_SYS_DML",
                                    "BACKUP_DDL", "BACKUP_ALTER_COPY", "BACKUP_COMMIT"};
    const bool isOfServer = one.type != "TABLE" && (one.mode == "SHARED" || one.mode.startsWith("BACKUP_"));
    return one.isGranted && (ofTables.contains(one.mode) || (isOfServer && !ofStatements.contains(one.mode)));
}

Mode modeOfTable(const QByteArray &mode)
{
    return Modes{"SHARED", "SHARED_HIGH_PRIO", "SHARED_READ", "SHARED_READ_ONLY"}.contains(mode) ? Mode::Read
                                                                                                 : Mode::Write;
}

// All locks on one table.
class OneTable {
public:
    OneTable(const SqlPollIndex &looked, std::vector<const SqlTableLock *> parts)
        : m_looked(looked), m_parts(std::move(parts)), m_isTable(m_parts.front()->type == "TABLE")
    {
        for (const auto *one : m_parts) {
            if (!one->isGranted)
                m_waiting.insert(one->connection);
        }
    }

    [[nodiscard]] LockSnapshot snapshot(LockSnapshot lock) const
    {
        lock.recipe = "sql-table-lock";
        const auto &look = m_looked.look();
        lock.waitersKnown = look.tellsTableWaiters && look.seesAllProcesses;
        const bool isByStatement = std::ranges::any_of(m_parts, &SqlTableLock::isByStatement);
        std::map<quint64, QByteArray> ids;
        Behind behind;
        for (const auto connection : m_waiting)
            ids[connection] = addWaiter(lock, connection);
        const auto holders = m_waiting.empty() ? resting() : holding();
        for (const auto connection : holders)
            ids[connection] = addHolder(lock, connection);
        for (const auto &[waiter, others] : inTheWay()) {
            for (const auto other : others)
                behind.add(ids[waiter], ids[other]);
        }
        lock.why = m_isTable ? u"the server says who has this table's name, and who waits for it (metadata locks)"_s
                             : u"the server reports who has this lock, and who waits for it (metadata locks)"_s;
        if (isByStatement && !look.tellsTableWaiters)
            lock.why = u"the server says that it waits for a table's metadata lock; which, its statement says"_s;
        if (!m_waiting.empty() && holders.empty())
            lock.why += clause(u"the server does not report the blocker"_s);
        finish(lock, behind, Evidence::Inferred); // the server tells modes, not who is in whose way
        return lock;
    }

private:
    using InTheWay = std::map<quint64, std::set<quint64>>;

    [[nodiscard]] InTheWay inTheWay() const
    {
        InTheWay all;
        for (const auto *asking : m_parts) {
            if (asking->isGranted)
                continue;
            const auto &rule = ruleOf(asking->mode);
            std::set<quint64> others, having;
            for (const auto *one : m_parts) {
                if (one->connection == asking->connection)
                    continue;
                if (one->isGranted)
                    having.insert(one->connection);
                if ((one->isGranted ? rule.granted : rule.asking).contains(one->mode)
                    || (asking->mode.isEmpty() && isStrong(*one)))
                    others.insert(one->connection);
            }
            if (others.empty() && having.size() == 1)
                others = having;
            all[asking->connection].merge(others);
        }
        return all;
    }
    // In somebody's way, and waits for nobody itself.
    [[nodiscard]] std::set<quint64> holding() const
    {
        std::set<quint64> all;
        for (const auto &[waiter, others] : inTheWay())
            all.insert(others.begin(), others.end());
        std::erase_if(all, [this](quint64 one) { return m_waiting.contains(one); });
        return all;
    }
    // Nobody waits: who keeps others out, unless it is a statement that is over in a moment.
    [[nodiscard]] std::set<quint64> resting() const
    {
        std::set<quint64> all;
        for (const auto *one : m_parts) {
            const auto *process = m_looked.process(one->connection);
            if (isStrong(*one) && process && (process->isIdle || process->inState >= 1s))
                all.insert(one->connection);
        }
        return all;
    }
    QByteArray addWaiter(LockSnapshot &lock, quint64 connection) const
    {
        auto one = m_looked.contender(connection);
        const auto *process = m_looked.process(connection);
        if (process)
            one.waitingSince = m_looked.look().now - process->inState;
        one.limits = m_looked.limits(connection, false);
        for (const auto *part : m_parts) {
            if (part->connection == connection && !part->isGranted)
                one.mode = modeOfTable(part->mode);
        }
        lock.contenders.push_back(one);
        return one.id;
    }
    QByteArray addHolder(LockSnapshot &lock, quint64 connection) const
    {
        auto one = m_looked.contender(connection);
        one.role = Role::Holder;
        const auto *transaction = SqlPollIndex::transactionOf(m_looked.look(), connection);
        if (transaction && transaction->started) {
            one.id = rowContenderId(connection, transaction->id, *transaction->started);
            one.guard = SqlIdentity{guardOf(*transaction)};
            one.heldSince = transaction->started; // the table was used then or later
            one.heldAtMost = true;
        } else {
            // Outside of a transaction the same connection may have the table for another statement a moment later.
            one.guard = SqlIdentity{one.guard.sql().text + tableModesPrefix + modesOf(connection).join(',')};
        }
        const bool isRead = std::ranges::all_of(m_parts, [&](const auto *part) {
            return part->connection != connection || modeOfTable(part->mode) == Mode::Read;
        });
        one.mode = isRead ? Mode::Read : Mode::Write;
        if (!m_waiting.empty())
            addIdleTable(lock, one, transaction, m_looked.process(connection));
        lock.contenders.push_back(one);
        return one.id;
    }
    [[nodiscard]] Modes modesOf(quint64 connection) const
    {
        Modes modes;
        for (const auto *part : m_parts) {
            if (part->connection == connection && part->isGranted && !modes.contains(part->mode))
                modes << part->mode;
        }
        std::ranges::sort(modes);
        return modes;
    }
    void addIdleTable(LockSnapshot &lock, Contender &holder, const SqlTransaction *transaction,
                      const SqlProcess *process) const
    {
        holder.runsNothing = process && process->isIdle;
        if (!holder.runsNothing || process->inState < idleIsOdd)
            return;
        Wording message = u"connection %1 (%2) has been idle %3 for "_s.arg(QString::number(process->connection),
                                                                            label(process->user, 40),
                                                                            transaction ? u"inside its transaction"_s
                                                                            : m_isTable ? u"while it has the table"_s
                                                                                        : u"while it has the lock"_s);
        message.since(m_looked.look().now - process->inState)
            << clause(u"no statement runs that KILL QUERY could end"_s);
        addFinding(lock, FindingCode::IdleInTransaction, message, {holder.id});
    }

    const SqlPollIndex &m_looked;
    std::vector<const SqlTableLock *> m_parts;
    const bool m_isTable; // or a schema, or the whole server
    std::set<quint64> m_waiting;
};

} // namespace

void addTableLocks(std::vector<LockSnapshot> &snapshots, const SqlPollIndex &looked, const ConnectionName &connection)
{
    std::map<QByteArray, std::vector<const SqlTableLock *>> tables;
    for (const auto &lock : looked.look().tableLocks)
        tables[objectLockName({lock.type, lock.schema, lock.table})].push_back(&lock);
    for (const auto &[name, parts] : tables)
        snapshots.push_back(OneTable(looked, parts).snapshot(emptySqlLock(looked.look(), connection, name)));
}

} // namespace lockscope::inspect
