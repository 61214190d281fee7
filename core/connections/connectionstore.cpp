// SPDX-License-Identifier: Apache-2.0
#include "core/connections/connectionstore.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"

#include <QFileInfo>
#include <QJsonDocument>
#include <QPointer>
#include <QSaveFile>
#include <QStandardPaths>
#include <QUrl>
#include <QUuid>

#include <array>

namespace lockscope {

namespace {

constexpr std::size_t mostKept = 50;
constexpr std::size_t mostUsedLast = 6;
constexpr int recentVersion = 1;

bool isTheSame(const SavedConnection &a, const SavedConnection &b)
{
    return a.name == b.name && a.uri == b.uri && a.user == b.user;
}

// What is written down of it: a name, and an address without a password, whoever typed one there. Nothing for what is
// no address.
std::optional<SavedConnection> asUsed(SavedConnection connection)
{
    auto spec = parseConnection(connection.uri);
    if (!spec)
        return {};
    connection.uri = uriOf(*spec);
    if (connection.user.isEmpty())
        connection.user = spec->user;
    std::vector specs{std::move(*spec)};
    if (connection.name.isEmpty() && nameConnections(specs))
        connection.name = QString::fromUtf8(specs.front().name.bytes());
    return connection;
}

constexpr int formatVersion = 1;

const std::array<QString, 7> &colourWords()
{
    static const std::array words{QString(), u"red"_s, u"orange"_s, u"yellow"_s, u"green"_s, u"teal"_s, u"blue"_s};
    return words;
}

bool isBefore(const SavedConnection &a, const SavedConnection &b)
{
    // Without a group comes last.
    if (a.group != b.group)
        return a.group.isEmpty() != b.group.isEmpty() ? b.group.isEmpty() : a.group.localeAwareCompare(b.group) < 0;
    return a.name.localeAwareCompare(b.name) < 0;
}

QString encoded(const QByteArray &chroot)
{
    return QString::fromUtf8(QUrl::toPercentEncoding(QString::fromUtf8(chroot), "/"));
}

} // namespace

QJsonObject toJson(const SavedConnection &saved)
{
    return {{u"id"_s, saved.id},
            {u"name"_s, saved.name},
            {u"group"_s, saved.group},
            {u"colour"_s, wordOfColour(saved.colour)},
            {u"uri"_s, saved.uri},
            {u"user"_s, saved.user},
            {u"production"_s, saved.production},
            {u"development"_s, saved.development},
            {u"readOnly"_s, saved.readOnly},
            {u"hasPassword"_s, saved.hasPassword}};
}

SavedConnection savedConnectionOf(const QJsonObject &json)
{
    SavedConnection saved;
    saved.id = json[u"id"_s].toString();
    saved.name = json[u"name"_s].toString();
    saved.group = json[u"group"_s].toString();
    saved.colour = connectionColour(json[u"colour"_s].toString()).value_or(ConnectionColour::None);
    saved.uri = json[u"uri"_s].toString();
    saved.user = json[u"user"_s].toString();
    saved.production = json[u"production"_s].toBool();
    saved.development = json[u"development"_s].toBool() && !saved.production;
    saved.readOnly = json[u"readOnly"_s].toBool();
    saved.hasPassword = json[u"hasPassword"_s].toBool();
    return saved;
}

QString wordOfColour(ConnectionColour colour)
{
    return colourWords()[static_cast<std::size_t>(colour)];
}

std::optional<ConnectionColour> connectionColour(const QString &word)
{
    const auto &words = colourWords();
    const auto found = std::find(words.begin(), words.end(), word);
    return found == words.end() ? std::nullopt : std::optional(static_cast<ConnectionColour>(found - words.begin()));
}

QString uriOf(const ConnectionSpec &spec)
{
    QString uri = spec.displayUri().section(u"//"_s, 0, 0);
    if (spec.hosts.empty())
        return uri;
    const auto hosts = mapped<QStringList>(spec.hosts, [&](const auto &host) { return displayHost(host); });
    uri += u"//"_s + hosts.join(u',') + encoded(spec.chroot);
    if (!spec.service.isEmpty())
        uri += u'/' + QString::fromLatin1(QUrl::toPercentEncoding(spec.service));
    if (spec.database != 0)
        uri += u"/%1"_s.arg(spec.database);
    if (!spec.databaseName.isEmpty())
        uri += u'/' + encoded(spec.databaseName.toUtf8());
    const auto query = queryOf(spec);
    return query.isEmpty() ? uri : uri + u'?' + query;
}

ConnectionStore::ConnectionStore(QString file, std::unique_ptr<SecretStore> secrets, QObject *parent)
    : QObject(parent), m_file(std::move(file)), m_secrets(std::move(secrets)),
      m_usedFile(QFileInfo(m_file).absolutePath() + u"/recent.json"_s)
{
    load();
    loadUsed();
}

QString ConnectionStore::defaultFile()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + u"/lockscope/connections.json"_s;
}

