// SPDX-License-Identifier: Apache-2.0
// The window at another moment than now: of what its own recorder saw, or of a file. Everything that is shown goes
// there (PausableBackend), the clock stands there, and the bar of time says so.
#pragma once

#include "ui/models/pausablebackend.h"
#include "ui/models/screenclock.h"
#include "ui/shell/timebar.h"

namespace lockscope::ui {

class Actions;

class TimeTravel : public QObject {
    Q_OBJECT
public:
    using Moment = history::Moment;

    // All of them outlive this; `window` is what its dialogs are over.
    TimeTravel(Backend &live, PausableBackend &screen, ScreenClock &clock, TimeBar &bar, QWidget &window);
    ~TimeTravel() override { setShowsFile(false); }
    void addActions(Actions &actions);

    // The lock whose changes are marked and walked through.
    void setLock(const std::optional<inspect::LockName> &lock);
    [[nodiscard]] bool isElsewhere() const { return m_at.has_value(); }
    [[nodiscard]] bool isInFile() const { return m_file != nullptr; }
    [[nodiscard]] std::optional<Moment> moment() const { return m_at; }
    // Leaves the present, with the keyboard on the line of time; again: back.
    void toggle();
    // No moment before the first complete snapshot is shown; none after the present, either.
    void goTo(Moment moment);
    void step(std::chrono::milliseconds by);
    // To where the lock changed, before or after the moment that is shown.
    void goToChange(bool before);
    // Of a file: to its end.
    void backToNow();
    // Shows it instead of this run; `at` empty: its end.
    void openFiles(const QStringList &files, const QString &title, std::optional<Moment> at = {});
    void closeFile();
    void askOpen();
    void askSave();
    void save(const QString &file);

signals:
    // What is shown is of then; empty: of now.
    void moved(std::optional<std::chrono::system_clock::time_point> at);
    void said(const QString &sentence);

private:
    [[nodiscard]] Past *past() const { return m_file ? m_file.get() : m_live.past(); }
    [[nodiscard]] static Moment now() { return std::chrono::floor<std::chrono::milliseconds>(programClock().now()); }
    void seek(Moment moment, bool mayBeIncomplete = false);
    void ask();
    void show(PastPicture picture);
    void leave();
    void updateProgressLabel();
    [[nodiscard]] QString aboutFile() const;
    void askSpan();
    void askMarks();
    void takeMarks(const LockPast &lock);
    void refresh();
    void listen();

    Backend &m_live;
    PausableBackend &m_screen;
    ScreenClock &m_clock;
    TimeBar &m_bar;
    QWidget &m_window;
    std::unique_ptr<Past> m_file; // instead of the recorder
    std::unique_ptr<Past> m_opening;
    QString m_title; // of that file
    RecordedSpan m_span;
    std::optional<Moment> m_at;     // what is shown
    std::optional<Moment> m_wanted; // what is to be shown
    bool m_mayBeIncomplete = false; // what is wanted
    Moment m_since{};               // the first moment that can be shown
    QStringList m_names;            // of the connections of what is shown
    bool m_isAsking = false;
    bool m_takesFocus = false; // the line of time, as soon as it is there
    std::optional<inspect::LockName> m_lock;
    std::optional<bool> m_changeWanted; // when the marks are known; true: the one before
    QTimer m_refresh;
    int m_refreshesLeft = 0; // until the marks are asked for
    QPointer<QAction> m_openLeft;
    QPointer<QAction> m_end;
};

} // namespace lockscope::ui
