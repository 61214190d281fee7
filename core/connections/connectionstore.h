// SPDX-License-Identifier: Apache-2.0
// The saved connections: a JSON file of what is no secret, and the keychain for passwords. The file
// never holds a password, whatever was typed into the address. Main thread only.
#pragma once

#include <functional>
#include <version>

#include "core/base/connectionuri.h"

#include <QDateTime>
#include <QJsonObject>
#include <QObject>

namespace lockscope {

// Where passwords are kept: the desktop's keychain, or where none runs a file (SecretFile). Main thread only; no
// keychain is waited for.

// What became of a secret that was to be kept.
struct SecretKept {
    QString problem;                // why it was not; empty: it was
    QString remark;                 // where it is, if that is not the keychain
    bool isWithoutKeychain = false; // the problem: none runs here
};

class SecretStore {
public:
    using Done = std::function<void(const SecretKept &kept)>;
    // Empty when there is none, or the keychain would not say.
    using Found = std::function<void(std::optional<QString> secret)>;

    virtual ~SecretStore() = default;
    // Answers are dropped when `context` died meanwhile.
    virtual void read(const QString &key, QObject *context, Found found) = 0;
    virtual void write(const QString &key, const QString &secret, QObject *context, Done done) = 0;
    virtual void remove(const QString &key) = 0;
};

// Whole or not at all, and its owner's alone before there is anything in it.
[[nodiscard]] Result<void> writeOwnersFile(const QString &path, const QJsonObject &content);

// The system's keychain, with the file beside it.
[[nodiscard]] std::unique_ptr<SecretStore> systemSecrets();

// Passwords where no keychain runs, as on a server or in a container: in a file that only its owner can read. The
// keychain comes first, and whoever asked is told where a password went. Main thread only.
class SecretFile {
public:
    explicit SecretFile(QString path) : m_path(std::move(path)) {}
    // secrets.json in the folder where the desktop keeps settings.
    [[nodiscard]] static QString defaultPath();
    [[nodiscard]] const QString &path() const { return m_path; }

    [[nodiscard]] std::optional<QString> read(const QString &key) const;
    // Whole or not at all. A file that is not understood is left as it is.
    Result<void> write(const QString &key, const QString &secret);
    void remove(const QString &key);

private:
    QString m_path;
};

class FallbackSecretStore : public SecretStore {
public:
    // `keychain` may be null: a build without one.
    FallbackSecretStore(std::unique_ptr<SecretStore> keychain, SecretFile file)
        : m_keychain(std::move(keychain)), m_file(std::move(file))
    {
    }
    void read(const QString &key, QObject *context, Found found) override;
    void write(const QString &key, const QString &secret, QObject *context, Done done) override;
    void remove(const QString &key) override;

private:
    [[nodiscard]] SecretKept keepInFile(const QString &key, const QString &secret, const QString &why);

    std::unique_ptr<SecretStore> m_keychain;
    SecretFile m_file;
};

enum class ConnectionColour { None, Red, Orange, Yellow, Green, Teal, Blue };

struct SavedConnection {
    QString id;    // stays when the name changes; the keychain knows it by this
    QString name;  // as in LOCK: letters, digits, . _ -
    QString group; // empty: none
    ConnectionColour colour = ConnectionColour::None;
    QString uri; // without user and password
    QString user;
    bool production = false;
    bool development = false; // nobody is hurt there: one key confirms; never beside production
    bool readOnly = false;
    bool hasPassword = false; // in the keychain, or the file
    friend bool operator==(const SavedConnection &, const SavedConnection &) = default;
};

// "red"; empty for None.
[[nodiscard]] QString wordOfColour(ConnectionColour colour);
// Nothing for what is no colour's word.
[[nodiscard]] std::optional<ConnectionColour> connectionColour(const QString &word);

[[nodiscard]] QJsonObject toJson(const SavedConnection &saved);
[[nodiscard]] SavedConnection savedConnectionOf(const QJsonObject &json);

// What to connect to. A production connection opens read-only.
[[nodiscard]] Result<ConnectionSpec> specOf(const SavedConnection &saved, const QString &password);
// The address without user and password: what is written down.
[[nodiscard]] QString uriOf(const ConnectionSpec &spec);

// What a folder says of its team's connections.
struct TeamFile {
    QString file; // empty: there is none
    std::vector<SavedConnection> connections;
};

// Connections that are offered together.
struct ConnectionGroup {
    QString title;
    std::vector<SavedConnection> connections;
};

// How a connection was when a window last had it.
struct LastSeen {
    QDateTime at; // UTC; invalid: it never was connected
    int locks = 0;
    int incidents = 0;
    bool isOfLastSession = false; // it was open when the last window closed
};
using UsedConnection = std::pair<SavedConnection, LastSeen>;

class ConnectionStore : public QObject {
    Q_OBJECT
public:
    // `file` is made when first saved. `secrets` may be null: then nothing secret is kept.
    ConnectionStore(QString file, std::unique_ptr<SecretStore> secrets, QObject *parent = nullptr);
    // connections.json in the folder where the desktop keeps settings.
    [[nodiscard]] static QString defaultFile();

