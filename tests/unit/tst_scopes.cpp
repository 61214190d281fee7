// SPDX-License-Identifier: Apache-2.0
// Who owns coroutines: what goes with a scope, or with a place for one at a time, is cancelled.
#include <version>

#include "core/async/completion.h"
#include "core/async/scope.h"
#include "core/async/virtualloop.h"
#include "tests/support/testmain.h"

namespace {

struct CleanedMark {
    bool &flag;
    explicit CleanedMark(bool &f) : flag(f) {}
    ~CleanedMark() { flag = true; }
};

Task<void> waitMarked(Completion<int> value, bool &cleaned, int &got)
{
    const CleanedMark mark(cleaned);
    got = co_await value;
}

Task<void> storeTwice(Completion<int> value, int &got)
{
    const int once = co_await value;
    got = 2 * once;
}

Task<void> launchWhenItEnds(SoleTask &place, Completion<int> value, int &got)
{
    struct Launching {
        SoleTask &place;
        Completion<int> value;
        int &got;
        Launching(SoleTask &where, Completion<int> what, int &to) : place(where), value(std::move(what)), got(to) {}
        Launching(const Launching &) = delete;
        Launching &operator=(const Launching &) = delete;
        ~Launching() { place.launch(storeTwice(value, got)); }
    };
    const Launching launching(place, value, got);
    const Completion<int> never(value.loop());
    co_await never;
}

} // namespace

class TestScopes : public QObject {
    Q_OBJECT
private slots:
    void destroyingAScopeCancels()
    {
        VirtualLoop loop;
        Completion<int> value(loop);
        bool cleaned = false;
        int got = 0;
        {
            Scope scope(loop);
            scope.launch(waitMarked(value, cleaned, got));
            QVERIFY(!cleaned);
        }
        QVERIFY(cleaned);
        value.complete(9);
        loop.runReady();
        QCOMPARE(got, 0);
    }

    void cancelAfterCompletionBeforeResume()
    {
        VirtualLoop loop;
        Completion<int> value(loop);
        bool cleaned = false;
        int got = 0;
        auto scope = std::make_unique<Scope>(loop);
        scope->launch(waitMarked(value, cleaned, got));
        value.complete(9);
        scope.reset();
        loop.runReady();
        QCOMPARE(got, 0);
        QVERIFY(cleaned);
    }

    void aSoleTaskEndsWithItsPlaceOrTheNext()
    {
        VirtualLoop loop;
        const Completion<int> value(loop);
        bool firstCleaned = false, secondCleaned = false;
        int first = 0, second = 0;
        {
            SoleTask place;
            place.launch(waitMarked(value, firstCleaned, first));
            QVERIFY(!firstCleaned);
            place.launch(waitMarked(value, secondCleaned, second));
            QVERIFY(firstCleaned);
            QVERIFY(!secondCleaned);
            value.complete(9);
            loop.runReady();
            QCOMPARE(second, 9);
            QVERIFY(secondCleaned); // done, and its place still stands
        }
        QCOMPARE(first, 0);
        firstCleaned = false;
        SoleTask place;
        place.launch(waitMarked(Completion<int>(loop), firstCleaned, first));
        place.cancel();
        QVERIFY(firstCleaned);
        place.cancel(); // of none: nothing
    }

    // What goes with a cancelled frame may launch the next one there.
    void aSoleTaskMayBeFollowedFromItsEnd()
    {
        VirtualLoop loop;
        const Completion<int> value(loop);
        int got = 0;
        SoleTask place;
        place.launch(launchWhenItEnds(place, value, got));
        place.cancel();
        value.complete(4);
        loop.runReady();
        QCOMPARE(got, 8);
    }
};

LOCKSCOPE_TEST(TestScopes)
#include "tst_scopes.moc"
