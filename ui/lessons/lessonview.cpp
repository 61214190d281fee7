// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/lessonview.h"

#include "core/base/text.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QDir>
#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QScrollArea>
#include <QScrollBar>

namespace lockscope::ui {

constexpr int narrowLesson = 980; // three pictures in Russian have no room beside the words
constexpr int narrowLargeLesson = 1100;
constexpr int shortLesson = 400;

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
    const auto &words = lessonWords(language);
    m_head->setText(words.proof.toUpper());
    while (auto *item = m_grid->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    m_lines.clear();
    for (const auto &proof : lesson.proves) {
        const auto proven = lessons::prove(proof, runs, language);
        const int row = m_grid->rowCount();
        auto *tick = makeLabel(proven.holds ? u"✓"_s : u"✗"_s, u"tick"_s, this);
        tick->setProperty("tone", proven.holds ? u"ok"_s : u"critical"_s);
        tick->setAccessibleName(proven.holds ? words.holds : words.doesNotHold);
        auto *text = makeWrapped(proof.text.in(language), u"choice"_s, this);
        auto *measured = makeLabel(proven.spoken, u"muted"_s, this);
        measured->setAccessibleName(words.measured.arg(proven.spoken));
        m_grid->addWidget(tick, row, 0, Qt::AlignTop);
        m_grid->addWidget(text, row, 1);
        m_grid->addWidget(measured, row, 2, Qt::AlignRight | Qt::AlignTop);
        for (auto *label : {tick, text, measured})
            label->show();
        m_lines << u"%1 %2 (%3)"_s.arg(tick->text(), text->text(), proven.spoken);
    }
}

LessonView::LessonView(Simulate simulate, QWidget *parent) : QWidget(parent), m_runner(std::move(simulate))
{
    auto *head = buildHead();
    m_banner = new Banner(this);
    m_banner->hide();
    m_picture = new LessonPicture(this);
    m_sides = new QBoxLayout(QBoxLayout::LeftToRight);
    m_sides->setSpacing(12);
    m_sides->addWidget(buildStory(), 3);
    m_sides->addWidget(m_picture, 5);
    makeColumn(this, {.spacing = 10}, {head, m_banner, {m_sides, 1}});
    connect(m_picture, &LessonPicture::menuRequested, this, &LessonView::openFaultMenu);
    connect(&m_runner, &Runner::finished, this, &LessonView::take);
    connect(&m_runner, &Runner::failed, this, [this](const Error &error) { fail(error.message); });
}

QWidget *LessonView::buildHead()
{
    auto *head = new QWidget(this);
    m_list = named(makeButton({}, head, this, &LessonView::listRequested), u"allLessons"_s);
    m_title = named(makeWrapped({}, u"lessonTitle"_s, head), u"lessonTitleLabel"_s);
    m_try = named(makeButton({}, head, this, &LessonView::tryIt), u"lessonTry"_s);
    m_handout = named(makeButton({}, head, this, &LessonView::askHandout), u"lessonHandout"_s);
    m_headRow =
        makeRow(head, {.spacing = 12},
                {{m_list, 0, Qt::AlignTop}, {m_title, 1}, {m_handout, 0, Qt::AlignTop}, {m_try, 0, Qt::AlignTop}});
    return head;
}

// In a narrow window a long title needs its line for itself: what else can be done with the lesson stands below. In a
// short one, too, there is no room for any of it.
void LessonView::placeButtons(bool isNarrow)
{
    const bool isShort = isNarrow && height() < shortLesson;
    if (std::exchange(m_isShort, isShort) != isShort) {
        (isShort ? m_foot : m_headRow)->insertWidget(0, m_list, 0, isShort ? Qt::Alignment() : Qt::AlignTop);
        for (QWidget *part : std::initializer_list<QWidget *>{m_title, m_try, m_handout})
            part->setVisible(!isShort);
    }
    if (std::exchange(m_isNarrow, isNarrow) == isNarrow)
        return;
    int column = m_foot->indexOf(m_back) + 2; // after what keeps the place in the middle
    for (auto *button : {m_handout, m_try}) {
        if (isNarrow)
            m_foot->insertWidget(column++, button);
        else
            m_headRow->addWidget(button, 0, Qt::AlignTop);
    }
}

QWidget *LessonView::buildStory()
{
    auto *story = new QWidget(this);
    m_story = story;
    story->setMinimumWidth(300);
    auto *inside = new QWidget;
    m_place = makeLabel({}, u"section"_s, story);
    m_text = makeWrapped({}, u"lesson"_s, inside);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_question = new QuestionBox(inside);
    m_proof = new ProofList(inside);
    makeColumn(inside, {.margins = {0, 0, 8, 0}, .spacing = 14}, {m_text, m_question, m_proof, Stretch{}});
    m_scroll = makeScroll(inside, story);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->viewport()->setAutoFillBackground(false);
    inside->setAutoFillBackground(false);
    m_back = named(makeButton({}, story, this, &LessonView::back), u"lessonBack"_s);
    m_next = named(makeButton({}, story, this, &LessonView::next, u"primary"_s), u"lessonNext"_s);
    for (auto *button : {m_back, m_next})
        button->setMinimumHeight(36);
    m_back->setToolTip(u"Page Up"_s);
    m_next->setToolTip(u"Page Down"_s);
    m_foot = makeRow({}, {m_back, Stretch{}, m_place, Stretch{}, m_next});
    makeColumn(story, {.spacing = 10}, {{m_scroll, 1}, m_foot});
    connect(m_question, &QuestionBox::answered, this, [this] {
        showButtons();
        place();
        QMetaObject::invokeMethod(
            this,
            [this] { // to what it says about the answer
                m_scroll->verticalScrollBar()->setValue(m_scroll->verticalScrollBar()->maximum());
            },
            Qt::QueuedConnection);
        m_next->setFocus(); // its buttons cannot be pressed any more
    });
    return story;
}

void LessonView::open(const lessons::Lesson &lesson, int number, Language language)
{
    m_lesson = lesson;
    m_number = number;
    m_language = language;
    m_step = 0;
    m_isPlayed = false;
    m_picture->clear();
    m_banner->hide();
    m_question->hide();
    m_proof->hide();
    retranslate();
    std::vector<contention::Scenario> scenarios;
    for (const auto &run : lesson.runs)
        scenarios.push_back(run.scenario);
    m_runner.play(scenarios);
}

void LessonView::retranslate()
{
    const auto &words = lessonWords(m_language);
    m_list->setText(u"‹ "_s + words.list);
    m_title->setText(u"%1. %2"_s.arg(m_number).arg(m_lesson.title.in(m_language)));
    m_place->setText(words.playing);
    m_text->setText(m_lesson.summary.in(m_language));
    m_back->setText(words.back);
    m_try->setText(words.tryIt);
    m_handout->setText(words.handout);
    showButtons();
}

void LessonView::setLanguage(Language language)
{
    m_language = language;
    retranslate();
    if (!m_isPlayed)
        return;
    m_picture->setTitles(m_lesson, language);
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
    m_picture->setRuns(m_lesson, runs, m_language);
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

// Whoever wrote the lesson is to know, and a class is not to look for what is not there.
void LessonView::showMissingEvents(std::size_t step)
{
    const bool isStep = step < m_lesson.steps.size();
    const auto &until = isStep ? m_lesson.steps[step].until : std::nullopt;
    const bool isMissing = until && !lessons::momentOf(*until, recordings());
    if (isMissing)
        m_banner->say(Banner::Look::Warning, {}, lessonWords(m_language).never);
    m_banner->setVisible(isMissing);
}

void LessonView::openFaultMenu(const LessonPlace &place, const QPoint &at)
{
    auto *menu = named(new QMenu(this), u"lessonMenu"_s);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    addLessonFaults(*menu, lessonWords(m_language).tryIt, m_lesson, *m_picture->runs()[place.run], place,
                    [this](const Comparison &forked) { emit tryRequested(forked); });
    menu->popup(at);
}

void LessonView::tryIt()
{
    const auto &runs = m_lesson.runs;
    if (const auto all = comparisonOf(m_lesson)) {
        emit tryRequested(*all);
        return;
    }
    auto *menu = named(new QMenu(this), u"tryMenu"_s);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (const auto &run : runs) {
        auto *action = menu->addAction(label(run.title.in(m_language).toUtf8(), 80).replace(u'&', u"&&"_s));
        connect(action, &QAction::triggered, this, [this, scenario = run.scenario] {
            emit tryRequested({scenario, {scenario.recipe}});
        });
    }
    menu->popup(m_try->mapToGlobal(QPoint(0, m_try->height() + 2)));
}

QString LessonView::saveHandout(const QString &file)
{
    const QFileInfo place(file);
    const auto pictureOf = [&](std::size_t step) {
        return u"%1-%2.png"_s.arg(place.completeBaseName()).arg(step + 1);
    };
    QStringList pictures;
    for (std::size_t step = 0; step < m_lesson.steps.size(); ++step) {
        const Moment at = momentOfStep(step);
        pictures << (at < Moment{} ? QString() : pictureOf(step));
        if (pictures.back().isEmpty())
            continue;
        if (const auto failure = savePng(m_picture->picturesAt(at), place.dir().filePath(pictures.back()));
            !failure.isEmpty())
            return failure;
    }
    return saveBytes(lessons::handout(m_lesson, recordings(), m_language, pictures).toUtf8(), file);
}

void LessonView::askHandout()
{
    auto *dialog = new QFileDialog(this, lessonWords(m_language).handout);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(u"md"_s);
    dialog->selectFile(QString::fromLatin1(m_lesson.id) + u".md"_s);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &file) {
        const auto failure = saveHandout(file);
        const auto name = QFileInfo(file).fileName();
        m_banner->say(failure.isEmpty() ? Banner::Look::Ok : Banner::Look::Critical, {},
                      failure.isEmpty() ? lessonWords(m_language).saved.arg(name) : failure);
        m_banner->show();
    });
    dialog->open();
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
    showMissingEvents(step);
    place();
    QMetaObject::invokeMethod(this, &LessonView::place, Qt::QueuedConnection); // once what is new has its fonts
    m_picture->runTo(momentOfStep(step));
    showButtons();
}

