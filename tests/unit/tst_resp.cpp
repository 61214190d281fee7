// SPDX-License-Identifier: Apache-2.0
// RESP2: commands to bytes, bytes to values, in whatever pieces they arrive and whatever they claim.
#include "core/redis/client.h"
#include "core/redis/resp.h"
#include "tests/support/testmain.h"

#include <QCryptographicHash>
#include <QTest>

using namespace lockscope;
using namespace lockscope::redis;

namespace {

constexpr qint64 mebibyte = 1024 * 1024;

// A value in one line: nil, +status, -error, :7, "bulk", [a, b].
QByteArray shown(const Value &value)
{
    switch (value.kind) {
    case Value::Kind::Nil: return "nil";
    case Value::Kind::Status: return '+' + value.text;
    case Value::Kind::Error: return '-' + value.text;
    case Value::Kind::Integer: return ':' + QByteArray::number(value.integer);
    case Value::Kind::Bulk: return '"' + value.text + '"';
    case Value::Kind::Array: break;
    }
    QByteArrayList items;
    for (const auto &item : value.items)
        items << shown(item);
    return '[' + items.join(", ") + ']';
}

// Everything whole in the reader now; a failure ends the list as "! code".
QByteArrayList drain(RespReader &reader)
{
    QByteArrayList out;
    for (;;) {
        auto next = reader.next();
        if (!next) {
            out << "! " + QByteArray::number(static_cast<int>(next.error().code));
            return out;
        }
        if (!next->has_value())
            return out;
        out << shown(**next);
    }
}

QByteArray failure(ErrorCode code)
{
    return "! " + QByteArray::number(static_cast<int>(code));
}

} // namespace

class TestResp : public QObject {
    Q_OBJECT
private slots:
    void commands_data()
    {
        QTest::addColumn<QByteArrayList>("command");
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("name alone") << QByteArrayList{"PING"} << QByteArray("*1\r\n$4\r\nPING\r\n");
        QTest::newRow("empty argument") << QByteArrayList{"GET", ""} << QByteArray("*2\r\n$3\r\nGET\r\n$0\r\n\r\n");
        QTest::newRow("binary") << QByteArrayList{"SET", QByteArray("a\0\r\n", 4), "%s"}
                                << QByteArray("*3\r\n$3\r\nSET\r\n$4\r\na\0\r\n\r\n$2\r\n%s\r\n", 31);
    }
    void commands()
    {
        QFETCH(QByteArrayList, command);
        QFETCH(QByteArray, bytes);
        QCOMPARE(encode(command), bytes);
    }

