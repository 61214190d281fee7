// SPDX-License-Identifier: Apache-2.0
// What a terminal shows of locks and incidents: rows of a sign with its word, text of any length and amounts at the
// right. Nothing in a row is cut. Color follows --color and NO_COLOR.
#pragma once

#include "app/lockscopectl/command.h"
#include "core/workspace/mutes.h"

namespace lockscope::ctl {

enum class Ink { Plain, Bold, Dim, Red, Yellow, Blue, Cyan, Magenta, Reverse };
struct Span {
    QString text; // escaped
    Ink ink = Ink::Plain;
};
using Line = std::vector<Span>;

// "auto", "always" or "never"; anything else is refused.
[[nodiscard]] bool setColor(const QString &when);
// As a terminal shows it: without what is hostile in it, with sequences of our own for its ink.
[[nodiscard]] QString inked(const Line &line);
bool printLines(const std::vector<Line> &lines);
// A line that is wider goes on in the next ones.
void addFolded(std::vector<Line> &lines, const Line &line, int width);

// What a lock or incident is, most important first: "✕ deadlock", "∞ no expiry", "◔ contended". In ASCII where the
// locale has no more.
struct Status {
    QString sign;
    QString word;
    Ink ink = Ink::Plain;
};
[[nodiscard]] Status statusOf(const inspect::LockSnapshot &lock);
[[nodiscard]] Status statusOf(const inspect::Incident &incident);
[[nodiscard]] Status statusOf(const inspect::Finding &finding);

struct ReportRow {
    Status status;
    QString title;         // in bold; never broken
    QStringList texts{};   // continued at their spaces
    QStringList amounts{}; // at the right end
    QString command{};     // to try: never broken, so that it can be copied
};
// `width`: of the terminal.
void add(std::vector<Line> &lines, const ReportRow &row, int width);
// A heading with something at the right end.
void addHeading(std::vector<Line> &lines, Line left, const QString &right, int width);

// INCIDENTS and each of them; nothing where there are none. `isBrief`: only their causes.
void addIncidents(std::vector<Line> &lines, const std::vector<inspect::Incident> &incidents,
                  const CommandContext &context, int width, bool isBrief = false);
// "Try: " and the command that simulates a release of that contender, with the connection of this run: it works as
// printed. Empty where none would, as from a recording or on the servers of sandbox:, which end with this run.
[[nodiscard]] QString rehearsalText(const CommandContext &context, const inspect::FindingPlace &place);
// "orders-zk  PROD  ZooKeeper  zk-1:2181".
[[nodiscard]] Line connectionLine(const inspect::LinkState &connection);

// The queue of a lock: a block for each contender, and rails from each waiter to what it watches. A solid rail is
// reported by the server, a dashed one is inferred. The ends of a deadlock are joined in red.
// `graph` has what the clients hold and wait for elsewhere; null where it was not made. `width`: of the terminal.
[[nodiscard]] std::vector<Line> queueLines(const inspect::LockSnapshot &lock, const inspect::WaitGraph *graph,
                                           inspect::ServerTime now, int width);

// Locks in words for people: the cells of tables, escaped.

// "ID (what the user calls its client)".
[[nodiscard]] QString idWithLabel(const inspect::LockSnapshot &lock, const QByteArray &id);
// "● held": shape and word, so that neither colour nor a font is needed to tell states apart.
[[nodiscard]] QString stateWord(const inspect::LockSnapshot &lock);
[[nodiscard]] QString roleSign(inspect::Role role);
// One name for a client: its label, what it calls itself, its address, its session, the ID of the contender.
[[nodiscard]] QString clientText(const inspect::Contender &contender, BackendKind backend);
[[nodiscard]] QString roleWord(inspect::Role role);
// "session 0x1000009b4890001"; empty where it is not known.
[[nodiscard]] QString sessionText(const inspect::Contender &contender, BackendKind backend);
// The first holder, named as everywhere, and how many others there are; empty where no client holds the lock.
[[nodiscard]] QString holderText(const inspect::LockSnapshot &lock);
[[nodiscard]] QString waitingWords(const inspect::LockSnapshot &lock);
// How long the first holder holds it: "≤ 4 m 12 s" where that is the most it can be.
[[nodiscard]] QString ageWords(const inspect::LockSnapshot &lock, inspect::ServerTime now);
[[nodiscard]] QString ageWords(const inspect::Contender &contender, inspect::ServerTime now);
// What it wrote about itself, and in brackets what its connection calls itself.
[[nodiscard]] QString identityWords(const inspect::Contender &contender);
[[nodiscard]] QString watchWords(const inspect::Contender &contender);
[[nodiscard]] QString findingWords(const inspect::LockSnapshot &lock);
// Its names in JSON, of what is held beside this lock: `heldWith`.
[[nodiscard]] QJsonArray namesBeside(const inspect::LockSnapshot &lock, const std::vector<QByteArray> &others);
// "of 1 lock no server says who waits: redis:lock:job", empty where there is none: a deadlock over it cannot be seen.
[[nodiscard]] QStringList unseenWaiterWords(const inspect::WaitGraph &graph);
[[nodiscard]] QJsonArray waitersUnknownJson(const inspect::WaitGraph &graph);
// Where not all servers could be read for it.
[[nodiscard]] inspect::Coverage deadlocksUnknown(const ConnectionName &name);
// What else of a deadlock would not be found: in words, and the connections in JSON.
[[nodiscard]] QStringList unlinkedWords(const inspect::WaitGraph &graph);
[[nodiscard]] QJsonArray unlinkedJson(const inspect::WaitGraph &graph);
// The mutes of that moment. None where their file is broken, which is reported on stderr.
[[nodiscard]] std::vector<Mute> mutesAt(history::Moment moment);
// Text of ours that may hold text of theirs (an endpoint, a client's name).
[[nodiscard]] QString shown(const QString &text);
[[nodiscard]] QString shown(const std::optional<QString> &text);

} // namespace lockscope::ctl
