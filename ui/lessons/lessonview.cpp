// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/lessonview.h"

#include "ui/lessons/lessonpicture.h"
#include "ui/lessons/questionbox.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"

#include <QBoxLayout>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

ProofList::ProofList(QWidget *parent)
    : QFrame(parent), m_head(makeLabel({}, u"section"_s, this)), m_grid(new QGridLayout)
{
    setProperty("look", u"card"_s);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(14, 12, 14, 12);
    column->setSpacing(8);
    column->addWidget(m_head);
    column->addLayout(m_grid);
    m_grid->setHorizontalSpacing(10);
    m_grid->setVerticalSpacing(8);
    m_grid->setColumnStretch(1, 1);
}

void ProofList::show(const lessons::Lesson &lesson, const lessons::PlayedRuns &runs, Language language)
{
    const auto &words = lessonWords(language);
    m_head->setText(words.proof.toUpper());
    while (auto *item = m_grid->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    m_lines.clear();
    for (const auto &proof : lesson.proves) {
        const auto proven = lessons::prove(proof, runs);
        const int row = m_grid->rowCount();
        auto *tick = makeLabel(proven.holds ? u"✓"_s : u"✗"_s, u"tick"_s, this);
        tick->setProperty("tone", proven.holds ? u"ok"_s : u"critical"_s);
        tick->setAccessibleName(proven.holds ? words.holds : words.doesNotHold);
        auto *text = makeLabel(proof.text.in(language), u"choice"_s, this);
        text->setWordWrap(true);
        const bool isViolation = proof.of == lessons::Proof::Of::Violation;
        const QString found = !isViolation                      ? proven.measured
                              : proven.measured == "present"_L1 ? words.present
                                                                : words.absent;
        auto *measured = makeLabel(found, u"muted"_s, this);
        measured->setAccessibleName(words.measured.arg(found));
        m_grid->addWidget(tick, row, 0, Qt::AlignTop);
        m_grid->addWidget(text, row, 1);
        m_grid->addWidget(measured, row, 2, Qt::AlignRight | Qt::AlignTop);
        for (auto *label : {tick, text, measured})
            label->show();
        m_lines << u"%1 %2 (%3)"_s.arg(tick->text(), text->text(), found);
    }
}

LessonView::LessonView(Simulate simulate, QWidget *parent) : QWidget(parent), m_runner(std::move(simulate))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(10);
    column->addWidget(buildHead());
    m_banner = new Banner(this);
    m_banner->hide();
    column->addWidget(m_banner);
    m_picture = new LessonPicture(this);
    auto *sides = new QHBoxLayout;
    sides->setSpacing(16);
    sides->addWidget(buildStory(), 3);
    sides->addWidget(m_picture, 5);
    column->addLayout(sides, 1);
    connect(&m_runner, &Runner::finished, this, &LessonView::take);
    connect(&m_runner, &Runner::failed, this, [this](const Error &error) { fail(error.message); });
}

QWidget *LessonView::buildHead()
{
    auto *head = new QWidget(this);
    auto *row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(12);
    m_list = new QPushButton(head);
    m_list->setObjectName(u"allLessons"_s);
    connect(m_list, &QPushButton::clicked, this, &LessonView::listRequested);
    m_title = makeLabel({}, u"lessonTitle"_s, head);
    m_title->setWordWrap(true);
    row->addWidget(m_list, 0, Qt::AlignTop);
    row->addWidget(m_title, 1);
    return head;
}

QWidget *LessonView::buildStory()
{
    auto *story = new QWidget(this);
    story->setMinimumWidth(300);
    auto *column = new QVBoxLayout(story);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(10);
    auto *inside = new QWidget;
    auto *words = new QVBoxLayout(inside);
    words->setContentsMargins(0, 0, 8, 0);
    words->setSpacing(14);
    m_place = makeLabel({}, u"section"_s, inside);
    m_text = makeLabel({}, u"lesson"_s, inside);
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_question = new QuestionBox(inside);
    m_proof = new ProofList(inside);
    words->addWidget(m_place);
    words->addWidget(m_text);
    words->addWidget(m_question);
    words->addWidget(m_proof);
    words->addStretch();
    m_scroll = new QScrollArea(story);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setWidget(inside);
    m_scroll->viewport()->setAutoFillBackground(false);
    inside->setAutoFillBackground(false);
    column->addWidget(m_scroll, 1);
    auto *buttons = new QHBoxLayout;
    m_back = new QPushButton(story);
    m_back->setObjectName(u"lessonBack"_s);
    m_next = new QPushButton(story);
    m_next->setObjectName(u"lessonNext"_s);
    m_next->setProperty("look", u"primary"_s);
    for (auto *button : {m_back, m_next})
        button->setMinimumHeight(36);
    m_back->setToolTip(u"Page Up"_s);
    m_next->setToolTip(u"Page Down"_s);
    buttons->addWidget(m_back);
    buttons->addStretch();
    buttons->addWidget(m_next);
    column->addLayout(buttons);
    connect(m_back, &QPushButton::clicked, this, &LessonView::back);
    connect(m_next, &QPushButton::clicked, this, &LessonView::next);
    connect(m_question, &QuestionBox::answered, this, [this] {
        showButtons();
        m_next->setFocus(); // its buttons cannot be pressed any more
    });
    return story;
}

