// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/pollindex.h"
#include "core/inspect/postgresql/observer.h"
#include "core/rules/catalogue.h"

namespace lockscope::inspect {

namespace {

// From then on it is worth a warning that somebody holds what another waits for, and does nothing.
constexpr std::chrono::seconds pgIdleIsOdd(30);
constexpr qsizetype longestPgName = 256;

// What a lock of pg_locks is on.
auto objectOf(const PgLock &lock)
{
    return std::tie(lock.type, lock.database, lock.relation, lock.page, lock.tuple, lock.virtualTransaction,
                    lock.transaction, lock.classId, lock.objectId, lock.objectSubId);
}

AdvisoryKey keyOf(const PgLock &lock)
{
    return {lock.classId.toUInt(), lock.objectId.toUInt(), lock.objectSubId.toInt()};
}

// "pid=7 backend_start=1700000000000000 xact_start=1700000001000000 lock=transactionid:740": what a release looks at
// again. Empty where the server does not tell enough to know this hold again.
QByteArray pgGuardOf(const PgSession &session, const QByteArray &lock, bool isOfTransaction)
{
    if (!session.backendStart || (isOfTransaction && !session.transactionStart))
        return {};
    QByteArray guard =
        "pid=" + QByteArray::number(session.pid) + " backend_start=" + QByteArray::number(*session.backendStart);
    if (isOfTransaction)
        guard += " xact_start=" + QByteArray::number(*session.transactionStart);
    return guard + " lock=" + lock;
}

// One lock in the making: who asked, in words of pg_locks.
struct PgPart {
    const PgLock *lock = nullptr;
    bool waitsForTransaction = false; // of a row: it is the next one, all others wait for it
};
struct PgGroup {
    QByteArray recipe;
    QString why;
    std::optional<QString> client;
    QByteArray guard; // "advisory:5:0:42:1"
    std::vector<PgPart> holders, waiters;
    bool isShared = false; // a row: by all of the holders
};
using PgGroups = std::map<QByteArray, PgGroup>;

class PgPollIndex {
public:
    explicit PgPollIndex(const PgPoll &look) : m_look(look)
    {
        std::map<QByteArray, int> named;
        for (const auto &session : look.sessions) {
            m_sessions[session.pid] = &session;
            ++named[session.application];
        }
        for (const auto &[name, count] : named) {
            if (count == 1 && !name.isEmpty())
                m_programs.insert(name);
        }
        for (const auto &lock : look.locks) {
            if (lock.type == "transactionid" && lock.isGranted && lock.mode == "ExclusiveLock")
                m_transactions[lock.transaction] = &lock;
            if (lock.type == "transactionid" && lock.isGranted && lock.pid == 0)
                m_preparedBy[lock.owner] = lock.transaction;
            if (lock.type == "tuple" && lock.isGranted)
                m_tuples[lock.pid] = &lock;
        }
    }

    [[nodiscard]] const PgPoll &look() const { return m_look; }
    [[nodiscard]] const PgSession *session(quint64 pid) const
    {
        const auto at = m_sessions.find(pid);
        return at == m_sessions.end() ? nullptr : at->second;
    }
    // By the transaction's own number: its virtual one is still that of the session that prepared it.
    [[nodiscard]] const PgPrepared *prepared(const PgLock &lock) const
    {
        if (lock.pid != 0)
            return nullptr;
        const auto owned = m_preparedBy.find(lock.owner);
        const auto number = owned == m_preparedBy.end() ? lock.transaction : owned->second;
        const auto at = std::ranges::find(m_look.prepared, number, &PgPrepared::transaction);
        return at == m_look.prepared.end() ? nullptr : &*at;
    }
    [[nodiscard]] const PgLock *holderOf(const QByteArray &transaction) const
    {
        const auto at = m_transactions.find(transaction);
        return at == m_transactions.end() ? nullptr : at->second;
    }
    // The row that somebody who waits for a transaction wants: it has the right to be next there.
    [[nodiscard]] const PgLock *rowOf(quint64 pid) const
    {
        const auto at = m_tuples.find(pid);
        return at == m_tuples.end() ? nullptr : at->second;
    }

