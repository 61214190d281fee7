// SPDX-License-Identifier: Apache-2.0
// The first screen: saved connections as cards, the last session, and the three doors.
#include "tests/support/savedconnections.h"
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/connectform.h"
#include "ui/pages/startpage.h"
#include "ui/shell/connectionchooser.h"

#include <QAccessible>
#include <QDropEvent>
#include <QFile>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>

class TestStartPage : public testing::WindowFixture, private testing::SavedConnections {
    Q_OBJECT

    std::unique_ptr<ConnectionStore> m_store;

    ui::StartPage &start() { return page().start(); }
    ui::ConnectionCard *card(const QString &name)
    {
        const auto found =
            std::ranges::find(start().cards(), name, [](const ui::ConnectionCard *one) { return one->saved().name; });
        return found == start().cards().end() ? nullptr : *found;
    }
    void notify(const QByteArray &name, Scheme scheme, ConnectionStatus::State state, const QString &message = {})
    {
        auto status = testing::connectedStatus(name, scheme, false, present);
        status.state = state;
        status.message = message;
        if (const auto *one = card(QString::fromUtf8(name)))
            status.uri = specOf(one->saved(), {})->displayUri();
        if (state != ConnectionStatus::State::Connected)
            status.asOf = {};
        m_backend->notifyConnection(status);
    }
    // Two groups of three; two of them were open when the last window closed.
    void openWithSix()
    {
        m_store = openStore();
        for (const auto &[name, uri, group] : {std::tuple{u"billing-etcd"_s, u"etcd://etcd-0:2379"_s, u"Billing"_s},
                                               {u"billing-pg"_s, u"postgresql://pg-rw:5432/ledger"_s, u"Billing"_s},
                                               {u"ledger"_s, u"redis://sentinel-0:6379"_s, u"Billing"_s},
                                               {u"cart-redis"_s, u"redis://redis-0.cart:6379"_s, u"Shop"_s},
                                               {u"orders-zk"_s, u"zk://zk-1,zk-2,zk-3"_s, u"Shop"_s},
                                               {u"shop-db"_s, u"mariadb://db-1.shop:3306"_s, u"Shop"_s}}) {
            auto connection = testing::saved(name, uri, group);
            connection.production = group == u"Shop"_s;
            connection.user = name == u"shop-db"_s ? u"ops"_s : QString();
            QVERIFY(m_store->save(connection));
        }
        std::vector<UsedConnection> session;
        for (const auto &saved : m_store->all()) {
            if (saved.name == u"orders-zk"_s || saved.name == u"cart-redis"_s)
                session.push_back({saved, {QDateTime::currentDateTimeUtc().addDays(-1), 404, 2, true}});
        }
        m_store->noteSession(session);
        m_window->useConnections(*m_store);
        QTRY_VERIFY(start().cards().back()->isVisible() && start().cards().back()->y() > 0);
        start().focusContent();
    }

    // What the menu of a card has, found by its text; the menu closes.
    void chooseInMenuOf(const QString &name, const QString &text)
    {
        card(name)->moreButton()->click();
        const auto menus = m_window->findChildren<QMenu *>(u"savedConnectionMenu"_s);
        QVERIFY(!menus.isEmpty());
        auto actions = menus.back()->findChildren<QAction *>();
        for (auto *inner : menus.back()->findChildren<QMenu *>())
            actions << inner->actions();
        const auto found =
            std::ranges::find_if(actions, [&text](const auto *action) { return action->text().startsWith(text); });
        QVERIFY2(found != actions.end(), qPrintable(text));
        QVERIFY2((*found)->isEnabled(), qPrintable(text));
        (*found)->trigger();
        menus.back()->close();
    }

private slots:
    void init()
    {
        clear();
        openWindow();
    }
    void cleanup()
    {
        closeWindow();
        m_store.reset();
    }

    void withoutConnectionsThereAreThreeDoors()
    {
        m_store = openStore();
        m_window->useConnections(*m_store);
        QVERIFY(start().isVisible() && start().cards().empty() && !start().openButton()->isVisible());
        QSignalSpy demo(m_window.get(), &ui::MainWindow::demoRequested);
        QTest::keyClick(&start(), Qt::Key_S);
        QCOMPARE(demo.count(), 1);
        QVERIFY(!start().isVisible()); // it starts, and says so
    }