    void replies_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QByteArrayList>("values");
        QTest::newRow("status") << QByteArray("+OK\r\n") << QByteArrayList{"+OK"};
        QTest::newRow("error") << QByteArray("-ERR no\r\n") << QByteArrayList{"-ERR no"};
        QTest::newRow("integers") << QByteArray(":0\r\n:-9223372036854775808\r\n:9223372036854775807\r\n")
                                  << QByteArrayList{":0", ":-9223372036854775808", ":9223372036854775807"};
        QTest::newRow("bulk") << QByteArray("$5\r\na\r\nbc\r\n") << QByteArrayList{"\"a\r\nbc\""};
        QTest::newRow("bulk with a zero byte")
            << QByteArray("$2\r\n\0x\r\n", 8) << QByteArrayList{QByteArray("\"\0x\"", 4)};
        QTest::newRow("empty bulk") << QByteArray("$0\r\n\r\n") << QByteArrayList{"\"\""};
        QTest::newRow("nil bulk") << QByteArray("$-1\r\n") << QByteArrayList{"nil"};
        QTest::newRow("nil array") << QByteArray("*-1\r\n") << QByteArrayList{"nil"};
        QTest::newRow("empty array") << QByteArray("*0\r\n") << QByteArrayList{"[]"};
        QTest::newRow("array of all kinds") << QByteArray("*6\r\n+a\r\n-b\r\n:1\r\n$1\r\nc\r\n$-1\r\n*0\r\n")
                                            << QByteArrayList{"[+a, -b, :1, \"c\", nil, []]"};
        QTest::newRow("nested, with siblings after it")
            << QByteArray("*3\r\n*2\r\n:1\r\n*1\r\n:2\r\n*0\r\n:3\r\n+next\r\n")
            << QByteArrayList{"[[:1, [:2]], [], :3]", "+next"};
        QTest::newRow("eight arrays deep") << QByteArray("*1\r\n").repeated(8) + ":1\r\n"
                                           << QByteArrayList{"[[[[[[[[:1]]]]]]]]"};
        QTest::newRow("nothing") << QByteArray() << QByteArrayList{};
    }
    void replies()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QByteArrayList, values);
        RespReader whole(mebibyte);
        whole.feed(bytes);
        QCOMPARE(drain(whole), values);
    }

    void cutAtEveryByte_data() { replies_data(); }
    void cutAtEveryByte()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QByteArrayList, values);
        for (qsizetype cut = 0; cut <= bytes.size(); ++cut) {
            RespReader reader(mebibyte);
            reader.feed(QByteArrayView(bytes).first(cut));
            auto got = drain(reader);
            reader.feed(QByteArrayView(bytes).sliced(cut));
            got += drain(reader);
            QCOMPARE(got, values);
        }
        RespReader byByte(mebibyte);
        QByteArrayList got;
        for (const char &byte : bytes) {
            byByte.feed(QByteArrayView(&byte, 1));
            got += drain(byByte);
        }
        QCOMPARE(got, values);
    }

    void hostile_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QByteArrayList>("values");
        const QByteArrayList tooLarge{failure(ErrorCode::TooLarge)};
        const QByteArrayList notRedis{failure(ErrorCode::Server)};
        QTest::newRow("two thousand million items") << QByteArray("*2147483647\r\n") << tooLarge;
        QTest::newRow("the same, inside") << QByteArray("*2\r\n:1\r\n*2147483647\r\n") << tooLarge;
        QTest::newRow("more items than an int") << QByteArray("*4294967296\r\n") << notRedis;
        QTest::newRow("negative count") << QByteArray("*-2\r\n") << notRedis;
        QTest::newRow("many medium arrays")
            << "*100\r\n" + QByteArray("*1000\r\n" + QByteArray(":1\r\n").repeated(1000)).repeated(100) << tooLarge;
        QTest::newRow("a bulk beyond the limit")
            << QByteArray("$9999999\r\n") + QByteArray(2 * mebibyte, 'x') << tooLarge;
        QTest::newRow("bulk that whole is too large")
            << QByteArray("$1100000\r\n") + QByteArray(1100000, 'x') + "\r\n"
            << tooLarge;
        QTest::newRow("a line without end") << QByteArray(2 * mebibyte, '+') << tooLarge;
        QTest::newRow("nine arrays deep") << QByteArray("*1\r\n").repeated(9) + ":1\r\n" << notRedis;
        QTest::newRow("nine arrays deep, the last one empty") << QByteArray("*1\r\n").repeated(8) + "*0\r\n"
                                                              << notRedis;
        QTest::newRow("as deep as there are bytes") << QByteArray("*1\r\n").repeated(100'000) << notRedis;
        // Only who says HELLO 3 may be sent these. hiredis parses them since version 1.
        QTest::newRow("RESP3 null") << QByteArray("_\r\n") << notRedis;
        QTest::newRow("RESP3 double") << QByteArray(",3.25\r\n") << notRedis;
        QTest::newRow("RESP3 infinity") << QByteArray(",-inf\r\n") << notRedis;
        QTest::newRow("RESP3 boolean") << QByteArray("#t\r\n") << notRedis;
        QTest::newRow("RESP3 big number")
            << QByteArray("(3492890328409238509324850943850943825024385\r\n") << notRedis;
        QTest::newRow("RESP3 verbatim text") << QByteArray("=8\r\ntxt:some\r\n") << notRedis;
        QTest::newRow("RESP3 blob error") << QByteArray("!6\r\nERR no\r\n") << notRedis;
        QTest::newRow("RESP3 map") << QByteArray("%1\r\n+a\r\n+b\r\n") << notRedis;
        QTest::newRow("RESP3 empty map") << QByteArray("%0\r\n") << notRedis;
        QTest::newRow("RESP3 set") << QByteArray("~1\r\n+a\r\n") << notRedis;
        QTest::newRow("RESP3 attribute") << QByteArray("|1\r\n+ttl\r\n:3600\r\n+OK\r\n") << notRedis;
        QTest::newRow("RESP3 push") << QByteArray(">2\r\n+invalidate\r\n*0\r\n") << notRedis;
        QTest::newRow("RESP3 inside of RESP2") << QByteArray("*3\r\n:1\r\n#t\r\n:2\r\n") << notRedis;
        QTest::newRow("HTTP") << QByteArray("HTTP/1.1 400 Bad Request\r\n\r\n") << notRedis;
        QTest::newRow("good, then bad") << QByteArray("+OK\r\n?\r\n")
                                        << QByteArrayList{"+OK", failure(ErrorCode::Server)};
    }
    void hostile()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QByteArrayList, values);
        RespReader reader(mebibyte);
        QByteArrayList got;
        constexpr qsizetype piece = 16 * 1024;
        for (qsizetype at = 0; at < bytes.size() && (got.isEmpty() || !got.last().startsWith('!')); at += piece) {
            reader.feed(QByteArrayView(bytes).sliced(at, std::min(piece, bytes.size() - at)));
            got += drain(reader);
        }
        QCOMPARE(got, values);
        // Once lost it stays lost.
        reader.feed("+OK\r\n");
        QCOMPARE(drain(reader), QByteArrayList{values.last()});
    }

    void theLimitIsPerReply()
    {
        RespReader reader(mebibyte);
        const QByteArray reply = "$600000\r\n" + QByteArray(600000, 'x') + "\r\n";
        for (int i = 0; i < 4; ++i) {
            reader.feed(reply);
            QCOMPARE(drain(reader).size(), 1);
        }
    }

    void errors_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("code");
        QTest::addColumn<bool>("retryable");
        const auto row = [](const char *text, ErrorCode code, bool retryable) {
            QTest::newRow(text) << QByteArray(text) << static_cast<int>(code) << retryable;
        };
        row("NOAUTH Authentication required.", ErrorCode::AuthFailed, false);
        row("WRONGPASS invalid username-password pair", ErrorCode::AuthFailed, false);
        row("NOPERM this user has no permissions", ErrorCode::NoPermission, false);
        row("LOADING Redis is loading the dataset in memory", ErrorCode::Server, true);
        row("TRYAGAIN Multiple keys request during rehashing", ErrorCode::Server, true);
        row("BUSY Redis is busy running a script", ErrorCode::Server, true);
        row("BUSYKEY Target key name already exists.", ErrorCode::Server, false);
        row("WRONGTYPE Operation against a key", ErrorCode::Server, false);
        row("NOPERMANENT", ErrorCode::Server, false);
        row("", ErrorCode::Server, false);
    }
    void errors()
    {
        QFETCH(QByteArray, text);
        QFETCH(int, code);
        QFETCH(bool, retryable);
        Value reply;
        reply.kind = Value::Kind::Error;
        reply.text = text;
        const auto error = errorFrom(reply);
        QCOMPARE(static_cast<int>(error.code), code);
        QCOMPARE(error.retryable, retryable);
        QVERIFY(error.message.contains(QString::fromUtf8(text)));
    }

    void errorTextIsMadeSafe()
    {
        Value reply;
        reply.kind = Value::Kind::Error;
        reply.text = "ERR \x1b[31m" + QByteArray(10'000, 'x');
        const auto message = errorFrom(reply).message;
        QVERIFY(!message.contains(QChar(0x1b)));
        QVERIFY(message.size() < 300);
    }

    void scriptsComeFromResources()
    {
        const auto script = loadScript("compare-and-delete");
        QCOMPARE(script.name, QByteArray("compare-and-delete"));
        QVERIFY(script.text.contains("redis.call('DEL', KEYS[1])"));
        QCOMPARE(script.sha, QCryptographicHash::hash(script.text, QCryptographicHash::Sha1).toHex());
    }
    // What several of them share stands once in the resources, and whole in each.
    void partsAreInTheirScripts()
    {
        for (const auto *name : {"compare-and-delete-and-wake", "rule-release"}) {
            const auto script = loadScript(name);
            QVERIFY2(!script.text.contains("--@") && script.text.count("local function wakeUp(lock)") == 1, name);
            QVERIFY2(script.text.indexOf("local function wakeUp") < script.text.indexOf("return 1 + wakeUp("), name);
            QCOMPARE(script.sha, QCryptographicHash::hash(script.text, QCryptographicHash::Sha1).toHex());
        }
    }
};

LOCKSCOPE_TEST(TestResp)
#include "tst_resp.moc"
