// SPDX-License-Identifier: Apache-2.0
// RESP2: commands to bytes, bytes to values, in whatever pieces they arrive and whatever they claim.
#include "core/redis/client.h"
#include "core/redis/resp.h"
#include "tests/support/testmain.h"

#include <QCryptographicHash>

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
        const Rows<QByteArrayList, QByteArray> row("command", "bytes");
        row("name alone", {"PING"}, "*1\r\n$4\r\nPING\r\n");
        row("empty argument", {"GET", ""}, "*2\r\n$3\r\nGET\r\n$0\r\n\r\n");
        row("binary", {"SET", QByteArray("a\0\r\n", 4), "%s"},
            QByteArray("*3\r\n$3\r\nSET\r\n$4\r\na\0\r\n\r\n$2\r\n%s\r\n", 31));
    }
    void commands()
    {
        QFETCH(QByteArrayList, command);
        QFETCH(QByteArray, bytes);
        QCOMPARE(encode(command), bytes);
    }

    void replies_data()
    {
        const Rows<QByteArray, QByteArrayList> row("bytes", "values");
        row("status", "+OK\r\n", {"+OK"});
        row("error", "-ERR no\r\n", {"-ERR no"});
        row("integers", ":0\r\n:-9223372036854775808\r\n:9223372036854775807\r\n",
            {":0", ":-9223372036854775808", ":9223372036854775807"});
        row("bulk", "$5\r\na\r\nbc\r\n", {"\"a\r\nbc\""});
        row("bulk with a zero byte", QByteArray("$2\r\n\0x\r\n", 8), {QByteArray("\"\0x\"", 4)});
        row("empty bulk", "$0\r\n\r\n", {"\"\""});
        row("nil bulk", "$-1\r\n", {"nil"});
        row("nil array", "*-1\r\n", {"nil"});
        row("empty array", "*0\r\n", {"[]"});
        row("array of all kinds", "*6\r\n+a\r\n-b\r\n:1\r\n$1\r\nc\r\n$-1\r\n*0\r\n",
            {"[+a, -b, :1, \"c\", nil, []]"});
        row("nested, with siblings after it", "*3\r\n*2\r\n:1\r\n*1\r\n:2\r\n*0\r\n:3\r\n+next\r\n",
            {"[[:1, [:2]], [], :3]", "+next"});
        row("eight arrays deep", QByteArray("*1\r\n").repeated(8) + ":1\r\n", {"[[[[[[[[:1]]]]]]]]"});
        row("nothing", {}, {});
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
        const Rows<QByteArray, QByteArrayList> row("bytes", "values");
        const QByteArrayList tooLarge{failure(ErrorCode::TooLarge)};
        const QByteArrayList notRedis{failure(ErrorCode::Server)};
        row("two thousand million items", "*2147483647\r\n", tooLarge);
        row("the same, inside", "*2\r\n:1\r\n*2147483647\r\n", tooLarge);
        row("more items than an int", "*4294967296\r\n", notRedis);
        row("negative count", "*-2\r\n", notRedis);
        row("many medium arrays",
            "*100\r\n" + QByteArray("*1000\r\n" + QByteArray(":1\r\n").repeated(1000)).repeated(100), tooLarge);
        row("a bulk beyond the limit", QByteArray("$9999999\r\n") + QByteArray(2 * mebibyte, 'x'), tooLarge);
        row("bulk that whole is too large", QByteArray("$1100000\r\n") + QByteArray(1100000, 'x') + "\r\n", tooLarge);
        row("a line without end", QByteArray(2 * mebibyte, '+'), tooLarge);
        row("nine arrays deep", QByteArray("*1\r\n").repeated(9) + ":1\r\n", notRedis);
        row("nine arrays deep, the last one empty", QByteArray("*1\r\n").repeated(8) + "*0\r\n", notRedis);
        row("as deep as there are bytes", QByteArray("*1\r\n").repeated(100'000), notRedis);
        // Only who says HELLO 3 may be sent these. hiredis parses them since version 1.
        row("RESP3 null", "_\r\n", notRedis);
        row("RESP3 double", ",3.25\r\n", notRedis);
        row("RESP3 infinity", ",-inf\r\n", notRedis);
        row("RESP3 boolean", "#t\r\n", notRedis);
        row("RESP3 big number", "(3492890328409238509324850943850943825024385\r\n", notRedis);
        row("RESP3 verbatim text", "=8\r\ntxt:some\r\n", notRedis);
        row("RESP3 blob error", "!6\r\nERR no\r\n", notRedis);
        row("RESP3 map", "%1\r\n+a\r\n+b\r\n", notRedis);
        row("RESP3 empty map", "%0\r\n", notRedis);
        row("RESP3 set", "~1\r\n+a\r\n", notRedis);
        row("RESP3 attribute", "|1\r\n+ttl\r\n:3600\r\n+OK\r\n", notRedis);
        row("RESP3 push", ">2\r\n+invalidate\r\n*0\r\n", notRedis);
        row("RESP3 inside of RESP2", "*3\r\n:1\r\n#t\r\n:2\r\n", notRedis);
        row("HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n", notRedis);
        row("good, then bad", "+OK\r\n?\r\n", {"+OK", failure(ErrorCode::Server)});
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
        addColumns<QByteArray, int, bool>("text", "code", "retryable");
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
        Value reply{.kind = Value::Kind::Error, .text = text};
        const auto error = errorFrom(reply);
        QCOMPARE(static_cast<int>(error.code), code);
        QCOMPARE(error.retryable, retryable);
        QVERIFY(error.message.contains(QString::fromUtf8(text)));
    }

    void errorTextIsMadeSafe()
    {
        Value reply{.kind = Value::Kind::Error, .text = "ERR \x1b[31m" + QByteArray(10'000, 'x')};
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
