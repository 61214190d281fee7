// SPDX-License-Identifier: Apache-2.0
// The dialog that edits saved connections: what is written down, what never is.
#include "core/connections/connectionstore.h"
#include "tests/support/savedconnections.h"
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/dialogs/connectform.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>

using namespace lockscope::ui;

class TestConnect : public QObject, private SavedConnections {
    Q_OBJECT

    static QLineEdit *field(ConnectDialog &dialog, const QString &placeholder)
    {
        const auto all = dialog.form()->findChildren<QLineEdit *>();
        for (auto *edit : all) {
            if (edit->placeholderText().startsWith(placeholder))
                return edit;
        }
        return nullptr;
    }
    static QCheckBox *box(ConnectDialog &dialog, const QString &text)
    {
        const auto all = dialog.form()->findChildren<QCheckBox *>();
        for (auto *check : all) {
            if (check->text().startsWith(text))
                return check;
        }
        return nullptr;
    }

private slots:
    void init() { clear(); }

    void connectsFromTheFieldsWithTheKeyboard()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {u"open"_s});
        QSignalSpy asked(&dialog, &ConnectDialog::connectRequested);
        dialog.show();
        QVERIFY(QTest::qWaitForWindowExposed(&dialog));
        QVERIFY(qobject_cast<QComboBox *>(dialog.focusWidget())); // which type: the first that is asked
        QTest::keyClick(&dialog, Qt::Key_Return);
        QVERIFY2(dialog.form()->problem().startsWith(u"Which host?"_s), qPrintable(dialog.form()->problem()));
        auto *hosts = field(dialog, u"10.0.1.11"_s);
        QCOMPARE(dialog.focusWidget(), hosts);
        QTest::keyClicks(hosts, u"10.0.1.11:21811x"_s);
        QVERIFY(dialog.form()->problem().isEmpty());
        QTest::keyClick(hosts, Qt::Key_Return);
        QVERIFY2(dialog.form()->problem().contains(u"\"10.0.1.11:21811x\" is not a host:port"_s),
                 qPrintable(dialog.form()->problem()));
        hosts->clear();
        QTest::keyClicks(hosts, u"10.0.1.11, 10.0.1.12"_s);
        auto *name = field(dialog, u"orders-zk"_s);
        name->setText(u"open"_s);
        QTest::keyClick(name, Qt::Key_Return);
        QCOMPARE(dialog.form()->problem(), u"open is open already; give this one another name."_s);
        name->setText(u"prod zk"_s);
        QTest::keyClick(name, Qt::Key_Return);
        QVERIFY(dialog.form()->problem().startsWith(u"A name has letters"_s));
        name->setText(u"prod-zk"_s);
        box(dialog, u"Production"_s)->click();
        QVERIFY(box(dialog, u"Open read-only"_s)->isChecked());
        QTest::keyClick(name, Qt::Key_Return);
        QCOMPARE(asked.count(), 1);
        const auto spec = asked.first().first().value<ConnectionSpec>();
        QCOMPARE(spec.displayUri(), u"zk://10.0.1.11:2181,10.0.1.12:2181"_s);
        QVERIFY(spec.readOnly && spec.production);
        QVERIFY(!dialog.isVisible());
        QVERIFY(store->all().empty()); // connecting alone saves nothing
    }

    // Never beside production; kept, and known to the window by name and address.
    void developmentIsAMarkOfItsOwn()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        field(dialog, u"10.0.1.11"_s)->setText(u"10.0.9.1"_s);
        field(dialog, u"orders-zk"_s)->setText(u"try"_s);
        box(dialog, u"Production"_s)->click();
        box(dialog, u"Development"_s)->click();
        QVERIFY(!box(dialog, u"Production"_s)->isChecked());
        dialog.saveButton()->click();
        QVERIFY2(dialog.form()->problem().isEmpty(), qPrintable(dialog.form()->problem()));
        QVERIFY(openStore()->all().front().development && !openStore()->all().front().production);
        QVERIFY(dialog.form()->isDevelopment()); // as it was saved
        box(dialog, u"Production"_s)->click();
        QVERIFY(!dialog.form()->isDevelopment());
        QVERIFY(dialog.form()->spec()->production);
    }

    void spreadsADatabase()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        auto *hosts = field(dialog, u"10.0.1.11"_s);
        hosts->setText(u"mysql://app@db.example:3307/shop"_s);
        const auto spec = dialog.form()->spec();
        QVERIFY(spec);
        QCOMPARE(spec->scheme, Scheme::MariaDb);
        QCOMPARE(spec->databaseName, u"shop"_s);
        QCOMPARE(spec->user, u"app"_s);
        QCOMPARE(hosts->text(), u"db.example:3307"_s);
        const auto read = dialog.form()->read();
        QVERIFY(read);
        QCOMPARE(read->uri, u"mariadb://db.example:3307/shop"_s);
    }

    void spreadsAPastedAddress()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        auto *hosts = field(dialog, u"10.0.1.11"_s);
        hosts->setText(u"rediss://ops:p%40ss@cache.example:6380/3"_s);
        const auto spec = dialog.form()->spec();
        QVERIFY(spec);
        QCOMPARE(spec->scheme, Scheme::RedisTls);
        QCOMPARE(spec->user, u"ops"_s);
        QCOMPARE(spec->password, u"p@ss"_s);
        QCOMPARE(spec->database, 3);
        QCOMPARE(hosts->text(), u"cache.example:6380"_s);
        QVERIFY(!written().contains("p@ss"));
    }

    // Several were taken, saved, and refused when they were used.
    void aDatabaseIsOneServer_data()
    {
        addRows<QString>("title", {{"PostgreSQL", u"PostgreSQL"_s}, {"MariaDB", u"MariaDB or MySQL"_s}});
    }
    void aDatabaseIsOneServer()
    {
        QFETCH(const QString, title);
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        auto *hosts = field(dialog, u"10.0.1.11"_s);
        auto *kind = dialog.form()->findChild<QComboBox *>();
        hosts->setText(u"a:1,b:2"_s);
        QVERIFY(dialog.form()->read());
        kind->setCurrentIndex(kind->findText(title));
        const auto why = u"A connection to %1 is to one server: make a connection for each."_s.arg(title);
        QCOMPARE(dialog.form()->problem(), why);
        dialog.testButton()->click();
        QCOMPARE(dialog.form()->problem(), why);
        hosts->clear();
        QVERIFY2(hosts->placeholderText().contains(u"(one server)"_s), qPrintable(hosts->placeholderText()));
        QTest::keyClicks(hosts, u"a:1"_s);
        QVERIFY(dialog.form()->problem().isEmpty() && dialog.form()->read());
    }

    // Half an address is one, too: it was spread after the first letter of its host, and the rest typed into that.
    void spreadsAnAddressThatIsTypedWhenItIsWhole()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        dialog.show();
        QVERIFY(QTest::qWaitForWindowActive(&dialog));
        auto *hosts = field(dialog, u"10.0.1.11"_s);
        hosts->setFocus();
        const auto address = u"zk://10.0.1.11:2181/app"_s;
        QTest::keyClicks(hosts, address);
        QCOMPARE(hosts->text(), address);
        QTest::keyClick(hosts, Qt::Key_Tab);
        QTRY_COMPARE(hosts->text(), u"10.0.1.11:2181"_s);
        QCOMPARE(dialog.form()->read()->uri, address);
        // Or by the button that Enter presses.
        hosts->clear();
        QTest::keyClicks(hosts, u"redis://10.0.5.1:6379/2"_s);
        const auto spec = dialog.form()->spec();
        QVERIFY2(spec, spec ? "" : qPrintable(spec.error().message));
        QCOMPARE(spec->scheme, Scheme::Redis);
        QCOMPARE(spec->database, 2);
    }

    void keepsThatAnAddressIsOfAClusterOrOfSentinels()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        auto *hosts = field(dialog, u"10.0.1.11"_s);
        for (const auto &uri : {u"redis+cluster://a:7000,b:7001"_s, u"redis+sentinel://a:26379,b:26379/orders/2"_s,
                                u"redis://a:6379/1"_s}) {
            hosts->setText(uri);
            QCOMPARE(hosts->text(), uri.section(u'/', 2, 2));
            const auto read = dialog.form()->read();
            QVERIFY2(read, qPrintable(uri));
            QCOMPARE(read->uri, uri);
        }
    }

    // TLS and ssh have rows of their own, and what is typed there is read as the command line reads it.
    void spreadsHowItGetsThere()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        auto *hosts = field(dialog, u"10.0.1.11"_s);
        QVERIFY(box(dialog, u"Do not verify"_s)->isHidden());
        const auto address = u"zk://a:2181/app?admin=9&tls=on&ca=/etc/ca.pem&cert=c&key=k&verify=off&ssh=ops@j:22"_s;
        hosts->setText(address);
        QCOMPARE(hosts->text(), u"a:2181"_s);
        QVERIFY(box(dialog, u"Encrypt with TLS"_s)->isChecked());
        QVERIFY(!box(dialog, u"Do not verify"_s)->isHidden());
        QCOMPARE(dialog.form()->read()->uri, address);
        auto *ssh = field(dialog, u"no, or [user@]host"_s);
        QCOMPARE(ssh->text(), u"ops@j:22"_s);
        ssh->setText(u"-oProxyCommand=x"_s);
        QVERIFY(!dialog.form()->read());
        QVERIFY2(dialog.form()->problem().contains(u"[user@]host[:port]"_s), qPrintable(dialog.form()->problem()));
        ssh->clear();
        box(dialog, u"Encrypt with TLS"_s)->click();
        QCOMPARE(dialog.form()->read()->uri, u"zk://a:2181/app?admin=9"_s);
    }

    // Their rows are there where the address has them, so that saving keeps them.
    void rareWaysAreKept()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        auto *kube = field(dialog, u"no, or [context/]namespace"_s);
        auto *command = field(dialog, u"none, or a command that prints"_s);
        QVERIFY(kube->isHidden() || kube->parentWidget()->isHidden());
        const auto address = u"redis://a:6379?kube=prod/shop/pod/cart-0&password-command=echo%20a"_s;
        field(dialog, u"10.0.1.11"_s)->setText(address);
        QCOMPARE(kube->text(), u"prod/shop/pod/cart-0"_s);
        QCOMPARE(command->text(), u"echo a"_s);
        QVERIFY(!kube->parentWidget()->isHidden() && !command->parentWidget()->isHidden());
        QCOMPARE(dialog.form()->read()->uri, address);
    }

    void savesThePasswordInTheKeychainOnly()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        field(dialog, u"orders-zk"_s)->setText(u"cache"_s);
        field(dialog, u"10.0.1.11"_s)->setText(u"redis://ops:s3cret@10.0.5.1/0"_s);
        dialog.saveButton()->click();
        QTRY_COMPARE(m_box.secrets.size(), 1u);
        QTRY_VERIFY(store->all().front().hasPassword);
        QVERIFY(!written().contains("s3cret"));
        // Whoever saves once more means the same by it: it had been deleted, without a word.
        dialog.saveButton()->click();
        QCoreApplication::processEvents();
        QTRY_COMPARE(m_box.secrets.size(), 1u);
        QVERIFY(store->all().front().hasPassword);
        // The next time it comes from there.
        ConnectDialog next(*store, {});
        next.edit(store->all().front());
        QSignalSpy asked(&next, &ConnectDialog::connectRequested);
        next.connectButton()->click();
        QTRY_COMPARE(asked.count(), 1);
        QCOMPARE(asked.first().first().value<ConnectionSpec>().password, u"s3cret"_s);
        // A locked keychain asks instead of connecting without.
        m_box.isLocked = true;
        ConnectDialog locked(*store, {});
        locked.edit(store->all().front());
        QSignalSpy refused(&locked, &ConnectDialog::connectRequested);
        locked.connectButton()->click();
        QTRY_COMPARE(locked.form()->problem(),
                     u"The password is not where it was kept, or the keychain did not give it; type it."_s);
        QCOMPARE(refused.count(), 0);
    }

    // What is one server set by its own scheme has an entry of its own, and the form leaves out what it has not.
    void deploymentsAreChosenAsTypes()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        auto *kind = dialog.form()->findChild<QComboBox *>();
        QVERIFY(kind->findText(u"Redis Cluster"_s) > 0);
        kind->setCurrentIndex(kind->findText(u"Redis behind Sentinel"_s));
        auto *hosts = field(dialog, u"10.0.5.1:26379"_s);
        auto *service = field(dialog, u"as its sentinels"_s);
        QVERIFY(hosts && service);
        hosts->setText(u"a:1,b:2"_s);
        service->setText(u"main/2"_s);
        QCOMPARE(dialog.form()->read()->uri, u"redis+sentinel://a:1,b:2/main/2"_s);
        kind->setCurrentIndex(kind->findText(u"Redis Cluster"_s));
        QVERIFY(service->isHidden());
        QCOMPARE(dialog.form()->read()->uri, u"redis+cluster://a:1,b:2"_s);
        box(dialog, u"Encrypt with TLS"_s)->click();
        QCOMPARE(dialog.form()->read()->uri, u"redis+cluster://a:1,b:2?tls=on"_s);
        kind->setCurrentIndex(kind->findText(u"Redis"_s));
        service->clear();
        QCOMPARE(dialog.form()->read()->uri, u"rediss://a:1,b:2"_s);
        // Pasted, too.
        hosts->setText(u"redis+sentinel://h:1/other"_s);
        QCOMPARE(kind->currentText(), u"Redis behind Sentinel"_s);
        QCOMPARE(service->text(), u"other"_s);
    }

    void theTeamsAreLeftAsTheyAre()
    {
        const auto work = m_folder.filePath(u"work"_s);
        QVERIFY(QDir().mkpath(work));
        QFile toml(work + u"/lockscope.toml"_s);
        QVERIFY(toml.open(QIODevice::WriteOnly));
        toml.write("version = 1\n[[connection]]\nname = 'orders'\nuri = 'zk://h:2181'\nproduction = true\n");
        toml.close();
        auto store = openStore();
        store->lookForTeamFile(work);
        ConnectDialog dialog(*store, {});
        QCOMPARE(store->groups().front().title, u"Team: work/lockscope.toml"_s);
        dialog.edit(store->groups().front().connections.front());
        const auto read = dialog.form()->read();
        QCOMPARE(read->name, u"orders"_s);
        QVERIFY(read->production && read->id.isEmpty());
        dialog.saveButton()->click(); // one of one's own
        QCOMPARE(store->all().size(), 1u);
        QCOMPARE(dialog.form()->read()->id, store->all().front().id);
        QVERIFY(toml.open(QIODevice::WriteOnly | QIODevice::Append));
        toml.write("nonsense = 1\n");
        toml.close();
        store->lookForTeamFile(work);
        const ConnectDialog next(*store, {});
        QVERIFY2(next.form()->problem().contains(u"line 6: \"nonsense\""_s), qPrintable(next.form()->problem()));
    }

    // The checklist of a trial, with what fixes a failure; an edit drops the answer that is awaited.
    void aTrialIsAChecklist()
    {
        auto store = openStore();
        const auto id = store->save(saved(u"zk"_s, u"zk://h:2181"_s));
        store->writePassword(*id, u"s3cret"_s, this, [](const SecretKept &) {});
        QTRY_VERIFY(store->find(*id)->hasPassword);
        ConnectDialog dialog(*store, {});
        dialog.edit(*store->find(*id));
        dialog.show();
        auto &list = dialog.form()->checklist();
        QSignalSpy asked(&list, &TrialChecklist::trialRequested);
        dialog.testButton()->click();
        QTRY_COMPARE(asked.count(), 1);
        QCOMPARE(asked.first().first().value<ConnectionSpec>().password, u"s3cret"_s); // the kept one
        QVERIFY(list.awaited() && list.isVisible());
        QCOMPARE(list.checks().front().text, u"Testing zk://h:2181 …"_s);
        using Check = TrialCheck;
        list.show(std::vector{Check{Check::State::Passed, u"Reached h:2181."_s},
                              Check{Check::State::Failed, u"h:2181 uses TLS."_s, Check::Fix::TurnOnTls}});
        QVERIFY(!list.awaited());
        const auto labels = list.findChildren<QLabel *>();
        QVERIFY(std::ranges::any_of(
            labels, [](const auto *one) { return one->accessibleName() == u"Failed: h:2181 uses TLS."_s; }));
        const auto link = [&list](const QString &text) {
            for (auto *button : list.findChildren<QPushButton *>()) {
                if (button->text() == text && button->isVisible())
                    return button;
            }
            return static_cast<QPushButton *>(nullptr);
        };
        QTRY_VERIFY(link(u"Turn on TLS"_s));
        link(u"Turn on TLS"_s)->click();
        QVERIFY(box(dialog, u"Encrypt with TLS"_s)->isChecked());
        QVERIFY(list.checks().empty() && !list.isVisible()); // it was about something else
    }

    void anEditDropsTheAwaitedAnswer()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        dialog.show();
        auto *hosts = field(dialog, u"10.0.1.11"_s);
        hosts->setText(u"h:2181"_s);
        dialog.testButton()->click();
        const QPointer<QObject> awaited = dialog.form()->checklist().awaited();
        QVERIFY(awaited);
        QTest::keyClicks(hosts, u"9"_s);
        QVERIFY(!awaited && dialog.form()->checklist().checks().empty());
    }

    // And the field is marked until it is edited.
    void aFailureMarksItsField()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        dialog.show();
        auto *hosts = field(dialog, u"10.0.1.11"_s);
        hosts->setText(u"h:2181"_s);
        dialog.testButton()->click();
        dialog.form()->checklist().show(std::vector{
            TrialCheck{TrialCheck::State::Failed, u"Port 2181 of h is closed."_s, TrialCheck::Fix::Hosts}});
        QCOMPARE(hosts->property("tone").toString(), u"critical"_s);
        QTest::keyClicks(hosts, u"9"_s);
        QCOMPARE(hosts->property("tone").toString(), QString());
        hosts->clear();
        dialog.connectButton()->click(); // which host?
        QCOMPARE(hosts->property("tone").toString(), u"critical"_s);
    }

    void filesAreChosenWithAButton()
    {
        auto store = openStore();
        ConnectDialog dialog(*store, {});
        dialog.show();
        box(dialog, u"Encrypt with TLS"_s)->click();
        int buttons = 0;
        for (const auto *button : dialog.form()->findChildren<QPushButton *>())
            buttons += button->isVisible() && button->accessibleName().startsWith(u"Choose a file: "_s) ? 1 : 0;
        QCOMPARE(buttons, 3); // authorities, certificate, key
    }

    void looksRight()
    {
        const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        auto store = openStore();
        auto orders = saved(u"orders-zk"_s, u"zk://10.0.1.11:2181,10.0.1.12:2181,10.0.1.13:2181"_s, u"Shop"_s);
        orders.production = true;
        orders.colour = ConnectionColour::Red;
        auto cache = saved(u"cache-redis"_s, u"rediss://10.0.5.1:6379"_s, u"Shop"_s);
        cache.production = true;
        cache.colour = ConnectionColour::Orange;
        cache.user = u"ops"_s;
        auto staging = saved(u"staging-zk"_s, u"zk://staging:2181/app"_s, u"Staging"_s);
        staging.colour = ConnectionColour::Teal;
        for (const auto &connection : {orders, cache, staging, saved(u"laptop"_s, u"redis://localhost:6379"_s)})
            QVERIFY(store->save(connection));
        ConnectDialog dialog(*store, {});
        dialog.edit(cache);
        dialog.show();
        QVERIFY(QTest::qWaitForWindowExposed(&dialog));
        // What a trial says may be long: the dialog stays as it is, and the end of it is in sight.
        const auto before = dialog.size();
        using Check = TrialCheck;
        auto &list = dialog.form()->checklist();
        list.show(std::vector{
            Check{Check::State::Passed, u"Reached 10.0.5.1:6379."_s},
            Check{Check::State::Warning, u"Encrypted with TLS, but the server is not verified."_s, Check::Fix::Tls},
            Check{Check::State::Note,
                  u"may not acquire and release: User ops has no permissions to run the 'set' command"_s},
            Check{Check::State::Warning, u"Incomplete: cache-redis: CLIENT TRACKING refused, polling instead"_s}});
        QCOMPARE(dialog.height(), before.height());
        QTRY_COMPARE(dialog.form()->mapTo(&dialog, QPoint()).x(),
                     dialog.form()->parentWidget()->mapTo(&dialog, QPoint()).x());
        QVERIFY(dialog.form()->width() <= dialog.form()->parentWidget()->width());
        QTRY_VERIFY(list.height() >= list.minimumSizeHint().height());
        QTRY_VERIFY(list.visibleRegion().boundingRect().height() >= list.height() - 1);
        if (folder.isEmpty())
            return;
        for (const auto choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            Theme::instance()->setChoice(choice);
            QCoreApplication::processEvents();
            const QString shot =
                u"%1/connect-%2.png"_s.arg(folder, choice == ThemeChoice::Dark ? u"dark"_s : u"light"_s);
            QVERIFY(dialog.grab().save(shot));
        }
        Theme::instance()->setChoice(ThemeChoice::Light);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestConnect)
#include "tst_connect.moc"
