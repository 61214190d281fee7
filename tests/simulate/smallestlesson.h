// SPDX-License-Identifier: Apache-2.0
// The file of a lesson that is as small as one can be.
#pragma once

#include <QByteArray>

namespace lockscope::testing {

// Tests break it in one place each.
inline constexpr auto smallestLesson = R"({
    "schema": "lockscope-lesson/1", "id": "small",
    "title": {"en": "T", "zh_CN": "标", "ru": "З"}, "summary": {"en": "S"},
    "runs": [{"title": {"en": "R"}, "scenario": {"recipe": "zk-mutex", "contenders": 3}}],
    "steps": [{"text": {"en": "one"}, "until": {"mark": "holds", "contender": 1},
               "question": {"text": {"en": "Q"}, "choices": [{"en": "A"}, {"en": "B"}], "right": 1,
                            "because": {"en": "W"}}}],
    "proves": [{"counter": "grants", "is": "== 3", "text": {"en": "P"}}]
})";

inline QByteArray broken(const char *part, const char *by)
{
    QByteArray text = smallestLesson;
    const auto at = text.indexOf(part);
    if (at < 0)
        qFatal("there is no %s in the lesson", part);
    return text.replace(at, qsizetype(qstrlen(part)), by);
}

} // namespace lockscope::testing
