// SPDX-License-Identifier: Apache-2.0
#include "app/commandline.h"

#include <QRegularExpression>

#include "core/base/text.h"

#include <sys/prctl.h>

namespace lockscope::app {

namespace {

Error badUsage(const QString &what)
{
    return Error{ErrorCode::BadInput, what};
}

// A word from the command line in a message: it may hold anything, a password too.
QString shown(const QString &word)
{
    const auto at = word.lastIndexOf(u'@');
    return label((at < 0 ? word : u"…"_s + word.mid(at)).toUtf8(), 80);
}

const OptionSpec *find(const std::vector<OptionSpec> &known, const QString &name)
{
    const auto at = std::find_if(known.begin(), known.end(), [&](const auto &option) { return option.name == name; });
    return at == known.end() ? nullptr : &*at;
}

// How many single-character edits lie between two words.
qsizetype distance(const QString &a, const QString &b)
{
    std::vector<qsizetype> row(static_cast<std::size_t>(b.size()) + 1);
    for (std::size_t j = 0; j < row.size(); ++j)
        row[j] = static_cast<qsizetype>(j);
    for (qsizetype i = 1; i <= a.size(); ++i) {
        qsizetype diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j < row.size(); ++j) {
            const auto change = diagonal + (a[i - 1] == b[static_cast<qsizetype>(j) - 1] ? 0 : 1);
            diagonal = std::exchange(row[j], std::min({change, row[j] + 1, row[j - 1] + 1}));
        }
    }
    return row.back();
}

Error unknownOption(const QString &name, const std::vector<OptionSpec> &known)
{
    const OptionSpec *nearest = nullptr;
    for (const auto &option : known) {
        if (distance(name, option.name) <= 2
            && (!nearest || distance(name, option.name) < distance(name, nearest->name)))
            nearest = &option;
    }
    const auto hint = nearest ? u"did you mean --%1?"_s.arg(nearest->name) : u"see --help"_s;
    return badUsage(u"unknown option --%1; %2"_s.arg(shown(name), hint));
}

// Overwrites the password of a URI in place: from the first colon after "://" to the last "@".
void blankPassword(char *argument)
{
    char *authority = std::strstr(argument, "://");
    if (!authority)
        return;
    authority += 3;
    char *end = std::strrchr(authority, '@');
    char *colon = std::strchr(authority, ':');
    if (!end || !colon || colon > end)
        return;
    std::fill(colon + 1, end, '*');
}

} // namespace

Exit exitFor(ErrorCode code)
{
    switch (code) {
    case ErrorCode::BadInput: return Exit::BadUsage;
    case ErrorCode::NotConnected:
    case ErrorCode::AuthFailed: return Exit::NoConnection;
    case ErrorCode::Refused: return Exit::Refused;
    case ErrorCode::TimedOut: return Exit::TimedOut;
    default: return Exit::Failed;
    }
}

bool OptionSpec::takes(const QString &next) const
{
    return !value.isEmpty() && (value != "[N]"_L1 || (!next.isEmpty() && next.front().isDigit()));
}

Result<Arguments> readArguments(const QStringList &arguments, const std::vector<OptionSpec> &known)
{
    Arguments read;
    for (qsizetype i = 0; i < arguments.size(); ++i) {
        const auto &word = arguments[i];
        if (word == "--"_L1) {
            read.rest = arguments.mid(i + 1);
            read.hasRest = true;
            break;
        }
        if (word == "-h"_L1) {
            read.options[u"help"_s] << QString();
            continue;
        }
        if (!word.startsWith(u'-') || word.size() == 1) {
            read.words << word;
            continue;
        }
        if (!word.startsWith("--"_L1))
            return badUsage(u"unknown option %1; options are written --name, see --help"_s.arg(shown(word)));
        const auto equals = word.indexOf(u'=');
        const auto name = word.mid(2, equals < 0 ? -1 : equals - 2);
        const auto *option = find(known, name);
        if (!option)
            return unknownOption(name, known);
        if (option->value.isEmpty() && equals >= 0)
            return badUsage(u"--%1 takes no value"_s.arg(name));
        if (!option->repeatable && !option->value.isEmpty() && read.has(name))
            return badUsage(u"--%1 is given twice"_s.arg(name));
        QString value;
        if (!option->value.isEmpty()) {
            const bool isLast = i + 1 >= arguments.size() || arguments[i + 1] == "--"_L1;
            const bool isOptional = option->value == "[N]"_L1;
            if (equals < 0 && isLast && !isOptional)
                return badUsage(u"--%1 requires a value: --%1 %2"_s.arg(name, option->value));
            if (equals >= 0)
                value = word.mid(equals + 1);
            else if (!isLast && option->takes(arguments[i + 1]))
                value = arguments[++i];
        }
        read.options[name] << value;
    }
    return read;
}

