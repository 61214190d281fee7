// SPDX-License-Identifier: Apache-2.0
// Passwords of connections given on a command line: from the keychain, for the server they were saved for.
#include "core/connections/connectionstore.h"
#include "tests/support/fakesecrets.h"
#include "tests/support/testmain.h"

#include <QTemporaryDir>

class TestSavedPassword : public QObject {
    Q_OBJECT

    // "user:password" after looking it up; the saved connection is prod=redis://ops@10.0.0.1:6379.
    static QString lookUp(const QString &given, testing::FakeSecrets::Box box = {})
    {
        QTemporaryDir folder;
        ConnectionStore store(folder.filePath(u"connections.json"_s), std::make_unique<testing::FakeSecrets>(box));
        SavedConnection saved{.name = u"prod"_s};
        saved.uri = u"redis://ops@10.0.0.1:6379"_s;
        saved.hasPassword = true;
        saved.production = true;
        const auto id = store.save(saved);
        if (!id)
            return id.error().message;
        QObject context;
        QString written = u"unanswered"_s;
        store.writePassword(*id, u"secret"_s, &context, [&](const SecretKept &kept) { written = kept.problem; });
        if (!QTest::qWaitFor([&] { return written != u"unanswered"_s; }, 30'000))
            return u"not written"_s;
        auto spec = parseConnection(given);
        if (!spec)
            return spec.error().message;
        std::optional<ConnectionSpec> filled;
        fillInPassword(store, *spec, 50ms, &context, [&](ConnectionSpec known) { filled = std::move(known); });
        if (!QTest::qWaitFor([&] { return filled.has_value(); }, 30'000))
            return u"no answer"_s;
        return filled->user + u':' + filled->password
               + (filled->production && filled->readOnly ? u" production"_s : QString());
    }

    struct KeptSecrets {
        QTemporaryDir folder;
        QObject context;
        testing::FakeSecrets::Box box;
        std::unique_ptr<SecretStore> store;

        explicit KeptSecrets(bool builtWithKeychain)
        {
            auto keychain = builtWithKeychain ? std::make_unique<testing::FakeSecrets>(box) : nullptr;
            store = std::make_unique<FallbackSecretStore>(std::move(keychain), SecretFile(path()));
        }
        [[nodiscard]] QString path() const { return folder.filePath(u"secrets.json"_s); }
        SecretKept write(const QString &secret)
        {
            std::optional<SecretKept> kept;
            store->write(u"a"_s, secret, &context, [&kept](const SecretKept &one) { kept = one; });
            return QTest::qWaitFor([&] { return kept.has_value(); }, 30'000) ? *kept
                                                                             : SecretKept{u"no answer"_s, {}, false};
        }
        QString read()
        {
            std::optional<QString> answer;
            store->read(u"a"_s, &context,
                        [&answer](const std::optional<QString> &secret) { answer = secret.value_or(u"(none)"_s); });
            return QTest::qWaitFor([&] { return answer.has_value(); }, 30'000) ? *answer : u"no answer"_s;
        }
    };

private slots:
    void onlyForWhatItWasSavedFor_data()
    {
        const Rows<QString, QString> row("given", "filled");
        row("name and address", u"prod=redis://10.0.0.1:6379"_s, u"ops:secret production"_s);
        row("and user", u"prod=redis://ops@10.0.0.1:6379"_s, u"ops:secret production"_s);
        row("another user", u"prod=redis://eve@10.0.0.1:6379"_s, u"eve: production"_s);
        row("another server", u"prod=redis://10.0.0.2:6379"_s, u":"_s);
        row("another name", u"test=redis://10.0.0.1:6379"_s, u":"_s);
        row("one is given", u"prod=redis://ops:mine@10.0.0.1:6379"_s, u"ops:mine production"_s);
    }
    void onlyForWhatItWasSavedFor()
    {
        QFETCH(QString, given);
        QTEST(lookUp(given), "filled");
    }

    void aKeychainThatDoesNotAnswerHoldsNobodyUp()
    {
        testing::FakeSecrets::Box silent{.isSilent = true};
        QCOMPARE(lookUp(u"prod=redis://10.0.0.1:6379"_s, silent), u": production"_s);
    }

    // In its owner's file, and said so; also where somebody made the file readable by others.
    void noKeychain_fileKeepsThePassword_data()
    {
        addRows<bool>("builtWithKeychain", {{"none runs", true}, {"built without one", false}});
    }
    void noKeychain_fileKeepsThePassword()
    {
        QFETCH(bool, builtWithKeychain);
        KeptSecrets kept(builtWithKeychain);
        kept.box.isAbsent = true;
        const auto said = kept.write(u"s3cret"_s);
        QCOMPARE(said.problem, QString());
        QVERIFY2(said.remark.contains(kept.path()) && said.remark.contains(u"unencrypted"), qPrintable(said.remark));
        constexpr auto ownersOnly = QFileDevice::ReadOwner | QFileDevice::WriteOwner;
        constexpr auto anybodys = QFileDevice::ReadGroup | QFileDevice::WriteGroup | QFileDevice::ReadOther;
        QCOMPARE(QFile::permissions(kept.path()) & (ownersOnly | anybodys), ownersOnly);
        QVERIFY(QFile::setPermissions(kept.path(), ownersOnly | anybodys));
        QCOMPARE(kept.read(), u"s3cret"_s);
        QCOMPARE(QFile::permissions(kept.path()) & (ownersOnly | anybodys), ownersOnly);
        kept.store->remove(u"a"_s);
        QCOMPARE(kept.read(), u"(none)"_s);
        QVERIFY(!QFile::exists(kept.path()));
    }
    // The form that asked has closed by then: it is kept all the same, but not for a connection that is gone.
    void callerMayCloseBeforeTheKeychainRefuses_data()
    {
        addRows<bool>("isRemoved", {{"closed", false}, {"and the connection removed", true}});
    }
    void callerMayCloseBeforeTheKeychainRefuses()
    {
        QFETCH(bool, isRemoved);
        KeptSecrets kept(true);
        kept.box.isAbsent = true;
        ConnectionStore store(kept.folder.filePath(u"connections.json"_s), std::move(kept.store));
        SavedConnection orders;
        orders.name = u"orders"_s;
        orders.uri = u"redis://10.0.0.1"_s;
        const auto id = store.save(orders);
        QVERIFY(id);
        auto form = std::make_unique<QObject>();
        bool isTold = false;
        store.writePassword(*id, u"s3cret"_s, form.get(), [&isTold](const SecretKept &) { isTold = true; });
        form.reset();
        if (isRemoved)
            QVERIFY(store.remove(*id));
        QCoreApplication::processEvents();
        QVERIFY(!isTold);
        QCOMPARE(QFile::exists(kept.path()), !isRemoved);
        if (isRemoved)
            return;
        QVERIFY(store.find(*id)->hasPassword);
        std::optional<QString> answer;
        store.readPassword(*id, &kept.context, [&answer](const std::optional<QString> &found) { answer = found; });
        QTRY_COMPARE(answer.value_or(QString()), u"s3cret"_s);
    }
    void lockedKeychain_noFileIsWritten()
    {
        KeptSecrets kept(true);
        kept.box.isLocked = true;
        QCOMPARE(kept.write(u"s3cret"_s).problem, u"the keychain is locked"_s);
        QVERIFY(!QFile::exists(kept.path()));
    }
    // What the file had is forgotten once a keychain has it.
    void aKeychainThatRunsAgainHasIt()
    {
        KeptSecrets kept(true);
        kept.box.isAbsent = true;
        QCOMPARE(kept.write(u"old"_s).problem, QString());
        kept.box.isAbsent = false;
        QCOMPARE(kept.write(u"new"_s).remark, QString());
        QVERIFY(!QFile::exists(kept.path()));
        QCOMPARE(kept.read(), u"new"_s);
    }
    void aFileThatIsNotUnderstoodIsLeftAsItIs()
    {
        KeptSecrets kept(false);
        QFile file(kept.path());
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("{\"version\": 2}") > 0);
        file.close();
        const auto said = kept.write(u"s3cret"_s);
        QVERIFY2(said.problem.contains(u"could not parse"), qPrintable(said.problem));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), QByteArray("{\"version\": 2}"));
    }
};

LOCKSCOPE_TEST(TestSavedPassword)
#include "tst_savedpassword.moc"
