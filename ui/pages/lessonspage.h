// SPDX-License-Identifier: Apache-2.0
// The page of lessons: the list of them, and one that is open.
#pragma once

#include "ui/lessons/lessonview.h"
#include "ui/pages/page.h"

namespace lockscope::ui {

class LessonsPage : public Page {
    Q_OBJECT
public:
    explicit LessonsPage(QWidget *parent = nullptr, const QStringList &folders = lessons::lessonFolders(),
                         Simulate simulate = contention::simulate);

    void setBackend(Backend *) override {}
    void showConnection(const ConnectionName &) override {} // they play in a world of their own
    [[nodiscard]] ConnectionName connectionShown(const ConnectionName &) const override { return {}; }
    void setFilter(const QString &text) override { m_list->setFilter(text); }
    void focusContent() override;
    [[nodiscard]] KeyHints keys() const override;
    // Reads the files again: whoever writes a lesson looks at it.
    void refresh() override;
    [[nodiscard]] bool isSettled() const override { return m_isLoaded && !m_lesson->isBusy(); }

    void setLanguage(Language language);
    [[nodiscard]] const lessons::Lessons &lessons() const { return m_lessons; }
    void openLesson(std::size_t lesson);
    bool openLessonById(const QByteArray &id); // false: there is none
    void openList();
    [[nodiscard]] bool isListOpen() const { return !m_open; }
    [[nodiscard]] LessonList &list() { return *m_list; }
    [[nodiscard]] LessonView &lesson() { return *m_lesson; }

signals:
    // What the lesson plays, to be played with.
    void tryRequested(const lockscope::ui::Comparison &comparison);

private:
    void showEvent(QShowEvent *event) override;
    void addKeys();
    void load();

    const QStringList m_folders;
    lessons::Lessons m_lessons;
    bool m_isLoaded = false;
    Language m_language = Language::English;
    std::optional<std::size_t> m_open;
    QStackedWidget *m_stack;
    LessonList *m_list;
    LessonView *m_lesson;
};

} // namespace lockscope::ui
