// SPDX-License-Identifier: Apache-2.0
// The lanes of a run as a view that scrolls.
#include "tests/support/testmain.h"
#include "tests/ui/lanepicture.h"
#include "tests/ui/themedapplication.h"

#include <QScrollBar>

#include <cmath>

using ui::Moment;

class TestLanesView : public QObject, testing::LanePicture {
    Q_OBJECT

private slots:
    // Whatever the height, and after another one, as where words in another language take more lines: lanes are in
    // sight from top to bottom, the first and the last as well.
    void noLaneIsCut()
    {
        const auto run = predecessor(100);
        ui::LanesView view;
        view.resize(560, 300);
        view.setRun(run, run->end());
        view.show();
        const auto whole = [&view](int lane) {
            const auto frame = view.frame();
            const double top = frame.middleOf(lane) - frame.laneHeight / 2;
            return top > frame.lanes.top() - 0.1 && top + frame.laneHeight < frame.lanes.bottom() + 0.1;
        };
        const auto isCutNowhere = [&] {
            const auto frame = view.frame();
            const double lanes = frame.lanes.height() / frame.laneHeight;
            return std::abs(lanes - std::round(lanes)) < 1e-6 && whole(frame.laneAt(frame.lanes.top()));
        };
        for (const double share : {0.0, 0.4, 1.0}) {
            const auto happened = static_cast<std::size_t>(share * static_cast<double>(run->eventCount()));
            for (int height = 300; height > 150; height -= 7) {
                view.setCursor_(Moment(std::llround(share * static_cast<double>(run->end().count()))), happened);
                const int shown = std::clamp(run->holderAfter(happened), 0, 99);
                QVERIFY2(isCutNowhere() && (share == 1.0 || whole(shown)), qPrintable(QString::number(height)));
                view.verticalScrollBar()->setValue(share == 1.0 ? view.verticalScrollBar()->maximum()
                                                                : view.verticalScrollBar()->value() + 5);
                view.resize(560, height);
                QVERIFY2(isCutNowhere(), qPrintable(QString::number(height)));
                QVERIFY(share < 1.0 || whole(99));
            }
        }
    }

    // Of two beside each other one has another height first, and is scrolled with the other.
    void holderStaysInSightInBothViews()
    {
        const auto run = predecessor(100);
        ui::LanesView views[2];
        for (int i = 0; i < 2; ++i) {
            views[i].resize(560, 340);
            views[i].setRun(run, run->end());
            views[i].show();
            connect(&views[i], &ui::LanesView::scrolledTo, this, [&views](double lanes, int horizontal) {
                for (auto &view : views)
                    view.scrollAlong(lanes, horizontal);
            });
        }
        for (const double share : {0.4, 1.0}) {
            const auto happened = static_cast<std::size_t>(share * static_cast<double>(run->eventCount() - 3));
            const int holder = run->holderAfter(happened);
            QVERIFY(holder > 12); // it is scrolled to
            for (const int height : {370, 190, 330, 170}) {
                for (auto &view : views)
                    view.setCursor_(Moment(std::llround(share * static_cast<double>(run->end().count()))), happened);
                for (auto &view : views)
                    view.resize(560, height);
                for (const auto &view : views) {
                    const auto frame = view.frame();
                    const double middle = frame.middleOf(holder);
                    QVERIFY2(middle > frame.lanes.top() && middle < frame.lanes.bottom(),
                             qPrintable(u"%1 of %2"_s.arg(height).arg(view.height())));
                }
            }
        }
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestLanesView)
#include "tst_lanes_view.moc"
