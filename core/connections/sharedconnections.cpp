// SPDX-License-Identifier: Apache-2.0
#include "core/connections/connectionstore.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>

#include <QTimer>
#include <fcntl.h>
#include <sys/stat.h>

#include <set>

#include "core/base/tomllibrary.h"

namespace lockscope {

namespace {

constexpr int sharedVersion = 1;
constexpr qint64 mostSharedBytes = 1024 * 1024;
constexpr qsizetype mostGroupLength = 80;

QString textOf(std::string_view text)
{
    return QString::fromUtf8(text.data(), qsizetype(text.size()));
}

// Where in the file something is wrong.
class SharedPlace {
public:
    explicit SharedPlace(QString file) : m_file(std::move(file)) {}
    [[nodiscard]] Error error(const toml::source_region &where, const QString &what) const
    {
        return Error{ErrorCode::BadInput,
                     u"%1, line %2: %3"_s.arg(label(m_file.toUtf8(), 300), QString::number(where.begin.line), what)};
    }
    // Beside the file.
    [[nodiscard]] QString resolved(const QString &path) const
    {
        return path.isEmpty() || QDir::isAbsolutePath(path)
                   ? path
                   : QDir::cleanPath(QFileInfo(m_file).absoluteDir().filePath(path));
    }

private:
    QString m_file;
};

// One field of a connection; each is either text or yes and no.
struct SharedField {
    std::string_view key;
    QString SavedConnection::*text = nullptr;
    bool SavedConnection::*flag = nullptr;
};

const std::vector<SharedField> &sharedFields()
{
    static const std::vector<SharedField> fields{{"name", &SavedConnection::name},
                                                 {"uri", &SavedConnection::uri},
                                                 {"user", &SavedConnection::user},
                                                 {"group", &SavedConnection::group},
                                                 {"production", nullptr, &SavedConnection::production},
                                                 {"read-only", nullptr, &SavedConnection::readOnly}};
    return fields;
}

Result<void> readField(const toml::key &key, const toml::node &node, const SharedPlace &place, SavedConnection &into)
{
    const auto name = textOf(key.str());
    if (key.str() == "colour") {
        const auto colour = connectionColour(textOf(node.value_or(std::string_view("?"))));
        if (!colour)
            return place.error(node.source(), u"colour must be one of red, orange, yellow, green, teal, blue"_s);
        into.colour = *colour;
        return {};
    }
    const auto field = std::ranges::find(sharedFields(), key.str(), &SharedField::key);
    if (field == sharedFields().end())
        return place.error(key.source(), u"\"%1\" is not a field of a connection"_s.arg(label(name.toUtf8(), 60)));
    if (field->flag) {
        if (!node.is_boolean())
            return place.error(node.source(), u"%1 must be true or false"_s.arg(name));
        into.*(field->flag) = node.value_or(false);
        return {};
    }
    if (!node.is_string())
        return place.error(node.source(), u"%1 must be a text"_s.arg(name));
    into.*(field->text) = textOf(node.value_or(std::string_view()));
    return {};
}

// What is typed into the form is judged there; this is from somebody else.
Result<void> settle(const toml::table &table, const SharedPlace &place, SavedConnection &connection)
{
    static const QRegularExpression plainName(u"^[A-Za-z0-9_.-]+$"_s);
    if (!plainName.match(connection.name).hasMatch())
        return place.error(table.source(), u"a connection needs a name of letters, digits and . _ -"_s);
    const bool isGroup = connection.group.size() <= mostGroupLength
                         && std::ranges::all_of(connection.group, [](QChar c) { return c.isPrint(); });
    if (!isGroup)
        return place.error(table.source(), u"the group of %1 is too long, or cannot be shown"_s.arg(connection.name));
    const bool isUnencoded = hasUnencodedPassword(connection.uri);
    auto spec = parseConnection(connection.uri);
    if (!spec && !isUnencoded) // else the parse error may quote a part of the password
        return place.error(table.source(), u"the uri of %1: %2"_s.arg(connection.name, spec.error().message));
    if (isUnencoded || !spec->password.isEmpty())
        return place.error(
            table.source(),
            u"remove the password from the uri of %1: every reader of this file has it"_s.arg(connection.name));
    if (!spec->transport.passwordCommand.isEmpty())
        return place.error(table.source(),
                           u"remove the password-command of %1: each user who can change this file could run "
                           u"commands as its readers"_s.arg(connection.name));
    if (!spec->name.isEmpty())
        return place.error(table.source(), u"the uri of %1 names another connection"_s.arg(connection.name));
    if (connection.user.isEmpty())
        connection.user = spec->user;
    auto &tls = spec->transport.tls;
    for (auto *path : {&tls.ca, &tls.cert, &tls.key})
        *path = place.resolved(*path);
    connection.uri = uriOf(*spec);
    return {};
}

Result<std::vector<SavedConnection>> readTables(const toml::array &tables, const SharedPlace &place)
{
    std::vector<SavedConnection> connections;
    std::set<QString> names;
    for (const auto &node : tables) {
        const auto *table = node.as_table();
        if (!table)
            return place.error(node.source(), u"write each connection below a line [[connection]]"_s);
        SavedConnection connection;
        for (const auto &[key, value] : *table) {
            TRY_VOID(readField(key, value, place, connection));
        }
        TRY_VOID(settle(*table, place, connection));
        if (!names.insert(connection.name).second)
            return place.error(table->source(), u"there is another connection named %1"_s.arg(connection.name));
        connections.push_back(std::move(connection));
    }
    return connections;
}

// What is open is judged, and then read: by its name it could be another by then.
Result<std::vector<SavedConnection>> readOpened(const QString &path, bool isFound)
{
    const auto name = label(path.toUtf8(), 300);
    const auto opened = openRegularFile(path);
    if (!opened)
        return Error{ErrorCode::BadInput, u"%1: %2"_s.arg(name, opened.error().message)};
    struct ::stat is = {};
    if (::fstat((*opened)->handle(), &is) != 0)
        return Error{ErrorCode::BadInput, u"%1: %2"_s.arg(name, qt_error_string(errno))};
    const bool isOurs = (is.st_uid == ::getuid() || is.st_uid == 0) && !(is.st_mode & S_IWOTH);
    if (isFound && !isOurs)
        return Error{ErrorCode::Refused, u"%1 was not read: another user owns it, or every user can write it, and "
                                         u"could redirect your credentials"_s.arg(name)};
    const auto bytes = (*opened)->read(mostSharedBytes + 1);
    if (bytes.size() > mostSharedBytes)
        return Error{ErrorCode::BadInput, u"%1: too large to be a list of connections"_s.arg(name)};
    return readSharedConnections(bytes, path);
}

} // namespace

Result<std::vector<SavedConnection>> readSharedConnections(const QByteArray &toml, const QString &file)
{
    const SharedPlace place(file);
    const std::string_view bytes(toml.constData(), std::size_t(toml.size()));
    const auto parsed = toml::parse(bytes);
    if (!parsed)
        return place.error(parsed.error().source(), textOf(parsed.error().description()));
    const auto &root = parsed.table();
    if (root["version"].value_exact<int64_t>() != sharedVersion) // no 1e308 made an integer
        return Error{ErrorCode::BadInput,
                     u"%1: version = %2 is required by this Lockscope"_s.arg(file, QString::number(sharedVersion))};
    for (const auto &[key, value] : root) {
        if (key.str() != "version" && key.str() != "connection")
            return place.error(key.source(),
                               u"\"%1\" is not a known key"_s.arg(label(textOf(key.str()).toUtf8(), 60)));
    }
    const auto *node = root.get("connection");
    if (!node)
        return std::vector<SavedConnection>();
    const auto *tables = node->as_array();
    if (!tables)
        return place.error(node->source(), u"write each connection below a line [[connection]]"_s);
    return readTables(*tables, place);
}

QByteArray writeSharedConnections(const std::vector<SavedConnection> &connections)
{
    toml::array tables;
    for (auto connection : connections) {
        connection.uri = withoutPasswordCommand(connection.uri);
        toml::table table;
        for (const auto &field : sharedFields()) {
            if (field.flag && connection.*(field.flag))
                table.insert(field.key, true);
            else if (field.text && !(connection.*(field.text)).isEmpty())
                table.insert(field.key, (connection.*(field.text)).toStdString());
        }
        if (connection.colour != ConnectionColour::None)
            table.insert("colour", wordOfColour(connection.colour).toStdString());
        tables.push_back(std::move(table));
    }
    std::ostringstream text;
    text << "# Connections of Lockscope, without passwords: those come from each user's keychain or environment.\n"
         << toml::table{{"version", sharedVersion}, {"connection", std::move(tables)}} << '\n';
    return QByteArray::fromStdString(text.str());
}

Result<std::vector<SavedConnection>> readSharedConnectionsFrom(const QString &file)
{
    return readOpened(file, false);
}

Result<TeamFile> findTeamFile(const QString &folder)
{
    QDir at(folder);
    do {
        const QFileInfo info(at.filePath(u"lockscope.toml"_s));
        if (!info.exists())
            continue;
        TRY(auto &connections, readOpened(info.absoluteFilePath(), true));
        return TeamFile{info.absoluteFilePath(), std::move(connections)};
    } while (at.cdUp());
    return TeamFile();
}

Result<std::optional<NamedConnection>> findConnection(const QString &name)
{
    const ConnectionStore own(ConnectionStore::defaultFile(), nullptr);
    const auto isIt = [&name](const SavedConnection &saved) { return saved.name == name; };
    if (const auto found = std::ranges::find_if(own.all(), isIt); found != own.all().end())
        return std::optional(NamedConnection{*found, {}});
    TRY(auto &team, findTeamFile(QDir::currentPath()));
    const auto found = std::ranges::find_if(team.connections, isIt);
    if (found == team.connections.end())
        return std::optional<NamedConnection>();
    return std::optional(NamedConnection{*found, team.file});
}

Result<ConnectionSpec> specOf(const SavedConnection &saved, const QString &password)
{
    auto spec = parseConnection(saved.name.isEmpty() ? saved.uri : saved.name + u'=' + saved.uri);
    if (!spec)
        return spec.error();
    spec->user = saved.user;
    spec->password = password;
    spec->production = saved.production;
    spec->readOnly = saved.readOnly || saved.production;
    return spec;
}

const SavedConnection *savedFor(const ConnectionStore &store, const ConnectionSpec &spec)
{
    const auto fits = [&](const SavedConnection &saved) {
        return saved.name.toUtf8() == spec.name.bytes() && saved.uri == uriOf(spec);
    };
    const auto found = std::find_if(store.all().begin(), store.all().end(), fits);
    return found == store.all().end() ? nullptr : &*found;
}

void fillInPassword(ConnectionStore &store, ConnectionSpec spec, std::chrono::milliseconds atMost, QObject *context,
                    std::function<void(ConnectionSpec)> ready)
{
    const auto *saved = savedFor(store, spec);
    if (saved) {
        spec.production = spec.production || saved->production;
        spec.readOnly = spec.readOnly || saved->readOnly || saved->production;
    }
    const bool isKept =
        saved && saved->hasPassword && store.canKeepPasswords() && (spec.user.isEmpty() || spec.user == saved->user);
    if (!isKept || spec.hasPassword()) {
        ready(std::move(spec));
        return;
    }
    // Whoever is first answers; the other one finds nothing to do.
    const auto once = std::make_shared<std::function<void(ConnectionSpec)>>(std::move(ready));
    const auto answer = [once](const ConnectionSpec &filled) {
        if (const auto call = std::exchange(*once, {}))
            call(filled);
    };
    auto filled = spec;
    filled.user = saved->user;
    store.readPassword(saved->id, context, [answer, spec, filled](std::optional<QString> secret) mutable {
        if (secret)
            filled.password = *secret;
        answer(secret ? filled : spec);
    });
    QTimer::singleShot(atMost, context, [answer, spec] { answer(spec); });
}

} // namespace lockscope
