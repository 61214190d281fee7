// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/command.h"

#include <algorithm>

namespace lockscope::ctl {

const std::vector<CommandSpec> &commands()
{
    static const std::vector<CommandSpec> all{
        locksCommand(),    showCommand(),   sessionsCommand(), findingsCommand(),  graphCommand(),
        noteCommand(),     treeCommand(),   keysCommand(),     acquireCommand(),   forceReleaseCommand(),
        rehearseCommand(), auditCommand(),  recordCommand(),   replayCommand(),    recipesCommand(),
        simulateCommand(), lessonCommand(), testCommand(),     recogniseCommand(), sandboxCommand(),
    };
    return all;
}

const CommandSpec *findCommand(const QString &name)
{
    const auto at = std::find_if(commands().begin(), commands().end(), [&](const CommandSpec &command) {
        return command.name == name || (name == "recognize"_L1 && command.name == "recognise"_L1);
    });
    return at == commands().end() ? nullptr : &*at;
}

namespace {

QString wrapped(const QString &text)
{
    constexpr qsizetype width = 96;
    QStringList lines;
    QString line;
    for (const auto &word : text.split(u' ')) {
        if (!line.isEmpty() && line.size() + 1 + word.size() > width)
            lines << std::exchange(line, QString());
        line += (line.isEmpty() ? QString() : u" "_s) + word;
    }
    lines << line;
    return lines.join(u'\n');
}

} // namespace

// At most 24 lines: the height of a terminal.
QString generalHelp()
{
    static const std::map<QString, QString> groups{{u"locks"_s, u"Inspect"_s},
                                                   {u"acquire"_s, u"Act"_s},
                                                   {u"record"_s, u"Record"_s},
                                                   {u"recipes"_s, u"Learn"_s},
                                                   {u"test"_s, u"Set up"_s}};
    QString text = u"lockscopectl: the locks of %1, seen as locks\n"
                   "  lockscopectl --connect [NAME=]URI… COMMAND [WORD] [OPTION]…\n"_s.arg(app::titlesOfBackends());
    for (const auto &command : commands()) {
        const auto group = groups.find(command.name);
        const auto heading = group == groups.end() ? QString() : group->second;
        text += heading.leftJustified(8) + command.name.leftJustified(15) + command.summary + u'\n';
    }
    return text
           + u"lockscopectl COMMAND --help: its options and examples\n"
             "Status: 0 done, 1 failed, 2 usage, 3 no connection, 4 refused by a guard, 5 timed out\n"_s;
}

namespace {

QString examplesOf(const CommandSpec &command)
{
    QString text = u"\nExamples\n"_s;
    for (const auto &example : command.examples) {
        const bool isComplete = !command.connects || example.startsWith("--connect"_L1);
        text += u"  lockscopectl %1%2\n"_s.arg(isComplete ? QString() : u"--connect zk=zk://10.0.3.7 "_s, example);
    }
    return text;
}

// How a lock is written on each backend, and where a password comes from.
QString namesHelp()
{
    QStringList locks;
    for (const auto &backend : allBackends())
        locks << backend.lockHelp;
    return u'\n' + wrapped(u"LOCK is CONNECTION:NAME: "_s + locks.join(u", "_s) + u'.') + u'\n'
           + wrapped(u"D is a duration: 500ms, 30s, 2m. Passwords come from the URI, from LOCKSCOPE_PASSWORD_<NAME> "
                     u"or from the keychain (saved by the desktop app for that name and address). Without tls=on "
                     u"(or rediss) and without ssh= data and passwords are not encrypted."_s)
           + u'\n';
}

} // namespace

QString commandHelp(const CommandSpec &command)
{
    const auto words = command.words.isEmpty() ? QString() : u' ' + command.words;
    const auto rest = command.takesRest ? u" [-- CMD…]"_s : QString();
    QString text = u"lockscopectl %1%2%3%4\n\n"_s.arg(command.name, words,
                                                      command.options.empty() ? QString() : u" [OPTION]…"_s, rest);
    text += wrapped(command.summary) + u'\n';
    if (!command.more.isEmpty())
        text += u'\n' + wrapped(command.more) + u'\n';
    if (!command.list.isEmpty())
        text += u'\n' + command.list;
    if (!command.options.empty())
        text += u"\nOptions\n"_s + app::optionsHelp(command.options);
    text += u"\nOptions of every command\n"_s + app::optionsHelp(app::sharedOptions());
    return text + namesHelp() + examplesOf(command);
}

} // namespace lockscope::ctl
