// SPDX-License-Identifier: Apache-2.0
// The table of sessions: complete per connection, changed row by row.
#include "tests/support/testmain.h"
#include "ui/models/sessionsmodel.h"
#include "ui/theme/pill.h"

#include "tests/models/treetext.h"

#include <QAbstractItemModelTester>
#include <QSortFilterProxyModel>

using namespace lockscope::ui;
using inspect::ServerTime;
using inspect::SessionSnapshot;

namespace {

const ConnectionName zkName("zk"_ba);
const ConnectionName redisName("redis"_ba);

SessionSnapshot session(const ConnectionName &connection, const QString &id, std::vector<QByteArray> holds = {},
                        std::vector<QByteArray> waits = {})
{
    return {connection, id, u"10.0.0.1:4000"_s, std::nullopt, std::move(holds), std::move(waits), std::nullopt};
}

} // namespace

class TestSessions : public QObject {
    Q_OBJECT
private slots:
    void changesRowByRow()
    {
        SessionsModel model;
        QAbstractItemModelTester tester(&model);
        model.apply(
            {{zkName, {session(zkName, u"0x3"_s), session(zkName, u"0x1"_s, {"/a"}), session(zkName, u"0x2"_s)}},
             {redisName, {session(redisName, u"7"_s)}}});
        QCOMPARE(treeText(model, {0, 1, 4}), u"redis|7|\nzk|0x1|/a\nzk|0x2|\nzk|0x3|\n"_s);
        SignalWords signalWords(model);
        const QPersistentModelIndex kept = model.index(3, 0);
        model.apply({{zkName,
                      {session(zkName, u"0x1"_s, {"/a"}), session(zkName, u"0x3"_s, {}, {"/a", "/b"}),
                       session(zkName, u"0x4"_s), session(zkName, u"0x5"_s)}}});
        QCOMPARE(signalWords.take(), QStringList({u"- 2-2"_s, u"+ 3-4"_s, u"~ 2-2"_s}));
        QCOMPARE(treeText(model, {0, 1, 5}), u"redis|7|\nzk|0x1|\nzk|0x3|2: /a, /b\nzk|0x4|\nzk|0x5|\n"_s);
        QCOMPARE(kept.row(), 2);
        model.apply({{zkName,
                      {session(zkName, u"0x1"_s, {"/a"}), session(zkName, u"0x3"_s, {}, {"/a", "/b"}),
                       session(zkName, u"0x4"_s), session(zkName, u"0x5"_s)}}});
        QVERIFY(signalWords.words.isEmpty());
        model.apply({{zkName, {}}});
        QCOMPARE(treeText(model, {0, 1}), u"redis|7\n"_s); // the other connection's stay
    }

    // Where as much is held, nothing as well, who waits stands before who has nothing to do with any lock.
    void waitingSessionsComeBeforeIdleOnes()
    {
        SessionsModel model;
        model.apply({{zkName,
                      {session(zkName, u"0x1"_s), session(zkName, u"0x2"_s, {}, {"/a"}),
                       session(zkName, u"0x3"_s, {"/a"}), session(zkName, u"0x4"_s, {"/b"}, {"/a"})}}});
        QSortFilterProxyModel sorted;
        sorted.setSourceModel(&model);
        sorted.setSortRole(SessionsModel::SortRole);
        sorted.sort(SessionsModel::Holds, Qt::DescendingOrder);
        QCOMPARE(treeText(sorted, {1}), u"0x4\n0x3\n0x2\n0x1\n"_s);
        sorted.sort(SessionsModel::Waits, Qt::DescendingOrder);
        QCOMPARE(treeText(sorted, {1}), u"0x4\n0x2\n0x3\n0x1\n"_s);
    }

    void countsDown()
    {
        auto now = std::chrono::system_clock::time_point(1000h);
        SessionsModel model(nullptr, [&] { return now; });
        auto leaving = session(zkName, u"0x1"_s);
        leaving.expiresAt = std::chrono::time_point_cast<std::chrono::milliseconds>(now + 6400ms);
        model.apply({{zkName, {leaving}}});
        QCOMPARE(model.index(0, SessionsModel::Expires).data().toString(), u"in 6.4 s"_s);
        // By our clock, whatever the server's says.
        leaving.serverAhead = 1h;
        *leaving.expiresAt += 1h;
        model.apply({{zkName, {leaving}}});
        QCOMPARE(model.index(0, SessionsModel::Expires).data().toString(), u"in 6.4 s"_s);
        now += 7s;
        QCOMPARE(model.index(0, SessionsModel::Expires).data().toString(), u"now"_s);
    }

    void sessionsOfADeadServerDoNotLookAlive()
    {
        SessionsModel model(nullptr, [] { return std::chrono::system_clock::time_point(); });
        inspect::SessionSnapshot session;
        session.connection = ConnectionName("cache");
        session.expiresAt = inspect::ServerTime(6400ms);
        model.apply({{session.connection, {session}}});
        QCOMPARE(model.index(0, SessionsModel::Expires).data().toString(), u"in 6.4 s"_s);
        model.setDown(ConnectionName("cache"), true);
        QCOMPARE(model.index(0, SessionsModel::Expires).data().toString(), u"not known"_s);
        QCOMPARE(model.index(0, SessionsModel::Holds).data(SessionsModel::ToneRole).toInt(),
                 static_cast<int>(Tone::Free));
        model.setDown(ConnectionName("cache"), false);
        QCOMPARE(model.index(0, SessionsModel::Expires).data().toString(), u"in 6.4 s"_s);
    }
};

LOCKSCOPE_TEST(TestSessions)
#include "tst_sessions.moc"
