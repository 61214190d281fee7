// SPDX-License-Identifier: Apache-2.0
// What a file of a lesson may say: one that is none is refused by file and field, and a folder may hold anything.
#include "core/lessons/lessons.h"
#include "tests/simulate/smallestlesson.h"
#include "tests/support/testmain.h"

#include <QFile>
#include <QTemporaryDir>

using namespace lockscope::lessons;

class TestLessonFiles : public QObject {
    Q_OBJECT
private slots:
    void wrongFilesAreRefusedByFileAndField_data()
    {
        const Rows<QByteArray, QString> row("json", "named");
        row("no JSON", broken("\"T\"", "\"T"), u"line 3 is not valid JSON"_s);
        row("no object", "[1]", u"object"_s);
        row("no schema", broken("lesson/1", "lesson/9"), u"\"schema\" must be \"lockscope-lesson/1\""_s);
        row("no id", broken("\"small\"", "\"../x\""), u"\"id\""_s);
        row("a text that is none", broken(R"({"en": "S"})", R"("S")"), u"\"summary\""_s);
        row("a text in no language", broken(R"({"en": "S"})", R"({"de": "S"})"), u"\"summary.de\""_s);
        row("an empty text", broken(R"({"en": "S"})", "{}"), u"\"summary\""_s);
        row("a long text", broken("\"S\"", '"' + QByteArray(3000, 'x') + '"'), u"\"summary.en\""_s);
        row("an unknown recipe", broken("zk-mutex", "nope"),
            u"\"runs[0].scenario\" must be one that can be played"_s);
        row("a wrong number", broken("\"contenders\": 3", "\"contenders\": 0"), u"\"contenders\""_s);
        row("too many", broken("\"contenders\": 3", "\"contenders\": 50000"), u"\"runs[0].scenario.contenders\""_s);
        row("without events", broken("\"contenders\": 3", "\"keepsEvents\": false"), u"scenario.keepsEvents"_s);
        row("a field misspelt", broken("\"contenders\": 3", "\"contender\": 3"), u"unknown field \"contender\""_s);
        row("no step", broken("\"steps\": [{", "\"steps\": [], \"more\": [{"),
            u"\"steps\" must be a list of 1 to 40"_s);
        row("no such mark", broken("\"holds\"", "\"has\""), u"\"steps[0].until.mark\" must be one of joins"_s);
        row("no such contender", broken("\"contender\": 1", "\"contender\": 3"), u"\"steps[0].until.contender\""_s);
        row("no event", broken(R"({"mark": "holds", "contender": 1})", "{}"), u"\"steps[0].until\""_s);
        row("no such run", broken("\"contender\": 1", "\"run\": 1, \"contender\": 1"), u"\"steps[0].until.run\""_s);
        row("one choice", broken(R"(, {"en": "B"}], "right": 1)", R"(], "right": 0)"),
            u"\"steps[0].question.choices\""_s);
        row("no right choice", broken("\"right\": 1", "\"right\": 2"), u"\"steps[0].question.right\""_s);
        row("no such counter", broken("\"grants\"", "\"grand\""), u"\"proves[0].counter\" must be one of grants"_s);
        row("no comparison", broken("== 3", "= 3"), u"\"proves[0].is\""_s);
        row("a run too far", broken("== 3", "== run 1"), u"\"proves[0].is\""_s);
        row("about nothing", broken("\"counter\": \"grants\"", "\"run\": 0"), u"\"proves[0]\""_s);
        row("a claim that nothing plays",
            broken(R"("until": {"mark": "holds", "contender": 1})", R"("claims": [{"seed": "000", "says": "x"}])"),
            u"\"steps[0].claims\""_s);
        row("a number that is none", broken(R"({"en": "one"})", R"({"en": "{wakeups} of them"})"),
            u"\"steps[0].text\" must be without {wakeups}, which is not a number of its runs"_s);
        row("a number of a run too far", broken(R"({"en": "Q"})", R"({"en": "{grants of run 1}"})"),
            u"\"steps[0].question.text\""_s);
        row("a moment of the whole run", broken(R"({"en": "P"})", R"({"en": "{at}"})"), u"\"proves[0].text\""_s);
        row("a choice's number", broken(R"({"en": "B"})", R"({"en": "{grants so far}"})"),
            u"\"steps[0].question.choices[1]\""_s);
        row("less of a time", broken(R"({"en": "P"})", R"({"en": "{holdMs - 1}"})"),
            u"without {holdMs - 1}, which is not a number"_s);
        row("less of a moment", broken(R"({"en": "one"})", R"({"en": "{at - 1}"})"), u"without {at - 1}"_s);
        row("no such chapter", broken("\"id\"", "\"chapter\": \"mongo\", \"id\""),
            u"\"chapter\" must be one of why, zookeeper"_s);
        row("no such tile", broken("\"id\"", R"("tiles": ["grants", "elapsedMs"], "id")"),
            u"\"tiles[1]\" must be one of requests"_s);
        row("a tile twice", broken("\"id\"", R"("tiles": ["grants", "grants"], "id")"), u"\"tiles[1]\""_s);
        row("one tile", broken("\"id\"", R"("tiles": ["grants"], "id")"), u"\"tiles\" must be a list of 2 to 4"_s);
        row("a field too many", broken("\"summary\"", "\"sumary\": 1, \"summary\""), u"unknown field \"sumary\""_s);
    }
    void wrongFilesAreRefusedByFileAndField()
    {
        QFETCH(QByteArray, json);
        QFETCH(QString, named);
        const auto lesson = readLesson(json, u"somewhere/mine.json"_s);
        QVERIFY(!lesson);
        const auto &message = lesson.error().message;
        QVERIFY2(message.startsWith("somewhere/mine.json: "_L1) && message.contains(named), qPrintable(message));
        QVERIFY(!message.contains(u'\n'));
    }

