// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/lessonspage.h"

#include <QShortcut>

namespace lockscope::ui {

LessonsPage::LessonsPage(QWidget *parent, const QStringList &folders, Simulate simulate)
    : Page(parent), m_folders(folders), m_stack(new QStackedWidget(this)), m_list(new LessonList(m_stack)),
      m_lesson(new LessonView(std::move(simulate), m_stack))
{
    m_stack->addWidget(m_list);
    m_stack->addWidget(m_lesson);
    makeColumn(this, {.margins = {16, 12, 16, 12}}, {m_stack});
    connect(m_list, &LessonList::chosen, this, &LessonsPage::openLesson);
    connect(m_lesson, &LessonView::listRequested, this, &LessonsPage::openList);
    connect(m_lesson, &LessonView::played, this, &Page::settled);
    connect(m_lesson, &LessonView::tryRequested, this, &LessonsPage::tryRequested);
    addKeys();
    QTimer::singleShot(0, this, &LessonsPage::load); // their number stands in the rail
}

void LessonsPage::addKeys()
{
    const auto on = [this](const QKeySequence &keys, auto slot) {
        new QShortcut(keys, m_lesson, this, slot, Qt::WidgetWithChildrenShortcut);
    };
    on(Qt::Key_PageDown, [this] { m_lesson->next(); });
    on(Qt::Key_PageUp, [this] { m_lesson->back(); });
    on(Qt::Key_Escape, [this] { openList(); });
    on(Qt::Key_Period, [this] { m_lesson->replay(); });
    for (const auto key : {Qt::Key_Plus, Qt::Key_Equal})
        on(key, [this] { m_lesson->picture().zoomBy(1.5); });
    on(Qt::Key_Minus, [this] { m_lesson->picture().zoomBy(1 / 1.5); });
    on(Qt::Key_0, [this] { m_lesson->picture().showStepSight(); });
    for (int choice = 0; choice < 6; ++choice)
        on(QKeySequence(Qt::Key_1 + choice), [this, choice] { m_lesson->choose(static_cast<std::size_t>(choice)); });
}

KeyHints LessonsPage::keys() const
{
    return {{u"PgDn PgUp"_s, tr("next step, and back")},
            {u"1 … 6"_s, tr("answer")},
            {u"."_s, tr("replay")},
            {u"- + 0"_s, tr("zoom time")},
            {u"Esc"_s, tr("all lessons")}};
}

void LessonsPage::load()
{
    if (m_isLoaded)
        return;
    m_isLoaded = true;
    m_lessons = lessons::loadLessons(m_folders);
    m_list->show(m_lessons, m_language);
    emit countChanged(QString::number(m_lessons.lessons.size()));
    emit settled();
}

void LessonsPage::refresh()
{
    m_isLoaded = false;
    const auto open = m_open ? m_lessons.lessons[*m_open].id : QByteArray();
    load();
    if (!openLessonById(open))
        openList();
}

void LessonsPage::setLanguage(Language language)
{
    m_language = language;
    speak(language);
    if (m_isLoaded)
        m_list->show(m_lessons, language);
    if (m_open)
        m_lesson->setLanguage(language);
}

void LessonsPage::openLesson(std::size_t lesson)
{
    load();
    if (lesson >= m_lessons.lessons.size())
        return;
    m_open = lesson;
    m_stack->setCurrentWidget(m_lesson);
    const auto isSameChapter = [&](const lessons::Lesson &other) {
        return other.chapter == m_lessons.lessons[lesson].chapter;
    };
    std::vector<lessons::Lesson> chapter;
    std::ranges::copy_if(m_lessons.lessons, std::back_inserter(chapter), isSameChapter);
    m_lesson->setChapter(std::move(chapter));
    m_lesson->open(m_lessons.lessons[lesson], static_cast<int>(lesson) + 1, m_language);
    m_lesson->setFocus();
}

bool LessonsPage::openLessonById(const QByteArray &id)
{
    load();
    const auto at = std::ranges::find(m_lessons.lessons, id, &lessons::Lesson::id);
    if (at == m_lessons.lessons.end())
        return false;
    openLesson(static_cast<std::size_t>(at - m_lessons.lessons.begin()));
    return true;
}

void LessonsPage::openList()
{
    if (m_open)
        m_list->choose(*m_open);
    m_open.reset();
    m_lesson->close();
    m_stack->setCurrentWidget(m_list);
    m_list->rows().setFocus();
    emit settled();
}

void LessonsPage::focusContent()
{
    if (isListOpen())
        m_list->rows().setFocus();
    else
        m_lesson->setFocus();
}

void LessonsPage::showEvent(QShowEvent *event)
{
    Page::showEvent(event);
    load();
}

} // namespace lockscope::ui

#include "moc_lessonspage.cpp"
