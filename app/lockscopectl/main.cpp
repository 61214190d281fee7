// SPDX-License-Identifier: Apache-2.0
// lockscopectl: the locks of ZooKeeper, Redis, MariaDB, PostgreSQL and etcd, for terminals, scripts and incidents
// over SSH.
#include "app/lockscopectl/help.h"
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/program.h"
#include "core/base/logging.h"

#include <QCoreApplication>
#include <QLoggingCategory>

#include <algorithm>

using namespace lockscope;
using namespace lockscope::ctl;
using namespace Qt::StringLiterals;

namespace {

// The first word that is no option and no option's value, for any command's options.
QString commandWord(const QStringList &arguments)
{
    std::vector<OptionSpec> valued;
    const auto note = [&](const std::vector<OptionSpec> &options) {
        for (const auto &option : options) {
            if (!option.value.isEmpty())
                valued.push_back(option);
        }
    };
    const auto isValueOf = [&](const QString &word, const QString &next) {
        return std::ranges::any_of(
            valued, [&](const auto &option) { return u"--"_s + option.name == word && option.takes(next); });
    };
    note(app::sharedOptions());
    for (const auto &command : commands()) {
        // --redis takes a value with sandbox only, and so on: no name is a switch in one and not in another.
        note(command.options);
    }
    for (qsizetype i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--"_L1)
            break;
        if (i + 1 < arguments.size() && isValueOf(arguments[i], arguments[i + 1]))
            ++i;
        else if (!arguments[i].startsWith(u'-'))
            return arguments[i];
    }
    return {};
}

int endAsBadUsage(const QString &message)
{
    complain(message);
    return static_cast<int>(Exit::BadUsage);
}

int withoutCommand(const QStringList &arguments)
{
    const auto read = app::readArguments(arguments, app::sharedOptions());
    if (!read)
        return endAsBadUsage(read.error().message);
    if (read->has(u"version"_s))
        return print(QStringLiteral("lockscopectl " LOCKSCOPE_VERSION)) ? 0 : 1;
    if (read->has(u"help"_s))
        return print(generalHelp().chopped(1)) ? 0 : 1;
    return endAsBadUsage(u"no command given; lockscopectl --help lists them"_s);
}

std::vector<OptionSpec> optionsOf(const CommandSpec &command)
{
    auto options = app::sharedOptions();
    options.insert(options.end(), command.options.begin(), command.options.end());
    for (const auto &other : commands()) {
        if (command.isReplay && other.isReplayable)
            options.insert(options.end(), other.options.begin(), other.options.end());
    }
    return options;
}

// What is replayed has options that no recording knows: of which command they are, and why not here, is said by that.
std::optional<Arguments> ofAnyCommand(const QStringList &words)
{
    auto options = app::sharedOptions();
    for (const auto &other : commands())
        options.insert(options.end(), other.options.begin(), other.options.end());
    auto read = app::readArguments(words, options);
    return read ? std::optional(std::move(*read)) : std::nullopt;
}

int runCommand(const CommandSpec &command, const QStringList &words)
{
    const auto options = optionsOf(command);
    auto arguments = app::readArguments(words, options);
    if (auto of = arguments || !command.isReplay ? std::nullopt : ofAnyCommand(words))
        arguments = std::move(*of);
    if (!arguments)
        return endAsBadUsage(arguments.error().message);
    for (const auto &[name, meant] : command.otherNames) {
        if (arguments->has(name))
            arguments->options[meant] << arguments->options.take(name);
    }
    if (arguments->has(u"version"_s))
        return withoutCommand({u"--version"_s});
    if (arguments->has(u"help"_s))
        return print(commandHelp(command).chopped(1)) ? 0 : 1;
    const auto given = arguments->words.size() - 1;
    if (given < command.fewestWords)
        return endAsBadUsage(u"%1 wants %2; see lockscopectl %1 --help"_s.arg(command.name, command.words));
    if (given > command.mostWords)
        return endAsBadUsage(u"%1: one word too many: \"%2\"; see lockscopectl %1 --help"_s.arg(
            command.name, arguments->words.last()));
    if (arguments->hasRest && !command.takesRest)
        return endAsBadUsage(u"%1 takes no command after --"_s.arg(command.name));
    auto connections = app::readConnections(*arguments, app::environmentValue, findConnection);
    if (!connections)
        return endAsBadUsage(connections.error().message);
    for (const auto &note : connections->notes)
        complain(note);
    if (command.connects && connections->specs.empty())
        return endAsBadUsage(
            u"%1 needs a connection: --connect zk://host:2181, redis://host:6379 or sandbox:"_s.arg(command.name));
    if (!takeRules(command, *arguments))
        return static_cast<int>(Exit::BadUsage);
    Program program(command, *arguments, std::move(*connections));
    return program.exec();
}

} // namespace

int main(int argc, char **argv)
{
    // First of all: the passwords leave argv.
    const auto arguments = app::takeArguments(argc, argv);
    QCoreApplication application(argc, argv);
    QCoreApplication::setApplicationName(u"lockscopectl"_s);
    QCoreApplication::setApplicationVersion(QStringLiteral(LOCKSCOPE_VERSION));
    // An error is one line on stderr, said by the command. QT_LOGGING_RULES brings the rest back.
    QLoggingCategory::setFilterRules(u"lockscope.*=false"_s);
    // A category first used by a thread that outlives main() would find no rules any more and say everything.
    (void)logZooKeeper().isDebugEnabled();
    const auto word = commandWord(arguments);
    if (word.isEmpty())
        return withoutCommand(arguments);
    const auto *command = findCommand(word);
    if (!command)
        return endAsBadUsage(u"there is no command \"%1\"; lockscopectl --help lists them"_s.arg(word));
    return runCommand(*command, arguments);
}
