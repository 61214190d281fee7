// SPDX-License-Identifier: Apache-2.0
// Paints the window with invented data, so that its look can be judged without servers.
#include "tests/support/fakebackend.h"
#include "tests/support/fakedata.h"
#include "core/contention/simulation.h"
#include "ui/dialogs/guaranteesdialog.h"
#include "ui/lessons/lessonpicture.h"
#include "ui/lessons/lessonview.h"
#include "ui/mainwindow.h"
#include "ui/pages/lessonspage.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/pages.h"
#include "ui/pages/simulatorpage.h"
#include "ui/screenshot.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <QTextStream>
#include <QTimer>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using namespace lockscope;

namespace {

// What real servers would have played.
void answerRuns(test::FakeBackend &backend)
{
    while (!backend.runs.empty()) {
        const auto [id, options] = *backend.runs.begin();
        auto recording = contention::simulate(options.scenario);
        if (recording)
            recording->world = options.connection.bytes();
        backend.answerRun(id, std::move(recording));
    }
}

} // namespace

int main(int argc, char **argv)
{
    QApplication app(argc, argv);
    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addOptions(
        {{u"theme"_s, u"auto, light or dark"_s, u"word"_s, u"light"_s},
         {u"size"_s, u"WxH"_s, u"size"_s, u"1440x900"_s},
         {u"lock"_s, u"CONNECTION:NAME to choose"_s, u"lock"_s, u"orders-zk:/locks/orders"_s},
         {u"scene"_s, u"busy, broken, empty or none"_s, u"scene"_s, u"busy"_s},
         {u"dialog"_s, u"force-release, acquire, scenario, promises or help"_s, u"dialog"_s},
         {u"page"_s, ui::pageIds().join(u", "_s), u"page"_s, u"locks"_s},
         {u"preset"_s, u"of the simulator: which, from 0"_s, u"number"_s, u"0"_s},
         {u"on"_s, u"of the simulator: the connection it pretends to play on"_s, u"name"_s},
         {u"cursor"_s, u"of the simulator, in ms"_s, u"ms"_s},
         {u"lesson"_s, u"of the lessons: which, from 1"_s, u"number"_s},
         {u"step"_s, u"how often Next is pressed in it"_s, u"number"_s, u"0"_s},
         {u"language"_s, u"of the lessons: en, zh_CN or ru"_s, u"code"_s, u"en"_s},
         {u"overview"_s, u"of the simulator: thin lanes"_s},
         {u"pause"_s, u"of the simulator: fork at the cursor, with a paused contender"_s, u"contender"_s},
         {u"find"_s, u"text of the find field"_s, u"text"_s}});
    parser.addPositionalArgument(u"file"_s, u"the PNG to write"_s);
    parser.process(app);

    ui::Theme theme(app, ui::themeChoice(parser.value(u"theme"_s)).value_or(ui::ThemeChoice::Light));
    test::FakeBackend backend;
    ui::MainWindow window(backend);
    const auto size = parser.value(u"size"_s).split(u'x');
    window.resize(size.value(0).toInt(), size.value(1).toInt());
    const auto now = std::chrono::system_clock::now();
    window.locksPage().setClock([now] { return now; });

    const QString scene = parser.value(u"scene"_s);
    Batch batch = test::showcase(now);
    if (scene == "empty"_L1)
        batch.locks.clear();
    if (scene != "none"_L1)
        backend.tell(batch);
    if (scene == "broken"_L1) {
        auto status = batch.connections[0];
        status.state = ConnectionStatus::State::Broken;
        status.message = u"10.0.0.5:2181 closed the connection."_s;
        backend.tellConnection(status);
    }
    const auto lock = parser.value(u"lock"_s).toUtf8();
    if (!lock.isEmpty() && scene != "none"_L1 && scene != "empty"_L1)
        window.selectLock({ConnectionName(lock.left(lock.indexOf(':'))), lock.mid(lock.indexOf(':') + 1)});
    if (parser.isSet(u"find"_s))
        window.locksPage().setFilter(parser.value(u"find"_s));
    window.showPage(parser.value(u"page"_s));
    window.show();
    backend.onPlanForceRelease = [&backend, batch](const inspect::LockName &name, const QByteArray &holder) {
        for (const auto &change : batch.locks) {
            if (change.lock.lock == name)
                return operate::planForceRelease(change.lock, holder);
        }
        return Result<operate::ForceReleasePlan>(Error{ErrorCode::NoNode, u"no such lock"_s});
    };
    if (parser.value(u"dialog"_s) == "force-release"_L1)
        window.openForceRelease();
    else if (parser.value(u"dialog"_s) == "acquire"_L1)
        window.openAcquire();
    auto *simulator = window.findChild<ui::SimulatorPage *>();
    const bool isSimulated = parser.value(u"page"_s) == "simulator"_L1;
    if (isSimulated) {
        auto comparison = ui::presets().at(parser.value(u"preset"_s).toUInt()).comparison;
        const std::chrono::milliseconds cursor(parser.value(u"cursor"_s).toInt());
        if (parser.isSet(u"pause"_s))
            comparison.scenario.planned = {
                {contention::FaultKind::Pause, cursor, parser.value(u"pause"_s).toInt(), 0ms}};
        if (parser.isSet(u"on"_s)) {
            comparison.place = {ui::RunPlace::Kind::Connection, ConnectionName(parser.value(u"on"_s).toUtf8())};
            comparison.scenario.contenders = 40;
            ConnectionStatus status;
            status.name = comparison.place.connection;
            status.scheme = comparison.recipes.front().startsWith("zk") ? Scheme::ZooKeeper : Scheme::Redis;
            status.state = ConnectionStatus::State::Connected;
            backend.tellConnection(status);
        }
        simulator->play(comparison);
        answerRuns(backend);
    }
    if (parser.value(u"dialog"_s) == "promises"_L1)
        simulator->openGuarantees();
    if (parser.value(u"dialog"_s) == "scenario"_L1)
        simulator->openScenario();
    auto &lessons = *window.findChild<ui::LessonsPage *>();
    lessons.setLanguage(lessons::languageByName(parser.value(u"language"_s).toUtf8()).value());
    const bool isLesson = parser.isSet(u"lesson"_s);
    if (isLesson) {
        lessons.lesson().picture().setPace(0ms);
        lessons.openLesson(parser.value(u"lesson"_s).toUInt() - 1);
    }
    const auto takePicture = [&] {
        if (parser.isSet(u"overview"_s))
            simulator->findChild<QPushButton *>(u"overviewButton"_s)->setChecked(true);
        if (parser.value(u"dialog"_s) == "help"_L1)
            QTest::keyClick(&window, Qt::Key_F1);
        if (auto *guarantees = window.findChild<ui::GuaranteesDialog *>())
            guarantees->table().setCurrentIndex(guarantees->table().model()->index(0, 0));
        if (parser.isSet(u"cursor"_s))
            simulator->playback().seek(std::chrono::milliseconds(parser.value(u"cursor"_s).toInt()));
        QString whyNot;
        const bool saved = ui::saveScreenshot(window, parser.positionalArguments().value(0), &whyNot);
        if (!saved)
            QTextStream(stderr) << whyNot << '\n';
        QApplication::exit(saved ? 0 : 1);
    };
    if (isSimulated)
        QObject::connect(simulator, &ui::Page::settled, &app, [&, simulator] {
            if (simulator->isSettled() || !simulator->complaint().isEmpty())
                QTimer::singleShot(700ms, &app, takePicture);
        });
    else if (isLesson)
        QObject::connect(&lessons.lesson(), &ui::LessonView::played, &app, [&] {
            for (int i = parser.value(u"step"_s).toInt(); i > 0; --i)
                lessons.lesson().next();
            QTimer::singleShot(700ms, &app, takePicture);
        });
    else
        QTimer::singleShot(400ms, &app, takePicture);
    return QApplication::exec();
}
