// SPDX-License-Identifier: Apache-2.0
// A team's connections: what a lockscope.toml says, what is wrong in one by line and field, and that none holds a
// secret.
#include "core/connections/connectionstore.h"
#include "tests/support/testmain.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include <sys/stat.h>

namespace {

SavedConnection sharedOne(const QString &name, const QString &uri)
{
    return SavedConnection{.name = name, .uri = uri};
}

void writeFile(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(bytes), bytes.size());
}

} // namespace

class TestSharedConnections : public QObject {
    Q_OBJECT
private slots:
    void isReadAsATeamWouldWriteIt()
    {
        const auto read =
            readSharedConnections("version = 1\n"
                                  "\n"
                                  "[[connection]]\n"
                                  "name = \"orders\"\n"
                                  "uri = \"zk://10.0.5.1:2181,10.0.5.2:2181/shop\"\n"
                                  "group = \"Shop\"\n"
                                  "colour = \"red\"\n"
                                  "production = true\n"
                                  "\n"
                                  "[[connection]]\n"
                                  "name = \"cache\"\n"
                                  "uri = \"redis+sentinel://10.0.5.7/mymaster?tls=on&ca=certs/ca.pem\"\n"
                                  "user = \"ops\"\n"
                                  "read-only = true\n",
                                  u"/work/shop/lockscope.toml"_s);
        QVERIFY2(read, qPrintable(read ? QString() : read.error().message));
        QCOMPARE(read->size(), 2u);
        const auto &orders = read->front();
        QCOMPARE(orders.group, u"Shop"_s);
        QVERIFY(orders.production && orders.colour == ConnectionColour::Red && orders.id.isEmpty());
        const auto &cache = read->back();
        QVERIFY(cache.readOnly && !cache.production);
        QCOMPARE(cache.user, u"ops"_s);
        const auto spec = specOf(cache, {});
        QVERIFY(spec);
        QCOMPARE(spec->transport.tls.ca, u"/work/shop/certs/ca.pem"_s); // beside the file
        QCOMPARE(spec->service, u"mymaster"_s);
        QVERIFY(spec->readOnly);
    }

    void errorNamesFileLineAndField_data()
    {
        const Rows<QByteArray, QString> row("toml", "says");
        const QByteArray head = "version = 1\n[[connection]]\n";
        row("no TOML", "version == 1"_ba, u"f.toml, line 1: "_s);
        row("no version", "[[connection]]\nname = 'a'\nuri = 'zk://h'\n"_ba, u"version = 1"_s);
        row("a later version", "version = 2\n"_ba, u"version = 1"_s);
        row("no integer holds it", "version = 1e308\n"_ba, u"version = 1"_s);
        row("an unknown heading", "version = 1\nconnections = []\n"_ba,
            u"line 2: \"connections\" is not a known key"_s);
        row("an unknown field", head + "name = 'a'\nuri = 'zk://h'\npassword = 'x'\n",
            u"line 5: \"password\" is not a field of a connection"_s);
        row("a field that would colour a terminal", head + "\"\\u001b[31mred\" = 1\n", u"\\x1B[31mred"_s);
        row("a number for a text", head + "name = 7\n", u"line 3: name must be a text"_s);
        row("a text for yes or no", head + "name = 'a'\nproduction = 'yes'\n",
            u"line 4: production must be true or false"_s);
        row("a colour of its own", head + "colour = 'mauve'\n", u"line 3: colour must be one of"_s);
        row("no name", head + "uri = 'zk://h'\n", u"needs a name"_s);
        row("a name that names two", head + "name = 'a:b'\nuri = 'zk://h'\n", u"needs a name"_s);
        row("no address", head + "name = 'a'\n", u"the uri of a: "_s);
        row("twice", head + "name = 'a'\nuri = 'zk://h'\n[[connection]]\nname = 'a'\nuri = 'zk://i'\n",
            u"line 5: there is another connection named a"_s);
        row("a password", head + "name = 'a'\nuri = 'redis://u:s3cret@h'\n", u"remove the password"_s);
        row("a command", head + "name = 'a'\nuri = 'redis://h?password-command=true'\n",
            u"remove the password-command"_s);
        row("a password with a slash", head + "name = 'a'\nuri = 'redis://u:s3/cret@h'\n", u"remove the password"_s);
        row("not a list", "version = 1\n[connection]\nname = 'a'\n"_ba, u"[[connection]]"_s);
    }
    void errorNamesFileLineAndField()
    {
        QFETCH(QByteArray, toml);
        QFETCH(QString, says);
        const auto read = readSharedConnections(toml, u"f.toml"_s);
        QVERIFY(!read);
        QVERIFY2(read.error().message.contains(says), qPrintable(read.error().message));
        QVERIFY(read.error().message.startsWith(u"f.toml"_s));
        QVERIFY2(!read.error().message.contains(u"s3"_s), qPrintable(read.error().message));
    }

