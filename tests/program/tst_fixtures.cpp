// SPDX-License-Identifier: Apache-2.0
// Files of earlier versions, and of this one: tests/fixtures/VERSION has one of each kind, which make.sh there wrote
// with that version. Each is opened, and has in it what was written then.
#include "core/connections/connectionstore.h"
#include "core/workspace/mutes.h"
#include "core/workspace/rulefolder.h"
#include "core/workspace/settingsfile.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

#include <QDir>
#include <QDirIterator>
#include <QSettings>
#include <QTest>

using namespace lockscope;
using namespace lockscope::testing;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

// What make.sh writes, since 0.1.0. A later version that keeps more adds to it what the older folders lack.

constexpr MuteTime fixtureNoon{1'796'040'000s}; // 2026-11-30 12:00 UTC

std::vector<SavedConnection> fixtureConnections()
{
    return {{.name = u"cache"_s,
             .group = u"Shop"_s,
             .colour = ConnectionColour::Teal,
             .uri = u"redis://10.0.5.1:6379/2"_s,
             .user = u"ops"_s,
             .development = true,
             .hasPassword = true},
            {.name = u"orders-zk"_s,
             .group = u"Shop"_s,
             .colour = ConnectionColour::Red,
             .uri = u"zk://10.0.1.11:2181,10.0.1.12:2181/app?admin=8081"_s,
             .production = true},
            {.name = u"billing"_s, .uri = u"postgresql://10.0.7.2:5432/billing?ssh=ops@bastion"_s, .readOnly = true}};
}

std::vector<Mute> fixtureMutes()
{
    return {{.lock = u"zk:/locks/orders"_s,
             .code = inspect::FindingCode::LongHeld,
             .reason = u"nightly export, OPS-7"_s,
             .since = fixtureNoon,
             .until = fixtureNoon + std::chrono::days(80)},
            {.pattern = u"zk:/tmp/*"_s,
             .reason = u"load test"_s,
             .since = fixtureNoon,
             .until = fixtureNoon + std::chrono::days(60)}};
}

inspect::ThresholdRules fixtureThresholds()
{
    return {.usual = {.longHeld = 15min, .longWait = 90s, .unusual = 4},
            .rules = {{.pattern = u"zk:/batch/*"_s, .longHeld = 8h}, {.pattern = u"*-leader"_s, .unusual = 0}}};
}

std::vector<inspect::ClientLabel> fixtureLabels()
{
    return {{"10.0.3.*", u"billing"_s}, {"worker-*", u"workers of the shop"_s}};
}

const QMap<QString, QVariant> &fixtureSettings()
{
    static const QMap<QString, QVariant> settings{{u"look/theme"_s, u"dark"_s},
                                                  {u"lessons/language"_s, u"ru"_s},
                                                  {u"recorder/minutes"_s, 45},
                                                  {u"recorder/mebibytes"_s, 128},
                                                  {u"confirm/development"_s, u"reason"_s}};
    return settings;
}

std::unique_ptr<ConnectionStore> storeIn(const QDir &folder)
{
    const auto config = folder.filePath(u"config/lockscope/"_s);
    return std::make_unique<ConnectionStore>(
        config + u"connections.json"_s,
        std::make_unique<FallbackSecretStore>(nullptr, SecretFile(config + u"secrets.json"_s)));
}

// The first thing that was read then and is not read now; empty where all of it is. Later versions may add to it. A
// path is another one in each run.
QString lost(const QJsonValue &before, const QJsonValue &now, const QString &at = u"$"_s)
{
    if (before.isObject()) {
        const auto fields = before.toObject();
        for (auto field = fields.begin(); field != fields.end(); ++field) {
            if (field.key() == "files"_L1 || field.key() == "file"_L1)
                continue;
            const auto why = lost(field.value(), now.toObject().value(field.key()), at + u'.' + field.key());
            if (!why.isEmpty())
                return why;
        }
        return now.isObject() ? QString() : at;
    }
    if (before.isArray()) {
        const auto items = before.toArray();
        for (qsizetype i = 0; i < items.size(); ++i) {
            const auto why = lost(items.at(i), now.toArray().at(i), u"%1[%2]"_s.arg(at).arg(i));
            if (!why.isEmpty())
                return why;
        }
        return items.size() == now.toArray().size() ? QString() : at;
    }
    return before == now ? QString() : at;
}

} // namespace

class TestFixtures : public QObject {
    Q_OBJECT
private slots:
    void init()
    {
        m_copy = std::make_unique<QTemporaryDir>();
        if (!QTest::currentDataTag())
            return;
        // Opening a file may write beside it.
        QFETCH(const QString, version);
        QDir from(QStringLiteral(FIXTURES) + u'/' + version);
        QDirIterator files(from.path(), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            const auto path = m_copy->filePath(from.relativeFilePath(files.next()));
            QVERIFY(QDir().mkpath(QFileInfo(path).path()) && QFile::copy(files.filePath(), path));
            QVERIFY(QFile::setPermissions(path, QFileDevice::ReadOwner | QFileDevice::WriteOwner));
        }
    }

