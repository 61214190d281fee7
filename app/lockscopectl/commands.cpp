// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/command.h"

#include <algorithm>

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

const std::vector<CommandSpec> &commands()
{
    static const std::vector<CommandSpec> all{
        locksCommand(),   showCommand(),         sessionsCommand(), findingsCommand(),  graphCommand(),
        noteCommand(),    rehearseCommand(),     treeCommand(),     keysCommand(),      recipesCommand(),
        acquireCommand(), forceReleaseCommand(), simulateCommand(), lessonCommand(),    sandboxCommand(),
        recordCommand(),  replayCommand(),       auditCommand(),    recogniseCommand(), testCommand(),
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

QString generalHelp()
{
    QString text = u"lockscopectl: the locks of %1, seen as locks\n\n"_s.arg(app::titlesOfBackends())
                   + u"  lockscopectl --connect [NAME=]URI… COMMAND [WORD] [OPTION]…\n\nCommands\n"_s;
    for (const auto &command : commands())
        text += u"  %1%2\n"_s.arg(command.name.leftJustified(16), command.summary);
    text += u"\nOptions, before or after the command\n"_s + app::optionsHelp(app::sharedOptions());
    QStringList locks;
    for (const auto &backend : allBackends())
        locks << backend.lockHelp;
    text += u'\n' + wrapped(u"LOCK is CONNECTION:NAME: "_s + locks.join(u", "_s) + u'.') + u'\n';
    text += wrapped(
        u"A D is a duration: 500ms, 30s, 2m. Passwords may come from LOCKSCOPE_PASSWORD_<NAME> or from the "
        u"keychain (saved by the window for that name and address) instead of the URI. Without tls=on (or rediss) "
        u"and without ssh= data and credentials travel in clear."_s);
    text += u"\n\n"
            u"Status: 0 done, 1 failed, 2 bad usage, 3 could not connect or authenticate, 4 refused by a guard,\n"
            u"5 timed out waiting.\n\n"
            u"More about a command: lockscopectl COMMAND --help\n"_s;
    return text;
}

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
    return text;
}

} // namespace lockscope::ctl
