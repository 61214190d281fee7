// SPDX-License-Identifier: Apache-2.0
// A clicked link goes to the window that is open, through a folder that is the user's alone.
#include "app/lockscope/options.h"
#include "tests/support/testmain.h"

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLocalSocket>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QThread>

#include <memory>

using lockscope::app::Handover;

class TestHandover : public QObject {
    Q_OBJECT

private:
    // As another process would: beside the event loop of the window.
    static bool giveFromElsewhere(const QString &folder, const QString &link)
    {
        bool given = false;
        const std::unique_ptr<QThread> other(QThread::create([&] { given = Handover(folder).give(link); }));
        other->start();
        while (!other->wait(1))
            QCoreApplication::processEvents();
        return given;
    }

private slots:
    void theFirstWindowTakesWhatLaterOnesAreGiven()
    {
        QTemporaryDir folder;
        const QString place = folder.filePath(u"lockscope"_s);
        QVERIFY(!Handover(place).give(u"lockscope://open?connection=zk&lock=a"_s)); // nobody is there
        Handover window(place);
        QVERIFY(window.listen());
        QVERIFY(!(QFileInfo(place).permissions() & (QFile::ReadGroup | QFile::ReadOther | QFile::ExeOther)));
        QSignalSpy taken(&window, &Handover::taken);
        QVERIFY(giveFromElsewhere(place, u"lockscope://open?connection=zk&lock=a"_s));
        QCOMPARE(taken.count(), 1);
        QCOMPARE(taken[0][0].toString(), u"lockscope://open?connection=zk&lock=a"_s);
        Handover second(place);
        QVERIFY(!second.listen());
    }

    void aSocketThatACrashLeftIsReplaced()
    {
        QTemporaryDir folder;
        const QString place = folder.path();
        QFile left(place + u"/window"_s);
        QVERIFY(left.open(QIODevice::WriteOnly));
        left.close();
        Handover window(place);
        QVERIFY(window.listen());
        QVERIFY(giveFromElsewhere(place, u"x"_s));
    }

    void aFolderThatOthersCanEnterIsNotUsed()
    {
        QTemporaryDir folder;
        const QString place = folder.filePath(u"open"_s);
        QVERIFY(QDir().mkpath(place));
        QVERIFY(QFile::setPermissions(place, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner | QFile::ReadGroup
                                                 | QFile::ExeGroup));
        Handover window(place);
        QVERIFY(!window.listen());
        QVERIFY(!window.give(u"x"_s));
        QVERIFY(!Handover(QString()).listen());
    }

    void endlessSenderIsCutOff()
    {
        QTemporaryDir folder;
        Handover window(folder.path());
        QVERIFY(window.listen());
        QSignalSpy taken(&window, &Handover::taken);
        QLocalSocket socket;
        socket.connectToServer(folder.path() + u"/window"_s);
        QVERIFY(socket.waitForConnected());
        socket.write(QByteArray(100'000, 'a'));
        QTRY_COMPARE(socket.state(), QLocalSocket::UnconnectedState);
        QCOMPARE(taken.count(), 0);
    }
};

LOCKSCOPE_GUI_TEST(TestHandover)
#include "tst_handover.moc"
