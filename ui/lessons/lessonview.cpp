// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/lessonview.h"

#include "ui/parts/parts.h"
#include "ui/simulator/faultmenu.h"

#include <QFileDialog>
#include <QScrollBar>

namespace lockscope::ui {

// All runs side by side; nothing where they differ in more than their recipe.
static std::optional<Comparison> comparisonOf(const lessons::Lesson &lesson)
{
    const auto comparable = [](contention::Scenario scenario) {
        scenario.recipe.clear();
        return scenario;
    };
    const auto &runs = lesson.runs;
    const bool isOne = !runs.empty() && std::ranges::all_of(runs, [&](const lessons::LessonRun &run) {
        return comparable(run.scenario) == comparable(runs.front().scenario);
    });
    if (!isOne)
        return std::nullopt;
    Comparison all{runs.front().scenario, {}};
    for (const auto &run : runs)
        all.recipes.push_back(run.scenario.recipe);
    return all;
}

constexpr int storyGap = 8; // beside its bar, and between text and proof

ProofList::ProofList(QWidget *parent)
    : QFrame(parent), m_head(makeLabel({}, u"section"_s, this)), m_grid(new QGridLayout)
{
    setProperty("look", u"card"_s);
    makeColumn(this, {.margins = {14, 12, 14, 12}, .spacing = 8}, {m_head, m_grid});
    m_grid->setHorizontalSpacing(10);
    m_grid->setVerticalSpacing(8);
    m_grid->setColumnStretch(1, 1);
}

void ProofList::show(const lessons::Lesson &lesson, const lessons::PlayedRuns &runs, Language language)
{
    m_head->setText(pageWord("proof", language).toUpper());
    clearLayout(*m_grid);
    m_lines.clear();
    for (const auto &proof : lesson.proves) {
        const auto proven = lessons::prove(proof, runs, language);
        const int row = m_grid->rowCount();
        auto *tick = makeLabel(proven.holds ? u"✓"_s : u"✗"_s, u"tick"_s, this);
        tick->setProperty("tone", proven.holds ? u"ok"_s : u"critical"_s);
        tick->setAccessibleName(pageWord(proven.holds ? "holds" : "doesNotHold", language));
        auto *text = makeWrapped(proof.text.in(language), u"choice"_s, this);
        auto *measured = makeLabel(proven.spoken, u"muted"_s, this);
        measured->setAccessibleName(pageWord("measured", language).arg(proven.spoken));
        m_grid->addWidget(tick, row, 0, Qt::AlignTop);
        m_grid->addWidget(text, row, 1);
        m_grid->addWidget(measured, row, 2, Qt::AlignRight | Qt::AlignTop);
        for (auto *label : {tick, text, measured})
            label->show();
        m_lines << u"%1 %2 (%3)"_s.arg(tick->text(), text->text(), proven.spoken);
    }
}

LessonView::LessonView(Simulate simulate, QWidget *parent)
    : QWidget(parent), m_simulate(simulate), m_runner(std::move(simulate))
{
    m_list = named(makeButton({}, this, &LessonView::listRequested), u"allLessons"_s);
    m_title = named(makeWrapped({}, u"lessonTitle"_s, this), u"lessonTitleLabel"_s);
    m_try = named(makeButton({}, this, &LessonView::tryIt), u"lessonTry"_s);
    m_handout = named(makeButton({}, this, &LessonView::askHandout), u"lessonHandout"_s);
    m_banner = new Banner(this);
    m_banner->hide();
    m_picture = new LessonPicture(this);
    m_text = named(makeWrapped({}, u"lesson"_s, this), u"lessonText"_s);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_question = new QuestionBox(this);
    m_proof = new ProofList(this);
    const auto scroll = [this](const BoxLook &look, std::initializer_list<BoxPart> parts) {
        auto *inside = new QWidget;
        makeColumn(inside, look, parts);
        auto *area = makeScroll(inside, this);
        area->setFocusPolicy(Qt::NoFocus);
        area->viewport()->setAutoFillBackground(false);
        inside->setAutoFillBackground(false);
        return area;
    };
    m_story = scroll({.margins = {0, 0, storyGap, 0}, .spacing = storyGap}, {m_text, m_proof});
    m_stage = named(scroll({.spacing = 8}, {m_story, {m_picture, 1}, m_question}), u"lessonStage"_s);
    m_stage->installEventFilter(this);
    m_back = named(makeButton({}, this, &LessonView::back), u"lessonBack"_s);
    m_place = makeLabel({}, u"place"_s, this);
    m_replay = named(makeButton({}, this, &LessonView::replay), u"lessonReplay"_s);
    m_next = named(makeButton({}, this, &LessonView::next, u"primary"_s), u"lessonNext"_s);
    m_back->setToolTip(u"Page Up"_s);
    m_next->setToolTip(u"Page Down"_s);
    m_head =
        makeRow({.spacing = 12},
                {{m_list, 0, Qt::AlignTop}, {m_title, 1}, {m_handout, 0, Qt::AlignTop}, {m_try, 0, Qt::AlignTop}});
    m_foot = makeRow({.spacing = 12}, {m_back, m_place, Stretch{1}, m_replay, m_next});
    makeColumn(this, {.spacing = 8}, {m_head, m_banner, {m_stage, 1}, m_foot});
    connect(m_picture, &LessonPicture::menuRequested, this, &LessonView::openFaultMenu);
    connect(m_picture, &LessonPicture::arrived, this, &LessonView::ask);
    connect(m_question, &QuestionBox::answered, this, &LessonView::noteAnswer);
    connect(Theme::instance(), &Theme::changed, this, &LessonView::place, Qt::QueuedConnection);
    connect(&m_runner, &Runner::finished, this, &LessonView::take);
    connect(&m_runner, &Runner::failed, this, [this](const Error &error) { fail(error.message); });
}

// Once the picture has arrived, and not before; all has its place from the start.
void LessonView::ask()
{
    const bool asks = hasQuestion() && !m_picture->isRunning();
    m_question->setVisible(asks);
    showButtons();
    place();
    if (asks)
        showEnd();
}

void LessonView::noteAnswer()
{
    if (const auto isRight = m_question->wasRight())
        m_answers.try_emplace(m_step, *isRight);
    m_picture->setTitles(m_lesson, m_language, hidesTitles());
    showButtons();
    place();
    showEnd();
    m_next->setFocus(); // its buttons cannot be pressed any more
}

bool LessonView::hidesTitles() const
{
    const auto last = static_cast<std::size_t>(m_lesson.titleAfter); // of the steps that hide them, from 1
    return m_step + 1 < last || (m_step + 1 == last && !m_question->isAnswered());
}

QString LessonView::score() const
{
    const auto right = std::ranges::count(m_answers, true, &std::pair<const std::size_t, bool>::second);
    return m_answers.empty() ? QString() : pageWord("score", m_language).arg(right).arg(m_answers.size());
}

void LessonView::replay()
{
    if (m_isPlayed)
        m_picture->replay();
}

void LessonView::open(const lessons::Lesson &lesson, int number, Language language)
{
    m_lesson = lesson;
    m_number = number;
    m_language = language;
    m_step = 0;
    m_answers.clear();
    m_isPlayed = false;
    m_picture->clear();
    m_banner->hide();
    m_question->hide();
    m_proof->hide();
    retranslate();
    const auto scenarios =
        mapped<std::vector<contention::Scenario>>(lesson.runs, [&](const auto &run) { return run.scenario; });
    m_runner.play(scenarios);
}

void LessonView::retranslate()
{
    m_list->setText(u"‹ "_s + pageWord("list", m_language));
    m_title->setText(u"%1. %2"_s.arg(m_number).arg(m_lesson.title.in(m_language)));
    m_place->setText(pageWord("playing", m_language));
    m_text->setText(m_lesson.summary.in(m_language));
    m_back->setText(pageWord("back", m_language));
    m_try->setText(pageWord("tryIt", m_language));
    m_handout->setText(pageWord("handout", m_language));
    m_replay->setText(pageWord("replay", m_language));
    showButtons();
}

void LessonView::setLanguage(Language language)
{
    m_language = language;
    retranslate();
    if (!m_isPlayed)
        return;
    go(m_step);
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
    m_picture->setRuns(m_lesson, runs);
    m_lesson = lessons::withNumbers(std::move(m_lesson), recordings());
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

// Whoever wrote the lesson is to know, and a class is not to look for what is not there.
void LessonView::showMissingEvents(std::size_t step)
{
    const bool isStep = step < m_lesson.steps.size();
    const auto &until = isStep ? m_lesson.steps[step].until : std::nullopt;
    const bool isMissing = until && !lessons::momentOf(*until, recordings());
    if (isMissing)
        m_banner->say(Banner::Look::Warning, {}, pageWord("never", m_language));
    m_banner->setVisible(isMissing);
}

// The faults that apply there. The lesson tells of its own runs: one with a fault is for the simulator to play.
void LessonView::openFaultMenu(const LessonPlace &place, const QPoint &at)
{
    const auto &scenario = m_lesson.runs[place.run].scenario;
    const auto &played = *m_picture->runs()[place.run];
    const auto shown = comparisonOf(m_lesson).value_or(Comparison{scenario, {scenario.recipe}});
    auto *menu = makePassingMenu(u"lessonMenu"_s, this);
    addMenuHeading(*menu, pageWord("tryIt", m_language));
    const ForkPlace here{place.at, place.lane, played.laneName(place.lane),
                         std::max(1, played.recording().history.servers), place.server};
    addFaults(*menu, shown, here, [this, shown](const contention::PlannedFault &fault) {
        auto forked = shown;
        forked.scenario.planned.push_back(fault);
        emit tryRequested(forked);
    });
    menu->popup(at);
}

void LessonView::tryIt()
{
    const auto &runs = m_lesson.runs;
    if (const auto all = comparisonOf(m_lesson)) {
        emit tryRequested(*all);
        return;
    }
    auto *menu = makePassingMenu(u"tryMenu"_s, this);
    for (const auto &run : runs) {
        auto *action = menu->addAction(label(run.title.in(m_language).toUtf8(), 80).replace(u'&', u"&&"_s));
        connect(action, &QAction::triggered, this, [this, scenario = run.scenario] {
            emit tryRequested({scenario, {scenario.recipe}});
        });
    }
    menu->popup(m_try->mapToGlobal(QPoint(0, m_try->height() + 2)));
}

void LessonView::saveHandout(const QString &file, std::vector<lessons::Lesson> lessons, bool hasAnswers)
{
    auto *writer = new HandoutWriter(m_simulate, m_language, hasAnswers, this);
    connect(writer, &HandoutWriter::done, this, [this, writer, file](const QString &failure) {
        m_banner->say(failure.isEmpty() ? Banner::Look::Ok : Banner::Look::Critical, {},
                      failure.isEmpty() ? pageWord("saved", m_language).arg(QFileInfo(file).fileName()) : failure);
        m_banner->show();
        writer->deleteLater();
    });
    writer->write(std::move(lessons), file);
}

// What goes into it, and then where it goes.
void LessonView::askHandout()
{
    auto *menu = makePassingMenu(u"handoutMenu"_s, this);
    const auto offer = [&](const QString &text, const QString &name, const std::vector<lessons::Lesson> &lessons,
                           bool hasAnswers) {
        connect(menu->addAction(text), &QAction::triggered, this, [this, name, lessons, hasAnswers] {
            auto *dialog = passing(new QFileDialog(this, pageWord("handout", m_language)));
            dialog->setAcceptMode(QFileDialog::AcceptSave);
            dialog->selectFile(name);
            connect(dialog, &QFileDialog::fileSelected, this,
                    [=, this](const QString &file) { saveHandout(file, lessons, hasAnswers); });
            dialog->open();
        });
    };
    const auto id = QString::fromLatin1(m_lesson.id);
    offer(pageWord("withAnswers", m_language), id + u".md"_s, {m_lesson}, true);
    offer(pageWord("withoutAnswers", m_language), id + u"-questions.md"_s, {m_lesson}, false);
    if (!m_chapter.empty())
        offer(pageWord("chapter", m_language).arg(lessons::chapterTitle(m_lesson.chapter).in(m_language)),
              QString::fromLatin1(m_lesson.chapter) + u".html"_s, m_chapter, true);
    menu->popup(m_handout->mapToGlobal(QPoint(0, m_handout->height() + 2)));
}

void LessonView::go(std::size_t step)
{
    m_step = step;
    const bool isProof = step == m_lesson.steps.size();
    const auto *shown = isProof ? nullptr : &m_lesson.steps[step];
    m_text->setText(shown ? shown->text.in(m_language) : m_lesson.summary.in(m_language));
    if (shown && shown->question)
        m_question->ask(*shown->question, m_language);
    m_question->hide();
    if (isProof)
        m_proof->show(m_lesson, recordings(), m_language);
    m_proof->setVisible(isProof);
    m_story->verticalScrollBar()->setValue(0);
    showMissingEvents(step);
    m_picture->setTitles(m_lesson, m_language, hidesTitles());
    m_stage->verticalScrollBar()->setValue(0);
    m_picture->runTo(momentOf(step), step > 0 ? momentOf(step - 1) : Moment{});
    if (m_picture->isRunning())
        ask();
}

// Where it scrolls: to what is asked, or said about the answer.
void LessonView::showEnd()
{
    m_stage->verticalScrollBar()->setValue(m_stage->verticalScrollBar()->maximum());
}

// Where the two buttons for more would take half of the heading they are in the foot, and where that has no room
// either they are hidden.
void LessonView::placeButtons()
{
    const int gap = m_head->spacing(), others = m_handout->sizeHint().width() + m_try->sizeHint().width() + 2 * gap;
    const bool isTight = 2 * (others + m_list->sizeHint().width()) > width();
    if (std::exchange(m_isTight, isTight) != isTight) {
        for (auto *button : {m_handout, m_try}) {
            if (isTight)
                m_foot->insertWidget(m_foot->indexOf(m_replay), button);
            else
                m_head->addWidget(button, 0, Qt::AlignTop);
        }
    }
    int foot = others;
    for (const QWidget *part : std::initializer_list<QWidget *>{m_back, m_place, m_replay, m_next})
        foot += part->sizeHint().width() + gap;
    for (auto *button : {m_handout, m_try})
        button->setVisible(!isTight || foot <= width());
}

// The picture has what story and question leave it; where that is too little all three scroll, and heading and foot
// stay. The bar's width is taken from them only then, for good: no second look at what has become of it.
void LessonView::place()
{
    for (auto *label : findChildren<QLabel *>())
        label->ensurePolished(); // its font is not known before
    placeButtons();
    layout()->activate(); // the stage is as high as heading and foot let it be
    const QSize room = m_stage->size();
    const int bar = m_stage->verticalScrollBar()->sizeHint().width();
    int needed = placeIn(room);
    const bool scrolls = needed > room.height();
    if (scrolls)
        needed = placeIn(room - QSize(bar, 0));
    m_stage->setVerticalScrollBarPolicy(scrolls ? Qt::ScrollBarAlwaysOn : Qt::ScrollBarAlwaysOff);
    m_stage->widget()->setFixedHeight(std::max(needed, room.height()));
}

// How high all of it is at the least. The story scrolls by itself where it would take more than a share, but shows
// three lines. The question's room is kept free until it is asked, so that the picture stays where it is.
int LessonView::placeIn(const QSize &room)
{
    const int inside = room.width() - m_story->verticalScrollBar()->sizeHint().width() - storyGap;
    const int gap = m_stage->widget()->layout()->spacing();
    int story = std::max(0, m_text->heightForWidth(inside)), most = room.height() * 24 / 100;
    if (isAtProof()) {
        m_proof->layout()->activate();
        story += storyGap + m_proof->layout()->totalHeightForWidth(inside);
        most = room.height() * 46 / 100;
    }
    story = std::min(story, std::max(most, 3 * m_text->fontMetrics().lineSpacing()));
    m_story->setFixedHeight(story);
    int question = 0;
    if (hasQuestion()) {
        m_question->placeChoices(room.width());
        m_question->layout()->activate();
        question = m_question->heightForWidth(room.width());
        m_question->setFixedHeight(question);
        question += gap;
    }
    auto policy = m_question->sizePolicy();
    policy.setRetainSizeWhenHidden(hasQuestion());
    m_question->setSizePolicy(policy);
    return story + gap + question + m_picture->fit({room.width(), room.height() - story - gap - question});
}

bool LessonView::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_stage && event->type() == QEvent::Resize)
        place();
    return QWidget::eventFilter(watched, event);
}

void LessonView::showButtons()
{
    const bool asks = !m_question->isHidden() && !m_question->isAnswered();
    if (m_isPlayed)
        m_place->setText((isAtProof() ? pageWord("finish", m_language)
                                      : pageWord("step", m_language).arg(m_step + 1).arg(m_lesson.steps.size()))
                         + (m_answers.empty() ? QString() : u" · "_s + score()));
    m_replay->setEnabled(m_isPlayed);
    m_back->setEnabled(m_isPlayed && m_step > 0);
    m_next->setEnabled(m_isPlayed);
    m_try->setEnabled(m_isPlayed);
    m_handout->setEnabled(m_isPlayed);
    const bool hasNext = m_step + 1 < m_lesson.steps.size();
    m_next->setText(pageWord(asks ? "answer" : isAtProof() ? "list" : hasNext ? "next" : "finish", m_language));
}

void LessonView::next()
{
    if (!m_isPlayed)
        return;
    if (m_picture->isRunning()) {
        m_picture->arrive(); // whoever is in a hurry
        if (!m_question->isHidden())
            return;
    }
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

} // namespace lockscope::ui

#include "moc_lessonview.cpp"
