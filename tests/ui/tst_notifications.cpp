// SPDX-License-Identifier: Apache-2.0
// Notifications on a desktop without a tray: over a session bus of this test, to a service that keeps to the
// specification of freedesktop.org.
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/shell/tray.h"

#include <QDBusConnection>
#include <QProcess>
#include <QSignalSpy>
#include <QSystemTrayIcon>

using namespace lockscope;

class NotificationService : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.Notifications")
public:
    struct Shown {
        QString title, text;
        QStringList actions;
        QVariantMap hints;
    };
    std::vector<Shown> shown;

public slots:
    uint Notify(const QString &, uint, const QString &, const QString &title, const QString &text,
                const QStringList &actions, const QVariantMap &hints, int)
    {
        shown.push_back({title, text, actions, hints});
        return 40 + static_cast<uint>(shown.size());
    }

signals:
    void ActionInvoked(uint id, const QString &action);
    void NotificationClosed(uint id, uint reason);
};

class TestNotifications : public QObject {
    Q_OBJECT

    QProcess m_bus;
    NotificationService m_service;

private slots:
    void initTestCase()
    {
        m_bus.start(u"dbus-daemon"_s, {u"--session"_s, u"--nofork"_s, u"--print-address"_s});
        if (!m_bus.waitForStarted())
            QSKIP("dbus-daemon is not installed");
        QTRY_VERIFY(m_bus.canReadLine());
        const auto address = m_bus.readLine().trimmed();
        qputenv("DBUS_SESSION_BUS_ADDRESS", address);
        auto service = QDBusConnection::connectToBus(QString::fromLatin1(address), u"service"_s);
        QVERIFY(service.registerObject(u"/org/freedesktop/Notifications"_s, &m_service,
                                       QDBusConnection::ExportAllSlots | QDBusConnection::ExportAllSignals));
        QVERIFY(service.registerService(u"org.freedesktop.Notifications"_s));
    }
    void cleanupTestCase()
    {
        QDBusConnection::disconnectFromBus(u"service"_s);
        m_bus.kill();
        m_bus.waitForFinished();
    }

    void aClickShowsTheLockOfThatNotification()
    {
        QVERIFY(!QSystemTrayIcon::isSystemTrayAvailable());
        ui::Tray tray;
        QSignalSpy activated(&tray, &ui::Tray::activated);
        const inspect::LockName orders{ConnectionName("zk"), "/locks/orders"},
            stock{ConnectionName("zk"), "/locks/<b>"};
        tray.tell({{orders, inspect::Severity::Critical, u"Deadlock"_s}});
        QTRY_COMPARE(m_service.shown.size(), 1u);
        tray.tell({{stock, inspect::Severity::Warning, u"Long wait"_s}});
        QTRY_COMPARE(m_service.shown.size(), 2u);
        QCOMPARE(m_service.shown[0].text, u"Deadlock: zk:/locks/orders"_s);
        QCOMPARE(m_service.shown[0].hints[u"urgency"_s].toInt(), 2);
        QCOMPARE(m_service.shown[1].text, u"Long wait: zk:/locks/‹b>"_s); // a client's name is no markup
        QCOMPARE(m_service.shown[1].hints[u"urgency"_s].toInt(), 1);
        QCOMPARE(m_service.shown[0].actions.first(), u"default"_s);

        emit m_service.ActionInvoked(7, u"default"_s); // another program's
        emit m_service.ActionInvoked(41, u"default"_s);
        QTRY_COMPARE(activated.size(), 1);
        QCOMPARE(activated.first().first().value<inspect::LockName>(), orders);
        emit m_service.NotificationClosed(42, 2);
        emit m_service.ActionInvoked(42, u"default"_s); // it is gone
        emit m_service.ActionInvoked(41, u"default"_s);
        QTRY_COMPARE(activated.size(), 2);
        QCOMPARE(activated.last().first().value<inspect::LockName>(), orders);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestNotifications)
#include "tst_notifications.moc"
