// SPDX-License-Identifier: Apache-2.0
// The page of the simulator: a scenario played with one to three recipes beside each other, one time cursor over them; in
// the simulated world, or on real servers: those of the sandbox or of a connection.
#pragma once

#include <version>

#include "ui/pages/page.h"
#include "ui/simulator/comparison.h"
#include "ui/simulator/playback.h"
#include "ui/simulator/runexport.h"
#include "ui/simulator/runner.h"
#include "ui/simulator/serverrunner.h"

class QBoxLayout;
class QFrame;
class QGridLayout;
class QLabel;
class QMenu;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QStackedWidget;

namespace lockscope::ui {

class Banner;
class ConnectionBook;
class EmptyNotice;
class FlowLayout;
class MustHoldPanel;
class RunPanel;
class ScalingChart;
class TransportBar;

enum class ExportKind { Png, Svg, Csv, Json, Recording };

class SimulatorPage : public Page {
    Q_OBJECT
public:
    explicit SimulatorPage(QWidget *parent = nullptr, Simulate simulate = simulate::simulate);
    ~SimulatorPage() override;

    void setBackend(Backend *backend) override;
    void showConnection(const ConnectionName &) override {} // the scenario says where
    // The window's, which outlives the page; without it there is only the simulated world.
    void useConnections(const ConnectionBook &book);
    // The sandbox starts (`state` says how far it is), or is all there: its servers are in the book.
    void sandboxChanged(const QString &state, bool isComplete);
    // The name of a contender chooses its lane.
    void setFilter(const QString &text) override;
    void focusContent() override;
    [[nodiscard]] bool isSettled() const override;

    // What is shown, and what to show.
    [[nodiscard]] const Comparison &comparison() const { return m_shown; }
    void play(const Comparison &comparison);
    // The same once more, with a fault at a moment; the cursor stays there.
    void fork(const simulate::PlannedFault &fault);
    void openRecordings(const QStringList &files);
    // `run`: which, for what is of one run. Says in the banner how it went.
    void exportTo(ExportKind kind, std::size_t run, const QString &file);

    [[nodiscard]] Playback &playback() { return m_playback; }
    [[nodiscard]] RunPanel &panel(std::size_t run) { return *m_panels[run]; }
    [[nodiscard]] std::size_t panels() const { return m_panels.size(); }
    [[nodiscard]] TransportBar &transport() { return *m_transport; }
    [[nodiscard]] ScalingChart &chart() { return *m_chart; }
    [[nodiscard]] QString heading() const;
    [[nodiscard]] QStringList chips() const;
    [[nodiscard]] QString sentence() const;
    [[nodiscard]] QString complaint() const; // the banner's; empty while it is not shown

signals:
    // A scenario is to be played on a sandbox that is not there. sandboxChanged() follows.
    void sandboxRequested();

public slots:
    void openScenario();
    void openForkMenu();
    void openPromises();

protected:
    void showEvent(QShowEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    QWidget *buildHeader();
    QWidget *buildProgress();
    QWidget *buildPictures();
    void buildMenus();
    void addKeys();
    void connectRunner();

    void begin(const Comparison &comparison, std::optional<Moment> cursor);
    void take(const std::vector<PlayedRunPtr> &runs);
    void takeFailure(const Error &error);
    void endBusy();
    void showRuns(const std::vector<PlayedRunPtr> &runs);
    RunPanel *makePanel();
    void place();
    void fitTime();
    void setOverview(bool isOn);
    void beginChart();
    void showHeading();
    void showMoment();
    void fillForkMenu(QMenu &menu, int contender);
    // The menu of a lane; what is a message at that point of the screen first.
    void openLaneMenu(RunPanel &panel, int lane, const QPoint &at);
    void jumpTo(std::size_t run, const simulate::Violation &violation);
    void chooseLane(int lane);
    void say(bool isGood, const QString &text);

    // simulatorpage_places.cpp
    [[nodiscard]] const ConnectionBook &book() const;
    void beginOnServers();
    void showServerProgress(std::size_t run, const RealRunOptions &options, const RealRunProgress &progress);
    void cancelRun();
    [[nodiscard]] bool isFromServers() const;
    void playAt(const RunPlace &place);
    void fillPlaceMenu(QMenu &menu);
    void fillForkMenuOfServers(QMenu &menu);

    // simulatorpage_files.cpp
    void fillExportMenu(QMenu &menu);
    void askExport(ExportKind kind, std::size_t run);
    void askOpen();
    [[nodiscard]] std::vector<RunPicture> pictures();

    Playback m_playback;
    Runner m_runner;
    ServerRunner m_servers;
    const ConnectionBook *m_book = nullptr;
    bool m_awaitsSandbox = false;
    Comparison m_shown;
    Comparison m_pending;
    std::optional<Moment> m_cursorAfter; // where the cursor goes once the pending run is there
    std::vector<QByteArray> m_charted;
    simulate::Scenario m_chartScenario;
    int m_lane = simulate::nobody;
    bool m_isDense = false;
    bool m_wasShown = false;

    QLabel *m_heading = nullptr;
    QWidget *m_chipRow = nullptr;
    QMenu *m_placeMenu = nullptr;
    QBoxLayout *m_headerLayout = nullptr;
    QPushButton *m_fork = nullptr;
    QPushButton *m_export = nullptr;
    QPushButton *m_overview = nullptr;
    Banner *m_banner = nullptr;
    QFrame *m_progress = nullptr;
    QLabel *m_progressText = nullptr;
    QProgressBar *m_bar = nullptr;
    QStackedWidget *m_stack = nullptr;
    EmptyNotice *m_empty = nullptr;
    QScrollArea *m_scroll = nullptr;
    QGridLayout *m_runGrid = nullptr;
    QGridLayout *m_lowerGrid = nullptr;
    std::vector<RunPanel *> m_panels;
    ScalingChart *m_chart = nullptr;
    MustHoldPanel *m_mustHold = nullptr;
    TransportBar *m_transport = nullptr;
    QLabel *m_sentence = nullptr;
};

} // namespace lockscope::ui
