// SPDX-License-Identifier: Apache-2.0
// Passwords of connections given on a command line: from the keychain, for the server they were saved for.
#include "core/connections/savedpassword.h"
#include "tests/support/fakesecrets.h"
#include "tests/support/testmain.h"

#include <QTemporaryDir>
#include <QTest>

using namespace lockscope;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

class TestSavedPassword : public QObject {
    Q_OBJECT

    // "user:password" after looking it up; the saved connection is prod=redis://ops@10.0.0.1:6379.
    static QString lookUp(const QString &given, testing::FakeSecrets::Box box = {})
    {
        QTemporaryDir folder;
        ConnectionStore store(folder.filePath(u"connections.json"_s), std::make_unique<testing::FakeSecrets>(box));
        SavedConnection saved;
        saved.name = u"prod"_s;
        saved.uri = u"redis://ops@10.0.0.1:6379"_s;
        saved.hasPassword = true;
        saved.production = true;
        const auto id = store.save(saved);
        if (!id)
            return id.error().message;
        QObject context;
        QString written = u"unanswered"_s;
        store.writePassword(*id, u"secret"_s, &context, [&](const QString &why) { written = why; });
        if (!QTest::qWaitFor([&] { return written != u"unanswered"_s; }))
            return u"not written"_s;
        auto spec = parseConnection(given);
        if (!spec)
            return spec.error().message;
        std::optional<ConnectionSpec> filled;
        fillInPassword(store, *spec, 50ms, &context, [&](ConnectionSpec known) { filled = std::move(known); });
        if (!QTest::qWaitFor([&] { return filled.has_value(); }))
            return u"no answer"_s;
        return filled->user + u':' + filled->password
               + (filled->production && filled->readOnly ? u" production"_s : QString());
    }

private slots:
    void onlyForWhatItWasSavedFor_data()
    {
        QTest::addColumn<QString>("given");
        QTest::addColumn<QString>("filled");
        QTest::newRow("name and address") << u"prod=redis://10.0.0.1:6379"_s << u"ops:secret production"_s;
        QTest::newRow("and user") << u"prod=redis://ops@10.0.0.1:6379"_s << u"ops:secret production"_s;
        QTest::newRow("another user") << u"prod=redis://eve@10.0.0.1:6379"_s << u"eve: production"_s;
        QTest::newRow("another server") << u"prod=redis://10.0.0.2:6379"_s << u":"_s;
        QTest::newRow("another name") << u"test=redis://10.0.0.1:6379"_s << u":"_s;
        QTest::newRow("one is given") << u"prod=redis://ops:mine@10.0.0.1:6379"_s << u"ops:mine production"_s;
    }
    void onlyForWhatItWasSavedFor()
    {
        QFETCH(QString, given);
        QTEST(lookUp(given), "filled");
    }

    void aKeychainThatDoesNotAnswerHoldsNobodyUp()
    {
        testing::FakeSecrets::Box silent;
        silent.isSilent = true;
        QCOMPARE(lookUp(u"prod=redis://10.0.0.1:6379"_s, silent), u": production"_s);
    }
};

LOCKSCOPE_TEST(TestSavedPassword)
#include "tst_savedpassword.moc"
