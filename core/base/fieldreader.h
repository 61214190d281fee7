// SPDX-License-Identifier: Apache-2.0
// Reads files that people wrote, and the JSON in them: every field is asked for, and the first that is wrong is
// remembered with its path ("steps[2].question.right").
#pragma once

#include "core/base/result.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QStringList>

#include <unistd.h>

#include <functional>

namespace lockscope {

class FieldReader {
public:
    FieldReader(const QJsonObject &object, QString path, std::optional<Error> &error)
        : m_object(object), m_path(std::move(path)), m_error(error)
    {
    }

    [[nodiscard]] bool has(const char *field) { return !value(field).isUndefined(); }
    // Missing, or of the wrong kind: wrong, unless there is an otherwise.
    [[nodiscard]] QString text(const char *field, const std::optional<QString> &otherwise = std::nullopt);
    [[nodiscard]] int number(const char *field, int least, int most, std::optional<int> otherwise = std::nullopt);
    [[nodiscard]] QByteArray word(const char *field, const QByteArrayList &words);
    [[nodiscard]] QByteArrayList texts(const char *field); // none if it is missing
    [[nodiscard]] bool flag(const char *field);
    [[nodiscard]] QJsonArray list(const char *field, int least, int most);
    [[nodiscard]] FieldReader object(const char *field) { return inner(value(field), QString::fromLatin1(field)); }
    [[nodiscard]] FieldReader element(const char *field, const QJsonArray &list, qsizetype index);
    // One that is missing stays as it is.
    template <class Number>
    void take(const char *field, double least, double most, Number &into)
    {
        if (const auto read = has(field) ? whole(field, least, most) : std::nullopt)
            into = Number(static_cast<qint64>(*read));
    }
    void take(const char *field, bool &into);
    // The words stand in the order of the enumeration.
    template <class Enum>
    void readWord(const char *field, const QByteArray &words, Enum &into)
    {
        const auto all = words.split(' ');
        if (const auto at = all.indexOf(word(field, all)); at >= 0)
            into = static_cast<Enum>(at);
    }
    // At last: a field that nobody asked for is a mistake, too, and would be passed over without a word.
    void nothingElse();

    [[nodiscard]] static QString oneOf(const QByteArrayList &words);
    void wrong(const QString &field, const QString &wanted);
    [[nodiscard]] const QJsonObject &json() const { return m_object; }
    [[nodiscard]] QString pathOf(const QString &field) const;

private:
    [[nodiscard]] QJsonValue value(const char *field);
    [[nodiscard]] std::optional<double> whole(const char *field, double least, double most);
    [[nodiscard]] FieldReader inner(const QJsonValue &value, const QString &field);

    const QJsonObject m_object;
    const QString m_path;
    std::optional<Error> &m_error;
    QStringList m_known;
};

// Reads each object of a list in a resource. A mistake in it ends the program; a test reads all resources.
void readResourceList(const QString &name, const char *list, const std::function<void(FieldReader &)> &read);

// Files that a user or a team names. A pipe of that name would block the program and a device would never end. So
// what is open is judged: by its name it could be another file by then.

// Opens it for reading, and never blocks. The error's message is the cause alone: "not a regular file".
[[nodiscard]] Result<std::unique_ptr<QFile>> openRegularFile(const QString &path);
// An open descriptor is one of a regular file.
[[nodiscard]] Result<void> checkRegular(int descriptor);
// The file's first bytes.
[[nodiscard]] Result<QByteArray> readRegularFile(const QString &path, qint64 most);

// An open file, closed with it.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : m_number(number) {}
    Descriptor(Descriptor &&other) noexcept : m_number(std::exchange(other.m_number, -1)) {}
    Descriptor &operator=(Descriptor &&other) noexcept
    {
        std::swap(m_number, other.m_number);
        return *this;
    }
    ~Descriptor()
    {
        if (m_number >= 0)
            ::close(m_number);
    }
    [[nodiscard]] int get() const { return m_number; }

private:
    int m_number = -1;
};

// A file or folder of resources/, in the program itself.
[[nodiscard]] QString resourcePath(const QString &name);
// The file's bytes. A missing file is a mistake in the program, and ends it.
[[nodiscard]] QByteArray readResource(const QString &name);

} // namespace lockscope
