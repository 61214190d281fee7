// SPDX-License-Identifier: Apache-2.0
// The fields of what is recorded, in their order in a file: changing this is a new version of the format (chunk.h).
// What came with a later version is marked with it (since<>): older files do not have it.
// Enumerations are numbers here, but what grows (codes of findings, backends) is words.
#pragma once

#include "core/history/picture.h"

namespace lockscope::history {

template <class T>
struct Fields;

// A field that files have from this version on.
template <int Version, class T>
struct Since {
    T &value;
};
template <int Version, class T>
Since<Version, T> since(T &value)
{
    return {value};
}

#define LOCKSCOPE_FIELDS(Type, ...)                                                                                  \
    template <>                                                                                                      \
    struct Fields<Type> {                                                                                            \
        template <class Archive, class Value>                                                                        \
        static void each(Archive &archive, Value &v)                                                                 \
        {                                                                                                            \
            archive(__VA_ARGS__);                                                                                    \
        }                                                                                                            \
    };

// A finding whose code is a word: the next version may have others.
struct WrittenFinding {
    QByteArray code;
    inspect::Severity severity{};
    QString message;
    std::vector<QByteArray> contenders;
    std::vector<inspect::SpokenMoment> moments;
};

LOCKSCOPE_FIELDS(inspect::LockName, v.connection, v.name)
LOCKSCOPE_FIELDS(inspect::WatchEdge, v.target, v.children, v.evidence)
LOCKSCOPE_FIELDS(inspect::Identity, v.path, v.czxid, v.owner, v.version, v.value, v.expiryMs, v.comesAgain, v.group)
LOCKSCOPE_FIELDS(inspect::WaitLimit, v.setting, v.longest, v.isOwn)
LOCKSCOPE_FIELDS(inspect::Contender, v.id, v.role, v.mode, v.position, v.session, v.endpoint, v.identity, v.program,
                 v.pid, v.reentry, v.heldSince, v.heldAtMost, v.waitingSince, v.expiresAt, v.watches, v.guard,
                 since<3>(v.limits))
LOCKSCOPE_FIELDS(inspect::NodeSaid, v.node, v.answered, v.value, v.expiresAt)
LOCKSCOPE_FIELDS(inspect::SpokenMoment, v.at, v.length, v.moment, v.isAhead)
LOCKSCOPE_FIELDS(WrittenFinding, v.code, v.severity, v.message, v.contenders, v.moments)
LOCKSCOPE_FIELDS(inspect::LockSnapshot, v.lock, v.backend, v.recipe, v.client, v.why, v.confidence, v.state,
                 v.contenders, v.waitersKnown, v.findings, v.companions, v.nodes, v.observed, v.serverAhead,
                 v.mayBeOld)
LOCKSCOPE_FIELDS(inspect::SnapshotChange, v.kind, v.lock)
LOCKSCOPE_FIELDS(inspect::SessionSnapshot, v.connection, v.session, v.endpoint, v.client, v.holds, v.waits,
                 v.expiresAt, v.serverAhead, since<3>(v.alsoEnds), since<3>(v.alsoEndsCount))
LOCKSCOPE_FIELDS(inspect::Unexplained, v.count, v.text, v.example)
LOCKSCOPE_FIELDS(inspect::HiddenLocks, v.count, v.withFindings, v.worst, v.code, v.example)
LOCKSCOPE_FIELDS(inspect::Coverage, v.connection, v.complete, v.message, since<4>(v.unexplained), since<4>(v.hidden))
LOCKSCOPE_FIELDS(Confirmation, v.connection, v.until)
LOCKSCOPE_FIELDS(SessionsSeen, v.connection, v.sessions)
LOCKSCOPE_FIELDS(CoverageSeen, v.connection, v.coverage)
LOCKSCOPE_FIELDS(LinkState, v.name, v.backend, v.uri, v.server, v.production, v.isConnected, v.isLookedThrough,
                 v.isGone, v.problem)
LOCKSCOPE_FIELDS(Act, v.time, v.actor, v.action, v.lock, v.holder, v.reason, v.phase, v.outcome, v.before, v.after,
                 v.hasReleased)

#undef LOCKSCOPE_FIELDS

// The last one there is: a higher number is none.
constexpr auto lastOf(inspect::Confidence)
{
    return inspect::Confidence::High;
}
constexpr auto lastOf(inspect::LockState)
{
    return inspect::LockState::Contended;
}
constexpr auto lastOf(inspect::Role)
{
    return inspect::Role::Waiter;
}
constexpr auto lastOf(inspect::Mode)
{
    return inspect::Mode::Permit;
}
constexpr auto lastOf(inspect::Evidence)
{
    return inspect::Evidence::Inferred;
}
constexpr auto lastOf(inspect::Severity)
{
    return inspect::Severity::Critical;
}
constexpr auto lastOf(inspect::ChangeKind)
{
    return inspect::ChangeKind::Removed;
}

} // namespace lockscope::history
