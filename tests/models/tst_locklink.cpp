// SPDX-License-Identifier: Apache-2.0
// Locks as links: there and back, and nothing that is not exactly one.
#include "tests/support/testmain.h"
#include "ui/models/lockfacts.h"

using inspect::LockName;

class TestLockLink : public QObject {
    Q_OBJECT
private slots:
    void everyNameComesBack_data()
    {
        const Rows<QByteArray> row("name");
        row("path", "/locks/orders"_ba);
        row("key", "{payments:payout}&lock=other#x"_ba);
        row("percent, plus and space", "100%+ 1"_ba);
        row("not text", QByteArray("\xff\x00\x1b[31m", 7));
        row("UTF-8", "/замки/заказы"_ba);
    }
    void everyNameComesBack()
    {
        QFETCH(QByteArray, name);
        const LockName lock{ConnectionName("zk-1.eu"), name};
        const QString link = ui::linkOf(lock);
        QVERIFY(link.startsWith(u"lockscope://open?connection=zk-1.eu&lock="_s));
        for (const QChar c : link)
            QVERIFY(c > u' ' && c < u'\x7f');
        const auto read = ui::readLink(link);
        QVERIFY(read);
        QCOMPARE(*read, lock);
    }

    void aPathWrittenByHandIsRead()
    {
        const auto read = ui::readLink(u"lockscope://open?connection=zk&lock=/locks/a,b:c@1"_s);
        QVERIFY(read);
        QCOMPARE(*read, (LockName{ConnectionName("zk"), "/locks/a,b:c@1"}));
    }

    void nothingElseIsOne_data()
    {
        const Rows<QString> row("link");
        for (const auto &bad :
             {u""_s, u"lockscope://open"_s, u"lockscope://open?lock=/a"_s, u"lockscope://open?connection=zk"_s,
              u"lockscope://open?connection=&lock=a"_s, u"lockscope://open?connection=zk&lock="_s,
              u"lockscope://open?connection=zk&lock=a&lock=b"_s, u"lockscope://open?connection=zk&lock=a&reason=x"_s,
              u"lockscope://force-release?connection=zk&lock=a"_s, u"lockscope://open@host?connection=zk&lock=a"_s,
              u"zk://host:2181"_s, u"lockscope://open?connection=zk&lock=a\nb"_s,
              u"lockscope://open?connection=zk&lock=a#--allow-writes"_s})
            row(qPrintable(bad), bad);
        row("endless", u"lockscope://open?connection=zk&lock="_s + QString(5000, u'a'));
    }
    void nothingElseIsOne()
    {
        QFETCH(QString, link);
        QVERIFY(!ui::readLink(link));
        QVERIFY(ui::lessonOfLink(link).isEmpty());
    }

    void lessonIsReadByItsId()
    {
        QCOMPARE(ui::lessonOfLink(u"lockscope://lesson/children-watch"_s), QByteArray("children-watch"));
        for (const auto &bad : {u"lockscope://lesson/"_s, u"lockscope://lesson/A"_s, u"lockscope://lesson/a?b"_s})
            QVERIFY(ui::lessonOfLink(bad).isEmpty());
    }
};

LOCKSCOPE_TEST(TestLockLink)
#include "tst_locklink.moc"