QString titlesOfBackends(bool (*which)(const BackendInfo &))
{
    QStringList titles;
    for (const auto &backend : allBackends()) {
        if (!which || which(backend))
            titles << backend.title;
    }
    const auto last = titles.takeLast();
    return titles.isEmpty() ? last : u"%1 and %2"_s.arg(titles.join(u", "_s), last);
}

const std::vector<OptionSpec> &sharedOptions()
{
    static const std::vector<OptionSpec> options{
        {u"connect"_s, u"[NAME=]URI"_s, u"a server, or the name of a saved one; repeatable"_s, true},
        {u"read-only"_s, {}, u"refuse every write"_s, false},
        {u"production"_s, u"NAME"_s, u"mark connection NAME as production; repeatable"_s, true},
        {u"allow-writes"_s, u"NAME"_s, u"allow writes on read-only connection NAME; repeatable"_s, true},
        {u"label"_s, u"PATTERN=NAME"_s, u"show clients that match PATTERN as NAME; repeatable"_s, true},
        {u"rules"_s, u"FILE"_s, u"add your own recognition rules; repeatable"_s, true},
        {u"color"_s, u"WHEN"_s, u"auto, always or never (default: auto)"_s, false},
        {u"json"_s, {}, u"print JSON (schema lockscope/1) to stdout"_s, false},
        {u"help"_s, {}, u"print help, or that of the command"_s, false},
        {u"version"_s, {}, u"print the version"_s, false},
    };
    return options;
}

namespace {

// What --production or --allow-writes says of connections by their names.
Result<void> mark(std::vector<ConnectionSpec> &specs, const Arguments &arguments, const QString &option,
                  bool ConnectionSpec::*flag)
{
    for (const auto &name : arguments.options.value(option)) {
        const auto at = std::find_if(specs.begin(), specs.end(),
                                     [&](const auto &spec) { return spec.name.bytes() == name.toUtf8(); });
        if (at == specs.end())
            return badUsage(u"--%1 %2 names no connection of this run"_s.arg(option, shown(name)));
        (*at).*flag = true;
    }
    return {};
}

// A word that is no address: what a connection is called.
Result<std::optional<ConnectionSpec>> namedConnection(const QString &word, const KnownConnection &known,
                                                      Connections &connections)
{
    static const QRegularExpression plainName(u"^[A-Za-z0-9_.-]+$"_s);
    if (!known || !plainName.match(word).hasMatch())
        return std::optional<ConnectionSpec>();
    TRY(auto &found, known(word));
    if (!found)
        return badUsage(u"--connect %1: not of the form [NAME=]SCHEME:…, and no connection that is saved or in a "
                        u"lockscope.toml is called that"_s.arg(word));
    TRY(auto &spec, specOf((found)->saved, {}));
    if (!(found)->file.isEmpty()) {
        connections.notes << u"%1 is %2, by %3"_s.arg(word, spec.displayUri(), label((found)->file.toUtf8(), 300));
        connections.teamFiles.insert(spec.name, (found)->file);
    }
    return std::optional<ConnectionSpec>(std::move(spec));
}

ConnectWord connectWordOf(const QString &argument, const ConnectionSpec &spec)
{
    if (!argument.contains(u"://"_s))
        return {argument};
    static const QRegularExpression name(u"^[A-Za-z0-9_.-]+=(?=[a-z+]+://)"_s);
    auto uri = QString(argument).remove(name);
    // ssh=USER@HOST has an @ as well.
    const auto query = uri.indexOf(u'?');
    auto address = query < 0 ? uri : uri.first(query);
    const auto user = address.indexOf(u"://"_s) + 3;
    const auto host = address.lastIndexOf(u'@'); // the one that ends the password, as parsing has it
    const auto colon = address.indexOf(u':', user);
    if (!spec.password.isEmpty() && host >= 0 && colon >= 0 && colon < host)
        address.remove(colon, host - colon);
    address.replace(u"://@"_s, u"://"_s);
    const auto rest = withoutPasswordCommand(query < 0 ? QString() : uri.sliced(query));
    return {u"%1=%2%3"_s.arg(escaped(spec.name.bytes()), address, rest), spec.hasPassword()};
}

} // namespace

