// SPDX-License-Identifier: Apache-2.0
// A thread dump of a JVM (jstack, kill -3, jcmd Thread.dump_to_file), joined with the contenders of a lock: which
// stack holds it, which ones wait.
//
// 1. Redisson stores "<client>:<thread>". The thread is Thread.getId(), which a dump prints as #NN. The dump does not
//    name Redisson's client, so thread NN of another process would match as well.
// 2. Curator's node names a session and no thread, and the dump names no session. All that is known is which
//    threads wait in a call for a lock; they are candidates.
// 3. So where several clients contend, the user names the client that the dump is of.
#pragma once

#include "core/base/result.h"
#include "core/inspect/snapshot.h"

#include <QJsonObject>

namespace lockscope::inspect {

struct DumpedThread {
    QString name{};
    std::optional<qint64> number{}; // of Java; the JVM's own threads have none
    QString state{};                // "WAITING (parking)"; empty where the dump does not print it
    QStringList frames{};           // the innermost first
};

// BadInput: there is no thread in it, or none has a number.
[[nodiscard]] Result<std::vector<DumpedThread>> readThreadDump(const QByteArray &text);

// The outermost call of a lock library in the stack, by resources/rules/lock-calls.json; -1: there is none.
[[nodiscard]] qsizetype lockCallIn(const DumpedThread &thread);

enum class ThreadMatch : quint8 {
    ThreadId,  // the contender names its thread, and the dump has it
    Missing,   // the contender names its thread, and the dump does not have it
    Candidates // the contender names no thread: those that wait in a call for a lock, if any do
};

struct ContenderThreads {
    QByteArray contender;
    Role role = Role::Waiter;
    ThreadMatch match = ThreadMatch::Candidates;
    qint64 number = 0; // that the contender names
    std::vector<DumpedThread> threads;
};

struct JoinedThreads {
    QString clientId; // that the dump is taken for: Redisson's UUID, a session
    qsizetype threadCount = 0;
    std::vector<ContenderThreads> contenders; // of that client, in the order of the lock
};

// `client` may be empty where all contenders are one client's. BadInput, with the clients to choose from: it has to
// be named, or contends not for this lock.
[[nodiscard]] Result<JoinedThreads> joinThreads(const LockSnapshot &lock, const std::vector<DumpedThread> &dump,
                                                const QString &client);

[[nodiscard]] QStringList threadLines(const JoinedThreads &joined);
[[nodiscard]] QJsonObject toJson(const JoinedThreads &joined);

} // namespace lockscope::inspect