// In a narrow window the words stand above the picture, and take what they need, but never more than half.
void LessonView::place()
{
    const bool isNarrow = width() < (Theme::instance()->isLarge() ? narrowLargeLesson : narrowLesson);
    m_sides->setDirection(isNarrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    placeButtons(isNarrow);
    if (!isNarrow) {
        m_story->setMaximumHeight(QWIDGETSIZE_MAX);
        m_story->setMinimumHeight(0);
        return;
    }
    const int room = width() - m_scroll->verticalScrollBar()->sizeHint().width() - 8;
    int needed = m_story->layout()->spacing() + m_next->sizeHint().height() + 10;
    for (QWidget *part : std::initializer_list<QWidget *>{m_text, m_question, m_proof}) {
        if (part->isHidden())
            continue;
        if (part->layout())
            part->layout()->invalidate();
        needed += 14 + std::max(part->heightForWidth(room), part->minimumSizeHint().height());
    }
    m_story->setFixedHeight(std::min(needed, height() * 36 / 100));
}

void LessonView::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    place();
}

void LessonView::showButtons()
{
    const auto &words = lessonWords(m_language);
    const bool asks = !m_question->isHidden() && !m_question->isAnswered();
    m_back->setEnabled(m_isPlayed && m_step > 0);
    m_next->setEnabled(m_isPlayed);
    m_try->setEnabled(m_isPlayed);
    m_handout->setEnabled(m_isPlayed);
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

#include "moc_lessonview.cpp"
