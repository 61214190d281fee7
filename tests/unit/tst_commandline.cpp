// SPDX-License-Identifier: Apache-2.0
// Reading the command line: options anywhere, one clear line for what is wrong, secrets hidden.
#include "app/commandline.h"
#include "tests/support/testmain.h"

using namespace lockscope::app;

namespace {

std::vector<OptionSpec> known()
{
    auto options = sharedOptions();
    options.push_back({u"hold"_s, u"D"_s, u"how long"_s, false});
    options.push_back({u"all"_s, {}, u"everything"_s, false});
    return options;
}

QString noEnvironment(const QByteArray &)
{
    return {};
}

Result<Connections> connectionsOf(const QStringList &arguments)
{
    const auto read = readArguments(arguments, known());
    if (!read)
        return read.error();
    return readConnections(*read, noEnvironment);
}

} // namespace

class TestCommandLine : public QObject {
    Q_OBJECT
private slots:
    void badArgument_errorIsOneLine_data()
    {
        const Rows<QStringList, QString> row("arguments", "says");
        row("unknown option", {u"--frobnicate"_s}, u"unknown option --frobnicate; see --help"_s);
        row("nearly right", {u"--jsn"_s}, u"did you mean --json?"_s);
        row("nearly right, with value", {u"--conect=zk://h"_s}, u"did you mean --connect?"_s);
        row("single dash", {u"-x"_s}, u"unknown option -x"_s);
        row("value missing", {u"--hold"_s}, u"--hold requires a value: --hold D"_s);
        row("value missing before --", {u"--hold"_s, u"--"_s}, u"--hold requires a value"_s);
        row("switch with value", {u"--all=yes"_s}, u"--all takes no value"_s);
        row("given twice", {u"--hold"_s, u"1s"_s, u"--hold=2s"_s}, u"--hold is given twice"_s);
        row("no uri", {u"--connect"_s, u"nonsense"_s}, u"not of the form [NAME=]SCHEME:"_s);
        row("unknown scheme", {u"--connect"_s, u"consul://h"_s}, u"unknown scheme \"consul\""_s);
        row("bad port", {u"--connect"_s, u"zk://h:99999"_s}, u"is not between 1 and 65535"_s);
        row("one name twice", {u"--connect"_s, u"a=zk://h"_s, u"--connect"_s, u"a=redis://h"_s},
            u"two connections are named a"_s);
        row("arm of nothing", {u"--allow-writes"_s, u"zk"_s}, u"--allow-writes zk names no connection"_s);
        row("production of nothing", {u"--production"_s, u"zk"_s}, u"names no connection"_s);
    }
    void badArgument_errorIsOneLine()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, says);
        const auto connections = connectionsOf(arguments);
        QVERIFY(!connections);
        QCOMPARE(connections.error().code, ErrorCode::BadInput);
        QCOMPARE(exitFor(connections.error().code), Exit::BadUsage);
        const auto &message = connections.error().message;
        QVERIFY2(message.contains(says) && !message.contains(u'\n'), qPrintable(message));
    }

    void optionsStandAnywhereBeforeTheCommand_data()
    {
        const Rows<QStringList> row("arguments");
        row("before", {u"--json"_s, u"--connect"_s, u"zk://h"_s, u"show"_s, u"zk:/a"_s});
        row("after", {u"show"_s, u"zk:/a"_s, u"--connect=zk://h"_s, u"--json"_s});
        row("between", {u"show"_s, u"--json"_s, u"--connect"_s, u"zk://h"_s, u"zk:/a"_s});
    }
    void optionsStandAnywhereBeforeTheCommand()
    {
        QFETCH(QStringList, arguments);
        const auto read = readArguments(arguments, known());
        QVERIFY(read);
        QCOMPARE(read->words, (QStringList{u"show"_s, u"zk:/a"_s}));
        QVERIFY(read->has(u"json"_s));
        QCOMPARE(read->value(u"connect"_s), u"zk://h"_s);
        QVERIFY(!read->hasRest);
    }

    void aNumberThatMayBeLeftOut()
    {
        const std::vector<OptionSpec> options{{u"zk"_s, u"[N]"_s, {}}, {u"demo"_s, {}, {}}};
        const auto valueIn = [&options](const QStringList &arguments) {
            const auto read = readArguments(arguments, options);
            return read ? read->words.join(u' ') + u'|' + read->value(u"zk"_s) : read.error().message;
        };
        QCOMPARE(valueIn({u"sandbox"_s, u"--zk"_s, u"3"_s}), u"sandbox|3"_s);
        QCOMPARE(valueIn({u"--zk=3"_s, u"sandbox"_s}), u"sandbox|3"_s);
        QCOMPARE(valueIn({u"--zk"_s, u"sandbox"_s}), u"sandbox|"_s);
        QCOMPARE(valueIn({u"sandbox"_s, u"--zk"_s, u"--demo"_s}), u"sandbox|"_s);
        QCOMPARE(valueIn({u"sandbox"_s, u"--zk"_s}), u"sandbox|"_s);
    }

    void argumentsAfterTwoDashesAreUnchanged()
    {
        const auto read =
            readArguments({u"acquire"_s, u"zk:/a"_s, u"--"_s, u"make"_s, u"--json"_s, u"--"_s, u"x"_s}, known());
        QVERIFY(read && read->hasRest);
        QCOMPARE(read->rest, (QStringList{u"make"_s, u"--json"_s, u"--"_s, u"x"_s}));
        QVERIFY(!read->has(u"json"_s));
    }

    void connectionsAreNamedAndMarked()
    {
        const auto read = connectionsOf({u"--connect"_s, u"zk://a"_s, u"--connect"_s, u"zk://b"_s, u"--connect"_s,
                                         u"orders=redis://c/2"_s, u"--production"_s, u"orders"_s, u"--read-only"_s});
        QVERIFY(read);
        QCOMPARE(read->specs.size(), 3U);
        QCOMPARE(read->specs[0].name.bytes(), QByteArray("zk"));
        QCOMPARE(read->specs[1].name.bytes(), QByteArray("zk2"));
        QCOMPARE(read->specs[2].name.bytes(), QByteArray("orders"));
        QVERIFY(!read->specs[0].production && read->specs[2].production);
        QVERIFY(!read->specs[0].armed && !read->specs[2].armed);
        QVERIFY(read->readOnly && read->specs[0].readOnly);
    }

    void passwordsComeFromTheUriFirst()
    {
        const auto environment = [](const QByteArray &variable) {
            return variable == "LOCKSCOPE_PASSWORD_MY_ZK" || variable == "LOCKSCOPE_PASSWORD_REDIS" ? u"fromenv"_s
                                                                                                    : QString();
        };
        const auto read =
            readArguments({u"--connect"_s, u"my-zk=zk://bob@h"_s, u"--connect"_s, u"redis://:fromuri@h"_s}, known());
        QVERIFY(read);
        const auto connections = readConnections(*read, environment);
        QVERIFY(connections);
        QCOMPARE(connections->specs[0].password, u"fromenv"_s);
        QCOMPARE(connections->specs[1].password, u"fromuri"_s);
    }

    // For a command that a later run is given; a shell gets each word back as it was.
    void connectionIsPrintedWithoutItsPassword()
    {
        const auto wordOf = [](const QString &uri) {
            const auto read = connectionsOf({u"--connect"_s, uri});
            return read && read->words.size() == 1 ? read->words.first() : app::ConnectWord{u"none"_s};
        };
        QCOMPARE(wordOf(u"zk://h:2181?admin=8081"_s).word, u"zk=zk://h:2181?admin=8081"_s);
        QVERIFY(!wordOf(u"zk://h"_s).lacksPassword);
        QCOMPARE(wordOf(u"cart=redis://app@h/2"_s).word, u"cart=redis://app@h/2"_s);
        const auto hidden = wordOf(u"cart=redis://app:s3%2Fcret@h,i?ssh=ops:22@jump"_s);
        QVERIFY2(hidden.word == u"none"_s || !hidden.word.contains(u"s3"_s), qPrintable(hidden.word));
        const auto secret = wordOf(u"cart=redis://app:s3%2Fcret@h:6380/2?ssh=ops@jump"_s);
        QCOMPARE(secret.word, u"cart=redis://app@h:6380/2?ssh=ops@jump"_s);
        QVERIFY(secret.lacksPassword);
        QCOMPARE(wordOf(u"redis://:s3cret@h"_s).word, u"redis=redis://h"_s);
        QCOMPARE(wordOf(u"db=mariadb://ops@corp:s3cret@h/shop"_s).word, u"db=mariadb://ops@corp@h/shop"_s);
        QCOMPARE(wordOf(u"db=mariadb://ops:s3@cret@h/shop"_s).word, u"db=mariadb://ops@h/shop"_s);
        const auto command = wordOf(u"redis://h?ssh=j&password-command=echo%20s3cret"_s);
        QCOMPARE(command.word, u"redis=redis://h?ssh=j"_s);
        QVERIFY(command.lacksPassword);
        QCOMPARE(wordOf(u"redis://h?password-command=a%20b@c"_s).word, u"redis=redis://h"_s);
        QCOMPARE(wordOf(u"sandbox:"_s).word, u"none"_s); // its servers end with this run

        QCOMPARE(app::shellWord(u"zk:/locks/orders"_s), u"zk:/locks/orders"_s);
        QCOMPARE(app::shellWord(u"zk=zk://h?admin=1&tls=on"_s), u"'zk=zk://h?admin=1&tls=on'"_s);
        QCOMPARE(app::shellWord(u"it's $HOME"_s), u"'it'\\''s $HOME'"_s);
    }

    // A bare word is what a connection is called: the marks it was saved with hold, and a file that says so is named.
    void aNameMeansTheConnectionThatIsKnownByIt()
    {
        const auto find = [](const QString &name) -> Result<std::optional<NamedConnection>> {
            SavedConnection saved{.name = name};
            saved.uri = u"zk://h:2181/shop"_s;
            saved.production = true;
            if (name == "orders"_L1)
                return std::optional(NamedConnection{saved, u"/work/lockscope.toml"_s});
            if (name == "broken"_L1)
                return Error{ErrorCode::BadInput, u"/work/lockscope.toml, line 3: …"_s};
            return std::optional<NamedConnection>();
        };
        const auto connect = [&](const QString &what) {
            const auto read = readArguments({u"--connect"_s, what}, known());
            return readConnections(*read, noEnvironment, find);
        };
        const auto orders = connect(u"orders"_s);
        QVERIFY(orders);
        QCOMPARE(orders->specs[0].name.bytes(), "orders"_ba);
        QCOMPARE(orders->specs[0].chroot, "/shop"_ba);
        QVERIFY(orders->specs[0].production && orders->specs[0].readOnly);
        QCOMPARE(orders->notes, QStringList{u"orders is zk://h:2181/shop, by /work/lockscope.toml"_s});
        // Where a folder's file sends it, a password of the environment goes only if the file is said to be trusted.
        const auto withPassword = [&](const QString &trusted) {
            const auto read = readArguments({u"--connect"_s, u"orders"_s}, known());
            return readConnections(
                *read,
                [&](const QByteArray &variable) {
                    return variable == "LOCKSCOPE_PASSWORD_ORDERS" ? u"s3cret"_s
                           : variable == "LOCKSCOPE_TEAM_FILE"     ? trusted
                                                                   : QString();
                },
                find);
        };
        QVERIFY(withPassword({})->specs[0].password.isEmpty());
        QVERIFY(withPassword({})->notes.last().startsWith(u"LOCKSCOPE_PASSWORD_ORDERS is not used"_s));
        QVERIFY(withPassword(u"/elsewhere/lockscope.toml"_s)->specs[0].password.isEmpty());
        QCOMPARE(withPassword(u"/work/lockscope.toml"_s)->specs[0].password, u"s3cret"_s);
        QVERIFY(connect(u"billing"_s).error().message.contains(u"not of the form"_s));
        QVERIFY(connect(u"billing"_s).error().message.contains(u"no connection that is saved"_s));
        QVERIFY(connect(u"broken"_s).error().message.contains(u"line 3"_s));
        QCOMPARE(connect(u"zk://i"_s)->specs[0].hosts[0].host, u"i"_s); // an address is one
    }

    // The @ of a tunnel's user parts no credentials, and its key's passphrase comes from the environment only.
    void readsTheWayThroughSsh()
    {
        const auto environment = [](const QByteArray &variable) {
            return variable == "LOCKSCOPE_PASSWORD_ZK_KEY" ? u"s3cret"_s : QString();
        };
        const auto read = readArguments(
            {u"--connect"_s, u"zk://h:1?tls=on&cert=c&key=k&ssh=ops@j"_s, u"--connect"_s, u"zk://u:p?w@h:1"_s},
            known());
        QVERIFY(read && !readConnections(*read, environment)); // the second one's password
        auto first = *read;
        first.options[u"connect"_s].removeLast();
        const auto connections = readConnections(first, environment);
        QVERIFY2(connections, connections ? "" : qPrintable(connections.error().message));
        QCOMPARE(connections->specs[0].transport.ssh.target(), u"ops@j"_s);
        QCOMPARE(connections->specs[0].transport.tls.keyPassphrase, u"s3cret"_s);
        QVERIFY(connections->specs[0].password.isEmpty());
    }

    void passwordsLeaveArgv_data()
    {
        addColumns<QByteArray, QByteArray>("argument", "left");
        const auto row = [](const char *argument, const char *left) {
            QTest::newRow(argument) << QByteArray(argument) << QByteArray(left);
        };
        row("zk://bob:hunter2@h:1", "zk://bob:*******@h:1");
        row("--connect=x=redis://:hunter2@h", "--connect=x=redis://:*******@h");
        row("redis://u:p@ss@h", "redis://u:****@h");
        row("redis://u:a/b:c@h/1", "redis://u:*****@h/1");
        row("zk://h:2181", "zk://h:2181");
        row("zk://bob@h:2181", "zk://bob@h:2181");
        row("--json", "--json");
    }
    void passwordsLeaveArgv()
    {
        QFETCH(QByteArray, argument);
        QFETCH(QByteArray, left);
        QByteArray program("lockscopectl");
        QByteArray copy = argument;
        char *argv[] = {program.data(), copy.data(), nullptr};
        const auto taken = takeArguments(2, argv);
        QCOMPARE(taken, QStringList{QString::fromUtf8(argument)});
        QCOMPARE(copy, left);
    }

    void aPasswordStaysOutOfMessages()
    {
        for (const auto &argument : {u"--zk://bob:hunter2@h"_s, u"-zk://bob:hunter2@h"_s}) {
            const auto read = readArguments({argument}, known());
            QVERIFY(!read);
            QVERIFY2(!read.error().message.contains(u"hunter2"_s), qPrintable(read.error().message));
        }
        for (const auto &uri : {u"zk://bob:hunter2@h:99999"_s, u"consul://bob:hunter2@h"_s,
                                u"redis://u:hunter2@h/x"_s, u"redis://u:hunter2@"_s, u"bob:hunter2@h"_s,
                                u"zk://bob:/hunter2@h"_s, u"zk://bob:hunter2/x@h"_s, u"redis://u:a?hunter2@h"_s}) {
            const auto connections = connectionsOf({u"--connect"_s, uri});
            QVERIFY(!connections);
            QVERIFY2(!connections.error().message.contains(u"hunter2"_s), qPrintable(connections.error().message));
        }
    }

    void statusesAreTheDocumentedOnes()
    {
        QCOMPARE(exitFor(ErrorCode::AuthFailed), Exit::NoConnection);
        QCOMPARE(exitFor(ErrorCode::NotConnected), Exit::NoConnection);
        QCOMPARE(exitFor(ErrorCode::Refused), Exit::Refused);
        QCOMPARE(exitFor(ErrorCode::TimedOut), Exit::TimedOut);
        QCOMPARE(exitFor(ErrorCode::NoNode), Exit::Failed);
        QCOMPARE(exitFor(ErrorCode::UnknownOutcome), Exit::Failed);
    }
};

LOCKSCOPE_TEST(TestCommandLine)
#include "tst_commandline.moc"