    // Whoever asked or holds. `isOfTransaction`: it ends with its transaction.
    [[nodiscard]] Contender contender(const PgPart &part, const PgGroup &group, Role role, bool isOfTransaction) const
    {
        Contender one;
        one.role = role;
        one.mode = role == Role::Holder && group.isShared ? Mode::Read : modeOf(*part.lock);
        if (const auto *waiting = prepared(*part.lock)) {
            one.id = "prepared:" + waiting->name + '@' + QByteArray::number(waiting->prepared);
            one.identity = waiting->user + ", " + ("prepared transaction " + waiting->name) + " in database "
                           + waiting->database;
            one.heldSince = timeOf(waiting->prepared);
            one.guard = SqlIdentity{"prepared=" + waiting->name};
            return one;
        }
        one.session = QString::number(part.lock->pid);
        const auto *who = session(part.lock->pid);
        PgSession unseen;
        unseen.pid = part.lock->pid;
        if (!who)
            who = &unseen;
        const auto start = isOfTransaction ? who->transactionStart : who->backendStart;
        one.id = start ? backendContenderId(who->pid, *start) : QByteArray::number(who->pid) + "@not-told";
        // Of a row's holder that is its own transaction, whichever of several the next one waits for.
        const bool isItsOwn = role == Role::Holder && part.lock->type == "transactionid";
        one.guard = SqlIdentity{
            pgGuardOf(*who, isItsOwn ? "transactionid:" + part.lock->transaction : group.guard, isOfTransaction)};
        if (!who->endpoint.isEmpty())
            one.endpoint = QString::fromUtf8(who->endpoint);
        const auto account = who->user.isEmpty() ? who->kind : who->user;
        if (!account.isEmpty())
            one.identity = account;
        if (m_programs.contains(who->application))
            one.program = who->application.left(longestPgName);
        if (role == Role::Waiter)
            one.limits = m_look.usualLimits;
        one.runsNothing = role == Role::Holder && who->state.startsWith("idle");
        const bool isTold = !who->state.isEmpty() && who->state != "disabled"; // of others only with the right to it
        if (!group.waiters.empty() && isTold)
            one.work.set(workOf(*who));
        if (role == Role::Waiter && part.lock->waitStart)
            one.waitingSince = timeOf(*part.lock->waitStart);
        if (role == Role::Holder && isOfTransaction && who->transactionStart) {
            one.heldSince = timeOf(*who->transactionStart); // it was locked then or later
            one.heldAtMost = true;
        }
        return one;
    }

private:
    [[nodiscard]] static Mode modeOf(const PgLock &lock)
    {
        const bool isTable = lock.type != "advisory" && lock.type != "transactionid" && lock.type != "tuple";
        const bool isShared = lock.mode == "AccessShareLock" || lock.mode == "RowShareLock"
                              || lock.mode == "ShareLock" || lock.mode == "RowExclusiveLock";
        // A writer of rows shares the table with others of its kind.
        if (isTable)
            return isShared ? Mode::Read : Mode::Write;
        return lock.type == "advisory" && isShared ? Mode::Read : Mode::Exclusive;
    }

