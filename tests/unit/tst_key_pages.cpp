// SPDX-License-Identifier: Apache-2.0
// The pages of a sweep of Redis: what is under way at each moment, and which answer belongs to which page.
#include "core/async/scope.h"
#include "core/async/virtualloop.h"
#include "core/inspect/redis/keysweeper.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;
using redis::Value;

namespace {

Value wordOf(const QByteArray &text, Value::Kind kind = Value::Kind::Bulk)
{
    return Value{.kind = kind, .text = text};
}

Value scannedPage(const QByteArray &next, const QByteArrayList &names)
{
    Value list{.kind = Value::Kind::Array};
    for (const auto &name : names)
        list.items.push_back(wordOf(name));
    return Value{.kind = Value::Kind::Array, .items = {wordOf(next), list}};
}

// Answers what it was asked when the test says so, in the order in which it was asked, as a server does.
class SlowRedis : public redis::Connection {
public:
    explicit SlowRedis(VirtualLoop &onLoop) : m_loop(onLoop) {}

    // What it has not answered, in order: the cursor, and "#" where only hashes are asked for.
    [[nodiscard]] QByteArray underWay() const
    {
        QByteArrayList out;
        for (const auto &[question, reply] : m_asked)
            out << question;
        return out.join(' ');
    }
    void answer(Value value)
    {
        auto [question, reply] = std::move(m_asked.front());
        m_asked.pop_front();
        reply.complete(std::vector<Value>{std::move(value)});
    }
    void breakOff()
    {
        for (auto &[question, reply] : std::exchange(m_asked, {}))
            reply.complete(Error{ErrorCode::UnknownOutcome, QStringLiteral("the connection broke"), true});
    }

    [[nodiscard]] Loop &loop() const override { return m_loop; }
    [[nodiscard]] redis::ConnectionState state() const override { return redis::ConnectionState::Connected; }
    [[nodiscard]] QString lastError() const override { return {}; }
    Subscription onState(std::function<void(redis::ConnectionState)>) override { return {}; }
    void send(Request &&request) override
    {
        const auto &pages = std::get<Asked<redis::PipelineRequest>>(request);
        const auto &scan = pages.request.commands.front();
        m_asked.emplace_back(scan[1] + (scan.size() > 4 ? "#" : ""), pages.reply);
    }
    Subscription subscribe(QByteArray, std::function<void(const redis::Message &)>) override { return {}; }
    Subscription subscribePattern(QByteArray, std::function<void(const redis::Message &)>) override { return {}; }

private:
    VirtualLoop &m_loop;
    std::deque<std::pair<QByteArray, Reply<std::vector<Value>>>> m_asked;
};

struct PagedSweep {
    VirtualLoop loop;
    SlowRedis server{loop};
    Refusals refusals;
    KeyReader reader{server, refusals};
    KeyPages pages{reader};
    Scope scope{loop};
    QByteArrayList taken; // a page: its names, and its hashes behind a bar
    QString error;

    Task<void> take(QByteArray cursor, KeyPages::Questions questions)
    {
        auto got = co_await pages.at(std::move(cursor), std::move(questions));
        if (!got) {
            error = got.error().message;
            co_return;
        }
        const auto said = [](const Value &page) {
            QByteArrayList names;
            for (std::size_t i = 0; page.items.size() == 2 && i < page.items[1].items.size(); ++i)
                names << page.items[1].items[i].text;
            return page.isError() ? page.text : names.join(' ');
        };
        taken << said(got->names) + (got->hashes ? " | " + said(*got->hashes) : QByteArray());
    }
    void ask(const QByteArray &cursor, std::size_t ahead, bool hashes = true)
    {
        scope.launch(take(cursor, {.size = "800", .hashes = hashes, .ahead = ahead}));
        loop.runReady();
    }
    void answer(Value value)
    {
        server.answer(std::move(value));
        loop.runReady();
    }
    // Both before anybody hears of the one.
    void answerTogether(Value first, Value second)
    {
        server.answer(std::move(first));
        server.answer(std::move(second));
        loop.runReady();
    }
};

} // namespace

class TestKeyPages : public QObject {
    Q_OBJECT

private slots:
    void theServerAlwaysHasTheOtherQuestion()
    {
        PagedSweep sweep;
        sweep.ask("0", 2);
        QCOMPARE(sweep.server.underWay(), "0 0#");
        sweep.answer(scannedPage("7", {"a", "b"}));
        QCOMPARE(sweep.server.underWay(), "0# 7");
        sweep.answer(scannedPage("7", {"b"}));
        QCOMPARE(sweep.taken, QByteArrayList{"a b | b"});
        QCOMPARE(sweep.server.underWay(), "7 7#"); // before it is wanted
        sweep.answer(scannedPage("3", {"c"}));
        QCOMPARE(sweep.server.underWay(), "7# 3");
        sweep.ask("7", 2);
        sweep.answer(scannedPage("3", {}));
        QCOMPARE(sweep.taken.last(), "c | ");
        sweep.answerTogether(scannedPage("0", {"d"}), scannedPage("0", {"d"}));
        sweep.ask("3", 2);
        QCOMPARE(sweep.taken.last(), "d | d");
        QCOMPARE(sweep.server.underWay(), "");
    }

