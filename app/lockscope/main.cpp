// SPDX-License-Identifier: Apache-2.0
// lockscope: reads the command line and wires the core to the window.
#include "app/lockscope/options.h"
#include "core/sandbox/demo.h"
#include "core/sandbox/sandbox.h"
#include "core/workspace/livebackend.h"
#include "core/workspace/rulefolder.h"
#include "ui/dialogs/settingsdialog.h"
#include "ui/mainwindow.h"
#include "ui/pages/findingspage.h"
#include "ui/pages/lessonspage.h"
#include "ui/pages/lockspage.h"
#include "ui/screenshot.h"
#include "ui/timetravel.h"
#include "ui/workbench.h"

#include <QScreen>
#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QTextStream>

using namespace lockscope;

namespace {

constexpr QSize usualSize{1440, 900};
constexpr std::chrono::milliseconds afterNothing{500};
constexpr std::chrono::seconds keychainPatience{30}; // it may ask its user

int fail(const QString &why, app::Exit status)
{
    QTextStream(stderr) << u"lockscope: "_s << harmlessLine(why) << Qt::endl;
    return static_cast<int>(status);
}

// Takes the picture of --screenshot and ends the program; the first of several calls that is ready wins.
void takePicture(ui::MainWindow &window, const app::WindowOptions &options, std::chrono::milliseconds atMost)
{
    new ui::ScreenshotTaker(window, options.screenshot, atMost, [](const QString &failure) {
        QApplication::exit(failure.isEmpty() ? 0 : fail(failure, app::Exit::Failed));
    });
}

// When: with the first complete picture; where nothing is connected at once; of a sandbox when it plays.
void planPicture(ui::MainWindow &window, const app::WindowOptions &options)
{
    if (std::ranges::count(options.connections.specs, Scheme::Sandbox, &ConnectionSpec::scheme) > 0) {
        QTimer::singleShot(options.after, &window,
                           [&] { takePicture(window, options, std::chrono::milliseconds::zero()); });
        return;
    }
    takePicture(window, options, options.after);
    const bool isAlone =
        options.connections.specs.empty() && options.replay.isEmpty() && window.isInitialScanComplete();
    if (isAlone)
        window.pages().whenComplete(&window, [&] { takePicture(window, options, afterNothing); });
}

// The window's sandbox: private servers started without stopping the event loop, and the live locks of
// --demo on a thread of their own. Main thread.
class PrivateSandbox : public QObject {
    Q_OBJECT
public:
    // The backend is told of each server that answers; it may go first. `isTaken`: whose name another connection has.
    PrivateSandbox(Backend &backend, bool demo, std::function<bool(const ConnectionName &)> isTaken)
        : m_backend(backend), m_wantsDemo(demo), m_isTaken(std::move(isTaken)),
          m_sandbox(sandbox::SandboxOptions::everything())
    {
        connect(&m_sandbox, &sandbox::Sandbox::answered, this, [this](const ConnectionSpec &spec) {
            m_names.emplace(spec.name,
                            m_isTaken(spec.name) ? ConnectionName("sandbox-" + spec.name.bytes()) : spec.name);
            connectTo(spec);
            tell(u"Sandbox starting"_s, false);
        });
        connect(&m_sandbox, &sandbox::Sandbox::ended, this,
                [this](const QString &why) { tell(u"Sandbox: "_s + why, true); });
        connect(&m_sandbox, &sandbox::Sandbox::answeredAgain, this, [this](const ConnectionSpec &spec) {
            tell(u"Sandbox running; %1 was started again"_s.arg(QString::fromUtf8(spec.name.bytes())), true);
        });
        connect(&m_sandbox, &sandbox::Sandbox::failed, this, [this](const QString &problem) {
            if (m_sandbox.isSettled())
                tell(u"Sandbox: "_s + problem, true);
        });
        connect(&m_sandbox, &sandbox::Sandbox::finished, this, &PrivateSandbox::serversReady);
    }

    ~PrivateSandbox() override
    {
        if (!m_demoThread.isRunning())
            return;
        // What plays ends before its servers do.
        QMetaObject::invokeMethod(
            static_cast<QtLoop *>(m_demoLoop),
            [this] {
                delete m_demo;
                delete m_demoLoop;
            },
            Qt::BlockingQueuedConnection);
        m_demoThread.quit();
        m_demoThread.wait();
        waitForClosing(std::chrono::seconds(2));
    }