void ConnectionStore::load()
{
    if (!QFile::exists(m_file))
        return;
    const auto file = openRegularFile(m_file);
    if (!file) {
        m_loadError = u"%1: %2"_s.arg(m_file, file.error().message);
        return;
    }
    QJsonParseError error{};
    const auto document = QJsonDocument::fromJson((*file)->readAll(), &error);
    if (!document.isObject()) {
        m_loadError = u"could not parse %1 (%2); the file stays unchanged"_s.arg(m_file, error.errorString());
        return;
    }
    if (document[u"version"_s].toInt() > formatVersion) {
        m_loadError = u"%1: written by a newer Lockscope; the file stays unchanged"_s.arg(m_file);
        return;
    }
    const auto list = document[u"connections"_s].toArray();
    for (const auto &entry : list) {
        auto saved = savedConnectionOf(entry.toObject());
        if (!saved.id.isEmpty())
            m_all.push_back(std::move(saved));
    }
    std::stable_sort(m_all.begin(), m_all.end(), isBefore);
}

Result<void> ConnectionStore::store(std::vector<SavedConnection> connections)
{
    if (!m_loadError.isEmpty())
        return Error{ErrorCode::Refused, m_loadError};
    std::stable_sort(connections.begin(), connections.end(), isBefore);
    const auto list = mapped<QJsonArray>(connections, [&](const auto &saved) { return toJson(saved); });
    TRY_VOID(writeOwnersFile(m_file, {{u"version"_s, formatVersion}, {u"connections"_s, list}}));
    m_all = std::move(connections);
    emit changed();
    return {};
}

const SavedConnection *ConnectionStore::find(const QString &id) const
{
    const auto found = std::find_if(m_all.begin(), m_all.end(), [&](const auto &saved) { return saved.id == id; });
    return found == m_all.end() ? nullptr : &*found;
}

Result<QString> ConnectionStore::save(SavedConnection connection)
{
    TRY(auto &spec, parseConnection(connection.uri));
    connection.uri = uriOf(spec); // a password typed into the address is not written down
    if (connection.user.isEmpty())
        connection.user = spec.user;
    const bool isTaken = std::any_of(m_all.begin(), m_all.end(), [&](const auto &other) {
        return other.name == connection.name && other.id != connection.id;
    });
    if (isTaken)
        return Error{ErrorCode::BadInput, u"a connection named %1 already exists"_s.arg(connection.name)};
    if (connection.id.isEmpty())
        connection.id = QUuid::createUuid().toString(QUuid::WithoutBraces);
    auto connections = m_all;
    std::erase_if(connections, [&](const auto &other) { return other.id == connection.id; });
    connections.push_back(connection);
    TRY_VOID(store(std::move(connections)));
    return connection.id;
}

std::vector<ConnectionGroup> ConnectionStore::groups() const
{
    std::vector<ConnectionGroup> groups;
    for (const auto &saved : m_all) {
        if (groups.empty() || groups.back().connections.front().group != saved.group)
            groups.push_back({saved.group.isEmpty() ? u"Without a group"_s : saved.group, {}});
        groups.back().connections.push_back(saved);
    }
    if (!m_team.connections.empty())
        groups.push_back(
            {u"Team: %1/lockscope.toml"_s.arg(QFileInfo(m_team.file).dir().dirName()), m_team.connections});
    ConnectionGroup others{u"Used last"_s, {}};
    for (const auto &used : recent()) {
        const bool isOffered = !used.id.isEmpty() || std::ranges::any_of(groups, [&used](const auto &group) {
            return std::ranges::find(group.connections, used.uri, &SavedConnection::uri) != group.connections.end();
        });
        if (!isOffered && others.connections.size() < mostUsedLast)
            others.connections.push_back(used);
    }
    if (!others.connections.empty())
        groups.push_back(std::move(others));
    return groups;
}

