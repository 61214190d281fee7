// SPDX-License-Identifier: Apache-2.0
// lockscopectl with files, names and settings of another user: no control character reaches the terminal, and no file
// blocks the program.
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

#include <QDir>

#include <sys/stat.h>

namespace {

const QString escape = u"\x1b]0;owned\a"_s;
const QByteArray shownEscape = "\\x1B]0;owned\\x07";

} // namespace

class TestCtlHostile : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_before;

    [[nodiscard]] QString path(const QString &name) const { return m_folder->filePath(name); }
    void write(const QString &name, const QByteArray &text) const
    {
        QFile file(path(name));
        QVERIFY(QDir().mkpath(QFileInfo(file).absolutePath()) && file.open(QFile::WriteOnly));
        QCOMPARE(file.write(text), text.size());
    }
    [[nodiscard]] Ran runHere(const QStringList &arguments) const
    {
        return run(arguments, {{u"XDG_CONFIG_HOME"_s, path(u"config"_s)},
                               {u"XDG_STATE_HOME"_s, path(u"state"_s)},
                               {u"XDG_DATA_HOME"_s, path(u"data"_s)}});
    }

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_before = QDir::currentPath();
        QVERIFY(QDir::setCurrent(m_folder->path()));
    }
    void cleanup() { QVERIFY(QDir::setCurrent(m_before)); }

    void teamFileIsShownEscaped_data()
    {
        QTest::addColumn<QString>("uri"); // in TOML
        QTest::addColumn<QString>("more");
        const auto row = [](const char *name, const QString &uri, const QString &more = {}) {
            QTest::newRow(name) << uri << more;
        };
        const auto bad = u"\\u001b]0;owned\\u0007"_s;
        row("database", u"redis://127.0.0.1:1/"_s + bad);
        row("host", u"redis://h"_s + bad + u":1:2"_s);
        row("port", u"redis://127.0.0.1:"_s + bad);
        row("option", u"redis://127.0.0.1:1?"_s + bad + u"=1"_s);
        row("ssh", u"redis://127.0.0.1:1?ssh="_s + bad);
        row("admin", u"zk://127.0.0.1:1?admin="_s + bad);
        row("tls", u"redis://127.0.0.1:1?tls="_s + bad);
        row("authority", u"rediss://127.0.0.1:1?ca="_s + bad);
        row("scheme", bad + u"://127.0.0.1:1"_s);
        row("field", u"redis://127.0.0.1:1"_s, u"\""_s + bad + u"\" = 1"_s);
        row("group", u"redis://127.0.0.1:1/x"_s, u"group = \""_s + bad + u"\""_s);
    }
    void teamFileIsShownEscaped()
    {
        QFETCH(QString, uri);
        QFETCH(QString, more);
        write(u"lockscope.toml"_s, "version = 1\n[[connection]]\nname = \"orders\"\nuri = \"" + uri.toUtf8() + "\"\n"
                                       + more.toUtf8() + '\n');
        const auto ran = runHere({u"locks"_s, u"--connect"_s, u"orders"_s});
        QVERIFY2(ran.status == 2 || ran.status == 3, ran.what());
        QVERIFY2(!ran.err.isEmpty(), ran.what());
        const auto all = ran.out + ran.err;
        QVERIFY2(!all.contains('\x1b') && !all.contains('\a'), ran.what());
    }

    void argumentIsShownEscaped_data()
    {
        const Rows<QStringList> row("arguments");
        const QStringList connect{u"--connect"_s, u"redis://127.0.0.1:1"_s};
        row("rules file", QStringList{u"locks"_s, u"--rules"_s, escape} + connect);
        row("field of a rule", QStringList{u"locks"_s, u"--rules"_s, u"field.json"_s} + connect);
        row("recording", {u"replay"_s, escape, u"locks"_s});
        row("recording that is none", {u"replay"_s, u"none"_s + escape, u"locks"_s});
        row("scenario", {u"simulate"_s, u"--scenario"_s, escape});
        row("lesson", {u"lesson"_s, escape});
        row("command", {escape});
        row("word", QStringList{u"locks"_s, escape} + connect);
        row("option", {u"locks"_s, u"--"_s + escape});
        row("database", {u"locks"_s, u"--connect"_s, u"redis://127.0.0.1:1/"_s + escape});
        row("label", QStringList{u"locks"_s, u"--label"_s, escape} + connect);
        row("recipe", {u"simulate"_s, u"--recipe"_s, escape, u"--contenders"_s, u"2"_s});
        row("folder of a new recording", QStringList{u"record"_s, u"none/"_s + escape} + connect);
    }
    void argumentIsShownEscaped()
    {
        QFETCH(QStringList, arguments);
        write(u"field.json"_s, "{\"version\": 1, \"\\u001b]0;owned\\u0007\": 1}");
        write(u"none"_s + escape, "not a Lockscope recording");
        const auto ran = runHere(arguments);
        QVERIFY2(ran.status != 0, ran.what());
        QVERIFY2(ran.err.contains(shownEscape), ran.what());
        const auto all = ran.out + ran.err;
        QVERIFY2(!all.contains('\x1b') && !all.contains('\a'), ran.what());
    }

    void pipeInPlaceOfAFileIsRefused_data()
    {
        const Rows<QString, QStringList> row("file", "arguments");
        const QStringList connect{u"--connect"_s, u"redis://127.0.0.1:1"_s};
        const auto tls = [](const QString &options) {
            return QStringList{u"locks"_s, u"--connect"_s, u"rediss://127.0.0.1:1?"_s + options};
        };
        row("ca", u"pipe"_s, tls(u"ca=pipe"_s));
        row("cert", u"pipe"_s, tls(u"cert=pipe&key=pipe"_s));
        row("rules", u"pipe"_s, QStringList{u"locks"_s, u"--rules"_s, u"pipe"_s} + connect);
        row("replay", u"pipe"_s, {u"replay"_s, u"pipe"_s, u"locks"_s});
        row("scenario", u"pipe"_s, {u"simulate"_s, u"--scenario"_s, u"pipe"_s});
        row("lesson", u"data/lockscope/lessons/pipe.json"_s, {u"lesson"_s, u"pipe"_s});
        row("team file", u"lockscope.toml"_s, {u"locks"_s, u"--connect"_s, u"orders"_s});
        row("labels", u"config/lockscope/labels"_s, QStringList{u"locks"_s} + connect);
        row("mutes", u"config/lockscope/mutes.json"_s, QStringList{u"findings"_s} + connect);
        row("thresholds", u"config/lockscope/thresholds.json"_s, QStringList{u"locks"_s} + connect);
        row("thresholds, followed", u"config/lockscope/thresholds.json"_s,
            QStringList{u"show"_s, u"redis:a"_s, u"--watch"_s} + connect);
        row("audit", u"state/lockscope/audit.jsonl"_s, {u"audit"_s});
    }
    // Opening a pipe that nobody writes to blocks, and no signal ends it.
    void pipeInPlaceOfAFileIsRefused()
    {
        QFETCH(QString, file);
        QFETCH(QStringList, arguments);
        QVERIFY(QDir().mkpath(QFileInfo(path(file)).absolutePath()));
        QCOMPARE(::mkfifo(QFile::encodeName(path(file)).constData(), 0600), 0);
        const auto ran = runHere(arguments);
        QVERIFY2(ran.status > 0 && ran.status < 6, ran.what());
        QVERIFY2(ran.err.contains("not a regular file"), ran.what());
    }

    // Asked for by its file's name or by its id.
    void brokenLessonSaysWhatIsWrong()
    {
        write(u"data/lockscope/lessons/my-pause.json"_s, R"({"id": "pause-of-mine", "untill": 1})");
        for (const auto &name : {u"my-pause"_s, u"pause-of-mine"_s}) {
            const auto ran = runHere({u"lesson"_s, name});
            QVERIFY2(ran.status == 2 && ran.err.contains("my-pause.json: "), ran.what());
            QVERIFY2(!ran.err.contains("unknown lesson"), ran.what());
        }
        const auto none = runHere({u"lesson"_s, u"no-such-lesson"_s});
        QVERIFY2(none.err.contains("unknown lesson \"no-such-lesson\""), none.what());
    }
};

LOCKSCOPE_TEST(TestCtlHostile)
#include "tst_ctl_hostile.moc"
