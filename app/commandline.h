// SPDX-License-Identifier: Apache-2.0
// The command line of both programs: reading arguments, the connections in them, and their secrets.
//
// Options may stand before and after the command. What is wrong is told in one line (BadInput).
#pragma once

#include "core/connections/connectionstore.h"
#include "core/inspect/waits/clients.h"

#include <QMap>

namespace lockscope::app {

// docs/commands.md, "Exit status".
enum class Exit {
    Done = 0,
    Failed = 1,
    BadUsage = 2,
    NoConnection = 3,
    Refused = 4,
    TimedOut = 5,
    Warning = 10,
    Critical = 11,
    Unknown = 12
};
[[nodiscard]] Exit exitFor(ErrorCode code);

struct OptionSpec {
    QString name;  // "connect"
    QString value; // what the value is called in --help ("[NAME=]URI"); empty for a switch; "[N]": a number, or none
    QString help;
    bool repeatable = false;
    // Whether the argument behind the option is its value.
    [[nodiscard]] bool takes(const QString &next) const;
};

// What was read: words, options, and what stood after "--".
class Arguments {
public:
    QStringList words;
    QMap<QString, QStringList> options;
    QStringList rest;
    bool hasRest = false;

    [[nodiscard]] bool has(const QString &name) const { return options.contains(name); }
    [[nodiscard]] QString value(const QString &name, const QString &otherwise = {}) const
    {
        const auto given = options.value(name);
        return given.isEmpty() ? otherwise : given.last();
    }
};

// Takes "--name value", "--name=value" and switches, in any place before "--". An unknown one is an
// error that names the nearest known.
[[nodiscard]] Result<Arguments> readArguments(const QStringList &arguments, const std::vector<OptionSpec> &known);

// --connect, --read-only, --production, --allow-writes, --label, --rules, --json, --help, --version.
[[nodiscard]] const std::vector<OptionSpec> &sharedOptions();

// A connection as --connect takes it again: its name or NAME=URI. Never with a password.
struct ConnectWord {
    QString word;
    bool lacksPassword = false; // the URI had one
};

struct Connections {
    std::vector<ConnectionSpec> specs; // named, with password and mark
    bool readOnly = false;
    std::vector<inspect::ClientLabel> labels;
    QStringList notes;                       // what whoever runs this has to know
    QMap<ConnectionName, QString> teamFiles; // which are by a team's file, and which
    QMap<ConnectionName, ConnectWord> words; // but of sandbox: and sim:, which end with this run
};
// The connection of that name, where it is known: for --connect NAME.
using KnownConnection = std::function<Result<std::optional<NamedConnection>>(const QString &name)>;
// `environment` answers for a variable's value (null: not set): passwords that are not in the URI come
// from LOCKSCOPE_PASSWORD_<NAME>.
[[nodiscard]] Result<Connections> readConnections(const Arguments &arguments,
                                                  const std::function<QString(const QByteArray &)> &environment,
                                                  const KnownConnection &known = {});
// In quotes where a shell would change it.
[[nodiscard]] QString shellWord(const QString &word);
[[nodiscard]] QString environmentValue(const QByteArray &variable);

// Copies the arguments (without the program's name), then overwrites the passwords in argv, so that
// `ps` does not show them. Call first thing in main.
[[nodiscard]] QStringList takeArguments(int argc, char **argv);

// If that connection has a password or a passphrase: no core dump of this process, and only root reads its
// memory, from now on. (Commands it starts are not concerned.)
void keepMemoryPrivate(const ConnectionSpec &spec);

// "ZooKeeper, Redis and MariaDB or MySQL": all backends, or those of which that is true.
[[nodiscard]] QString titlesOfBackends(bool (*which)(const BackendInfo &) = nullptr);
// A line of --help in two columns, the second one wrapped.
[[nodiscard]] QString helpLine(const QString &head, const QString &help);
// The options as --help lists them.
[[nodiscard]] QString optionsHelp(const std::vector<OptionSpec> &options);

} // namespace lockscope::app