    void answersThatComeTogetherBelongToTheirPages()
    {
        PagedSweep sweep;
        sweep.ask("0", 2);
        sweep.answerTogether(scannedPage("7", {"a"}), scannedPage("7", {}));
        QCOMPARE(sweep.server.underWay(), "7 7#");
        sweep.answerTogether(scannedPage("3", {"b"}), scannedPage("3", {"b"}));
        QCOMPARE(sweep.server.underWay(), "3 3#");
        sweep.ask("7", 2);
        QCOMPARE(sweep.taken, (QByteArrayList{"a | ", "b | b"}));
    }

    void noMoreIsAskedAheadThanThat()
    {
        PagedSweep sweep;
        sweep.ask("0", 1, false);
        sweep.answer(scannedPage("1", {"a"}));
        sweep.answer(scannedPage("2", {"b"}));
        QCOMPARE(sweep.taken, QByteArrayList{"a"});
        QCOMPARE(sweep.server.underWay(), "2");
        sweep.answer(scannedPage("3", {"c"}));
        QCOMPARE(sweep.server.underWay(), ""); // "b" is not wanted yet
        sweep.ask("1", 1, false);
        QCOMPARE(sweep.server.underWay(), "3");
    }

    void atASlowPaceNothingIsAskedAhead()
    {
        PagedSweep sweep;
        sweep.ask("0", 0);
        QCOMPARE(sweep.server.underWay(), "0 0#");
        sweep.answerTogether(scannedPage("7", {"a"}), scannedPage("7", {}));
        QCOMPARE(sweep.taken, QByteArrayList{"a | "});
        QCOMPARE(sweep.server.underWay(), "");
    }

    void aServerThatKnowsNoTypesIsAskedForNamesAlone()
    {
        PagedSweep sweep;
        sweep.ask("0", 2);
        sweep.answerTogether(scannedPage("7", {"a"}), wordOf("ERR syntax error", Value::Kind::Error));
        QCOMPARE(sweep.taken, QByteArrayList{"a | ERR syntax error"});
        sweep.ask("7", 2, false); // a question for hashes was under way already
        sweep.answerTogether(scannedPage("3", {"b"}), wordOf("ERR syntax error", Value::Kind::Error));
        QCOMPARE(sweep.taken.last(), "b | ERR syntax error");
        QCOMPARE(sweep.server.underWay(), "3");
        sweep.ask("3", 2, false);
        sweep.answer(scannedPage("0", {"c"}));
        QCOMPARE(sweep.taken.last(), "c");
        QCOMPARE(sweep.server.underWay(), "");
    }

    void afterARefusalNothingMoreIsAsked()
    {
        PagedSweep sweep;
        sweep.ask("0", 2, false);
        sweep.answer(wordOf("NOPERM this user may not", Value::Kind::Error));
        QCOMPARE(sweep.taken, QByteArrayList{"NOPERM this user may not"});
        QCOMPARE(sweep.server.underWay(), "");
    }

    void aPageThatWasLostIsAskedForAgain()
    {
        PagedSweep sweep;
        sweep.ask("0", 2);
        sweep.answer(scannedPage("7", {"a"}));
        sweep.server.breakOff();
        sweep.loop.runReady();
        QCOMPARE(sweep.error, QStringLiteral("the connection broke"));
        sweep.ask("0", 2);
        QCOMPARE(sweep.server.underWay(), "0 0#");
        sweep.answerTogether(scannedPage("7", {"a"}), scannedPage("7", {"a"}));
        QCOMPARE(sweep.taken, QByteArrayList{"a | a"});
    }

    void cancelledPageIsNotTaken()
    {
        PagedSweep sweep;
        sweep.ask("0", 2);
        sweep.scope.cancelAll();
        sweep.pages.reset();
        sweep.answerTogether(scannedPage("7", {"old"}), scannedPage("7", {}));
        sweep.ask("0", 2);
        sweep.answerTogether(scannedPage("7", {"new"}), scannedPage("7", {}));
        QCOMPARE(sweep.taken, QByteArrayList{"new | "});
    }
};

LOCKSCOPE_TEST(TestKeyPages)
#include "tst_key_pages.moc"
