// SPDX-License-Identifier: Apache-2.0
// A row of the table of findings: what its cells say, how rows are ordered, and which of them show.
#pragma once

#include "ui/models/lockfacts.h"

namespace lockscope::ui {

// Whom a finding is about, as far as it is needed after the snapshot is gone.
struct FindingParty {
    QByteArray id;
    std::optional<QString> session;
    QString words; // "holder 10.0.3.7:56332 · 0x1000009b4890001 · …0041"

    bool operator==(const FindingParty &) const = default;
};

struct FindingRow {
    enum Column { State, Title, Lock, Connection, Who, Message, Since, ColumnCount };
    static constexpr std::size_t mostParties = 8;

    FindingRow(const inspect::LockSnapshot &snapshot, inspect::Finding what);

    // All that it is about, of a deadlock over several locks each once.
    [[nodiscard]] std::vector<FindingParty> everybody() const;
    // The same finding at a later look goes on in its row.
    [[nodiscard]] bool isLater(const FindingRow &earlier) const;
    [[nodiscard]] QString cell(int column, SystemTime now) const;
    // What it says at that moment, escaped.
    [[nodiscard]] QString messageAtTime(SystemTime now) const;
    [[nodiscard]] QString sinceWords(SystemTime now) const;
    [[nodiscard]] Pill pill() const;
    // Everything the filter looks into, lower-case.
    [[nodiscard]] const QString &haystack() const;

    // A deadlock is found on each of its locks, and has one row: that of the first of them.
    [[nodiscard]] static bool isAnothers(const inspect::LockName &lock, const inspect::Finding &finding);
    [[nodiscard]] QString lockWords(const QString &between) const;

    // Whose it is: of a deadlock the victim's, else that of the first it names; nothing where that has none.
    struct Session {
        ConnectionName connection;
        QString id;
    };
    [[nodiscard]] std::optional<Session> session() const;

    inspect::LockName lock;
    std::vector<inspect::LockName> locks; // it, and of a deadlock all, in order
    inspect::Finding finding;             // its contenders are `parties`
    std::size_t concerned = 0;            // how many contenders it names, parties or not
    std::vector<FindingParty> elsewhere;  // of a deadlock: who holds and waits for its other locks, as far as told
    std::vector<FindingParty> parties;    // of a deadlock the victim first
    QString why;                          // what makes us think that it is a lock of this recipe
    std::chrono::milliseconds serverAhead{};
    SystemTime since{};          // first seen
    bool isOlder = false;        // it was there when we first looked
    std::optional<Mute> muted{}; // by which it is
    quint64 number = 0;          // of rows that are alike otherwise the older one comes first
    bool shown = false;
    bool leaving = false; // while rows are removed
    int row = 0;          // while the layout changes

private:
    mutable QString m_haystack;
};

struct FindingOrder {
    int column = -1; // -1 is the order of the house: the gravest first, then by code and lock
    Qt::SortOrder direction = Qt::AscendingOrder;
    [[nodiscard]] int compare(const FindingRow &a, const FindingRow &b) const;
    [[nodiscard]] bool operator()(const FindingRow *a, const FindingRow *b) const { return compare(*a, *b) < 0; }
};

struct FindingFilter {
    std::optional<inspect::Severity> severity;
    std::optional<inspect::FindingCode> code;
    ConnectionName connection; // empty: all
    QString text;              // lower-case
    bool showMuted = false;

    // All but severity and whether it is muted: what the counts count.
    [[nodiscard]] bool finds(const FindingRow &row) const;
    [[nodiscard]] bool shows(const FindingRow &row) const;
};

struct FindingCounts {
    int critical = 0;
    int warning = 0;
    int info = 0;
    int muted = 0; // and in none of the others
    void add(const FindingRow &row, int by);
    [[nodiscard]] int unmuted() const { return critical + warning + info; }
    friend bool operator==(const FindingCounts &, const FindingCounts &) = default;
};

} // namespace lockscope::ui
