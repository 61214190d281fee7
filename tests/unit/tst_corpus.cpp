// SPDX-License-Identifier: Apache-2.0
// Ordinary keys and znodes of real systems, made from the templates of corpus/: next to none may be called a lock in
// the default list, and none raise an alarm. And locks as real clients leave them: each must be in it.
#include "tests/support/testmain.h"
#include "znodetable.h"

#include "core/inspect/findings.h"
#include "core/inspect/redis/recognise.h"

#include <QFile>
#include <QRandomGenerator>
#include <QRegularExpression>

using namespace lockscope::inspect;
using std::chrono::milliseconds;

namespace {

constexpr qint64 corpusNowMs = 1'763'805'600'000;
constexpr int perTemplate = 20;
constexpr int mostFalse = 5;

QStringList linesOf(const char *file)
{
    QFile opened(QStringLiteral(CORPUS "/") + QLatin1String(file));
    if (!opened.open(QIODevice::ReadOnly))
        qFatal("no %s", file);
    QStringList lines;
    for (const auto &line : QString::fromUtf8(opened.readAll()).split(u'\n')) {
        if (!line.isEmpty() && !line.startsWith(u'#'))
            lines << line;
    }
    return lines;
}

// Fills the places of a template; the same text for the same seed.
class Filler {
public:
    explicit Filler(quint32 seed) : m_random(seed) {}