    void theLastSessionIsReopenedReadOnlyByEnter()
    {
        openWithSix();
        QCOMPARE(start().cards().size(), 6u);
        QVERIFY(card(u"orders-zk"_s)->isChecked() && card(u"cart-redis"_s)->isChecked());
        QVERIFY(!card(u"shop-db"_s)->isChecked());
        QCOMPARE(start().openButton()->text(), u"Reopen the last 2"_s);
        QCOMPARE(m_window->focusWidget(), card(u"cart-redis"_s));
        std::vector<ConnectionSpec> specs;
        connect(m_window.get(), &ui::MainWindow::aboutToConnect, this,
                [&specs](const ConnectionSpec &spec) { specs.push_back(spec); });
        QTest::keyClick(m_window->focusWidget(), Qt::Key_Return);
        QTRY_COMPARE(specs.size(), 2u);
        QVERIFY(std::ranges::all_of(specs, &ConnectionSpec::readOnly));
        QCOMPARE(card(u"orders-zk"_s)->state(), ui::ConnectionCard::State::Connecting);
        QVERIFY(start().isVisible());
        notify("orders-zk", Scheme::ZooKeeper, ConnectionStatus::State::Connected);
        QVERIFY(!start().isVisible());
    }

    void cardsAreChosenWithTheKeyboard()
    {
        openWithSix();
        QTest::keyClick(m_window->focusWidget(), Qt::Key_Right);
        QCOMPARE(m_window->focusWidget(), card(u"orders-zk"_s));
        QTest::keyClick(m_window->focusWidget(), Qt::Key_Space); // off
        QCOMPARE(start().openButton()->text(), u"Open 1"_s);
        QTest::keyClick(m_window->focusWidget(), Qt::Key_Up);
        auto *above = qobject_cast<ui::ConnectionCard *>(m_window->focusWidget());
        QVERIFY(above);
        QCOMPARE(above->saved().group, u"Billing"_s);
        for (auto *one : start().cards())
            one->setChecked(true);
        above->click();
        above->click();
        QCOMPARE(start().openButton()->text(), u"Open all"_s);
        QTest::keyClick(&start(), Qt::Key_U);
        QCOMPARE(m_window->focusWidget(), start().uriField());
    }

    void aGroupIsOpenedAtOnce()
    {
        openWithSix();
        int asked = 0;
        connect(m_window.get(), &ui::MainWindow::aboutToConnect, this, [&](const ConnectionSpec &spec) {
            ++asked;
            QVERIFY(!spec.readOnly); // as they are saved
        });
        for (auto *button : start().findChildren<QPushButton *>()) {
            if (button->accessibleName() == u"Open all of Billing"_s)
                button->click();
        }
        QTRY_COMPARE(asked, 3);
    }

    void aConnectingCardKeepsItsPlaceAndIsCancelled()
    {
        openWithSix();
        auto *zk = card(u"orders-zk"_s);
        const auto place = zk->geometry();
        zk->button()->click();
        QCOMPARE(zk->button()->text(), u"Cancel"_s);
        notify("orders-zk", Scheme::ZooKeeper, ConnectionStatus::State::Connecting);
        QCOMPARE(zk->geometry(), place);
        QVERIFY(start().isVisible());
        zk->button()->click();
        QVERIFY(m_backend->last<Disconnect>());
        QCOMPARE(zk->button()->text(), u"Open"_s);
    }

    void aFailedCardShowsTheCauseAndRetries()
    {
        openWithSix();
        auto *db = card(u"shop-db"_s);
        db->button()->click();
        notify("shop-db", Scheme::MariaDb, ConnectionStatus::State::Broken, u"connection refused"_s);
        QVERIFY(start().isVisible());
        QCOMPARE(db->button()->text(), u"Retry"_s);
        QVERIFY(db->editButton()->isVisible());
        QVERIFY(db->accessibleDescription().startsWith(u"Not connected at "_s));
        QVERIFY(db->accessibleDescription().endsWith(u": connection refused"_s));
        db->button()->click();
        QVERIFY(m_backend->last<Disconnect>()); // anew: its fields may be others by now
        QCOMPARE(db->button()->text(), u"Cancel"_s);
        QVERIFY(start().isVisible());
    }

    void aCardHasAMenu()
    {
        openWithSix();
        const auto count = m_store->all().size();
        chooseInMenuOf(u"ledger"_s, u"Duplicate"_s);
        QTRY_VERIFY(card(u"ledger-2"_s));
        QCOMPARE(m_store->all().size(), count + 1);
        chooseInMenuOf(u"ledger-2"_s, u"Really delete ledger-2"_s);
        QTRY_VERIFY(!card(u"ledger-2"_s));
        QCOMPARE(m_store->all().size(), count);
        m_store->noteUsed(testing::saved(u"other"_s, u"redis://other:6380"_s));
        m_window->useConnections(*m_store);
        QVERIFY(card(u"other"_s));
        chooseInMenuOf(u"other"_s, u"Forget use"_s);
        QTRY_VERIFY(!card(u"other"_s));
        QCOMPARE(m_store->all().size(), count); // what is saved stays
    }

