// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <version>

#include "ui/lessons/lessonview.h"

namespace lockscope::ui {

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

} // namespace lockscope::ui
