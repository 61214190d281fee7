// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/output.h"
#include "core/inspect/json.h"
#include "core/sandbox/demo.h"

namespace lockscope::ctl {

namespace {

// Puts in what other tables say: the codes of findings, the methods of release, the servers of the sandbox.
void complete(CommandSpec &spec)
{
    if (spec.name == "findings"_L1) {
        for (const auto &kind : inspect::findingKinds())
            spec.list += app::helpLine(inspect::word(kind.code), kind.meaning.toString());
    } else if (spec.name == "force-release"_L1) {
        spec.list = spec.list.arg(releaseMethods);
    } else if (spec.name == "sandbox"_L1) {
        spec.more = spec.more.arg(
            app::titlesOfBackends([](const BackendInfo &backend) { return sandbox::kitOf(backend.kind).usual > 0; }));
        std::vector<OptionSpec> servers;
        for (const auto &backend : allBackends()) {
            const auto &kit = sandbox::kitOf(backend.kind);
            const auto number = kit.most == 1 ? QString() : kit.apart ? u"N"_s : u"[N]"_s;
            servers.push_back({backend.defaultName, number, kit.what});
            for (const auto &variant : kit.variants)
                servers.push_back({variant.option, {}, variant.what});
        }
        spec.options.insert(spec.options.begin(), servers.begin(), servers.end());
    }
}

CommandSpec readCommand(FieldReader &reader)
{
#define LOCKSCOPE_RUN(Name) {QStringLiteral(#Name).toLower(), &run##Name},
    static const std::map<QString, Task<Result<Exit>> (*)(CommandContext &)> all{LOCKSCOPE_COMMANDS(LOCKSCOPE_RUN)};
#undef LOCKSCOPE_RUN
    CommandSpec spec;
    spec.name = reader.text("name");
    const auto run = all.find(QString(spec.name).remove(u'-'));
    if (run != all.end())
        spec.run = run->second;
    else
        reader.wrong(u"name"_s, u"the name of a command"_s);
    spec.heading = reader.text("heading", QString());
    spec.words = reader.text("words", QString());
    spec.summary = reader.text("summary");
    spec.more = reader.text("more", QString());
    spec.list = reader.text("list", QString());
    for (const auto &example : reader.texts("examples"))
        spec.examples << QString::fromUtf8(example);
    const auto options = reader.has("options") ? reader.list("options", 1, 50) : QJsonArray();
    for (qsizetype i = 0; i < options.size(); ++i) {
        auto option = reader.element("options", options, i);
        auto &read =
            spec.options.emplace_back(option.text("name"), option.text("value", QString()), option.text("help"));
        option.take("isRepeatable", read.repeatable);
        if (option.has("means"))
            spec.otherNames[read.name] = option.text("means");
        option.nothingElse();
    }
    reader.take("fewestWords", 0, 9, spec.fewestWords);
    reader.take("mostWords", 0, 9, spec.mostWords);
    reader.take("connects", spec.connects);
    reader.take("mayConnect", spec.mayConnect);
    reader.take("observes", spec.observes);
    reader.take("follows", spec.follows);
    reader.take("asks", spec.asks);
    reader.take("isReplayable", spec.isReplayable);
    reader.take("isReplay", spec.isReplay);
    reader.take("takesRest", spec.takesRest);
    reader.take("readsOnly", spec.readsOnly);
    reader.take("answersSoon", spec.answersSoon);
    complete(spec);
    return spec;
}

} // namespace

const std::vector<CommandSpec> &commands()
{
    static const auto all = [] {
        std::vector<CommandSpec> specs;
        readResourceList(u"commands.json"_s, "commands",
                         [&specs](FieldReader &reader) { specs.push_back(readCommand(reader)); });
        return specs;
    }();
    return all;
}

const CommandSpec *findCommand(const QString &name)
{
    const auto at = std::find_if(commands().begin(), commands().end(), [&](const CommandSpec &command) {
        return command.name == name || (name == "recognize"_L1 && command.name == "recognise"_L1);
    });
    return at == commands().end() ? nullptr : &*at;
}

// At most 24 lines: the height of a terminal.
QString generalHelp()
{
    QString text = u"lockscopectl: the locks of %1, seen as locks\n"_s.arg(app::titlesOfBackends());
    for (const auto &command : commands())
        text += command.heading.leftJustified(8) + command.name.leftJustified(15) + command.summary + u'\n';
    return text + u"lockscopectl --connect [NAME=]URI… COMMAND [WORD] [OPTION]…; COMMAND --help; help options\n"_s;
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

// What the tables of the backends say for a topic.
QString listOf(const QString &topic)
{
    QString list = topic == "options"_L1 ? app::optionsHelp(app::sharedOptions()) : QString();
    for (const auto &backend : allBackends()) {
        for (const auto &uri : topic == "connections"_L1 ? backend.uriHelp.split(u", "_s) : QStringList())
            list += u"  %1\n"_s.arg(uri);
        if (topic == "names"_L1)
            list += app::helpLine(backend.title, backend.lockHelp);
    }
    if (topic == "connections"_L1)
        list += app::helpLine(u"sandbox:"_s, u"private servers for this run"_s)
                + app::helpLine(u"NAME"_s, u"a saved connection, or one of the nearest lockscope.toml"_s);
    return list;
}

} // namespace

std::optional<QString> topicHelp(const QString &topic)
{
    std::optional<QString> text;
    readResourceList(u"help.json"_s, "topics", [&](FieldReader &reader) {
        const auto lines = reader.texts("lines").join('\n') + '\n';
        if (reader.text("name") == topic)
            text = QString::fromUtf8(lines).replace(u"%1"_s, listOf(topic));
    });
    const auto *command = findCommand(topic);
    return text || !command ? text : commandHelp(*command);
}

QString commandHelp(const CommandSpec &command)
{
    const auto words = command.words.isEmpty() ? QString() : u' ' + command.words;
    const auto rest = command.takesRest ? u" [-- CMD…]"_s : QString();
    QString text = u"lockscopectl %1%2%3%4\n\n"_s.arg(command.name, words,
                                                      command.options.empty() ? QString() : u" [OPTION]…"_s, rest);
    constexpr qsizetype width = 80;
    text += wrapped(command.summary, width).join(u'\n') + u'\n';
    if (!command.more.isEmpty())
        text += u'\n' + wrapped(command.more, width).join(u'\n') + u'\n';
    if (!command.list.isEmpty())
        text += u'\n' + command.list;
    if (!command.options.empty())
        text += u"\nOptions\n"_s + app::optionsHelp(command.options);
    text += u"\nCommon options (--connect, --json, --label …): lockscopectl help options\n"_s;
    return text + examplesOf(command);
}

} // namespace lockscope::ctl