std::vector<SavedConnection> ConnectionStore::recent() const
{
    std::vector<SavedConnection> all;
    for (const auto &used : m_used) {
        auto &one = all.emplace_back(used.first);
        const auto own = std::ranges::find_if(
            m_all, [&one](const auto &saved) { return saved.name == one.name && saved.uri == one.uri; });
        if (own != m_all.end()) {
            one = *own;
            continue;
        }
        one.id.clear();
        one.hasPassword = false;
    }
    return all;
}

void ConnectionStore::loadUsed()
{
    const auto read = openRegularFile(m_usedFile);
    if (!read)
        return;
    const auto document = QJsonDocument::fromJson((*read)->readAll());
    if (document[u"version"_s].toInt() != recentVersion)
        return;
    for (const auto &entry : document[u"recent"_s].toArray()) {
        auto used = asUsed(savedConnectionOf(entry.toObject()));
        if (used && m_used.size() < mostKept)
            m_used.emplace_back(std::move(*used),
                                LastSeen{QDateTime::fromString(entry[u"seen"_s].toString(), Qt::ISODate),
                                         entry[u"locks"_s].toInt(), entry[u"incidents"_s].toInt(),
                                         entry[u"lastSession"_s].toBool()});
    }
}

// Where it cannot be written they are known for this run only.
void ConnectionStore::storeUsed() const
{
    QJsonArray list;
    for (const auto &[connection, seen] : m_used) {
        auto entry = toJson(connection);
        entry[u"seen"_s] = seen.at.toString(Qt::ISODate);
        entry[u"locks"_s] = seen.locks;
        entry[u"incidents"_s] = seen.incidents;
        entry[u"lastSession"_s] = seen.isOfLastSession;
        list.append(entry);
    }
    (void)writeOwnersFile(m_usedFile, {{u"version"_s, recentVersion}, {u"recent"_s, list}});
}

void ConnectionStore::noteUsed(SavedConnection connection)
{
    const auto used = asUsed(std::move(connection));
    if (!used)
        return;
    const auto before =
        std::ranges::find_if(m_used, [&](const auto &other) { return isTheSame(other.first, *used); });
    const auto seen = before == m_used.end() ? LastSeen() : before->second;
    if (before != m_used.end())
        m_used.erase(before);
    m_used.emplace(m_used.begin(), *used, seen);
    m_used.resize(std::min(m_used.size(), mostKept));
    storeUsed();
}

void ConnectionStore::forgetRecent(const SavedConnection &connection)
{
    // Whatever user it was with: a session notes none.
    std::erase_if(m_used, [&connection](const auto &used) {
        return used.first.name == connection.name && used.first.uri == connection.uri;
    });
    storeUsed();
    emit changed();
}

void ConnectionStore::noteSession(std::vector<UsedConnection> open)
{
    if (open.empty())
        return;
    for (auto &before : m_used)
        before.second.isOfLastSession = false;
    for (auto &[connection, seen] : open) {
        const auto spec = parseConnection(connection.uri);
        connection.uri = spec ? uriOf(*spec) : QString();
        const auto before = std::ranges::find_if(m_used, [&connection](const auto &other) {
            return other.first.name == connection.name && other.first.uri == connection.uri;
        });
        if (before == m_used.end()) {
            m_used.emplace_back(connection, seen);
            continue;
        }
        before->second = seen;
        before->first.production |= connection.production; // once so, it is not offered without its guards
    }
    storeUsed();
}

LastSeen ConnectionStore::lastSeen(const SavedConnection &connection) const
{
    LastSeen last;
    for (const auto &[used, seen] : m_used) {
        if (used.name == connection.name && used.uri == connection.uri && (!last.at.isValid() || last.at < seen.at))
            last = seen;
    }
    return last;
}

