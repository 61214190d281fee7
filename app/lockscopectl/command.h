// SPDX-License-Identifier: Apache-2.0
// What a command of lockscopectl is, and what it works with.
#pragma once

#include "app/lockscopectl/interrupts.h"
#include "app/lockscopectl/snapshotsource.h"
#include "core/workspace/rulefolder.h"

namespace lockscope::ctl {

using app::Arguments;
using app::Exit;
using app::OptionSpec;

struct CommandContext {
    const Arguments &arguments;
    Workspace &workspace;
    SnapshotSource &pictures;
    Sink &sink;
    Interrupts &interrupts;
    bool json = false;
    bool readOnly = false;
    std::optional<quint64> simulatedSeed; // of sim:SEED
    std::vector<inspect::ClientLabel> labels;
    QMap<ConnectionName, app::ConnectWord> connections{}; // those that a later run can be given, too
    Timer waiting{}; // what a server's answer is waited for is said then: not while a person's is

    [[nodiscard]] Loop &loop() const { return workspace.loop(); }
    // The words after the command.
    [[nodiscard]] QString word(int index) const { return arguments.words.value(index + 1); }
    [[nodiscard]] bool has(const QString &option) const { return arguments.has(option); }
};

// One of resources/commands.json.
struct CommandSpec {
    QString name;
    QString heading;        // of the group in --help that begins with it
    QString words;          // "LOCK", "[CONNECTION:]PATH"
    QString summary;        // one line
    QString more;           // what --help says besides; may be empty
    QString list;           // what --help lists after that, heading and lines; may be empty
    QStringList examples{}; // its words; of a command that connects the server is put before them where none is named
    std::vector<OptionSpec> options;
    std::map<QString, QString> otherNames{}; // of its options, and the one of every command that is meant
    int fewestWords = 0;
    int mostWords = 0;
    bool connects = true;      // needs --connect
    bool mayConnect = false;   // goes without, too, and knows sim:
    bool observes = false;     // looks at everything, not only at what it asks for
    bool follows = false;      // and goes on doing so
    bool asks = false;         // a person first, unless --yes: what it acts on may be followed meanwhile
    bool isReplayable = false; // asks context.pictures only: is answered from a recording as well
    bool isReplay = false;     // takes the options of those, too
    bool takesRest = false;    // "-- CMD…"
    bool readsOnly = false;    // its connections open read-only
    bool answersSoon = false;  // or its server does not: then it says what it waits for
    Task<Result<Exit>> (*run)(CommandContext &context) = nullptr;
};

[[nodiscard]] const std::vector<CommandSpec> &commands();
[[nodiscard]] const CommandSpec *findCommand(const QString &name);

// Reports the error on stderr and says how the program ends for it.
[[nodiscard]] Exit fail(const Error &error);

// A whole answer in JSON; of a recording it says so.
bool printAnswer(const CommandContext &context, QJsonObject answer);
// The same with the coverage, and what is hidden or not understood.
bool printClosedAnswer(CommandContext &context, QJsonObject answer);

// Connects every connection. What cannot be reached is reported; Done when all of them stand.
[[nodiscard]] Task<Exit> connectAll(CommandContext &context);
// What was found out about the server that its address does not say, if there is such: on stderr.
void printRemark(const Link &link);
// From now on: on stderr, when a connection breaks.
void reportBreaks(CommandContext &context);
// connectAll(), and waits until each has told everything it can see at first. TimedOut: one of them did not in time.
[[nodiscard]] Task<Exit> lookAround(CommandContext &context);
[[nodiscard]] QJsonArray coverageJson(CommandContext &context);
// A line for each thing that was not read, not understood or not shown.
[[nodiscard]] QStringList coverageWords(CommandContext &context);
// The lock of the first word.
[[nodiscard]] Result<inspect::LockName> lockOf(CommandContext &context);
[[nodiscard]] Deadline requestDeadline(CommandContext &context);

// Puts the rules of --rules and of the user's folder into force. False, and told why, where a named file has a
// mistake.
[[nodiscard]] bool takeRules(const CommandSpec &command, const Arguments &arguments);
// The same while the program runs: each change is put into force and said on stderr, mistakes are told.
[[nodiscard]] std::unique_ptr<RuleWatch> followRules(const Arguments &arguments);

inline const QString releaseMethods = u"revoke, shorten-ttl, kill-waiter, kill-query, release or end-lease"_s;

// What runs each command.
#define LOCKSCOPE_INSPECTING(EACH)                                                                                   \
    EACH(Locks) EACH(Show) EACH(Sessions) EACH(Findings) EACH(Graph) EACH(Note) EACH(Metrics)
#define LOCKSCOPE_READING(EACH) EACH(Tree) EACH(Keys) EACH(Audit) EACH(Record) EACH(Replay) EACH(Mcp) EACH(Recipes)
#define LOCKSCOPE_ACTING(EACH) EACH(Acquire) EACH(ForceRelease) EACH(Rehearse) EACH(Simulate) EACH(Lesson)
#define LOCKSCOPE_SETTING_UP(EACH) EACH(Test) EACH(Recognise) EACH(Sandbox)
#define LOCKSCOPE_COMMANDS(EACH)                                                                                     \
    LOCKSCOPE_INSPECTING(EACH) LOCKSCOPE_READING(EACH) LOCKSCOPE_ACTING(EACH) LOCKSCOPE_SETTING_UP(EACH)
#define LOCKSCOPE_RUN(Name) [[nodiscard]] Task<Result<Exit>> run##Name(CommandContext &context);
LOCKSCOPE_COMMANDS(LOCKSCOPE_RUN)
#undef LOCKSCOPE_RUN

// What --help prints.
[[nodiscard]] QString generalHelp();
[[nodiscard]] QString commandHelp(const CommandSpec &command);
// What `help TOPIC` prints, of "options", "connections", "names" or a command; none of another topic.
[[nodiscard]] std::optional<QString> topicHelp(const QString &topic);

} // namespace lockscope::ctl
