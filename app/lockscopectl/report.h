// SPDX-License-Identifier: Apache-2.0
// What a terminal shows of locks and incidents: rows of a sign with its word, text of any length and amounts at the
// right. Nothing in a row is cut. Color follows --color and NO_COLOR.
#pragma once

#include "app/lockscopectl/command.h"
#include "core/inspect/state/change.h"
#include "core/inspect/waits/incidents.h"

namespace lockscope::ctl {

enum class Ink { Plain, Bold, Dim, Red, Yellow, Blue, Cyan, Magenta, Reverse };
struct Span {
    QString text; // escaped
    Ink ink = Ink::Plain;
};
using Line = std::vector<Span>;

// "auto", "always" or "never"; anything else is refused.
[[nodiscard]] bool setColor(const QString &when);
bool printLines(const std::vector<Line> &lines);

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

// INCIDENTS and each of them; nothing where there are none.
void addIncidents(std::vector<Line> &lines, const std::vector<inspect::Incident> &incidents,
                  const CommandContext &context, int width);
// "Try: " and the command that simulates a release of that contender, with the connection of this run: it works as
// printed. Empty where none would, as from a recording or on the servers of sandbox:, which end with this run.
[[nodiscard]] QString rehearsalText(const CommandContext &context, const inspect::FindingPlace &place);
// "orders-zk  PROD  ZooKeeper  zk-1:2181".
[[nodiscard]] Line connectionLine(const inspect::LinkState &connection);

} // namespace lockscope::ctl