    void begin() { m_sandbox.begin(); }
    // Plays the demo on it from now on, or as soon as its servers answer.
    void fill()
    {
        m_wantsDemo = true;
        if (m_sandbox.isSettled())
            play();
    }
    // To those of its servers that the window was disconnected from.
    void connectAgain()
    {
        for (const auto &spec : m_sandbox.connections()) {
            if (const auto used = m_names.find(spec.name); used != m_names.end() && !m_isTaken(used->second))
                connectTo(spec);
        }
    }
    [[nodiscard]] const QString &state() const { return m_state; }
    [[nodiscard]] bool isComplete() const { return m_isComplete; }

signals:
    // The backend connects to one of its servers.
    void connecting(const lockscope::ConnectionName &name, lockscope::Scheme scheme);
    // One line for the rail: starting, running, what is missing. Complete: nothing more will come.
    void stateChanged(const QString &line, bool isComplete);
    // Everything that will answer does, and what the demo plays can be seen.
    void settled();

private:
    void serversReady()
    {
        const auto &problems = m_sandbox.problems();
        tell(problems.isEmpty() ? u"Sandbox running"_s : u"Sandbox: "_s + problems.join(u"; "_s), true);
        play();
    }

    void play()
    {
        if (m_demoThread.isRunning())
            return;
        if (!m_wantsDemo || m_sandbox.connections().empty()) {
            emit settled();
            return;
        }
        m_demoThread.setObjectName(u"lockscope-demo"_s);
        auto *starter = new QObject;
        starter->moveToThread(&m_demoThread);
        connect(&m_demoThread, &QThread::started, starter, [this, starter, connections = m_sandbox.connections()] {
            m_demoLoop = new QtLoop;
            m_demo = new sandbox::Demo(*m_demoLoop, connections, Random::fromSystem());
            m_demo->filled().then([this](bool) { QMetaObject::invokeMethod(this, &PrivateSandbox::settled); });
            starter->deleteLater();
        });
        m_demoThread.start();
    }

    void connectTo(ConnectionSpec spec)
    {
        spec.name = m_names.at(spec.name);
        m_backend.execute(Connect{spec});
        emit connecting(spec.name, spec.scheme);
    }
    void tell(const QString &line, bool isComplete)
    {
        m_state = line;
        m_isComplete = isComplete;
        emit stateChanged(line, isComplete);
    }