    void connectionsAreExportedAndImported()
    {
        openWithSix();
        auto *window = m_window->findChild<ui::WindowStart *>();
        const auto *notice = m_window->findChild<QLabel *>(u"notice"_s);
        const auto file = m_folder.filePath(u"out.toml"_s);
        window->exportTo(file);
        QTRY_VERIFY2(notice->text().contains(u"6 written without passwords"_s), qPrintable(notice->text()));
        window->importFrom(file);
        QTRY_VERIFY2(notice->text().contains(u"0 added, 6 already existed"_s), qPrintable(notice->text()));
    }

    // While others are connected the list of the header offers the rest.
    void theHeaderOffersWhatIsNotOpen()
    {
        openWithSix();
        notify("ledger", Scheme::Redis, ConnectionStatus::State::Connected);
        auto &header = *m_window->findChild<ui::ConnectionChooser *>();
        header.open();
        auto &rows = header.list().rows();
        QCOMPARE(rows.count(), 7); // the open one, Connect…, and five
        QCOMPARE(rows.item(2)->text(), u"billing-etcd"_s);
        QSignalSpy asked(m_window.get(), &ui::MainWindow::aboutToConnect);
        rows.setCurrentRow(2);
        QTest::keyClick(&rows, Qt::Key_Return);
        QTRY_COMPARE(asked.count(), 1);
        QCOMPARE(asked.first().first().value<ConnectionSpec>().name, ConnectionName("billing-etcd"));
    }

    // Nor what a user typed as a password into an address.
    void noSecretIsShown()
    {
        m_store = openStore();
        auto connection = testing::saved(u"cache"_s, u"redis://ops:s3cret@b:6380/3"_s);
        QVERIFY(m_store->save(connection));
        m_store->noteUsed(testing::saved(u"other"_s, u"redis://ops:s3cret@c:6380/3"_s));
        m_window->useConnections(*m_store);
        QCOMPARE(start().cards().size(), 2u);
        for (const auto *one : start().cards()) {
            const auto all = one->accessibleName() + one->accessibleDescription() + one->toolTip();
            QVERIFY2(!all.contains(u"s3cret"_s) && all.contains(u":6380"_s), qPrintable(all));
        }
        QVERIFY(!m_window->windowTitle().contains(u"s3cret"_s));
    }

    void aPastedUriIsAnsweredByAChecklist()
    {
        m_store = openStore();
        m_window->useConnections(*m_store);
        m_backend->holdAnswers = true;
        m_backend->on<TryConnection>() = [](const TryConnection &) {
            return std::vector{TrialCheck{TrialCheck::State::Passed, u"Reached h:2181."_s},
                               TrialCheck{TrialCheck::State::Note, u"Not encrypted."_s, TrialCheck::Fix::TurnOnTls}};
        };
        auto *uri = start().uriField();
        QTest::keyClicks(uri, u"zk://h:218"_s); // typed: nothing is sent
        QVERIFY(!m_backend->wasCalled(u"tryConnection zk://h:218"_s));
        uri->setText(u"zk://h:2181"_s);
        uri->clear();
        uri->setText(u"zk://h:2181/shop"_s);
        QVERIFY(m_backend->wasCalled(u"tryConnection zk://h:2181/shop"_s));
        m_backend->deliverAnswers();
        QTRY_COMPARE(start().checklist().checks().size(), 2u);
        // An edit drops what is shown and what is awaited.
        QTest::keyClick(uri, Qt::Key_Return);
        QTest::keyClick(uri, Qt::Key_Backspace);
        m_backend->deliverAnswers();
        QCoreApplication::processEvents();
        QVERIFY(start().checklist().checks().empty());
        QTest::keyClicks(uri, u"p"_s);
        QTest::keyClick(uri, Qt::Key_Return);
        m_backend->deliverAnswers();
        QTRY_COMPARE(start().checklist().checks().size(), 2u);
        QCoreApplication::processEvents();
        for (auto *button : start().checklist().findChildren<QPushButton *>()) {
            if (button->isVisible())
                button->click();
        }
        QCOMPARE(uri->text(), u"zk://h:2181/shop?tls=on"_s);
    }

    // Else the second would end the first, which has the name that is a default.
    void eachTypedServerHasANameOfItsOwn()
    {
        const auto connectTo = [this](const QString &uri) {
            start().uriField()->setText(uri);
            for (auto *button : start().findChildren<QPushButton *>()) {
                if (button->text() == "Connect"_L1)
                    button->click();
            }
            return QString::fromUtf8(m_backend->last<Connect>()->spec.name.bytes());
        };
        QCOMPARE(connectTo(u"zk://a:2181"_s), u"zk"_s);
        auto status = testing::connectedStatus("zk", Scheme::ZooKeeper, false, present);
        status.uri = m_backend->last<Connect>()->spec.displayUri();
        status.state = ConnectionStatus::State::Broken;
        m_backend->notifyConnection(status);
        QCOMPARE(connectTo(u"zk://b:2181"_s), u"zk2"_s);
        QVERIFY(!m_backend->last<Disconnect>());
        QVERIFY(start().uriField()->text().isEmpty()); // its password would stay on screen
    }