    void theRecordingHasItsLocks_data() { versions(); }
    void theRecordingHasItsLocks()
    {
        const auto file = m_copy->filePath(u"handover.lockscope"_s);
        const auto locks = runOnCopy({u"replay"_s, file, u"--json"_s, u"locks"_s});
        QVERIFY2(locks.status == 0, locks.what());
        QCOMPARE(lost(expected(u"locks"_s), locks.json()), QString());
        QVERIFY(locks.json()["locks"_L1].toArray().size() >= 2);
        const auto show =
            runOnCopy({u"replay"_s, file, u"--json"_s, u"show"_s, u"zk:/locks/stock"_s, u"--timeline"_s});
        QVERIFY2(show.status == 0, show.what());
        QCOMPARE(lost(expected(u"show"_s), show.json()), QString());
        QVERIFY(!show.json()["timeline"_L1]["events"_L1].toArray().isEmpty());
        // What is compared can differ.
        auto other = expected(u"show"_s);
        auto lock = other["lock"_L1].toObject();
        lock["recipe"_L1] = u"zk-mutex"_s;
        other["lock"_L1] = lock;
        QCOMPARE(lost(other, show.json()), u"$.lock.recipe"_s);
    }

    void theAuditLogIsComplete_data() { versions(); }
    void theAuditLogIsComplete()
    {
        const auto audit = runOnCopy({u"audit"_s, u"--json"_s});
        QVERIFY2(audit.status == 0, audit.what());
        QCOMPARE(lost(expected(u"audit"_s), audit.json()), QString());
        const auto records = audit.json()["records"_L1].toArray();
        QCOMPARE(records.size(), 2);
        QCOMPARE(records[1]["outcome"_L1].toString(), u"released"_s);
        QCOMPARE(records[1]["reason"_L1].toString(), u"INC-1207"_s);
    }

    void theConnectionsAreTheSavedOnes_data() { versions(); }
    void theConnectionsAreTheSavedOnes()
    {
        const auto store = storeIn(m_copy->path());
        QVERIFY2(store->loadError().isEmpty(), qPrintable(store->loadError()));
        compareConnections(store->all(), fixtureConnections());
        std::optional<QString> password;
        for (const auto &connection : store->all()) {
            if (connection.name == "cache"_L1)
                store->readPassword(connection.id, this, [&](const auto &found) { password = found; });
        }
        QTRY_COMPARE(password, u"s3cret of 2026"_s);
        const auto used = store->recent();
        QCOMPARE(used.size(), 1U);
        QCOMPARE(used.front().uri, u"etcd://10.0.9.1:2379"_s);
        // Exported connections have no passwords, and do not say where one key confirms.
        auto shared = fixtureConnections();
        for (auto &connection : shared)
            connection.hasPassword = connection.development = false;
        const auto read = readSharedConnectionsFrom(m_copy->filePath(u"shared.toml"_s));
        QVERIFY2(read, read ? "" : qPrintable(read.error().message));
        compareConnections(*read, shared);
    }

    void theSettingsAreThose_data() { versions(); }
    void theSettingsAreThose()
    {
        const auto config = m_copy->filePath(u"config/lockscope/"_s);
        const auto mutes = readMutes(config + u"mutes.json"_s);
        QVERIFY2(mutes, mutes ? "" : qPrintable(mutes.error().message));
        QVERIFY(*mutes == fixtureMutes());
        const auto thresholds = readThresholds(config + u"thresholds.json"_s);
        QVERIFY2(thresholds, thresholds ? "" : qPrintable(thresholds.error().message));
        QVERIFY(*thresholds == fixtureThresholds());
        QString problem;
        QVERIFY(savedClientLabels(config + u"labels"_s, &problem) == fixtureLabels());
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        const auto rules = readRuleFiles(ruleFilesIn(config + u"rules"_s));
        QCOMPARE(rules.problems.size(), 0U);
        QCOMPARE(rules.rules.size(), 2U);
    }

    // A window takes them, opens on the page that it was closed on, and keeps all of them when it is closed again.
    void theWindowKeepsItsSettings_data() { versions(); }
    void theWindowKeepsItsSettings()
    {
        const auto file = m_copy->filePath(u"config/Lockscope/lockscope.conf"_s);
        const auto before = valuesOf(file);
        for (auto setting = fixtureSettings().begin(); setting != fixtureSettings().end(); ++setting)
            QCOMPARE(before.value(setting.key()), setting.value().toString());
        QVERIFY(before.values().contains(u"findings"_s)); // the page
        QProcess window;
        auto environment = QProcessEnvironment::systemEnvironment();
        const auto folders = foldersOfCopy();
        for (auto folder = folders.begin(); folder != folders.end(); ++folder)
            environment.insert(folder.key(), folder.value());
        environment.insert(u"QT_QPA_PLATFORM"_s, u"offscreen"_s);
        window.setProcessEnvironment(environment);
        window.start(QStringLiteral(LOCKSCOPE), {});
        // It listens for links once it is shown.
        QTRY_VERIFY(QFileInfo::exists(m_copy->filePath(u"run/lockscope/window"_s)));
        window.terminate();
        QVERIFY(window.waitForFinished(patienceMs));
        QCOMPARE(window.exitCode(), 0);
        QVERIFY2(!window.readAllStandardError().contains("not understood"), "a file was not read");
        const auto after = valuesOf(file);
        for (auto value = before.begin(); value != before.end(); ++value) {
            if (!value.key().contains("geometry"_L1)) // of a screen
                QVERIFY2(after.value(value.key()) == value.value(), qPrintable(value.key()));
        }
    }