QString shellWord(const QString &word)
{
    static const QRegularExpression plain(u"^[\\w./:@#=,+-]+$"_s);
    return plain.match(word).hasMatch() ? word : u"'%1'"_s.arg(QString(word).replace(u'\'', u"'\\''"_s));
}

Result<Connections> readConnections(const Arguments &arguments,
                                    const std::function<QString(const QByteArray &)> &environment,
                                    const KnownConnection &known)
{
    Connections connections;
    connections.readOnly = arguments.has(u"read-only"_s);
    for (const auto &argument : arguments.options.value(u"connect"_s)) {
        if (hasUnencodedPassword(argument))
            return badUsage(u"--connect: the password holds / or ?; write them as %2F and %3F, or give it in "
                            u"LOCKSCOPE_PASSWORD_<NAME>"_s);
        TRY(auto &named, namedConnection(argument, known, connections));
        TRY(auto &spec, named ? Result<ConnectionSpec>(*named) : parseConnection(argument));
        connections.specs.push_back(spec);
    }
    TRY_VOID(nameConnections(connections.specs));
    const auto given = arguments.options.value(u"connect"_s);
    for (std::size_t i = 0; i < connections.specs.size(); ++i) {
        const auto &spec = connections.specs[i];
        if (spec.scheme != Scheme::Sandbox && spec.scheme != Scheme::Simulated)
            connections.words.insert(spec.name, connectWordOf(given[static_cast<qsizetype>(i)], spec));
    }
    for (auto &spec : connections.specs) {
        spec.readOnly = spec.readOnly || connections.readOnly;
        // A file that whoever changes a folder can change does not say where a password goes, unless it is trusted.
        const auto file = connections.teamFiles.value(spec.name);
        if (!file.isEmpty() && environment("LOCKSCOPE_TEAM_FILE") != file) {
            if (!environment(passwordVariable(spec.name)).isEmpty())
                connections.notes
                    << u"%1 is not used for what a file in a folder says; LOCKSCOPE_TEAM_FILE=%2 says that "
                       u"you trust it"_s.arg(QString::fromLatin1(passwordVariable(spec.name)),
                                             label(file.toUtf8(), 300));
            continue;
        }
        if (!spec.hasPassword())
            spec.password = environment(passwordVariable(spec.name));
        if (!spec.transport.tls.key.isEmpty())
            spec.transport.tls.keyPassphrase = environment(passphraseVariable(spec.name));
    }
    TRY_VOID(mark(connections.specs, arguments, u"production"_s, &ConnectionSpec::production));
    TRY_VOID(mark(connections.specs, arguments, u"allow-writes"_s, &ConnectionSpec::armed));
    for (const auto &text : arguments.options.value(u"label"_s)) {
        const auto label = inspect::readClientLabel(text);
        if (!label)
            return badUsage(u"--label %1: write PATTERN=NAME"_s.arg(shown(text)));
        connections.labels.push_back(*label);
    }
    return connections;
}

QString environmentValue(const QByteArray &variable)
{
    return qEnvironmentVariable(variable.constData());
}

QStringList takeArguments(int argc, char **argv)
{
    QStringList arguments;
    for (int i = 1; i < argc; ++i) {
        arguments << QString::fromLocal8Bit(argv[i]);
        blankPassword(argv[i]);
    }
    return arguments;
}

void keepMemoryPrivate([[maybe_unused]] const ConnectionSpec &spec)
{
#ifndef LOCKSCOPE_ADDRESS_SANITIZER // whose search for leaks has to look at this process
    if (spec.hasPassword() || !spec.transport.tls.keyPassphrase.isEmpty())
        ::prctl(PR_SET_DUMPABLE, 0);
#endif
}

QString helpLine(const QString &head, const QString &help)
{
    constexpr qsizetype column = 26;
    constexpr qsizetype width = 80;
    QString line;
    QStringList lines;
    for (const auto &word : help.split(u' ')) {
        if (!line.isEmpty() && column + line.size() + 1 + word.size() > width)
            lines << std::exchange(line, QString());
        line += (line.isEmpty() ? QString() : u" "_s) + word;
    }
    lines << line;
    const auto first = u"  "_s + head;
    return (first.size() < column ? first.leftJustified(column) : first + u'\n' + QString(column, u' '))
           + lines.join(u'\n' + QString(column, u' ')) + u'\n';
}

QString optionsHelp(const std::vector<OptionSpec> &options)
{
    QString text;
    for (const auto &option : options)
        text += helpLine((u"--"_s + option.name + u' ' + option.value).trimmed(), option.help);
    return text;
}

} // namespace lockscope::app
