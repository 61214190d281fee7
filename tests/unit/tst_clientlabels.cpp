// SPDX-License-Identifier: Apache-2.0
// Names that a person gives to clients: read from words, kept in a file that people write in, too.
#include "core/workspace/settingsfile.h"
#include "tests/support/testmain.h"

#include <QFile>
#include <QTemporaryDir>

using namespace lockscope::inspect;

class TestClientLabels : public QObject {
    Q_OBJECT
private slots:
    void labelsAreReadAndKept()
    {
        QVERIFY(!readClientLabel(u"billing"_s) && !readClientLabel(u"=billing"_s)
                && !readClientLabel(u"10.0.0.1="_s));
        const auto label = readClientLabel(u"user=app*=the till"_s);
        QVERIFY(label && label->pattern == "user=app*" && label->name == u"the till"_s);
        QTemporaryDir folder;
        const auto file = folder.filePath(u"lockscope/labels"_s);
        QVERIFY(savedClientLabels(file).empty());
        QVERIFY(saveClientLabels({{"10.0.0.1:*", u"east"_s}, *label}, file));
        QVERIFY(saveClientLabels({{"10.0.0.1:*", u"west"_s}}, file));
        const std::vector<ClientLabel> kept{*label, {"10.0.0.1:*", u"west"_s}};
        QCOMPARE(savedClientLabels(file), kept);
        // An editor says all there are; what a person wrote about them stays.
        QFile comment(file);
        QVERIFY(comment.open(QFile::Append));
        comment.write("# of the east: see the wiki\n");
        comment.close();
        QVERIFY(writeClientLabels({*label}, file));
        QCOMPARE(savedClientLabels(file), std::vector<ClientLabel>{*label});
        QVERIFY(comment.open(QFile::ReadOnly));
        QVERIFY(comment.readAll().startsWith("# of the east: see the wiki\n"));
    }

    void lineWithoutNameIsReportedAndKept()
    {
        QTemporaryDir folder;
        QFile file(folder.filePath(u"labels"_s));
        const auto write = [&file](const QByteArray &text) {
            return file.open(QFile::WriteOnly) && file.write(text) == text.size() && (file.close(), true);
        };
        QVERIFY(write("# clients\n\n10.0.3.7:* billing\n10.0.3.8:*=stock\n"));
        QString problem;
        QCOMPARE(savedClientLabels(file.fileName(), &problem).size(), std::size_t(1));
        QCOMPARE(problem,
                 file.fileName() + u": line 3 is ignored; write PATTERN=NAME, for example 10.0.3.7:*=billing"_s);
        QVERIFY(saveClientLabels({{"app-9", u"till"_s}}, file.fileName()));
        problem.clear();
        QCOMPARE(savedClientLabels(file.fileName(), &problem).size(), std::size_t(2));
        QVERIFY2(problem.contains(u": line 2 is ignored;"_s), qPrintable(problem));
        QVERIFY(write("one\n=two\nthree=\n"));
        (void)savedClientLabels(file.fileName(), &problem);
        QVERIFY2(problem.contains(u": lines 1, 2, 3 are ignored;"_s), qPrintable(problem));
        problem.clear();
        QVERIFY(write("# clients\na=b\n"));
        (void)savedClientLabels(file.fileName(), &problem);
        QCOMPARE(problem, QString());
    }
};

LOCKSCOPE_TEST(TestClientLabels)
#include "tst_clientlabels.moc"
