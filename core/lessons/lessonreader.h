// SPDX-License-Identifier: Apache-2.0
// Reads JSON that a person wrote: every field is asked for, and the first that is wrong is remembered with its
// path ("steps[2].question.right").
#pragma once

#include "core/lessons/lessons.h"

#include <QJsonArray>

#include <set>

namespace lockscope::lessons {

class FieldReader {
public:
    FieldReader(const QJsonObject &object, QString path, std::optional<Error> &error)
        : m_object(object), m_path(std::move(path)), m_error(error)
    {
    }

    [[nodiscard]] bool has(const char *field);
    // Missing, or of the wrong kind: wrong, unless there is an otherwise.
    [[nodiscard]] QString text(const char *field, const std::optional<QString> &otherwise = std::nullopt);
    [[nodiscard]] int number(const char *field, int least, int most, std::optional<int> otherwise = std::nullopt);
    [[nodiscard]] bool flag(const char *field);
    [[nodiscard]] QJsonArray list(const char *field, int least, int most);
    [[nodiscard]] FieldReader object(const char *field);
    [[nodiscard]] FieldReader element(const char *field, const QJsonArray &list, qsizetype index);
    [[nodiscard]] Text words(const char *field);
    // At last: a field that nobody asked for is a mistake, too.
    void nothingElse();

    void wrong(const QString &field, const QString &wanted);
    [[nodiscard]] const QJsonObject &json() const { return m_object; }
    [[nodiscard]] QString pathOf(const QString &field) const;

private:
    [[nodiscard]] QJsonValue value(const char *field);
    [[nodiscard]] FieldReader inner(const QJsonValue &value, const QString &field);

    const QJsonObject m_object;
    const QString m_path;
    std::optional<Error> &m_error;
    std::set<QString> m_known;
};

} // namespace lockscope::lessons
