// SPDX-License-Identifier: Apache-2.0
// What the picture of a run shows and costs: arrows of messages, however many; lanes by the thousand; events by the
// million.
#include "core/contention/simulation.h"
#include "tests/support/testmain.h"
#include "tests/ui/lanepicture.h"
#include "ui/simulator/lanepaint.h"
#include "ui/simulator/runpanel.h"
#include "ui/theme/theme.h"

#include <QFile>
#include <QTemporaryDir>

using namespace lockscope::ui;
using contention::Event;
using contention::Mark;

class TestLanesPainted : public QObject, testing::LanePicture {
    Q_OBJECT

    // Large enough for the last row of a classroom.
    static QImage pictureOf(const Legend::Signs &signs, const Tokens &tokens)
    {
        constexpr double scale = 2, wide = 640, border = 10;
        const double high = Legend::paint(nullptr, {}, wide, tokens, signs);
        QImage image(QSizeF((wide + 2 * border) * scale, (high + 2 * border) * scale).toSize(), QImage::Format_RGB32);
        image.fill(tokens.panel);
        QPainter painter(&image);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.scale(scale, scale);
        Legend::paint(&painter, {border, border}, wide, tokens, signs);
        return image;
    }

private slots:
    // Whoever looks at the picture sees who told whom: an arrow for each message, and never a wall of them.
    void messagesAreArrows()
    {
        contention::Scenario scenario{.contenders = 3};
        const auto simulated = contention::simulate(scenario);
        QVERIFY(simulated);
        const auto run = played(*simulated);
        auto frame = frameOf(*run, 40);
        QCOMPARE(costOf(*run, frame).arrows, 0);
        frame.to = run->end();
        frame.lanes.setTop(30);
        frame.lanes.setWidth(4000); // so that they do not fall together
        frame.servers = QRectF(40, 0, 4000, 30);
        frame.cursor = frame.to;
        const auto isInSight = [&](const contention::SentMessage &message) {
            return message.at <= frame.to && run->isCounted(message); // not those of its sessions
        };
        const auto sent = std::ranges::count_if(simulated->history.messages, isInSight);
        QVERIFY(sent > 30);
        QCOMPARE(costOf(*run, frame).arrows, static_cast<int>(sent));
        frame.lanes.setWidth(560);
        frame.servers.setWidth(560);
        scenario.contenders = 20;
        const auto many = contention::simulate(scenario);
        QVERIFY(many);
        const auto crowd = played(*many);
        frame.to = frame.cursor = crowd->end();
        QVERIFY(many->history.messages.size() > 300);
        const int arrows = costOf(*crowd, frame).arrows; // six and who is told for every 24 of 560 pixels
        QVERIFY2(arrows < 180, qPrintable(QString::number(arrows)));
    }

    // A file has all lanes, however few of them were in sight: thinner ones, with a name where there is room for one.
    // Of more than a thousand it says which it has. LOCKSCOPE_SHOTS=folder: the pictures.
    void aFileHasAllLanes_data()
    {
        const Rows<int, QStringList, QString> row("lanes", "names", "which");
        row("few", 20, {u"c00"_s, u"c01"_s, u"c19"_s}, {});
        row("more than a screen has", 100, {u"c00"_s, u"c01"_s, u"c99"_s}, {});
        row("thin", 900, {u"c000"_s, u"c005"_s, u"c895"_s}, {});
        row("too many", 1500, {u"c0015"_s}, u"c0010 … c1009 of 1,500"_s);
    }
    void aFileHasAllLanes()
    {
        QFETCH(int, lanes);
        QFETCH(QStringList, names);
        QFETCH(QString, which);
        const auto run = predecessor(lanes);
        RunPicture picture{run, frameOf(*run, 26), run->eventCount()};
        picture.frame.lanes.setLeft(80);
        picture.frame.scrolled = 260;
        QTemporaryDir folder;
        const auto shots = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        const auto file = (shots.isEmpty() ? folder.path() : shots) + u"/lanes-%1.svg"_s.arg(lanes);
        QCOMPARE(saveSvg({picture}, file), QString());
        QFile svg(file);
        QVERIFY(svg.open(QIODevice::ReadOnly));
        const auto drawn = QString::fromUtf8(svg.readAll());
        for (const auto &name : names)
            QVERIFY2(drawn.contains(u'>' + name + u'<'), qPrintable(name));
        QCOMPARE(drawn.contains(u" … "_s), !which.isEmpty());
        QVERIFY2(drawn.contains(which), qPrintable(which));
        const auto image = imageOf({picture}, lightTokens(), {picture}, 1);
        QVERIFY2(!image.isNull() && image.height() < 3400, qPrintable(QString::number(image.height())));
        QVERIFY(shots.isEmpty() || image.save(shots + u"/lanes-%1.png"_s.arg(lanes)));
    }

    // Each that can be drawn, with a word, and none that looks like another. LOCKSCOPE_SHOTS=folder: a picture.
    void theLegendHasEachSignOnce_data() { addRows<bool>("dark", {{"light", false}, {"dark", true}}); }
    void theLegendHasEachSignOnce()
    {
        QFETCH(const bool, dark);
        const auto &tokens = dark ? darkTokens() : lightTokens();
        auto signs = Legend::signsOf({}, {});
        const auto shots = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        if (!shots.isEmpty())
            QVERIFY(pictureOf(signs, tokens).save(u"%1/signs-%2.png"_s.arg(shots, dark ? u"dark"_s : u"light"_s)));
        std::ranges::sort(signs);
        QCOMPARE(signs.size(), static_cast<std::size_t>(LaneGlyph::SentInVain) + 1);
        std::vector<QImage> drawn;
        for (std::size_t i = 0; i < signs.size(); ++i) {
            QCOMPARE(signs[i], static_cast<LaneGlyph>(i));
            QImage image(36, 38, QImage::Format_RGB32);
            image.fill(tokens.panel);
            const QImage empty = image;
            {
                QPainter painter(&image);
                painter.setRenderHint(QPainter::Antialiasing);
                painter.scale(2, 2);
                paintGlyph(painter, QRectF(0, 0, 18, 19), signs[i], tokens);
            }
            QVERIFY2(image != empty, qPrintable(QString::number(i)));
            for (std::size_t other = 0; other < drawn.size(); ++other)
                QVERIFY2(drawn[other] != image, qPrintable(u"%1 looks like %2"_s.arg(i).arg(other)));
            drawn.push_back(image);
        }
    }

