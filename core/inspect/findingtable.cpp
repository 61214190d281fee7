// SPDX-License-Identifier: Apache-2.0
// The table of findings. docs/findings.md is made from it: tst_findings says how.
#include "core/inspect/findings.h"

#include "core/inspect/json.h"

#include <array>

namespace lockscope::inspect {

namespace {

constexpr std::array findingTable{
    FindingKind{FindingCode::Deadlock, "deadlock", Severity::Critical, u"Deadlock",
                u"Clients wait for each other in a cycle: each waits for a lock that the next one holds. Two "
                u"scans in a row saw it.",
                u"`lockscopectl graph` lists the holder and the waiter of each lock in the cycle.",
                u"Wait whether it ends by itself. If it does not, end the named client, or force-release its "
                u"lock. Then let all clients take their locks in one order. Threads of one session cannot be "
                u"distinguished: if one of them continues, this is not a deadlock."},
    FindingKind{FindingCode::HolderDisconnected, "holder-disconnected", Severity::Warning, u"Holder disconnected",
                u"The holder's session has no live connection, or is silent for too long. For a row that is "
                u"locked for 10 minutes: no connection comes from the address in the row.",
                u"`cons` of every member does not list the session, or its last packet is old. For a row: `SHOW "
                u"PROCESSLIST` or `pg_stat_activity` lists no connection from that address.",
                u"Wait until the session expires: that releases the lock. Force-release only if the client is "
                u"dead: a client that is merely cut off still acts as the holder."},
    FindingKind{FindingCode::NoTtl, "no-ttl", Severity::Critical, u"No TTL",
                u"A Redis lock has no expiry, so it never ends by itself.", u"`PTTL` of the key returns -1.",
                u"Find out whether its holder is alive. If it is not, force-release the lock. Let the client set "
                u"value and expiry in one command (SET with NX and PX)."},
    FindingKind{FindingCode::ExpiredValue, "expired-value", Severity::Warning, u"Expired value",
                u"The lock's value is a time in the past, and the key still exists.",
                u"`GET` of the key returns a time before the server's `TIME`.",
                u"Do nothing while clients use the lock: the next one takes it over. If none does, the key is a "
                u"leftover."},
    FindingKind{FindingCode::LostWakeup, "lost-wakeup", Severity::Critical, u"Lost wakeup",
                u"A waiter watches no node. Two scans in a row saw it, and every member answered.",
                u"`wchp` of no member lists a watch of its session on a node of the lock.",
                u"Restart that client: no release will wake it. Then search its log for an error between reading "
                u"the queue and setting the watch."},
    FindingKind{FindingCode::WrongWatch, "wrong-watch", Severity::Warning, u"Wrong watch",
                u"A waiter watches a different node from the one it waits for. Critical if no client holds the "
                u"lock and the first waiter watches a node behind it.",
                u"`wchp` lists its session at a different node from the one before its own in the queue.",
                u"Check whether the waiter continues when its turn comes. If it does not, restart it. Search for "
                u"an outdated client (kazoo before 2.9), or for nodes of two kinds in one queue."},
    FindingKind{FindingCode::Herd, "herd", Severity::Info, u"Herd", u"One release wakes two or more waiters.",
                u"Several waiters in the queue watch the same node, or the children.",
                u"Do nothing for a few waiters. For many, use a recipe in which each waiter watches its "
                u"predecessor."},
    FindingKind{FindingCode::PersistentNode, "persistent-node", Severity::Warning, u"Persistent node",
                u"A contender's node outlives its session.", u"`stat` of the node prints ephemeralOwner = 0x0.",
                u"If its client has ended, force-release the lock: nothing else removes the node. Let the client "
                u"create an ephemeral node."},
    FindingKind{FindingCode::NoQuorum, "no-quorum", Severity::Warning, u"No quorum",
                u"A Redlock key exists on fewer than a majority of the servers, or has several values.",
                u"`GET` of the key on every server.",
                u"Wait: a client is still trying, or its leftover key expires. If the key stays, check the "
                u"servers that do not answer."},
    FindingKind{FindingCode::LongHeld, "long-held", Severity::Warning, u"Long held",
                u"A client holds the lock for more than 10 minutes (a setting), or ten times longer than any "
                u"earlier hold. A warning only while a client waits, and never for an election or a lock that is "
                u"usually held so long.",
                u"Check the age of the holder. \"At most\" means that only the node's age is known. \"Usually\" "
                u"counts holds that were seen from beginning to end.",
                u"Find out what the holder does. Nothing is wrong if its work takes that long."},
    FindingKind{FindingCode::LongWait, "long-wait", Severity::Warning, u"Long wait",
                u"A client waits for more than 2 minutes (a setting). Not a warning for an election.",
                u"Check the age of the waiter's node or request.",
                u"Check the holder of the lock and how long it has held it."},
    FindingKind{FindingCode::StaleQueue, "stale-queue", Severity::Warning, u"Stale queue",
                u"A queued waiter no longer exists.",
                u"`cons` of no member lists its session. For Redisson's fair lock: its time in "
                u"redisson_lock_timeout is past.",
                u"Do nothing: the end of the session removes it, or the next client that asks. Until then it may "
                u"delay the waiters behind it."},
    FindingKind{FindingCode::ForeignNode, "foreign-node", Severity::Info, u"Foreign node",
                u"The lock's directory contains a node that does not belong to its recipe. A warning if the first "
                u"waiter waits for it.",
                u"`ls` of the directory, or `etcdctl get PREFIX/ --prefix --keys-only`, lists names in a "
                u"different format.",
                u"Find out which client created it. Clients of two kinds in one directory may not exclude each "
                u"other."},
    FindingKind{FindingCode::LeftoverKeys, "leftover-keys", Severity::Info, u"Leftover keys",
                u"Dead clients left entries: a fair lock's queue, or expired permits.",
                u"Check the keys next to the lock's own key, and the times in them.",
                u"Do nothing: the next client that asks removes them."},
    FindingKind{FindingCode::SequenceOverflow, "sequence-overflow", Severity::Critical, u"Sequence overflow",
                u"Two nodes have equal sequence numbers after 2^31 creates: the lock no longer excludes clients.",
                u"`ls` of the directory lists two nodes that end in the same number.",
                u"Stop the clients and delete the directory. The clients create it again, with a new counter."},
    FindingKind{FindingCode::RevocationRequested, "revocation-requested", Severity::Info, u"Revocation requested",
                u"A client asked this Curator contender to release the lock.",
                u"`get` of its node returns __REVOKE__.",
                u"Do nothing if the client listens for the request. Otherwise it continues as before."},
    FindingKind{FindingCode::IdleInTransaction, "idle-in-transaction", Severity::Warning, u"Idle in transaction",
                u"The holder of a contended row or table has run no statement for 30 s. Or it is a "
                u"prepared transaction (XA, PREPARE TRANSACTION) without a session.",
                u"`SHOW PROCESSLIST` shows Sleep while `information_schema.INNODB_TRX` lists its transaction. In "
                u"PostgreSQL, `pg_stat_activity` shows idle in transaction.",
                u"Find out what its application waits for in the middle of a transaction. From outside, only the "
                u"end of its connection ends it (KILL, pg_terminate_backend)."},
    FindingKind{FindingCode::SelfWait, "self-wait", Severity::Info, u"Self-wait",
                u"A waiter belongs to the holder's own session. Reported at once in an election, for other locks "
                u"after 2 minutes (a setting).",
                u"`dump` lists both nodes under one session.",
                u"Check in that client whether one thread does both, for example after a create whose reply was "
                u"lost. If so, force-release the holder's node: the waiter then gets the lock."},
    FindingKind{FindingCode::UnexplainedWait, "unexplained-wait", Severity::Warning, u"Unexplained wait",
                u"The server reports that clients wait for a lock, and no lock that is shown explains the wait.",
                u"`SHOW PROCESSLIST` in MariaDB and `pg_stat_activity` in PostgreSQL list the waiting statements.",
                u"Check what else runs on the server: a backup, a table change, a long transaction. The blocker "
                u"is unknown, so no release is offered."},
    FindingKind{
        FindingCode::DeadlockEnded, "deadlock-ended", Severity::Info, u"Deadlock ended",
        u"The server ended a deadlock in the last 10 minutes: it rolled back one client. PostgreSQL only counts "
        u"deadlocks, so the clients are unknown and a deadlock before the first poll is not reported.",
        u"`SHOW ENGINE INNODB STATUS` has a section LATEST DETECTED DEADLOCK. In PostgreSQL, "
        u"`pg_stat_database.deadlocks` has risen, and the server's log lists the clients.",
        u"Do nothing if the client that was rolled back repeats its transaction. If it happens again, let all "
        u"clients take their locks in one order."},
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
