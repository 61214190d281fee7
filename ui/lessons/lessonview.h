// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <version>

#include "ui/lessons/lessonwords.h"
#include "ui/simulator/comparison.h"
#include "ui/simulator/runner.h"

#include <QFrame>
#include <QWidget>

class QBoxLayout;
class QGridLayout;
class QLabel;
class QPushButton;
class QScrollArea;
class QSplitter;

namespace lockscope::ui {

class Banner;
class LessonPicture;
class QuestionBox;

// What a lesson ends in: its sentences, each with what was measured and whether it holds.
class ProofList : public QFrame {
    Q_OBJECT
public:
    explicit ProofList(QWidget *parent = nullptr);

    void show(const lessons::Lesson &lesson, const lessons::PlayedRuns &runs, Language language);
    // "✓ 45 wake-ups for nine hand-overs (45)".
    [[nodiscard]] const QStringList &lines() const { return m_lines; }

private:
    QLabel *m_head;
    QGridLayout *m_grid;
    QStringList m_lines;
};

// One lesson: its steps on the left, its picture on the right. Next runs the picture on; a question stands before it.
class LessonView : public QWidget {
    Q_OBJECT
public:
    LessonView(Simulate simulate, QWidget *parent);

    // `number`: as the list counts it, from 1.
    void open(const lessons::Lesson &lesson, int number, Language language);
    // The same step in another language; what was answered is asked again.
    void setLanguage(Language language);
    void close();
    // Where there is nothing to wait for: to the next step; shows the answer if nobody chose one.
    void next();
    void back();
    void choose(std::size_t choice);

    // After the last of the steps comes the proof.
    [[nodiscard]] std::size_t step() const { return m_step; }
    [[nodiscard]] bool isAtProof() const { return m_isPlayed && m_step == m_lesson.steps.size(); }
    [[nodiscard]] bool isPlayed() const { return m_isPlayed; }
    [[nodiscard]] bool isBusy() const { return m_runner.isBusy(); }
    [[nodiscard]] const lessons::Lesson &lesson() const { return m_lesson; }
    [[nodiscard]] LessonPicture &picture() { return *m_picture; }
    [[nodiscard]] QuestionBox &question() { return *m_question; }
    [[nodiscard]] const ProofList &proof() const { return *m_proof; }
    [[nodiscard]] QString text() const;
    [[nodiscard]] QString complaint() const;

signals:
    void played(); // or failed to
    void listRequested();
    void tryRequested(const lockscope::ui::Comparison &comparison);

public slots:
    // What it plays, in the simulator: side by side where it is one scenario with two recipes, else one of the
    // runs.
    void tryIt();
    void askHandout();

public:
    // The lesson as a page to hand out, with a picture of each step beside it; empty, or what went wrong.
    [[nodiscard]] QString saveHandout(const QString &file);

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    QWidget *buildHead();
    QWidget *buildStory();
    void take(const std::vector<PlayedRunPtr> &runs);
    void fail(const QString &why);
    void go(std::size_t step);
    void openFaultMenu(const LessonPlace &place, const QPoint &at);
    void showButtons();
    void place();
    void placeButtons(bool isNarrow);
    void sayWords();
    [[nodiscard]] Moment momentOfStep(std::size_t step) const;
    void sayWhatNeverComes(std::size_t step);
    [[nodiscard]] lessons::PlayedRuns recordings() const;

    Runner m_runner;
    lessons::Lesson m_lesson;
    Language m_language = Language::English;
    int m_number = 0;
    std::size_t m_step = 0;
    bool m_isPlayed = false;
    bool m_isNarrow = false;
    bool m_isShort = false;

    QPushButton *m_list = nullptr;
    QLabel *m_title = nullptr;
    QPushButton *m_try = nullptr;
    QPushButton *m_handout = nullptr;
    Banner *m_banner = nullptr;
    QBoxLayout *m_headRow = nullptr;
    QBoxLayout *m_foot = nullptr; // Back, Next and what stands between them
    QBoxLayout *m_sides = nullptr;
    QWidget *m_story = nullptr;
    QScrollArea *m_scroll = nullptr;
    QLabel *m_place = nullptr;
    QLabel *m_text = nullptr;
    QuestionBox *m_question = nullptr;
    ProofList *m_proof = nullptr;
    QPushButton *m_back = nullptr;
    QPushButton *m_next = nullptr;
    LessonPicture *m_picture = nullptr;
};

} // namespace lockscope::ui