    Backend &m_backend;
    bool m_wantsDemo;
    std::function<bool(const ConnectionName &)> m_isTaken;
    std::map<ConnectionName, ConnectionName> m_names; // under which they are connected to
    QString m_state = QStringLiteral("Sandbox starting");
    bool m_isComplete = false;
    sandbox::Sandbox m_sandbox;
    QThread m_demoThread;
    Loop *m_demoLoop = nullptr; // both live in m_demoThread
    sandbox::Demo *m_demo = nullptr;
};

// Starts the sandbox, once; asked again the window is connected to what it was disconnected from, and hears what
// there is.
void beginSandbox(std::unique_ptr<PrivateSandbox> &sandbox, bool demo, Backend &backend, ui::MainWindow &window)
{
    if (sandbox) {
        sandbox->connectAgain();
        if (demo)
            sandbox->fill();
        window.setSandbox(sandbox->state(), sandbox->isComplete());
        return;
    }
    auto &book = window.connections();
    sandbox = std::make_unique<PrivateSandbox>(
        backend, demo, [&book](const ConnectionName &name) { return book.find(name) != nullptr; });
    QObject::connect(sandbox.get(), &PrivateSandbox::connecting, &window,
                     [&book](const ConnectionName &name, Scheme scheme) { book.markSandbox(name, scheme); });
    QObject::connect(sandbox.get(), &PrivateSandbox::stateChanged, &window, &ui::MainWindow::setSandbox);
    window.setSandbox(sandbox->state());
    sandbox->begin();
}

// Once the connections of this run are being made: it shows a lock of one of them.
void openLinkOf(const app::WindowOptions &options, const PrivateSandbox *sandbox, ui::MainWindow &window)
{
    if (options.link.isEmpty())
        return;
    window.workbench().openLinkAmong(options.link, [&](const ConnectionName &name) {
        return sandbox || std::ranges::count(options.connections.specs, name, &ConnectionSpec::name) > 0;
    });
    const auto giveUp = [&window](const QString &, bool isComplete) {
        if (isComplete) // the window hears of the last server a frame after that has answered
            QTimer::singleShot(std::chrono::seconds(2), &window, [&window] { window.workbench().endWaitOfLink(); });
    };
    if (sandbox)
        QObject::connect(sandbox, &PrivateSandbox::stateChanged, &window, giveUp);
}

// Those of this run, kept for later ones; a picture changes nothing.
std::vector<inspect::ClientLabel> clientLabels(const app::WindowOptions &options)
{
    auto labels = options.connections.labels;
    if (!labels.empty() && options.screenshot.isEmpty()) {
        if (const auto saved = saveClientLabels(labels); !saved)
            qWarning("%s", qPrintable(saved.error().message));
    }
    QString problem;
    std::ranges::copy(savedClientLabels(clientLabelFile(), &problem), std::back_inserter(labels));
    if (!problem.isEmpty())
        qWarning("%s", qPrintable(harmlessLine(problem)));
    return labels;
}

// How much is kept of what happens: 30 minutes, 256 MiB, unless set. A picture keeps nothing.
std::optional<history::FlightOptions> recorderOptions(const QSettings &settings, bool forScreenshot)
{
    history::FlightOptions recorder;
    const int minutes = settings.value(u"recorder/minutes"_s, 30).toInt();
    const int mebibytes = settings.value(u"recorder/mebibytes"_s, 256).toInt();
    if (forScreenshot || minutes <= 0 || mebibytes <= 0)
        return std::nullopt;
    recorder.bounds.span = std::chrono::minutes(minutes);
    recorder.bounds.bytes = qint64(mebibytes) * 1024 * 1024;
    return recorder;
}

// The moment that --at means; the recording's end without it.
Result<history::Moment> momentOf(const app::WindowOptions &options)
{
    TRY(const auto &recording, history::FlightRecording::open({options.replay}));
    return options.at.isEmpty() ? recording.end() : history::momentIn(recording, options.at);
}

lessons::Language languageOf(const app::WindowOptions &options, const QSettings &settings)
{
    const auto chosen = lessons::languageByName(settings.value(ui::settings::language).toByteArray());
    return options.language.value_or(chosen.value_or(lessons::Language::English));
}

// Of the files of recogniser rules, now and when they change.
void showRuleProblems(RuleWatch &rules, ui::MainWindow &window)
{
    for (const auto &problem : rules.problems())
        qWarning("%s", qPrintable(harmlessLine(problem)));
    window.pages().whenMade<ui::FindingsPage>([&rules](ui::FindingsPage &findings) {
        findings.showRuleProblems(rules.problems());
        QObject::connect(&rules, &RuleWatch::problemsChanged, &findings, &ui::FindingsPage::showRuleProblems);
    });
}

int run(QApplication &application, const app::WindowOptions &options)
{
    std::optional<history::Moment> replayed;
    if (!options.replay.isEmpty()) {
        const auto moment = momentOf(options);
        if (!moment)
            return fail(moment.error().message, app::exitFor(moment.error().code));
        replayed = *moment;
    }
    QSettings settings;
    const auto themeName = options.theme.isEmpty() ? settings.value(ui::settings::theme).toString() : options.theme;
    ui::Theme theme(application, ui::themeChoice(themeName).value_or(ui::ThemeChoice::Auto), ui::Theme::Sheet::Later);
    WorkspaceOptions workspace;
    workspace.readOnly = options.connections.readOnly;
    workspace.labels = clientLabels(options);
    const auto thresholds = readThresholds();
    if (thresholds)
        *workspace.observer.thresholds = *thresholds;
    else
        qWarning("%s", qPrintable(thresholds.error().message));
    std::unique_ptr<PrivateSandbox> sandbox; // its servers go when nobody is connected to them any more
    const bool forScreenshot = !options.screenshot.isEmpty();
    RuleWatch rules(options.rules);
    LiveBackend backend(workspace, recorderOptions(settings, forScreenshot));
    ConnectionStore store(ConnectionStore::defaultFile(), systemSecrets());
    store.lookForTeamFile(QDir::currentPath());
    MuteStore mutes;
    ui::speak(languageOf(options, settings)); // before anything is said
    ui::MainWindow window(backend);
    theme.useSheet(); // before anything is measured
    window.fitInto(window.screen()->availableGeometry());
    if (!forScreenshot)
        window.restoreView(settings);
    if (options.size || forScreenshot) // a first window keeps to its screen
        window.resize(options.size.value_or(usualSize));
    window.pages().whenMade<ui::LessonsPage>(
        [language = languageOf(options, settings), forScreenshot](ui::LessonsPage &page) {
            page.setLanguage(language);
            if (forScreenshot)
                page.lesson().picture().setPace({}); // a picture has no motion
        });
    if (options.lock && !options.page.isEmpty())
        window.workbench().showOn(options.page, *options.lock);
    else if (options.lock)
        window.selectLock(*options.lock);
    else if (!options.lesson.isEmpty())
        window.workbench().openLesson(options.lesson);
    else if (!options.page.isEmpty())
        window.showPage(options.page);
    window.useConnections(store);
    window.useMutes(mutes);
    mutes.follow();  // the terminal mutes, too
    if (!thresholds) // who starts it from a menu sees no stderr
        window.pages().whenMade<ui::FindingsPage>(
            [why = thresholds.error().message](ui::FindingsPage &page) { page.showThresholdsProblem(why); });
    showRuleProblems(rules, window);
    QObject::connect(&window, &ui::MainWindow::aboutToConnect, &window, app::keepMemoryPrivate);
    QObject::connect(&window, &ui::MainWindow::sandboxRequested, &window,
                     [&] { beginSandbox(sandbox, false, backend, window); });
    QObject::connect(&window, &ui::MainWindow::demoRequested, &window, [&] {
        beginSandbox(sandbox, true, backend, window);
        QObject::connect(sandbox.get(), &PrivateSandbox::settled, &window.locksPage(), &ui::LocksPage::showFilled,
                         Qt::UniqueConnection);
    });
    sandbox::EndSignals signals_;
    QObject::connect(&signals_, &sandbox::EndSignals::asked, &application, [] {
        QApplication::exit(0); // not quit(), which a window may refuse
    });
    window.show();
    if (replayed)
        window.time().openFiles({options.replay}, QFileInfo(options.replay).fileName(), *replayed);
    if (forScreenshot)
        planPicture(window, options);
    app::Handover handover;
    QObject::connect(&handover, &app::Handover::taken, &window,
                     [&window](const QString &link) { window.workbench().openLink(link); });
    if (!forScreenshot)
        handover.listen();
    // The window stands, and every page that is to hear of it, before anything touches the network.
    window.pages().whenComplete(&application, [&] {
        for (const auto &spec : options.connections.specs) {
            if (spec.scheme == Scheme::Simulated)
                continue; // there is nothing to connect to: the simulator is a page
            if (spec.scheme != Scheme::Sandbox) {
                fillInPassword(store, spec, keychainPatience, &window, [&backend](const ConnectionSpec &filled) {
                    app::keepMemoryPrivate(filled);
                    backend.execute(Connect{filled});
                });
                continue;
            }
            beginSandbox(sandbox, options.demo, backend, window);
            if (forScreenshot)
                QObject::connect(sandbox.get(), &PrivateSandbox::settled, &window,
                                 [&] { takePicture(window, options, options.after); });
        }
        openLinkOf(options, sandbox.get(), window);
    });
    const int result = QApplication::exec();
    if (!forScreenshot)
        window.saveView(settings);
    return result;
}

} // namespace

