// SPDX-License-Identifier: Apache-2.0
// The bar of time below the top bar: the recorded time as a line to move on, and, while the window shows another one
// than now, a banner that nobody overlooks: stripes, words and a colour that nothing else has.
#pragma once

#include "ui/shell/timetrack.h"

#include <QFrame>
#include <QTimer>

class QLabel;
class QPushButton;

namespace lockscope::ui {

class NotNowBanner;

class TimeBar : public QFrame {
    Q_OBJECT
public:
    using Moment = TimeTrack::Moment;

    explicit TimeBar(QWidget *parent = nullptr);

    [[nodiscard]] TimeTrack &track() const { return *m_track; }
    // What else can be done with recordings, in a menu.
    void addMenu(const QList<QAction *> &actions);
    // Where the window stands, and in words how far that is; empty: now.
    void showMoment(std::optional<Moment> at, const QString &howFar);
    // What is looked at: a file (its name, and what it holds), else this window's own recorder.
    void showSource(const QString &file, const QString &about);
    // Of the lock whose changes are marked, or why nothing is.
    void showAbout(const QString &words);
    // Somebody tried to do something there.
    void warn(const QString &sentence);
    [[nodiscard]] QString bannerText() const;

signals:
    void stepped(std::chrono::milliseconds by);
    void previousChangeRequested();
    void nextChangeRequested();
    void backRequested();
    void fileCloseRequested();

private:
    void sayRest();

    NotNowBanner *m_banner;
    TimeTrack *m_track;
    QLabel *m_about;
    QPushButton *m_previous;
    QPushButton *m_next;
    QPushButton *m_more;
    QString m_file;
    QString m_rest; // what the banner says beside the moment
    QTimer m_warned;
};

} // namespace lockscope::ui
