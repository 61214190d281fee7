// SPDX-License-Identifier: Apache-2.0
// The bar of time below the top bar, while the window does not show the present: a banner that nobody overlooks, with
// stripes, words and a colour that nothing else has; and, where no strip of a lock is on screen, the recorded time
// as a line to move on.
#pragma once

#include "ui/models/timelinelanes.h"

#include <QLabel>
#include <QTimer>

class QPushButton;

namespace lockscope::ui {

// The recorded time as a line to move on: where the window stands, and where the chosen lock changed.
class TimeTrack : public QWidget {
    Q_OBJECT
public:
    using Moment = history::Moment;

    explicit TimeTrack(QWidget *parent = nullptr);

    void setSpan(Moment begin, Moment end);
    // No moment before that can be shown.
    void setSince(Moment since);
    // Where it stands; empty: at the end, which is now.
    void setMoment(std::optional<Moment> at);
    void setMarks(std::vector<Moment> marks);
    [[nodiscard]] Moment begin() const { return m_begin; }
    [[nodiscard]] Moment end() const { return m_end; }
    [[nodiscard]] std::optional<Moment> moment() const { return m_at; }
    [[nodiscard]] const std::vector<Moment> &marks() const { return m_marks; }
    // The nearest mark before (or after) where it stands.
    [[nodiscard]] std::optional<Moment> markBefore() const;
    [[nodiscard]] std::optional<Moment> markAfter() const;
    [[nodiscard]] QSize sizeHint() const override { return {400, 40}; }

signals:
    void sought(std::chrono::sys_time<std::chrono::milliseconds> moment);
    void stepped(std::chrono::milliseconds by);
    void changeRequested(bool before);

private:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    [[nodiscard]] TimeAxis axis() const;

    Moment m_begin{}, m_end{}, m_since{};
    std::optional<Moment> m_at;
    std::vector<Moment> m_marks; // in order
};

class NotNowBanner;

class TimeBar : public QFrame {
    Q_OBJECT
public:
    using Moment = TimeTrack::Moment;

    explicit TimeBar(QWidget *parent = nullptr);

    [[nodiscard]] TimeTrack &track() const { return *m_track; }
    // What else can be done with recordings, in a menu.
    void addMenu(const QList<QAction *> &actions);
    // Where the same can be done while it is on screen: a lock's strip. It outlives the bar.
    void useStrip(QWidget &strip);
    void focusTrack();
    // Where the window stands, in words how far that is, and since when it is recorded; empty: now. It is of a file,
    // else of this window's own recorder.
    void showMoment(std::optional<Moment> at, const QString &howFar, const QString &about, bool isFile);
    // Since when the window stands still, and what came since; empty: it goes on.
    void showPaused(std::optional<Moment> at, const QString &about);
    // Of the lock whose changes are marked, or why nothing is.
    void showAbout(const QString &words) { m_about->setText(words); }
    // Somebody tried to do something there.
    void warn(const QString &sentence);
    [[nodiscard]] QString bannerText() const;

signals:
    void stepped(std::chrono::milliseconds by);
    void changeRequested(bool before);
    void backRequested();
    void resumeRequested();
    void fileCloseRequested();

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void refresh();

    NotNowBanner *m_banner;
    TimeTrack *m_track;
    QLabel *m_about;
    QPushButton *m_more;
    QWidget *m_line; // with the track
    QWidget *m_strip = nullptr;
    bool m_showsFile = false;
    std::optional<Moment> m_at, m_pausedAt;
    QString m_howFar;
    QString m_rest, m_pausedRest; // what the banner says beside the moment
    QTimer m_warned;
};

} // namespace lockscope::ui
