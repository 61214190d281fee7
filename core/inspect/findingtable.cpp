// SPDX-License-Identifier: Apache-2.0
// The table of findings. docs/findings.md is made from it: tst_findings says how.
#include "core/inspect/findings.h"

#include "core/inspect/json.h"

#include <array>

namespace lockscope::inspect {

namespace {

constexpr std::array findingTable{
    FindingKind{
        FindingCode::Deadlock, "deadlock", Severity::Critical, u"Deadlock",
        u"a cycle of waits: each client waits for a lock that another of them holds, seen twice in a row",
        u"`lockscopectl graph` names who holds and who waits for what; each of the locks says the same of "
        u"itself",
        u"see first whether it ends by itself. If not, end the client that is named, or force-release what it "
        u"holds. Then let all clients take their locks in one order. Threads that share a session cannot be "
        u"told apart: if one of them works on, it is no deadlock"},
    FindingKind{
        FindingCode::HolderDisconnected, "holder-disconnected", Severity::Warning, u"Holder disconnected",
        u"the holder's session has no live connection, or is silent for longer than it should be; of a row that is "
        u"locked for 10 minutes, no connection comes from the address that it names",
        u"`cons` of every member does not list the session, or its last packet there is old; of a row, "
        u"`SHOW PROCESSLIST` or `pg_stat_activity` has no connection from there",
        u"wait until the session expires: that gives the lock back. Force-release only if the client is "
        u"dead: one that is merely cut off still believes that it holds"},
    FindingKind{FindingCode::NoTtl, "no-ttl", Severity::Critical, u"No TTL",
                u"a Redis lock that never ends by itself", u"`PTTL` of the key answers -1",
                u"ask whether its holder is alive; if not, force-release. Let the client set the value and the "
                u"expiry in one command (SET with NX and PX)"},
    FindingKind{FindingCode::ExpiredValue, "expired-value", Severity::Warning, u"Expired value",
                u"a timestamp that is past, still there", u"`GET` of the key is a moment before the server's `TIME`",
                u"nothing while clients come: the next one takes it over. If none does, the key is left over"},
    FindingKind{FindingCode::LostWakeup, "lost-wakeup", Severity::Critical, u"Lost wakeup",
                u"a waiter that watches nothing, twice in a row, where every member answered",
                u"`wchp` of no member names a watch of its session on a node of the lock",
                u"restart that client: no release will wake it. Then look in its log for what went wrong between "
                u"reading the queue and setting the watch"},
    FindingKind{FindingCode::WrongWatch, "wrong-watch", Severity::Warning, u"Wrong watch",
                u"a waiter that watches another node than the one it waits for; critical if no client holds the lock "
                u"and the first in the queue watches one that waits behind it",
                u"`wchp` names its session at another node than the one before its own in the queue",
                u"see whether it goes on when its turn comes; if not, restart it. Look for an outdated client (kazoo "
                u"before 2.9), or nodes of two kinds in one queue"},
    FindingKind{FindingCode::Herd, "herd", Severity::Info, u"Herd", u"one release wakes two or more waiters",
                u"in the queue several waiters watch the same node, or the children",
                u"harmless for a few. For many take a recipe in which each watches its predecessor"},
    FindingKind{FindingCode::PersistentNode, "persistent-node", Severity::Warning, u"Persistent node",
                u"a contender's node that outlives its session", u"`stat` of the node says ephemeralOwner = 0x0",
                u"if its client is gone, force-release: nothing else removes the node. Let the client create it "
                u"ephemeral"},
    FindingKind{
        FindingCode::NoQuorum, "no-quorum", Severity::Warning, u"No quorum",
        u"a Redlock key on less than a majority, or with several values", u"`GET` of the key on every node",
        u"wait: whoever set it is trying, or what it left behind expires. If it stays, look at the nodes that "
        u"do not answer"},
    FindingKind{
        FindingCode::LongHeld, "long-held", Severity::Warning, u"Long held",
        u"held for more than 10 minutes (settable), or ten times longer than ever seen of this lock; a warning "
        u"only while somebody waits, and never of an election or of what is held so long as a rule",
        u"the age of the holder; \"at most\" where only the node's own age is known, \"usually\" by the holds "
        u"that were seen from their beginning to their end",
        u"ask its holder what it does. Nothing is wrong if the work takes that long"},
    FindingKind{FindingCode::LongWait, "long-wait", Severity::Warning, u"Long wait",
                u"waited for more than 2 minutes (settable); no warning of an election",
                u"the age of the waiter's node or request", u"look at who holds the lock, and for how long already"},
    FindingKind{FindingCode::StaleQueue, "stale-queue", Severity::Warning, u"Stale queue",
                u"a queued waiter that is gone",
                u"its session is in no member's `cons`; of Redisson's fair lock, its time in redisson_lock_timeout "
                u"is past",
                u"nothing: the session's end removes it, or the next client that asks. Until then it may delay those "
                u"behind it"},
    FindingKind{FindingCode::ForeignNode, "foreign-node", Severity::Info, u"Foreign node",
                u"something in the lock's directory that is not of its recipe; a warning if the first in the queue "
                u"waits for it",
                u"`ls` of the directory, or `etcdctl get PREFIX/ --prefix --keys-only`, shows names of another form",
                u"find out who made it. Clients of two kinds in one directory may not exclude each other"},
    FindingKind{FindingCode::LeftoverKeys, "leftover-keys", Severity::Info, u"Leftover keys",
                u"what dead clients left: a fair lock's queue, expired permits",
                u"the keys beside the lock's own, and the moments in them",
                u"nothing: the next client that asks clears it away"},
    FindingKind{FindingCode::SequenceOverflow, "sequence-overflow", Severity::Critical, u"Sequence overflow",
                u"equal sequence numbers after 2^31 creates: exclusion is broken",
                u"`ls` of the directory shows two nodes that end in the same number",
                u"stop the clients, remove the directory and let them make it anew: its counter begins again"},
    FindingKind{FindingCode::RevocationRequested, "revocation-requested", Severity::Info, u"Revocation requested",
                u"Curator: somebody asked this contender to let go", u"`get` of its node answers __REVOKE__",
                u"nothing if the client listens for it; otherwise it goes on as before"},
    FindingKind{
        FindingCode::IdleInTransaction, "idle-in-transaction", Severity::Warning, u"Idle in transaction",
        u"the holder of a row, or of a table that others wait for, has run no statement for 30 s; or it is a prepared "
        u"transaction (XA, PREPARE TRANSACTION) without a session",
        u"`SHOW PROCESSLIST` says Sleep while `information_schema.INNODB_TRX` lists its transaction; in "
        u"PostgreSQL `pg_stat_activity` says idle in transaction",
        u"find what its application waits for in the middle of a transaction. From outside only the end of its "
        u"connection ends it (KILL, pg_terminate_backend)"},
    FindingKind{FindingCode::SelfWait, "self-wait", Severity::Info, u"Self-wait",
                u"a waiter of the same session as the holder: in an election at once, of other locks after 2 minutes "
                u"(settable)",
                u"`dump` lists both nodes under one session",
                u"see in that client whether one thread does both, as after a create whose answer was lost. If so, "
                u"force-release the holder's node: the other one gets the lock"},
    FindingKind{FindingCode::UnexplainedWait, "unexplained-wait", Severity::Warning, u"Unexplained wait",
                u"the server says that clients wait for a lock, and no lock that is shown explains it",
                u"`SHOW PROCESSLIST` in MariaDB, `pg_stat_activity` in PostgreSQL show the waiting statements",
                u"look at what else is under way on the server: a backup, a change of a table, a long transaction. "
                u"What keeps these clients waiting is not known here, so that no release is offered"},
};

constexpr bool isInOrder()
{
    for (std::size_t i = 0; i < findingTable.size(); ++i) {
        if (static_cast<std::size_t>(findingTable[i].code) != i)
            return false;
    }
    return true;
}
static_assert(isInOrder(), "the rows stand in the order of the codes");

} // namespace

std::span<const FindingKind> findingKinds()
{
    return findingTable;
}

const FindingKind &kindOf(FindingCode code)
{
    return findingTable[static_cast<std::size_t>(code)];
}

QString word(FindingCode code)
{
    return QString::fromLatin1(kindOf(code).name);
}

void addFinding(LockSnapshot &lock, FindingCode code, Severity severity, Wording message,
                std::vector<QByteArray> contenders)
{
    auto finding = std::move(message).formatAt(lock.observed);
    finding.code = code;
    finding.severity = severity;
    finding.contenders = std::move(contenders);
    lock.findings.push_back(std::move(finding));
}

void addFinding(LockSnapshot &lock, FindingCode code, Wording message, std::vector<QByteArray> contenders)
{
    addFinding(lock, code, kindOf(code).severity, std::move(message), std::move(contenders));
}

} // namespace lockscope::inspect