    void tilesAreTheStandardOnesUnlessTheFileChooses()
    {
        const auto plain = readLesson(smallestLesson, u"x.json"_s);
        const auto chosen = readLesson(broken("\"id\"", R"("tiles": ["grants", "violations"], "id")"), u"x.json"_s);
        QVERIFY(plain && chosen);
        QCOMPARE(plain->tiles, standardTiles());
        QCOMPARE(chosen->tiles, (QList<QByteArray>{"grants", "violations"}));
    }

    void aFolderMayHoldAnything()
    {
        QTemporaryDir folder;
        const auto write = [&folder](const QString &name, const QByteArray &bytes) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size());
        };
        write(u"20-mine.json"_s, smallestLesson);
        write(u"30-again.json"_s, smallestLesson);
        write(u"40-huge.json"_s, QByteArray(2 << 20, ' '));
        write(u"50-bytes.json"_s, QByteArray("\xff\xfe\0{", 4));
        write(u"notes.txt"_s, "no lesson");
        QVERIFY(QFile::link(folder.filePath(u"nowhere"_s), folder.filePath(u"60-dangling.json"_s)));
        const auto all = loadLessons({folder.path(), folder.filePath(u"missing"_s)});
        QCOMPARE(all.lessons.size(), std::size_t(1));
        QCOMPARE(all.lessons.front().id, QByteArray("small"));
        QStringList refused;
        for (const auto &error : all.refused)
            refused << error.message;
        QCOMPARE(refused.size(), 4);
        QVERIFY(refused[0].contains("30-again.json"_L1) && refused[0].contains("already"_L1));
        QVERIFY(refused[1].contains("40-huge.json"_L1) && refused[1].contains("1 MiB"_L1));
        QVERIFY(refused[2].contains("50-bytes.json"_L1));
        QVERIFY(refused[3].contains("60-dangling.json"_L1));
    }
};

LOCKSCOPE_TEST(TestLessonFiles)
#include "tst_lesson_files.moc"