void LessonView::open(const lessons::Lesson &lesson, int number, Language language)
{
    const auto &words = lessonWords(language);
    m_lesson = lesson;
    m_language = language;
    m_step = 0;
    m_isPlayed = false;
    m_picture->clear();
    m_banner->hide();
    m_list->setText(u"‹ "_s + words.list);
    m_title->setText(u"%1. %2"_s.arg(number).arg(lesson.title.in(language)));
    m_place->setText(words.playing);
    m_text->setText(lesson.summary.in(language));
    m_question->hide();
    m_proof->hide();
    m_back->setText(words.back);
    showButtons();
    std::vector<contention::Scenario> scenarios;
    for (const auto &run : lesson.runs)
        scenarios.push_back(run.scenario);
    m_runner.play(scenarios);
}

void LessonView::close()
{
    m_runner.cancel();
    m_isPlayed = false;
    m_picture->clear();
}

void LessonView::fail(const QString &why)
{
    m_place->clear();
    m_banner->say(Banner::Look::Critical, {}, why);
    m_banner->show();
    emit played();
}

void LessonView::take(const std::vector<PlayedRunPtr> &runs)
{
    m_isPlayed = true;
    m_picture->setRuns(m_lesson, runs, m_language);
    go(0);
    emit played();
}

lessons::PlayedRuns LessonView::recordings() const
{
    lessons::PlayedRuns runs;
    for (const auto &run : m_picture->runs())
        runs.push_back(&run->recording());
    return runs;
}

// That of the last step, up to this one, that says where to stop.
Moment LessonView::momentOfStep(std::size_t step) const
{
    if (step == m_lesson.steps.size())
        return m_picture->end();
    for (std::size_t i = step + 1; i-- > 0;) {
        const auto &until = m_lesson.steps[i].until;
        if (const auto moment = until ? lessons::momentOf(*until, recordings()) : std::nullopt)
            return *moment;
    }
    return Moment(-1); // before everything
}

void LessonView::go(std::size_t step)
{
    const auto &words = lessonWords(m_language);
    m_step = step;
    const bool isProof = step == m_lesson.steps.size();
    const auto *shown = isProof ? nullptr : &m_lesson.steps[step];
    m_place->setText(isProof ? words.finish.toUpper()
                             : words.step.arg(step + 1).arg(m_lesson.steps.size()).toUpper());
    m_text->setText(shown ? shown->text.in(m_language) : m_lesson.summary.in(m_language));
    const bool asks = shown && shown->question;
    if (asks)
        m_question->show(*shown->question, m_language);
    m_question->setVisible(asks);
    if (isProof)
        m_proof->show(m_lesson, recordings(), m_language);
    m_proof->setVisible(isProof);
    m_scroll->verticalScrollBar()->setValue(0);
    m_picture->runTo(momentOfStep(step));
    showButtons();
}

void LessonView::showButtons()
{
    const auto &words = lessonWords(m_language);
    const bool asks = !m_question->isHidden() && !m_question->isAnswered();
    m_back->setEnabled(m_isPlayed && m_step > 0);
    m_next->setEnabled(m_isPlayed);
    if (asks)
        m_next->setText(words.answer);
    else if (isAtProof())
        m_next->setText(words.list);
    else
        m_next->setText(m_step + 1 < m_lesson.steps.size() ? words.next : words.finish);
}

void LessonView::next()
{
    if (!m_isPlayed)
        return;
    if (m_picture->isRunning())
        m_picture->arrive(); // whoever is in a hurry
    if (!m_question->isHidden() && !m_question->isAnswered())
        m_question->reveal();
    else if (isAtProof())
        emit listRequested();
    else
        go(m_step + 1);
}

void LessonView::back()
{
    if (m_isPlayed && m_step > 0)
        go(m_step - 1);
}

void LessonView::choose(std::size_t choice)
{
    if (!m_question->isHidden())
        m_question->choose(choice);
}

QString LessonView::text() const
{
    return m_text->text();
}

QString LessonView::complaint() const
{
    return m_banner->isHidden() ? QString() : m_banner->sentence();
}

} // namespace lockscope::ui
