// SPDX-License-Identifier: Apache-2.0
// Runs made of few words, and what painting their lanes costs: for a test's class to stand on.
#pragma once

#include "tests/support/fakerecording.h"
#include "ui/simulator/lanesview.h"
#include "ui/theme/theme.h"

#include <QImage>
#include <QPainter>

namespace lockscope::testing {

struct LanePicture {
    static ui::PlayedRunPtr played(contention::Recording recording)
    {
        return std::make_shared<ui::PlayedRun>(std::move(recording));
    }

    static ui::PlayedRunPtr herd(int contenders)
    {
        FakeQueue queue{.recipe = "zk-herd-mutex", .contenders = contenders, .isHerd = true};
        return played(fakeQueue(queue));
    }

    static ui::PlayedRunPtr predecessor(int contenders)
    {
        FakeQueue queue{.contenders = contenders};
        return played(fakeQueue(queue));
    }

    static ui::LaneFrame frameOf(const ui::PlayedRun &run, double laneHeight)
    {
        return ui::LaneFrame{.lanes = QRectF(40, 0, 560, 400), .laneHeight = laneHeight, .to = run.end()};
    }

    static ui::PaintCost costOf(const ui::PlayedRun &run, const ui::LaneFrame &frame)
    {
        QImage image(620, 420, QImage::Format_RGB32);
        QPainter painter(&image);
        return ui::paintLanes(painter, run, frame, ui::lightTokens());
    }

    static contention::Recording one(std::vector<contention::Event> events, int contenders = 2)
    {
        contention::Recording recording;
        recording.scenario.contenders = contenders;
        recording.events = std::move(events);
        recording.elapsed = recording.events.back().at;
        return recording;
    }

    static contention::Event eventAt(contention::Moment at, int contender, contention::Mark mark)
    {
        return {at, contender, mark, false, 0, {}, {}};
    }
};

} // namespace lockscope::testing