    // However many there are: those at the start of what is seen, and all that were lost.
    void theFirstAndTheLostAreAmongThem()
    {
        contention::Scenario scenario{.recipe = "redlock", .contenders = 2, .hold = 3s, .ttl = 10s};
        contention::PlannedFault lost{.kind = contention::FaultKind::LoseRequest, .at = 999us};
        scenario.planned = {lost, lost};
        const auto simulated = contention::simulate(scenario);
        QVERIFY(simulated);
        const auto run = played(*simulated);
        const auto &messages = simulated->history.messages;
        QVERIFY(messages.size() > 240);
        const auto isLost = [](const contention::SentMessage &message) { return !message.arrives; };
        QCOMPARE(std::ranges::count_if(messages, isLost), 2);
        auto frame = frameOf(*run, 40);
        frame.servers = QRectF(40, 0, 560, 90);
        frame.lanes.setTop(100);
        frame.cursor = frame.to;
        const auto has = [&](int left, int right, const QColor &colour) {
            QImage image(620, 420, QImage::Format_RGB32);
            image.fill(lightTokens().panel);
            QPainter painter(&image);
            paintMessages(painter, *run, frame, lightTokens());
            painter.end();
            for (int x = left; x < right; ++x) {
                for (int y = 0; y < 110; ++y) {
                    if (image.pixelColor(x, y) == colour)
                        return true;
                }
            }
            return false;
        };
        QVERIFY(has(38, 64, lightTokens().critical));
        QVERIFY(has(38, 64, lightTokens().text));
        frame.cursor = run->end() / 3; // and wherever one looks
        QVERIFY(has(200, 260, lightTokens().text));
        QVERIFY(has(38, 64, lightTokens().critical));
        const auto signs = Legend::signsOf({run}, {});
        QVERIFY(std::ranges::count(signs, LaneGlyph::SentInVain) == 1);
    }

    // Two poll for six seconds of thirty: their lanes are to be seen behind what they send.
    void manyMessagesOnFewPixelsHideNoLane()
    {
        contention::Scenario scenario{.recipe = "redis-set-nx", .contenders = 3, .hold = 700ms};
        const auto simulated = contention::simulate(scenario);
        QVERIFY(simulated);
        const auto run = played(*simulated);
        auto frame = frameOf(*run, 40);
        frame.servers = QRectF(40, 0, 560, 30);
        frame.lanes.setTop(30);
        frame.from = {};
        frame.to = frame.cursor = run->end() * 20; // so that all of it takes 28 pixels
        const auto messages = simulated->history.messages.size();
        QVERIFY2(messages > 60 && messages < 240, qPrintable(QString::number(messages)));
        const int far = costOf(*run, frame).arrows;
        QVERIFY2(far >= 2 && far <= 30, qPrintable(QString::number(far)));
    }

    // What is painted is bounded by what is seen.
    void hugeRunsCostWhatIsSeen()
    {
        const auto run = predecessor(100'000);
        QCOMPARE(run->lanes(), 100'000);
        QVERIFY(run->eventCount() >= 500'000);
        auto frame = frameOf(*run, 26);
        frame.scrolled = 26.0 * 50'000;
        const auto readable = costOf(*run, frame);
        QVERIFY(readable.lanes > 0 && readable.lanes <= 400 / 26 + 2);
        QVERIFY(readable.bars > 0);
        const auto dense = costOf(*run, frameOf(*run, 4));
        QVERIFY(dense.lanes <= 400 / 4 + 2);
        QVERIFY(dense.bars + dense.marks <= dense.lanes * 560);
    }

    void aMillionEventsOfOneLaneAreAPixelEach()
    {
        std::vector<Event> events;
        events.reserve(1'000'000);
        for (int i = 0; i < 250'000; ++i) {
            const Moment at(i * 40);
            events.push_back(eventAt(at, 0, Mark::Joins));
            events.push_back(eventAt(at + 10us, 0, Mark::WatchEvent));
            events.back().isWasted = i == 125'000;
            events.push_back(eventAt(at + 20us, 0, Mark::Holds));
            events.push_back(eventAt(at + 30us, 0, Mark::Releases));
        }
        const auto run = played(one(std::move(events), 1));
        QCOMPARE(run->spans(0).size(), 500'000u);
        const auto cost = costOf(*run, frameOf(*run, 26));
        QVERIFY2(cost.bars <= 561 && cost.bars > 100, qPrintable(QString::number(cost.bars)));
        QVERIFY2(cost.marks <= 300 && cost.marks > 100, qPrintable(QString::number(cost.marks)));
        // The one in vain is not lost among those around it.
        const auto &events_ = run->signalsOf();
        QCOMPARE(events_.wasted(0, 0, events_.of(0).size()), 1u);
        QCOMPARE(events_.wasted(0, 0, 125'000), 0u);
        QCOMPARE(events_.wasted(0, 125'000, 125'001), 1u);
    }
};

LOCKSCOPE_GUI_TEST(TestLanesPainted)
#include "tst_lanes_painted.moc"