    QString fill(QString text)
    {
        static const QRegularExpression place(u"\\{([a-z0-9-]+)\\}"_s);
        for (auto match = place.match(text); match.hasMatch(); match = place.match(text))
            text.replace(match.capturedStart(), match.capturedLength(), valueOf(match.captured(1)));
        return text;
    }
    int between(int low, int high) { return m_random.bounded(low, high + 1); }

private:
    QString from(const QString &letters, int length)
    {
        QString text;
        for (int i = 0; i < length; ++i)
            text += letters[m_random.bounded(int(letters.size()))];
        return text;
    }
    QString mixed(int length)
    {
        return u"aB3"_s + from(u"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"_s, length - 3);
    }
    QString hex(int length) { return from(u"0123456789abcdef"_s, length); }
    QString number(int low, int high) { return QString::number(between(low, high)); }
    QString valueOf(const QString &name)
    {
        static const QStringList words{u"orders"_s, u"billing"_s, u"mailer"_s, u"report"_s, u"import"_s, u"search"_s};
        if (name == "n"_L1)
            return number(1000, 999'999);
        if (name == "id"_L1)
            return number(1, 99);
        if (name == "seq"_L1)
            return number(1, 99'999).rightJustified(10, u'0');
        if (name == "word"_L1)
            return words[between(0, 5)];
        if (name == "email"_L1)
            return words[between(0, 5)] + number(1, 99) + u"@example.com"_s;
        if (name == "ip"_L1)
            return u"10.%1.%2.%3"_s.arg(between(0, 255)).arg(between(0, 255)).arg(between(1, 254));
        if (name == "mac"_L1)
            return u"00:1a:%1:%2:3d:5e"_s.arg(hex(2), hex(2));
        if (name == "now"_L1)
            return QString::number(corpusNowMs / 1000 + between(-30, 30));
        if (name == "past"_L1)
            return QString::number(corpusNowMs / 1000 - between(60, 80'000));
        if (name == "ms"_L1)
            return QString::number(corpusNowMs - between(0, 90'000));
        if (name == "uuid"_L1)
            return hex(8) + u'-' + hex(4) + u"-4"_s + hex(3) + u"-a"_s + hex(3) + u'-' + hex(12);
        if (name == "uuid1"_L1) // made in the minute before now
            return momentAsUuid(corpusNowMs - between(0, 50'000));
        if (name.startsWith("hex"_L1))
            return hex(name.mid(3).toInt());
        if (name.startsWith("alnum"_L1))
            return mixed(name.mid(5).toInt());
        if (name.startsWith("b64-"_L1))
            return mixed(name.mid(4).toInt());
        return u"x"_s;
    }
    QString momentAsUuid(qint64 ms)
    {
        const auto ticks = quint64(ms + 12'219'292'800'000) * 10'000;
        const auto part = [](quint64 value, int digits) {
            return QString::number(value, 16).rightJustified(digits, u'0');
        };
        return part(ticks & 0xffffffff, 8) + part((ticks >> 32) & 0xffff, 4) + u'1' + part((ticks >> 48) & 0xfff, 3)
               + u"8000001122334455"_s;
    }

    QRandomGenerator m_random;
};

struct MadeKey {
    KeyView view;
    RedisContext context;
};

MadeKey keyFrom(const QString &line, quint32 seed)
{
    Filler filler(seed);
    const auto columns = line.split(u" | "_s);
    MadeKey made;
    auto &view = made.view;
    view.key = RedisKey(filler.fill(columns[2]).toUtf8());
    if (columns[0] != "-"_L1) {
        const auto bounds = columns[0].split(u".."_s);
        view.ttl = milliseconds(filler.between(bounds.first().toInt(), bounds.last().toInt()) * 1000 - 100);
    }
    const QString content = filler.fill(columns.value(3));
    static const QHash<QString, KeyType> types{{u"s"_s, KeyType::String},
                                               {u"h"_s, KeyType::Hash},
                                               {u"l"_s, KeyType::List},
                                               {u"z"_s, KeyType::SortedSet},
                                               {u"t"_s, KeyType::Set}};
    view.type = types.value(columns[1]);
    if (view.type == KeyType::String)
        view.value = content.toUtf8();
    for (const auto &field : view.type == KeyType::Hash ? content.split(u',') : QStringList())
        view.fields.emplace_back(field.section(u'=', 0, 0).toUtf8(), field.section(u'=', 1).toUtf8());
    for (const auto &member : view.type == KeyType::SortedSet ? content.split(u',') : QStringList()) {
        const auto at = member.lastIndexOf(u'=');
        view.scored.emplace_back(member.left(at).toUtf8(), member.mid(at + 1).toDouble());
    }
    made.context.connection = ConnectionName("redis");
    made.context.observed = ServerTime(milliseconds(corpusNowMs));
    const auto seen = columns.value(4).split(u' ');
    auto &behaviour = made.context.behaviour[view.key];
    behaviour.renewed = seen.contains(u"renewed"_s);
    behaviour.handedOver = seen.contains(u"handed-over"_s);
    behaviour.signalled = seen.contains(u"signalled"_s);
    if (seen.first() == "channel"_L1)
        made.context.subscribers[seen[1].toUtf8()] = seen[2].toInt();
    return made;
}

// As the observer does: what is not worth reading is not read.
std::optional<LockSnapshot> inDefaultList(const MadeKey &made)
{
    const auto &view = made.view;
    if (!isSuspect(view.key, view.type, view.ttl, false) && !isWorthMeasuring(view.key, view.type, view.ttl))
        return std::nullopt;
    return recognise(view, {}, made.context);
}

QString drawn(const LockSnapshot &lock)
{
    return QString::fromUtf8(lock.lock.name) + u": "_s + QString::fromUtf8(lock.recipe) + u", "_s + lock.why;
}

} // namespace

class TestCorpus : public QObject {
    Q_OBJECT
private slots:
    void ordinaryKeysAreNoLocks()
    {
        const auto templates = linesOf("redis.txt");
        QStringList wrong;
        int made = 0;
        for (qsizetype at = 0; at < templates.size(); ++at) {
            for (int i = 0; i < perTemplate; ++i, ++made) {
                const auto lock = inDefaultList(keyFrom(templates[at], quint32(at * 1000 + i)));
                if (!lock)
                    continue;
                wrong << drawn(*lock);
                QVERIFY2(lock->worst() != Severity::Critical, qPrintable(wrong.last()));
            }
        }
        QVERIFY2(made >= 2000, qPrintable(QString::number(made)));
        QVERIFY2(wrong.size() <= mostFalse, qPrintable(wrong.join(u'\n')));
    }

    // All of them on one server: some look like claims, as baskets of a UUID each do. Of each kind a sample is read.
    void ordinaryKeysAreFewGroups()
    {
        Claims claims;
        QSet<QString> kinds;
        const auto templates = linesOf("redis.txt");
        for (qsizetype at = 0; at < templates.size(); ++at) {
            for (int i = 0; i < perTemplate; ++i) {
                const auto made = keyFrom(templates[at], quint32(at * 1000 + i));
                const auto observed = made.context.observed;
                claims.note(made.view, recognise(made.view, {}, made.context).has_value(), observed, 1);
                if (looksLikeClaim(made.view, observed))
                    kinds << templates[at];
            }
        }
        claims.sweepEnds(1);
        QVERIFY(claims.groups().size() <= 10);
        QVERIFY2(kinds.size() <= 12, qPrintable(QStringList(kinds.begin(), kinds.end()).join(u'\n')));
    }

    void ordinaryKeysAreNeverAnAlarm()
    {
        for (const auto &line : linesOf("redis.txt")) {
            auto made = keyFrom(line, 7);
            made.context.includeLowConfidence = true;
            const auto lock = recognise(made.view, {}, made.context);
            const bool isAlarm = lock && lock->worst() == Severity::Critical && lock->confidence != Confidence::Low;
            QVERIFY2(!isAlarm, qPrintable(line));
        }
    }

    void everyClientsLockIsListed_data()
    {
        QTest::addColumn<QString>("line");
        const auto templates = linesOf("redis-locks.txt");
        for (const auto &line : templates)
            QTest::addRow("%s", qPrintable(line)) << line;
    }
    void everyClientsLockIsListed()
    {
        QFETCH(QString, line);
        for (int i = 0; i < perTemplate; ++i) {
            const auto made = keyFrom(line, quint32(i));
            const auto lock = inDefaultList(made);
            QVERIFY2(lock && lock->holderCount() == 1,
                     made.view.key.bytes() + " = " + made.view.value.value_or(QByteArray()));
            QVERIFY(lock->confidence != Confidence::Low);
        }
    }

    void ordinaryZnodesAreNoLocks()
    {
        QStringList wrong;
        int made = 0;
        QByteArray path;
        QByteArray rows;
        const auto look = [&] {
            const table::Input input(path, rows);
            for (const auto &lock : path.isEmpty() ? std::vector<LockSnapshot>() : input.locks()) {
                if (lock.confidence != Confidence::Low)
                    wrong << drawn(lock);
                if (lock.worst() == Severity::Critical)
                    wrong << u"critical: "_s + drawn(lock);
            }
            rows.clear();
        };
        for (const auto &line : linesOf("znodes.txt")) {
            if (line.startsWith(u'[')) {
                look();
                path = line.mid(1, line.size() - 2).toUtf8();
                continue;
            }
            const int count = line.section(u' ', 0, 0).toInt();
            for (int i = 0; i < count; ++i, ++made) {
                Filler filler{static_cast<quint32>(made)};
                auto words = filler.fill(line.section(u' ', 1)).split(u' ');
                if (words[1] == "s"_L1)
                    words[1] = u's' + QString::number(1 + i % 8);
                rows += words.join(u' ').toUtf8() + '\n';
            }
        }
        look();
        QVERIFY2(made >= 500, qPrintable(QString::number(made)));
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
    }
};

LOCKSCOPE_TEST(TestCorpus)
#include "tst_corpus.moc"
