// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ui/parts/notices.h"
#include "ui/simulator/runner.h"
#include "ui/simulator/runpanel.h"

#include <QListWidget>

class QBoxLayout;
class QScrollArea;
class QVBoxLayout;

namespace lockscope::ui {

class LessonPicture;
class QuestionBox;

using lessons::Language;
using lessons::pageWord;

// Where somebody points.
struct LessonPlace {
    std::size_t run = 0;
    Moment at{};
    int lane = 0;
    std::optional<int> server{}; // the one alone that was pointed at
};

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

// One lesson on its stage: the story in a line, its picture in full width, then what is asked. Next runs the picture
// on; a question comes once it has arrived, and the story of the next step after its answer.
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
    void replay();

    // After the last of the steps comes the proof.
    [[nodiscard]] std::size_t step() const { return m_step; }
    [[nodiscard]] bool isAtProof() const { return m_isPlayed && m_step == m_lesson.steps.size(); }
    [[nodiscard]] bool isPlayed() const { return m_isPlayed; }
    [[nodiscard]] bool isBusy() const { return m_runner.isBusy(); }
    [[nodiscard]] const lessons::Lesson &lesson() const { return m_lesson; }
    [[nodiscard]] LessonPicture &picture() { return *m_picture; }
    [[nodiscard]] QuestionBox &question() { return *m_question; }
    [[nodiscard]] const ProofList &proof() const { return *m_proof; }
    [[nodiscard]] QString text() const { return m_text->text(); }
    [[nodiscard]] QString complaint() const { return m_banner->isHidden() ? QString() : m_banner->sentence(); }
    // "2 of 3 answers right"; empty before the first.
    [[nodiscard]] QString score() const;

signals:
    void played(); // or failed to
    void listRequested();
    void tryRequested(const lockscope::ui::Comparison &comparison);

public slots:
    // What it plays, in the simulator: side by side where it is one scenario with two recipes, else one of the runs.
    void tryIt();
    void askHandout();

public:
    // As a page to hand out; complaint() says what came of it.
    void saveHandout(const QString &file, std::vector<lessons::Lesson> lessons, bool hasAnswers);
    // Those of the open lesson's chapter, for a page of all of them.
    void setChapter(std::vector<lessons::Lesson> lessons) { m_chapter = std::move(lessons); }

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void take(const std::vector<PlayedRunPtr> &runs);
    void fail(const QString &why);
    void go(std::size_t step);
    void openFaultMenu(const LessonPlace &place, const QPoint &at);
    void showButtons();
    void placeButtons();
    void place();
    [[nodiscard]] int placeIn(const QSize &room);
    [[nodiscard]] bool hasQuestion() const
    {
        return m_isPlayed && m_step < m_lesson.steps.size() && m_lesson.steps[m_step].question;
    }
    void ask();
    void noteAnswer();
    void showEnd();
    [[nodiscard]] bool hidesTitles() const;
    void retranslate();
    [[nodiscard]] Moment momentOf(std::size_t step) const
    {
        return lessons::momentOfStep(m_lesson, step, recordings());
    }
    void showMissingEvents(std::size_t step);
    [[nodiscard]] lessons::PlayedRuns recordings() const;

    const Simulate m_simulate;
    Runner m_runner;
    std::vector<lessons::Lesson> m_chapter;
    lessons::Lesson m_lesson;
    Language m_language = Language::English;
    int m_number = 0;
    std::size_t m_step = 0;
    bool m_isPlayed = false;
    bool m_isTight = false;                // the buttons of the heading stand in the foot
    std::map<std::size_t, bool> m_answers; // of the steps' questions: whether the first answer was right

    QPushButton *m_list = nullptr;
    QLabel *m_title = nullptr;
    QPushButton *m_try = nullptr;
    QPushButton *m_handout = nullptr;
    Banner *m_banner = nullptr;
    QBoxLayout *m_head = nullptr;
    QBoxLayout *m_foot = nullptr;
    QScrollArea *m_stage = nullptr; // between heading and foot; scrolls where all of it is at its least
    QScrollArea *m_story = nullptr; // the text, and at last the proof
    QLabel *m_place = nullptr;
    QLabel *m_text = nullptr;
    QuestionBox *m_question = nullptr;
    ProofList *m_proof = nullptr;
    QPushButton *m_back = nullptr;
    QPushButton *m_replay = nullptr;
    QPushButton *m_next = nullptr;
    LessonPicture *m_picture = nullptr;
};

// A question that is answered before the picture goes on: its choices, and afterwards which one was right, and why.
class QuestionBox : public QFrame {
    Q_OBJECT
public:
    explicit QuestionBox(QWidget *parent = nullptr);

    void ask(const lessons::Question &question, Language language);
    void choose(std::size_t choice);
    // The answer, without anybody having chosen: a remote control has no keys to choose by.
    void reveal();
    [[nodiscard]] bool isAnswered() const { return m_isRevealed; }
    // Nothing: nobody chose.
    [[nodiscard]] std::optional<bool> wasRight() const
    {
        return m_answer ? std::optional(*m_answer == m_question.right) : std::nullopt;
    }
    // Beside the question where that leaves it half of the width; else below, and in a column where they are long.
    void placeChoices(int width);
    [[nodiscard]] const std::vector<QPushButton *> &choices() const { return m_buttons; }
    [[nodiscard]] QString verdict() const { return m_isRevealed ? m_verdict->text() : QString(); }

signals:
    void answered();

private:
    void showAnswer();