    // By group, then by name. A file that cannot be read is left alone: see loadError().
    [[nodiscard]] const std::vector<SavedConnection> &all() const { return m_all; }
    [[nodiscard]] const SavedConnection *find(const QString &id) const; // null if there is none
    // Why the file was not understood; saving then refuses, so that nothing is lost.
    [[nodiscard]] QString loadError() const { return m_loadError; }
    // All that can be chosen: the saved ones by group, the team's, and others that were used last.
    [[nodiscard]] std::vector<ConnectionGroup> groups() const;

    // Adds (with an empty id) or replaces. Another connection of that name is an error. Returns the id.
    Result<QString> save(SavedConnection connection);
    // Also forgets its password.
    Result<void> remove(const QString &id);
    // "orders" becomes "orders-2". The password is not copied.
    Result<QString> duplicate(const QString &id);

    // The connections of the team whose folder the program was started in; or why its file is not read.
    void lookForTeamFile(const QString &folder);
    [[nodiscard]] const TeamFile &team() const { return m_team; }
    // Why connections are missing, of either file; empty: none are.
    [[nodiscard]] QString problem() const { return m_loadError.isEmpty() ? m_teamError : m_loadError; }

    // The connections used last, newest first, without passwords: with an id those that are saved as they were used.
    [[nodiscard]] std::vector<SavedConnection> recent() const;
    void noteUsed(SavedConnection connection);
    void forgetRecent(const SavedConnection &connection);
    // What a window has open as it closes: the last session from then on. Without any the former one stays.
    void noteSession(std::vector<UsedConnection> open);
    [[nodiscard]] LastSeen lastSeen(const SavedConnection &connection) const;

    // Adds what a shared file holds, all of it or nothing. One whose name another server has
    // already gets a new one. Says what became of them.
    Result<QString> importFrom(const QString &file);
    Result<void> exportTo(const QString &file) const;

    [[nodiscard]] bool canKeepPasswords() const { return m_secrets != nullptr; }
    void readPassword(const QString &id, QObject *context, SecretStore::Found found);
    // An empty password is forgotten. It is kept also where `context` dies meanwhile; then nobody is told.
    void writePassword(const QString &id, const QString &password, QObject *context, SecretStore::Done done);

signals:
    void changed();

private:
    void load();
    void loadUsed();
    void storeUsed() const;
    Result<void> store(std::vector<SavedConnection> connections);
    [[nodiscard]] static QString freeName(const QString &name, const std::vector<SavedConnection> &taken);
    [[nodiscard]] static QString keyOf(const QString &id) { return u"connection/"_s + id; }

    QString m_file;
    std::unique_ptr<SecretStore> m_secrets;
    std::vector<SavedConnection> m_all;
    QString m_usedFile; // beside the saved ones
    // Those used last, saved ones and others, newest first: of each what is no secret.
    std::vector<UsedConnection> m_used;
    QString m_loadError;
    TeamFile m_team;
    QString m_teamError;
};

// A connection given on a command line that the window has saved: its marks, and its password from the keychain.

// The saved connection this one is, by name and by address: a password is never sent to another server
// than it was saved for. Null if there is none.
[[nodiscard]] const SavedConnection *savedFor(const ConnectionStore &store, const ConnectionSpec &spec);

// Calls `ready` with the connection as it was saved: marked production or read-only if it is, and its user and
// password filled in if they were missing and are known (for that user). At once when there is nothing to look up,
// else when the keychain has answered or `atMost` is over. Not at all if `context` dies meanwhile.
void fillInPassword(ConnectionStore &store, ConnectionSpec spec, std::chrono::milliseconds atMost, QObject *context,
                    std::function<void(ConnectionSpec)> ready);

// Connections that people share: a TOML file without secrets. The window writes and reads it, and a team may keep one
// as lockscope.toml beside its work (docs/connections.md, "A team's connections").

// BadInput names file, line and field. A password in an address is an error: whoever has the file would have it.
// Files that an address names by a relative path are looked for beside this one. Ids are empty, and nothing is marked
// as development: what makes acting easier is everybody's own to say.
[[nodiscard]] Result<std::vector<SavedConnection>> readSharedConnections(const QByteArray &toml, const QString &file);
[[nodiscard]] QByteArray writeSharedConnections(const std::vector<SavedConnection> &connections);

// lockscope.toml in `folder`, else in the nearest folder above it that has one. Refused where it is neither ours
// nor root's, or everybody may write it: who does says where our credentials go.
[[nodiscard]] Result<TeamFile> findTeamFile(const QString &folder);

struct NamedConnection {
    SavedConnection saved;
    QString file; // that says so; empty: the user's own saved connections
};
// A connection of that name: one that the user saved, else one of the team's file of this folder. What a folder says
// never stands before what its user has saved. Reads files.
[[nodiscard]] Result<std::optional<NamedConnection>> findConnection(const QString &name);

// The whole file, or why it cannot be had.
[[nodiscard]] Result<std::vector<SavedConnection>> readSharedConnectionsFrom(const QString &file);

} // namespace lockscope
