// SPDX-License-Identifier: Apache-2.0
// What lockscopectl prints: results to stdout, everything else to stderr, as one line each. All of it passes
// core/base/text.h here: whatever text comes from a file or a server, no control character reaches the terminal.
//
// And what a terminal shows of locks and incidents: rows of a sign with its word, text of any length and amounts at
// the right. Nothing in a row is cut. Color follows --color and NO_COLOR.
#pragma once

#include "app/lockscopectl/command.h"
#include "core/workspace/mutes.h"

namespace lockscope::ctl {

// To stdout, flushed. Returns false when nobody reads any more (a closed pipe).
bool print(const QString &text);
// One line with "schema" added.
bool printJsonLine(QJsonObject object);
// A whole answer, indented.
bool printJson(QJsonObject object);
// One line to stderr: what was tried, on what, what to do next. Without the credentials of any URI in it.
void printError(const QString &message);
// Lines with control sequences of our own: all other text in them was made harmless before.
bool printStyled(const QString &lines);
// To stderr, for previews and questions under --json.
void printNote(const QString &text);
// To stderr, in place of what the terminal's last line shows.
void showOnLine(const QString &text);

// What is printed meanwhile: it goes here, and to no terminal. One at a time.
class CapturedOutput {
public:
    CapturedOutput();
    ~CapturedOutput();
    Q_DISABLE_COPY(CapturedOutput)
    QByteArray out, errors;
};

// Whether the terminal shows more than ASCII.
[[nodiscard]] bool isUnicode();
// Whether it knows no sequences, by TERM.
[[nodiscard]] bool isDumbTerminal();
// Columns of the terminal; 0 when stdout is none (nothing is cut then).
[[nodiscard]] int terminalWidth();

// Rows in aligned columns, for people. Text is expected escaped; what does not fit the terminal is cut
// in the widest columns, never the numbers, and sentences are continued on the next line.
class Table {
public:
    enum class Align { Left, Right };
    struct Column {
        QString title;
        Align align = Align::Left;
        bool cuttable = false;
        bool isProse = false; // sentences, in the last column: continued on the next line instead of being cut
    };

    // Of titles with | between them. Before a title, > aligns it right, ~ lets it be cut, + says that it is prose.
    [[nodiscard]] static std::vector<Column> columnsOf(const QString &titles);
    explicit Table(std::vector<Column> columns) : m_columns(std::move(columns)) {}
    void add(QStringList cells) { m_rows.push_back(std::move(cells)); }
    // Above the rows that follow, over the whole width.
    void addHeading(const QString &title) { m_headings.emplace(m_rows.size(), title); }
    [[nodiscard]] bool isEmpty() const { return m_rows.empty(); }
    // Without a final newline. `width` 0, where stdout is no terminal: a row is a line of whole cells with tabs
    // between them.
    [[nodiscard]] QString text(int width) const;

private:
    [[nodiscard]] std::vector<qsizetype> widths(int width) const;
    [[nodiscard]] QString tabbed() const;
    std::vector<Column> m_columns;
    std::vector<QStringList> m_rows;
    std::map<std::size_t, QString> m_headings; // by the row they stand above
};

// As much of the text as fits; at least one character.
[[nodiscard]] QString firstCells(const QString &text, qsizetype cells);
// Continued at its spaces; a word that is wider than a line is broken.
[[nodiscard]] QStringList wrapped(const QString &text, qsizetype cells);
// The same, but a word that is wider stays whole: a name or a command. Nothing of an empty text.
[[nodiscard]] QStringList wrappedWhole(const QString &text, qsizetype cells);
// Terminal cells a text takes: CJK characters take two, combining marks none.
[[nodiscard]] qsizetype cellsOf(const QString &text);

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