Result<void> ConnectionStore::remove(const QString &id)
{
    const auto *found = find(id);
    if (!found)
        return {};
    const bool hasPassword = found->hasPassword;
    auto connections = m_all;
    std::erase_if(connections, [&](const auto &other) { return other.id == id; });
    auto done = store(std::move(connections));
    if (done && hasPassword && m_secrets)
        m_secrets->remove(keyOf(id));
    return done;
}

Result<QString> ConnectionStore::duplicate(const QString &id)
{
    const auto *found = find(id);
    if (!found)
        return Error{ErrorCode::BadInput, u"the connection does not exist"_s};
    SavedConnection copy = *found;
    copy.id.clear();
    copy.hasPassword = false;
    copy.name = freeName(copy.name, m_all);
    return save(std::move(copy));
}

void ConnectionStore::lookForTeamFile(const QString &folder)
{
    auto team = findTeamFile(folder);
    m_teamError = team ? QString() : team.error().message;
    m_team = team ? std::move(*team) : TeamFile();
    emit changed();
}

QString ConnectionStore::freeName(const QString &name, const std::vector<SavedConnection> &taken)
{
    auto free = name;
    for (int n = 2; std::ranges::find(taken, free, &SavedConnection::name) != taken.end(); ++n)
        free = u"%1-%2"_s.arg(name, QString::number(n));
    return free;
}

Result<QString> ConnectionStore::importFrom(const QString &file)
{
    TRY(auto &read, readSharedConnectionsFrom(file));
    auto connections = m_all;
    QStringList renamed;
    int known = 0, added = 0;
    for (auto &one : read) {
        const auto same = std::ranges::find(connections, one.name, &SavedConnection::name);
        if (same != connections.end() && same->uri == one.uri && same->user == one.user) {
            ++known;
            continue;
        }
        const auto name = freeName(one.name, connections);
        if (name != one.name)
            renamed << u"%1 is %2 here"_s.arg(one.name, name);
        one.name = name;
        one.id = QUuid::createUuid().toString(QUuid::WithoutBraces);
        connections.push_back(std::move(one));
        ++added;
    }
    if (added > 0) {
        TRY_VOID(store(std::move(connections)));
    }
    QStringList said{u"%1 added"_s.arg(added)};
    if (known > 0)
        said << u"%1 already existed"_s.arg(known);
    return (said + renamed).join(u", "_s);
}

Result<void> ConnectionStore::exportTo(const QString &file) const
{
    QSaveFile out(file);
    const bool isWritten =
        out.open(QIODevice::WriteOnly) && out.write(writeSharedConnections(m_all)) >= 0 && out.commit();
    if (!isWritten)
        return Error{ErrorCode::Server, u"could not write %1: %2"_s.arg(file, out.errorString())};
    return {};
}

void ConnectionStore::readPassword(const QString &id, QObject *context, SecretStore::Found found)
{
    const auto *saved = find(id);
    if (!m_secrets || !saved || !saved->hasPassword) {
        QMetaObject::invokeMethod(
            context, [found = std::move(found)] { found(std::nullopt); }, Qt::QueuedConnection);
        return;
    }
    m_secrets->read(keyOf(id), context, std::move(found));
}

void ConnectionStore::writePassword(const QString &id, const QString &password, QObject *context,
                                    SecretStore::Done done)
{
    const auto *saved = find(id);
    if (!m_secrets || !saved) {
        done({u"no password store is available; Lockscope asks for the password each time"_s, {}, false});
        return;
    }
    const auto note = [this, id](bool hasPassword) {
        const auto *now = find(id);
        if (!now || now->hasPassword == hasPassword)
            return QString();
        SavedConnection noted = *now;
        noted.hasPassword = hasPassword;
        const auto written = save(std::move(noted));
        return written ? QString() : written.error().message;
    };
    if (password.isEmpty()) {
        m_secrets->remove(keyOf(id));
        done({note(false), {}, false});
        return;
    }
    // Its own to finish: whoever asked may have closed before the keychain refuses, and then the file is to have it.
    const auto finish = [this, id, note, asker = QPointer(context), done = std::move(done)](SecretKept kept) {
        if (!find(id))
            m_secrets->remove(keyOf(id));
        else if (kept.problem.isEmpty())
            kept.problem = note(true);
        if (asker)
            done(kept);
    };
    m_secrets->write(keyOf(id), password, this, finish);
}

} // namespace lockscope

#include "moc_connectionstore.cpp"
