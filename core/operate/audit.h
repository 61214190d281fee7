// SPDX-License-Identifier: Apache-2.0
// The audit record of everything done by force: JSON lines in $XDG_STATE_HOME/lockscope/audit.jsonl, an intent
// flushed to disk before the command is sent and a result after it. Each record carries the hash of the one before
// it, so that a changed or removed line shows; and the hash of the last one is kept in a file beside it (".head"), so
// that lines cut off at the end, and a removed file, show as well. (Who may write both can forge both. To put the
// record away, move both.) The file is locked while written. Where it cannot be written, nothing is forced. Any
// thread; append blocks for the time of one disk flush. And the log of all commands, in memory.
#pragma once

#include "core/base/bytes.h"
#include "core/base/result.h"

#include <QByteArray>
#include <QJsonObject>

#include <deque>
#include <functional>
#include <vector>

namespace lockscope::operate {

struct AuditRecord {
    std::chrono::system_clock::time_point time; // now, when not set
    QString actor;                              // user@host
    QString action;                             // "force-release"
    QByteArray lock;                            // CONNECTION:NAME
    QByteArray holder;
    QString reason;
    QString phase;       // "intent" or "result"
    QString outcome;     // result: "released", "refused: …", "unknown: …"
    bool isDone = false; // result: what was asked for was done
    QJsonObject before;  // LOCK in JSON: docs/json.md
    QJsonObject after;
    QString node;             // of a set, where each node's part is recorded by itself
    QJsonObject to;           // of an edit: what is to be there
    bool lacksHead = false;   // when it was written, the hash of the one before was not kept any more
    bool lacksResult = false; // an intent, read back, that no result follows: what came of it is not known
    QByteArray hash;          // SHA-256 over the previous record's hash and this record
};

class AuditFile {
public:
    // The default path when empty.
    explicit AuditFile(QString path = {});
    [[nodiscard]] const QString &path() const { return m_path; }

    // Fills actor (if empty) and hash; returns only after the bytes are on disk.
    [[nodiscard]] Result<void> append(AuditRecord record);
    // Reads every record; a line that is broken or whose hash does not follow, and that something is missing at the
    // end, is reported in `problems`.
    [[nodiscard]] Result<std::vector<AuditRecord>> read(QStringList *problems) const;
    // Whether it is known which record was the last one.
    [[nodiscard]] bool hasHead() const;

private:
    QString m_path;
};

// The file as a whole, and whether its chain holds.
struct AuditReport {
    QString path;
    QString stamp;            // of this state of it
    bool isUnchanged = false; // it is as it was at the stamp that was known: nothing else was read
    std::vector<AuditRecord> records;
    QStringList problems; // empty: each record follows from the one before, and none is missing at the end
};
// Blocks, also for the moment another program writes.
[[nodiscard]] Result<AuditReport> reportOf(const AuditFile &file, const QString &knownStamp = {});

// "user@host" of this process.
[[nodiscard]] QString currentActor();
// As `lockscopectl audit --json` prints it (lock and holder escaped), hash included.
[[nodiscard]] QJsonObject toJson(const AuditRecord &record);

// Every command sent and every event seen, newest last, at most `capacity` of them. Secrets never
// reach it. Loop thread only.
struct LogEntry {
    enum class Kind { Sent, Event, State };
    quint64 number = 0;
    std::chrono::system_clock::time_point time;
    ConnectionName connection;
    Kind kind = Kind::Sent;
    bool write = false;
    bool refused = false; // the gate said no; nothing was sent
    QString text;         // "getChildren /locks/orders watch", "SET orders-lock … NX PX 30000"
    QString outcome;      // "ok, 4 children", "NoNode", empty while out
    std::chrono::microseconds took{};
};

class CommandLog {
public:
    explicit CommandLog(std::size_t capacity = 5000) : m_capacity(capacity) {}

    // Returns the entry's number, for finish().
    quint64 add(LogEntry entry);
    void finish(quint64 number, const QString &outcome, std::chrono::microseconds took);
    [[nodiscard]] const std::deque<LogEntry> &entries() const { return m_entries; }
    // Called for each entry added and again when it is finished.
    void setListener(std::function<void(const LogEntry &)> listener) { m_listener = std::move(listener); }

private:
    std::size_t m_capacity;
    quint64 m_next = 1;
    std::deque<LogEntry> m_entries;
    std::function<void(const LogEntry &)> m_listener;
};

} // namespace lockscope::operate
