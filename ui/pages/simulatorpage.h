// SPDX-License-Identifier: Apache-2.0
// The page of the simulator: a scenario played with one to three recipes beside each other, one time cursor over
// them; in the simulated world, or on real servers: those of the sandbox or of a connection.
#pragma once

#include "ui/pages/page.h"
#include "ui/parts/notices.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/runner.h"
#include "ui/simulator/runpanel.h"
#include "ui/simulator/transportbar.h"

namespace lockscope::ui {

class ScalingChart;

class SimulatorPage : public Page {
    Q_OBJECT
public:
    explicit SimulatorPage(QWidget *parent = nullptr, Simulate simulate = contention::simulate);
    ~SimulatorPage() override;

    void setBackend(Backend *backend) override { m_player->setBackend(backend); }
    void showConnection(const ConnectionName &) override {} // the scenario says where
    [[nodiscard]] ConnectionName connectionShown(const ConnectionName &) const override { return {}; }
    // The window's, which outlives the page; without it there is only the simulated world.
    void useConnections(const ConnectionBook &book) { m_player->useConnections(book); }
    void sandboxChanged(const QString &state, bool isComplete) { m_player->sandboxChanged(state, isComplete); }
    // The name of a contender chooses its lane.
    void setFilter(const QString &text) override;
    void focusContent() override { panels() > 0 ? panel(0).lanes().setFocus() : m_empty->setFocus(); }
    [[nodiscard]] KeyHints keys() const override;
    [[nodiscard]] bool isSettled() const override
    {
        return m_wasShown && !m_player->isBusy() && !m_runner.isScaling();
    }

    // What is shown, and what to show.
    [[nodiscard]] const Comparison &comparison() const { return m_shown; }
    void play(const Comparison &comparison) { begin(comparison, std::nullopt); }
    // What a lesson plays, with a way back to it.
    void tryOut(const Comparison &comparison);
    // The same once more, with a fault at a moment; the cursor stays there.
    void fork(const contention::PlannedFault &fault);
    void openRecordings(const QStringList &files);
    // Says in the banner how it went.
    void exportTo(ExportKind kind, std::size_t run, const QString &file) { m_export->save(kind, run, file); }

    [[nodiscard]] Playback &playback() { return m_playback; }
    [[nodiscard]] RunPanel &panel(std::size_t run) { return *m_grid->panels()[run]; }
    [[nodiscard]] std::size_t panels() const { return m_grid->panels().size(); }
    [[nodiscard]] TransportBar &transport() { return *m_transport; }
    [[nodiscard]] ScalingChart &chart() { return *m_chart; }
    [[nodiscard]] QString heading() const { return m_heading->text(); }
    [[nodiscard]] QStringList chips() const { return m_heading->chips(); }
    [[nodiscard]] QString sentence() const { return m_sentence->text(); }
    // The banner's; empty while it is not shown.
    [[nodiscard]] QString complaint() const { return m_banner->isHidden() ? QString() : m_banner->sentence(); }

signals:
    // A scenario is to be played on a sandbox that is not there. sandboxChanged() follows.
    void sandboxRequested();
    void pageRequested(const QString &id);

public slots:
    void openScenario();
    void openForkMenu();
    void openGuarantees();

private:
    void showEvent(QShowEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void changeEvent(QEvent *event) override;
    QWidget *makePictures();
    void addKeys();
    void retranslate();
    void showRunsAgain();

    void begin(const Comparison &comparison, std::optional<Moment> cursor);
    void take(const Comparison &comparison, const std::vector<PlayedRunPtr> &runs);
    void hide(bool isHiding);
    void place();
    void beginChart();
    void showMoment();
    [[nodiscard]] bool isFromServers() const;
    void fillPlaceMenu();
    void playAt(const RunPlace &place);
    void fillForkMenu(QMenu &menu, int contender, std::optional<int> server = {});
    // The menu of a lane; what is a message at that point of the screen first.
    void openLaneMenu(std::size_t run, int lane, const QPoint &at);
    void jumpTo(std::size_t run, const contention::Violation &violation);
    void say(bool isGood, const QString &text);

    Playback m_playback;
    Runner m_runner;
    Comparison m_shown;
    std::optional<Moment> m_cursorAfter; // where the cursor goes once the pending run is there
    std::vector<QByteArray> m_charted;
    contention::Scenario m_chartScenario;
    bool m_wasShown = false;
    bool m_beginsAtStart = false; // what it opens with; what is played later shows its end

    RunGrid *m_grid;
    Player *m_player;
    ExportMenu *m_export;
    QMenu *m_placeMenu;
    QPushButton *m_toLesson;
    SimulatorHeading *m_heading;
    Banner *m_banner;
    QStackedWidget *m_stack;
    EmptyNotice *m_empty;
    QScrollArea *m_scroll = nullptr;
    QBoxLayout *m_pictures = nullptr; // what scrolls, and the transport
    QBoxLayout *m_inside = nullptr;   // what scrolls
    SightBar *m_sight = nullptr;      // below the runs
    QGridLayout *m_lowerGrid = nullptr;
    ScalingChart *m_chart = nullptr;
    MustHoldPanel *m_mustHold = nullptr;
    TransportBar *m_transport = nullptr;
    QLabel *m_sentence = nullptr;
};

} // namespace lockscope::ui
