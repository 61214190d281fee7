// SPDX-License-Identifier: Apache-2.0
// The page of lessons, shown, with the keys, and a picture that is where it runs to at once.
#pragma once

#include "core/lessons/lessons.h"
#include "ui/lessons/lessonview.h"
#include "ui/pages/lessonspage.h"

#include <QTest>

#include <algorithm>

namespace lockscope::testing {

using namespace lockscope::ui;
using namespace std::chrono_literals;

inline void press(QWidget &widget, Qt::Key key)
{
    QTest::keyClick(&widget, key);
}

inline std::size_t numberOf(const LessonsPage &page, const char *id)
{
    const auto &all = page.lessons().lessons;
    const auto at = std::ranges::find(all, QByteArray(id), &lessons::Lesson::id);
    if (at == all.end())
        qFatal("there is no lesson %s", id);
    return static_cast<std::size_t>(at - all.begin());
}

struct LessonScene {
    LessonScene()
    {
        page.resize(1200, 760);
        page.lesson().picture().setPace(0ms);
        page.show();
        if (!QTest::qWaitForWindowActive(&page))
            qFatal("the page does not get the keys");
    }
    bool open(std::size_t lesson)
    {
        page.openLesson(lesson);
        return QTest::qWaitFor([this] { return page.lesson().isPlayed(); }, 60'000);
    }
    bool open(const char *id) { return open(numberOf(page, id)); }
    LessonView &lesson() { return page.lesson(); }

    LessonsPage page{nullptr, {lessons::lessonFolders().front()}};
};

} // namespace lockscope::testing