    lessons::Question m_question;
    Language m_language = Language::English;
    std::optional<std::size_t> m_answer;
    bool m_isRevealed = false;
    QLabel *m_text;
    QBoxLayout *m_choices;
    std::vector<QPushButton *> m_buttons;
    QLabel *m_verdict;
    QBoxLayout *m_row;
};

class Legend;

// The runs of a lesson beside each other, with one cursor that runs on to where a step wants it, and what woke whom
// in rays that fly there.
class LessonPicture : public QWidget {
    Q_OBJECT
public:
    explicit LessonPicture(QWidget *parent = nullptr);
    ~LessonPicture() override;

    // The cursor is before everything. Nothing is shown until there are runs.
    void setRuns(const lessons::Lesson &lesson, const std::vector<PlayedRunPtr> &runs);
    void setTitles(const lessons::Lesson &lesson, Language language, bool areHidden);
    void clear();
    // From the step before, zoomed to what leads there. Runs there in a moment if that is later, and is there at once
    // if it is not.
    void runTo(Moment at, Moment since = {});
    void replay();
    void zoomBy(double factor);
    void showStepSight() { showSight(m_stage.sight); }
    // How long that takes on the wall, without the flight of wake-ups; 0: no time at all, nor do they fly.
    void setPace(std::chrono::milliseconds pace) { m_pace = pace; }
    void arrive(); // at once
    [[nodiscard]] bool isRunning() const { return m_timer.isActive(); }

    [[nodiscard]] Moment at() const { return m_playback.at(); }
    [[nodiscard]] Moment end() const { return m_playback.end(); }
    [[nodiscard]] std::size_t happened(std::size_t run) const { return m_playback.happened(run); }
    [[nodiscard]] const std::vector<PlayedRunPtr> &runs() const { return m_playback.runs(); }
    [[nodiscard]] LanesView &lanes(std::size_t run) const { return panels()[run]->lanes(); }
    [[nodiscard]] const CounterTiles &tiles(std::size_t run) const { return panels()[run]->tiles(); }
    [[nodiscard]] const ServerStrip &servers(std::size_t run) const { return panels()[run]->servers(); }
    [[nodiscard]] QString title(std::size_t run) const { return panels()[run]->title().text(); }

    // Chooses what there is room for, and says how high that is at the least: the lanes take what is left. It goes by
    // the room alone and never by what it looks like already, so that the next time comes to the same.
    int fit(const QSize &room);

    // As it looks with the cursor there, for a file.
    [[nodiscard]] std::vector<RunPicture> picturesAt(Moment since, Moment at) const;

signals:
    void arrived();
    // A click with the right button, which also moves the cursor there.
    void menuRequested(const lockscope::ui::LessonPlace &place, const QPoint &at);

private:
    [[nodiscard]] const std::vector<RunPanel *> &panels() const { return m_grid->panels(); }
    struct Sight {
        Moment from{}, to{};
    };
    struct Stage {
        Sight sight;
        std::optional<Moment> sent;               // of the event that wakes; none: the step is about something else
        std::vector<std::vector<WakeUp>> wakeUps; // of each run
    };
    [[nodiscard]] Stage stageAt(Moment since, Moment at) const;
    void showSight(const Sight &sight);
    void fly(double flight, double fall);
    void fitTitles(int room);
    void showLegend();
    void advance();

    Playback m_playback;
    RunGrid *m_grid;
    Legend *m_legend;
    QTimer m_timer;
    QElapsedTimer m_elapsed;
    std::chrono::milliseconds m_pace{1200};
    Stage m_stage;
    Moment m_from{}, m_target{}, m_since{};
};

// Lessons as a page to hand out: a file of Markdown with a picture of each step beside it, or one of HTML that has
// them inside.
class HandoutWriter : public QObject {
    Q_OBJECT
public:
    HandoutWriter(Simulate simulate, Language language, bool hasAnswers, QObject *parent);
    // Plays them one after the other; done() follows, with what went wrong.
    void write(std::vector<lessons::Lesson> lessons, const QString &file);

signals:
    void done(const QString &failure);

private:
    void playNext();
    void add(const std::vector<PlayedRunPtr> &runs);
    void finish();

    Runner m_runner;
    const Language m_language;
    const bool m_hasAnswers;
    LessonPicture m_picture; // never shown
    std::vector<lessons::Lesson> m_lessons;
    std::size_t m_next = 0;
    QString m_file, m_text;
    std::vector<std::pair<QString, QByteArray>> m_pictures; // PNG, by name
};

// All lessons, one below the other, below the headings of their chapters: number, title, what it is about. And what
// is wrong with files that are none.
class LessonList : public QWidget {
    Q_OBJECT
public:
    explicit LessonList(QWidget *parent = nullptr);

    void show(const lessons::Lessons &lessons, Language language);
    void setFilter(const QString &text);
    void choose(std::size_t lesson) { m_rows->setCurrentRow(static_cast<int>(lesson)); }
    [[nodiscard]] QListWidget &rows() { return *m_rows; }
    [[nodiscard]] QStringList complaints() const;
    [[nodiscard]] QStringList headings() const; // of the chapters that are shown

signals:
    void chosen(std::size_t lesson);

private:
    void placeHeadings();

    Language m_language = Language::English;
    QLabel *m_heading;
    QLabel *m_hint;
    QListWidget *m_rows;
    QVBoxLayout *m_refused;
};

} // namespace lockscope::ui