    void aWrongUriIsReported()
    {
        auto *uri = start().uriField();
        uri->setText(u"zk://h:99999"_s);
        QTest::keyClick(uri, Qt::Key_Return);
        QCOMPARE(start().checklist().checks().size(), 1u);
        QCOMPARE(start().checklist().checks().front().state, TrialCheck::State::Failed);
    }

    void aDroppedFileOfConnectionsIsImported()
    {
        m_store = openStore();
        m_window->useConnections(*m_store);
        QFile toml(m_folder.filePath(u"shared.toml"_s));
        QVERIFY(toml.open(QIODevice::WriteOnly));
        toml.write("version = 1\n[[connection]]\nname = 'orders'\nuri = 'zk://h:2181'\n");
        toml.close();
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(toml.fileName())});
        QDragEnterEvent enters({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(m_window.get(), &enters);
        QVERIFY(enters.isAccepted());
        QDropEvent drop({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(m_window.get(), &drop);
        QCOMPARE(m_store->all().size(), 1u);
        QVERIFY(card(u"orders"_s));
    }

    void theSessionIsKeptWhenTheWindowCloses()
    {
        openWithSix();
        notify("ledger", Scheme::Redis, ConnectionStatus::State::Connected);
        const auto &ledger = card(u"ledger"_s)->saved();
        QSettings settings(m_folder.filePath(u"view.ini"_s), QSettings::IniFormat);
        m_window->saveView(settings);
        QVERIFY(m_store->lastSeen(ledger).isOfLastSession);
        QVERIFY(!m_store->lastSeen(card(u"orders-zk"_s)->saved()).isOfLastSession);
    }

    void everyCardAndButtonIsNamed()
    {
        openWithSix();
        const auto *read = QAccessible::queryAccessibleInterface(card(u"orders-zk"_s));
        QVERIFY(read);
        QCOMPARE(read->role(), QAccessible::CheckBox);
        QVERIFY2(read->text(QAccessible::Name).startsWith(u"orders-zk, PROD, ZooKeeper"_s),
                 qPrintable(read->text(QAccessible::Name)));
        QCOMPARE(card(u"orders-zk"_s)->button()->accessibleName(), u"Open orders-zk"_s);
        QVERIFY(read->text(QAccessible::Description).contains(u"404 locks, 2 incidents"_s));
    }

    // For LOCKSCOPE_SHOTS: none saved; six, one failing, one connecting.
    void looksRight()
    {
        const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        if (folder.isEmpty())
            QSKIP("LOCKSCOPE_SHOTS names no folder");
        const auto shoot = [&](const QString &name) {
            for (const auto theme : {ui::ThemeChoice::Light, ui::ThemeChoice::Dark}) {
                ui::Theme::instance()->setChoice(theme);
                for (const QSize size : {QSize(1440, 900), QSize(1024, 700)}) {
                    m_window->resize(size);
                    QTRY_COMPARE(start().window()->size(), size);
                    for (int pass = 0; pass < 10; ++pass) // one for each layout within another
                        QCoreApplication::processEvents();
                    QVERIFY(m_window->grab().save(u"%1/start-%2-%3-%4.png"_s.arg(
                        folder, name, theme == ui::ThemeChoice::Dark ? u"dark"_s : u"light"_s,
                        QString::number(size.width()))));
                }
            }
            ui::Theme::instance()->setChoice(ui::ThemeChoice::Light);
        };
        shoot(u"none"_s);
        openWithSix();
        shoot(u"six"_s);
        card(u"ledger"_s)->button()->click();
        card(u"shop-db"_s)->button()->click();
        notify("shop-db", Scheme::MariaDb, ConnectionStatus::State::Broken,
               u"could not connect to mariadb://db-1.shop:3306: connection refused"_s);
        start().checklist().show(
            std::vector{TrialCheck{TrialCheck::State::Passed, u"Reached zk-1.stage:2181 (10.0.5.1)."_s},
                        TrialCheck{TrialCheck::State::Note, u"Not encrypted."_s, TrialCheck::Fix::TurnOnTls},
                        TrialCheck{TrialCheck::State::Warning, u"Incomplete: clients not visible"_s},
                        TrialCheck{TrialCheck::State::Failed, u"Login refused."_s, TrialCheck::Fix::Login}});
        shoot(u"states"_s);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestStartPage)
#include "tst_start_page.moc"