int main(int argc, char **argv)
{
    const auto words = app::takeArguments(argc, argv);
    const auto arguments = app::readArguments(words, app::windowOptions());
    if (!arguments)
        return fail(arguments.error().message, app::Exit::BadUsage);
    if (arguments->has(u"help"_s)) {
        QTextStream(stdout) << app::windowHelp();
        return 0;
    }
    if (arguments->has(u"version"_s)) {
        QTextStream(stdout) << u"lockscope "_s << QStringLiteral(LOCKSCOPE_VERSION) << Qt::endl;
        return 0;
    }
    QApplication::setApplicationName(u"lockscope"_s);
    QApplication::setOrganizationName(u"Lockscope"_s);
    if (arguments->has(u"print-paths"_s)) {
        QTextStream(stdout) << app::windowPaths();
        return 0;
    }
    const auto options = app::readWindowOptions(*arguments);
    if (!options)
        return fail(options.error().message, app::Exit::BadUsage);
    for (const auto &note : options->connections.notes)
        qWarning("%s", qPrintable(harmlessLine(note)));
    if (options->scalePercent != 100)
        qputenv("QT_SCALE_FACTOR", QByteArray::number(options->scalePercent / 100.0));

    int qtArguments = 1; // ours are read already
    QApplication application(qtArguments, argv);
    QApplication::setApplicationDisplayName(u"Lockscope"_s);
    QApplication::setDesktopFileName(u"org.lockscope.lockscope"_s);
    QApplication::setWindowIcon(QIcon(u":/lockscope/icons/lockscope.svg"_s));
    if (!options->link.isEmpty() && app::Handover().give(options->link))
        return 0;
    return run(application, *options);
}

#include "main.moc"