    const PgPoll &m_look;
    std::map<quint64, const PgSession *> m_sessions;
    std::set<QByteArray> m_programs;
    std::map<QByteArray, const PgLock *> m_transactions; // who is each
    std::map<QByteArray, QByteArray> m_preparedBy;       // by virtual transaction: a prepared one's number
    std::map<quint64, const PgLock *> m_tuples;
};

// "public.stock#id=1"; by where it stands in the table where its key is not known.
QByteArray rowName(const PgPoll &look, const PgLock &tuple)
{
    const auto inQuotes = [](QByteArray text) { return '\'' + text.replace("\\", "\\\\").replace("'", "''") + '\''; };
    SqlLockWait wait;
    wait.table =
        tuple.relationName.isEmpty() ? "`?`.`" + tuple.databaseName + " " + tuple.relation + '`' : tuple.relationName;
    wait.index = "ctid";
    wait.data = '(' + tuple.page + ',' + tuple.tuple + ')';
    const auto key = look.rowKeys.find({tuple.relation, tuple.page, tuple.tuple});
    if (key == look.rowKeys.end() || tuple.relationName.isEmpty())
        return rowLockName(wait, {});
    const auto values =
        mapped<QByteArrayList>(key->second.values, [&](const auto &value) { return inQuotes(value); });
    wait.data = values.join(", ");
    return rowLockName(wait, {{{wait.table, wait.index}, key->second.columns}});
}

// "public.stock" for a table; what else there is by its type and numbers.
QByteArray objectName(const PgLock &lock)
{
    if (lock.type == "relation" && !lock.relationName.isEmpty())
        return rowLockName({{}, {}, lock.relationName, {}, {}, {}, {}}, {});
    QByteArrayList parts;
    for (const auto &part : {lock.databaseName, lock.relation, lock.page, lock.tuple, lock.virtualTransaction,
                             lock.classId, lock.objectId, lock.objectSubId}) {
        if (!part.isEmpty())
            parts << part;
    }
    return lock.type.toUpper() + '#' + parts.join(',');
}

void addAdvisory(PgGroups &groups, const PgPoll &look, const PgLock &lock)
{
    const auto key = keyOf(lock);
    const bool isOurs = lock.database == look.database;
    auto &group = groups[advisoryName(key, isOurs ? QByteArray() : lock.databaseName)];
    group.recipe = "pg-advisory";
    group.why = u"pg_locks has an advisory lock of %1, and does not say how often its session took it"_s.arg(
        key.kind == 2 ? u"these two keys"_s : u"this key"_s);
    group.client = knownAdvisory(key, lock.databaseName);
    group.guard = QByteArrayList{"advisory", lock.database, lock.classId, lock.objectId, lock.objectSubId}.join(':');
    (lock.isGranted ? group.holders : group.waiters).push_back({&lock});
}

void addHolder(PgGroup &group, const PgLock &holder)
{
    const auto isSame = [&holder](const PgPart &part) { // a parallel worker has an owner of its own
        return part.lock->pid == holder.pid && (holder.pid != 0 || part.lock->owner == holder.owner);
    };
    if (std::ranges::none_of(group.holders, isSame))
        group.holders.push_back({&holder});
}

// A writer that waits for the first of them waits for the others after it.
void addSharers(PgGroup &group, const PgPollIndex &looked, const PgLock &tuple)
{
    const auto &all = looked.look().sharers;
    const auto sharers = all.find({tuple.relation, tuple.page, tuple.tuple});
    for (const auto &transaction : sharers == all.end() ? QByteArrayList() : sharers->second) {
        if (const auto *holder = looked.holderOf(transaction)) // it may be over
            addHolder(group, *holder);
    }
    group.isShared = group.holders.size() > 1;
}

// The next one for a row waits for the transaction that has it; all others for the right to be next.
void addRow(PgGroups &groups, const PgPollIndex &looked, const PgLock &waiting)
{
    const bool isNext = waiting.type == "transactionid";
    const auto *tuple = isNext ? looked.rowOf(waiting.pid) : &waiting;
    auto &group = groups[tuple ? rowName(looked.look(), *tuple) : "TRANSACTION#" + waiting.transaction];
    group.recipe = "pg-for-update";
    group.why = tuple
                    ? u"pg_locks says who waits for this row, and whose transaction is in the way"_s
                    : u"pg_locks says who waits for this transaction, and not for which row: a key that both write, "
                      u"most likely"_s;
    group.waiters.push_back({&waiting, isNext});
    if (const auto *holder = isNext ? looked.holderOf(waiting.transaction) : nullptr) {
        group.guard = "transactionid:" + waiting.transaction;
        addHolder(group, *holder);
        if (tuple)
            addSharers(group, looked, *tuple);
    }
}

void addObject(PgGroups &groups, const PgPollIndex &looked, const PgLock &waiting)
{
    auto &group = groups[objectName(waiting)];
    group.recipe = "pg-table";
    group.why = waiting.type == "relation"
                    ? u"pg_locks says who waits for this table, and whose locks on it are in the way"_s
                    : u"pg_locks says who waits for this, and who has it"_s;
    if (waiting.type == "relation")
        group.guard = "relation:" + waiting.database + ':' + waiting.relation;
    else
        group.guard = "any";
    if (std::ranges::none_of(group.waiters, [&waiting](const auto &part) { return part.lock->pid == waiting.pid; }))
        group.waiters.push_back({&waiting});
    for (const auto &lock : looked.look().locks) {
        if (lock.isGranted && lock.pid != waiting.pid && objectOf(lock) == objectOf(waiting)
            && conflicts(lock.mode, waiting.mode))
            addHolder(group, lock);
    }
}

// A prepared transaction has nobody who could end it, from its beginning on.
void addIdleHolder(LockSnapshot &lock, const QByteArray &id, const PgPollIndex &looked, const PgLock &held)
{
    const auto *session = looked.session(held.pid);
    const auto *prepared = looked.prepared(held);
    const bool isIdle = session && session->state.startsWith("idle in transaction") && session->stateSince;
    if (lock.waiterCount() == 0 || (!isIdle && !prepared))
        return;
    const auto holder = std::ranges::find(lock.contenders, id, &Contender::id);
    if (holder != lock.contenders.end())
        holder->runsNothing = true;
    const auto since = prepared ? timeOf(prepared->prepared) : timeOf(*session->stateSince);
    const bool isOdd = looked.look().now - since >= pgIdleIsOdd;
    if (!isOdd && !prepared)
        return;
    SqlProcess process;
    process.connection = held.pid;
    if (session) {
        process.user = session->user;
        process.host = session->endpoint;
        process.calledByClient = session->application;
    }
    Wording message =
        prepared ? u"transaction \"%1\" (%2) is prepared and has no session: only COMMIT PREPARED or ROLLBACK "
                   u"PREPARED ends it. So for "_s.arg(label(prepared->name, 60), label(prepared->user, 40))
                 : u"%1 has been idle inside its transaction for "_s.arg(connectionInWords(process));
    message.since(since);
    if (!prepared)
        message << clause(u"no statement runs that pg_cancel_backend could end"_s);
    addFinding(lock, FindingCode::IdleInTransaction, isOdd ? Severity::Warning : Severity::Info, message, {id});
}

// Sorts, numbers the places, and says who waits for whom: whom pg_blocking_pids names. Of those who wait each is
// behind all who asked before and are at odds with it: by so many that the server names, then by when they began.
void finishPg(LockSnapshot &lock, std::vector<std::pair<PgPart, Contender>> waiters)
{
    std::map<quint64, std::vector<QByteArray>> ids;
    std::set<quint64> waiting;
    for (const auto &[part, one] : waiters)
        waiting.insert(part.lock->pid);
    const auto ahead = [&waiting](const PgPart &part) {
        return std::ranges::count_if(part.lock->blockedBy, [&](quint64 pid) { return waiting.contains(pid); });
    };
    const auto keyOf = [&ahead](const std::pair<PgPart, Contender> &one) {
        return std::tuple(!one.first.waitsForTransaction, ahead(one.first), one.first.lock->waitStart.value_or(0));
    };
    std::ranges::stable_sort(waiters, {}, keyOf);
    bool isOrderKnown = true;
    for (std::size_t i = 1; i < waiters.size(); ++i)
        isOrderKnown = isOrderKnown && keyOf(waiters[i - 1]) != keyOf(waiters[i]);
    int position = 0;
    for (auto &contender : lock.contenders) {
        contender.position = position++;
        ids[contender.session.value_or(QString()).toULongLong()].push_back(
            contender.id); // 0: prepared, of which there may be several
    }
    for (const auto &[part, one] : waiters)
        ids[part.lock->pid].push_back(one.id);
    Behind behind;
    for (const auto &[part, one] : waiters) {
        for (const auto pid : part.lock->blockedBy) {
            for (const auto &other : ids[pid])
                behind.add(one.id, other);
        }
    }
    for (auto &[part, one] : waiters) {
        if (isOrderKnown)
            one.position = position++;
        for (const auto &target : behind.nearest(one.id))
            one.watches.push_back({target, false, Evidence::Server});
        lock.contenders.push_back(std::move(one));
    }
    const bool isHeld = lock.holderCount() > 0;
    lock.state = lock.waiterCount() > 0 ? LockState::Contended : isHeld ? LockState::Held : LockState::Free;
}

LockSnapshot emptyPgLock(const PgPoll &look, const LockName &name)
{
    LockSnapshot lock;
    lock.lock = name;
    lock.backend = BackendKind::PostgreSql;
    lock.confidence = Confidence::High;
    lock.observed = look.now;
    lock.serverAhead = look.ahead;
    return lock;
}

LockSnapshot snapshotOf(const PgPollIndex &looked, const PgGroup &group, const LockName &name)
{
    auto lock = emptyPgLock(looked.look(), name);
    lock.recipe = group.recipe;
    lock.why = group.why;
    lock.client = group.client;
    const bool isOfTransaction = recipes::recipeOf(group.recipe).shape != recipes::Shape::NamedLock;
    for (const auto &part : group.holders)
        lock.contenders.push_back(looked.contender(part, group, Role::Holder, isOfTransaction));
    const auto holders = lock.contenders;
    std::vector<std::pair<PgPart, Contender>> waiters;
    for (const auto &part : group.waiters)
        waiters.emplace_back(part, looked.contender(part, group, Role::Waiter, isOfTransaction));
    finishPg(lock, std::move(waiters));
    for (std::size_t i = 0; i < holders.size(); ++i)
        addIdleHolder(lock, holders[i].id, looked, *group.holders[i].lock);
    noteOneClient(lock);
    return lock;
}

// No client has it: it is listed for what is left there.
void addInvalidIndexes(std::vector<LockSnapshot> &snapshots, const PgPoll &look, const ConnectionName &connection)
{
    for (const auto &index : look.invalidIndexes) {
        const LockName name{connection, rowLockName({{}, {}, index.relationName, {}, {}, {}, {}}, {})};
        auto at = std::ranges::find(snapshots, name, &LockSnapshot::lock);
        if (at == snapshots.end()) {
            auto lock = emptyPgLock(look, name);
            lock.recipe = "pg-table";
            lock.why = u"pg_index lists it as INVALID, and no backend builds it"_s;
            at = snapshots.insert(snapshots.end(), std::move(lock));
        }
        addFinding(*at, FindingCode::LeftoverKeys, Severity::Warning,
                   u"this index of %1 is INVALID: a CREATE INDEX CONCURRENTLY, REINDEX or DROP INDEX left it. No "
                   u"query uses it. Remove it with DROP INDEX, or build it again with REINDEX INDEX"_s.arg(
                       label(index.table, 120)));
    }
}

void addPgLockRows(std::vector<LockSnapshot> &snapshots, const PgPoll &look, const ConnectionName &connection)
{
    std::set<QByteArray> names; // without a primary key a table has a row twice
    for (const auto &row : look.lockRows) {
        const LockName name{connection, lockRowName(row)};
        if (!names.insert(name.name).second)
            continue;
        snapshots.push_back(lockOfRow(row, emptyPgLock(look, name)));
        if (look.clientConnections)
            addHolderConnections(snapshots.back(), *look.clientConnections);
    }
}

} // namespace

QByteArray backendContenderId(quint64 pid, PgMoment started)
{
    return QByteArray::number(pid) + '@' + QByteArray::number(started);
}

std::vector<LockSnapshot> snapshotsOf(const PgPoll &look, const ConnectionName &connection)
{
    const PgPollIndex looked(look);
    PgGroups groups;
    for (const auto &lock : look.locks) {
        if (lock.type == "advisory")
            addAdvisory(groups, look, lock);
        else if (!lock.isGranted && (lock.type == "transactionid" || lock.type == "tuple"))
            addRow(groups, looked, lock);
        else if (!lock.isGranted)
            addObject(groups, looked, lock);
    }
    std::vector<LockSnapshot> snapshots;
    for (const auto &[name, group] : groups)
        snapshots.push_back(snapshotOf(looked, group, {connection, name}));
    addInvalidIndexes(snapshots, look, connection);
    addPgLockRows(snapshots, look, connection);
    return snapshots;
}

std::vector<SessionSnapshot> sessionsOf(const PgPoll &look, const std::vector<LockSnapshot> &snapshots,
                                        const ConnectionName &connection)
{
    const PgPollIndex looked(look);
    std::vector<quint64> open;
    for (const auto &session : look.sessions) {
        if (session.transactionStart && !session.user.isEmpty())
            open.push_back(session.pid);
    }
    return sqlSessions(open, snapshots, connection, [&looked](quint64 pid, SessionSnapshot &session) {
        const auto *who = looked.session(pid);
        if (who && !who->endpoint.isEmpty())
            session.endpoint = QString::fromUtf8(who->endpoint);
        if (who)
            session.client = QString::fromUtf8(who->user.isEmpty() ? who->kind : who->user);
    });
}

} // namespace lockscope::inspect