    // As make.sh has it write what else only the app's dialogs write.
    void writtenFilesAreRead()
    {
        const auto wanted = qEnvironmentVariable("LOCKSCOPE_WRITE_FIXTURES");
        const QDir folder(wanted.isEmpty() ? m_copy->path() : wanted);
        write(folder);
        compareConnections(storeIn(folder)->all(), fixtureConnections());
        QCOMPARE(valuesOf(folder.filePath(u"config/Lockscope/lockscope.conf"_s)).size(), fixtureSettings().size());
    }

private:
    static void versions()
    {
        const Rows<QString> row("version");
        for (const auto &version : QDir(QStringLiteral(FIXTURES)).entryList(QDir::Dirs | QDir::NoDotAndDotDot))
            row(qPrintable(version), version);
    }

    static void write(const QDir &folder)
    {
        const auto config = folder.filePath(u"config/lockscope/"_s);
        QVERIFY(QDir().mkpath(config + u"rules"_s));
        const auto store = storeIn(folder);
        for (const auto &connection : fixtureConnections()) {
            const auto id = store->save(connection);
            QVERIFY(id);
            if (connection.hasPassword)
                store->writePassword(*id, u"s3cret of 2026"_s, store.get(), [](const SecretKept &) {});
        }
        store->noteUsed({.name = u"etcd"_s, .uri = u"etcd://10.0.9.1:2379"_s});
        QVERIFY(store->exportTo(folder.filePath(u"shared.toml"_s)));
        MuteStore mutes(config + u"mutes.json"_s);
        for (const auto &mute : fixtureMutes())
            QVERIFY(mutes.add(mute));
        QVERIFY(writeThresholds(fixtureThresholds(), config + u"thresholds.json"_s));
        QVERIFY(writeClientLabels(fixtureLabels(), config + u"labels"_s));
        QVERIFY(QFile::copy(QStringLiteral(FIXTURES) + u"/../../docs/rules/acme-jobs.json"_s,
                            config + u"rules/acme-jobs.json"_s));
        QSettings settings(folder.filePath(u"config/Lockscope/lockscope.conf"_s), QSettings::IniFormat);
        for (auto setting = fixtureSettings().begin(); setting != fixtureSettings().end(); ++setting)
            settings.setValue(setting.key(), setting.value());
    }

    static void compareConnections(std::vector<SavedConnection> read, std::vector<SavedConnection> written)
    {
        QCOMPARE(read.size(), written.size());
        std::ranges::sort(read, {}, &SavedConnection::name);
        std::ranges::sort(written, {}, &SavedConnection::name);
        for (std::size_t i = 0; i < read.size(); ++i) {
            read[i].id.clear();
            QVERIFY2(read[i] == written[i], qPrintable(read[i].name + u' ' + read[i].uri));
        }
    }

    static QMap<QString, QString> valuesOf(const QString &file)
    {
        const QSettings settings(file, QSettings::IniFormat);
        QMap<QString, QString> values;
        for (const auto &key : settings.allKeys())
            values.insert(key, settings.value(key).toString());
        return values;
    }

    [[nodiscard]] QMap<QString, QString> foldersOfCopy() const
    {
        QDir().mkpath(m_copy->filePath(u"run"_s));
        QFile::setPermissions(m_copy->filePath(u"run"_s),
                              QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
        return {{u"HOME"_s, m_copy->path()},
                {u"XDG_CONFIG_HOME"_s, m_copy->filePath(u"config"_s)},
                {u"XDG_STATE_HOME"_s, m_copy->filePath(u"state"_s)},
                {u"XDG_DATA_HOME"_s, m_copy->filePath(u"data"_s)},
                {u"XDG_RUNTIME_DIR"_s, m_copy->filePath(u"run"_s)}};
    }
    [[nodiscard]] Ran runOnCopy(const QStringList &arguments) const { return run(arguments, foldersOfCopy()); }

    [[nodiscard]] QJsonObject expected(const QString &name) const
    {
        QFile file(m_copy->filePath(u"expected/%1.json"_s.arg(name)));
        const auto json = file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()) : QJsonDocument();
        // Nothing is lost of nothing.
        return json.isObject() && !json.object().isEmpty() ? json.object()
                                                           : QJsonObject{{u"is missing"_s, file.fileName()}};
    }

    std::unique_ptr<QTemporaryDir> m_copy;
};

LOCKSCOPE_TEST(TestFixtures)
#include "tst_fixtures.moc"