    void writtenConnectionsAreReadAgain()
    {
        auto orders = sharedOne(u"orders"_s, u"zk://10.0.5.1:2181/shop"_s);
        orders.group = u"Łódź \"east\""_s;
        orders.colour = ConnectionColour::Teal;
        orders.production = true;
        orders.hasPassword = true;
        orders.id = u"an id"_s;
        auto cache = sharedOne(u"cache"_s, u"redis+cluster://10.0.5.1:6379"_s);
        cache.user = u"ops"_s;
        cache.development = true;
        cache.uri += u"?password-command=echo%20s3cret"_s;
        const auto bytes = writeSharedConnections({orders, cache});
        cache.uri = u"redis+cluster://10.0.5.1:6379"_s; // the command may hold a secret
        QVERIFY(!bytes.contains("assword =") && !bytes.contains("an id") && !bytes.contains("development"));
        const auto read = readSharedConnections(bytes, u"f.toml"_s);
        QVERIFY2(read, qPrintable(read ? QString() : read.error().message));
        orders.id.clear();
        orders.hasPassword = false;
        cache.development = false; // everybody's own to say
        QCOMPARE(*read, (std::vector{orders, cache}));
    }

    void theNearestFolderAboveSaysWhatItsTeamHas()
    {
        const QTemporaryDir folder;
        const auto deep = folder.filePath(u"shop/src/deep"_s);
        QVERIFY(QDir().mkpath(deep));
        writeFile(folder.filePath(u"shop/lockscope.toml"_s),
                  "version = 1\n[[connection]]\nname = 'orders'\nuri = 'zk://h'\n");
        const auto team = findTeamFile(deep);
        QVERIFY(team);
        QVERIFY(team->file.endsWith(u"/shop/lockscope.toml"_s));
        QCOMPARE(team->connections.size(), 1u);
        // Nobody but its owner says where credentials go; and what is no file is not waited for.
        const auto file = folder.filePath(u"shop/lockscope.toml"_s);
        QVERIFY(QFile::setPermissions(file, QFile::permissions(file) | QFileDevice::WriteOther));
        QVERIFY(!findTeamFile(deep) && findTeamFile(deep).error().message.contains(u"every user can write it"_s));
        QVERIFY(QFile::remove(file) && ::mkfifo(QFile::encodeName(file).constData(), 0600) == 0);
        QVERIFY(!findTeamFile(deep) && findTeamFile(deep).error().message.contains(u"not a regular file"_s));
        writeFile(deep + u"/lockscope.toml"_s, "version = 1\nnonsense = 1\n");
        const auto broken = findTeamFile(deep);
        QVERIFY(!broken);
        QVERIFY2(broken.error().message.contains(u"deep/lockscope.toml, line 2"_s),
                 qPrintable(broken.error().message));
    }

    void importsAllOrNothingAndKeepsWhatWasThere()
    {
        const QTemporaryDir folder;
        ConnectionStore store(folder.filePath(u"own/connections.json"_s), nullptr);
        QVERIFY(store.save(sharedOne(u"orders"_s, u"zk://h:2181"_s)));
        QVERIFY(store.save(sharedOne(u"cache"_s, u"redis://elsewhere:6379"_s)));
        const auto file = folder.filePath(u"team.toml"_s);
        writeFile(file, "version = 1\n[[connection]]\nname = 'orders'\nuri = 'zk://h'\n"
                        "[[connection]]\nname = 'cache'\nuri = 'redis://h'\n"
                        "[[connection]]\nname = 'billing'\nuri = 'mariadb://h/shop'\nproduction = true\n");
        const auto said = store.importFrom(file);
        QVERIFY(said);
        QCOMPARE(*said, u"2 added, 1 already existed, cache is cache-2 here"_s);
        QCOMPARE(store.all().size(), 4u);
        QCOMPARE(store.all().front().name, u"billing"_s);
        QVERIFY(store.all().front().production && !store.all().front().id.isEmpty());
        QVERIFY(store.exportTo(folder.filePath(u"out.toml"_s)));
        const auto out = readSharedConnectionsFrom(folder.filePath(u"out.toml"_s));
        QVERIFY(out);
        QCOMPARE(out->size(), 4u);
        writeFile(file, "version = 1\n[[connection]]\nname = 'new'\nuri = 'zk://h'\n[[connection]]\nname = '?'\n");
        QVERIFY(!store.importFrom(file));
        QCOMPARE(store.all().size(), 4u);
        QVERIFY(!store.importFrom(folder.filePath(u"missing.toml"_s)));
    }
};

LOCKSCOPE_TEST(TestSharedConnections)
#include "tst_shared_connections.moc"
