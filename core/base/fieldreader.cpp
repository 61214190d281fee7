// SPDX-License-Identifier: Apache-2.0
#include "core/base/fieldreader.h"

#include "core/base/text.h"

#include <QJsonDocument>

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>

// Resources of a static library have to be asked for, and from outside of any namespace.
static void initResources()
{
    Q_INIT_RESOURCE(lockscope_core);
}

namespace lockscope {

constexpr qsizetype longestText = 2000;

QString FieldReader::pathOf(const QString &field) const
{
    return m_path.isEmpty() ? field : field.isEmpty() ? m_path : m_path + u'.' + field;
}

void FieldReader::wrong(const QString &field, const QString &wanted)
{
    if (!m_error)
        m_error = Error{ErrorCode::BadInput, u"\"%1\" must be %2"_s.arg(pathOf(field), wanted)};
}

QJsonValue FieldReader::value(const char *field)
{
    const auto name = QString::fromLatin1(field);
    if (!m_known.contains(name))
        m_known << name;
    return m_object.value(name);
}

QString FieldReader::text(const char *field, const std::optional<QString> &otherwise)
{
    const auto found = value(field);
    if (found.isUndefined() && otherwise)
        return *otherwise;
    if (!found.isString() || found.toString().isEmpty())
        wrong(QString::fromLatin1(field), u"a text"_s);
    else if (found.toString().size() > longestText)
        wrong(QString::fromLatin1(field), u"a text of %1 characters at most"_s.arg(longestText));
    return found.toString();
}

// Numbers in JSON are doubles.
std::optional<double> FieldReader::whole(const char *field, double least, double most)
{
    const auto read = value(field).toDouble(std::nan(""));
    if (read >= least && read <= most && std::floor(read) == read)
        return read;
    wrong(QString::fromLatin1(field), u"a whole number from %1 to %2"_s.arg(least, 0, 'f', 0).arg(most, 0, 'f', 0));
    return std::nullopt;
}

int FieldReader::number(const char *field, int least, int most, std::optional<int> otherwise)
{
    if (otherwise && !has(field))
        return *otherwise;
    return static_cast<int>(whole(field, least, most).value_or(least));
}

QString FieldReader::oneOf(const QByteArrayList &words)
{
    return u"one of "_s + QString::fromLatin1(words.join(", "));
}

QByteArray FieldReader::word(const char *field, const QByteArrayList &words)
{
    auto read = text(field).toUtf8();
    if (!words.contains(read))
        wrong(QString::fromLatin1(field), oneOf(words));
    return read;
}

bool FieldReader::flag(const char *field)
{
    const auto found = value(field);
    if (!found.isBool())
        wrong(QString::fromLatin1(field), u"true or false"_s);
    return found.toBool();
}

void FieldReader::take(const char *field, bool &into)
{
    if (has(field))
        into = flag(field);
}

QJsonArray FieldReader::list(const char *field, int least, int most)
{
    const auto found = value(field);
    const auto array = found.toArray();
    if (!found.isArray() || array.size() < least || array.size() > most) {
        wrong(QString::fromLatin1(field), u"a list of %1 to %2"_s.arg(least).arg(most));
        return {};
    }
    return array;
}

QByteArrayList FieldReader::texts(const char *field)
{
    QByteArrayList texts;
    for (const auto &element : has(field) ? list(field, 1, 100) : QJsonArray()) {
        if (!element.isString())
            wrong(QString::fromLatin1(field), u"a list of texts"_s);
        texts << element.toString().toUtf8();
    }
    return texts;
}

FieldReader FieldReader::inner(const QJsonValue &value, const QString &field)
{
    if (!value.isObject())
        wrong(field, u"an object: { … }"_s);
    return FieldReader(value.toObject(), pathOf(field), m_error);
}

FieldReader FieldReader::element(const char *field, const QJsonArray &list, qsizetype index)
{
    return inner(list.at(index), u"%1[%2]"_s.arg(QString::fromLatin1(field)).arg(index));
}

void FieldReader::nothingElse()
{
    for (const auto &field : m_object.keys()) {
        if (!m_known.contains(field) && !m_error)
            m_error = Error{ErrorCode::BadInput, u"unknown field \"%1\"; known fields: %2"_s.arg(
                                                     pathOf(label(field.toUtf8(), 60)), m_known.join(u", "_s))};
    }
}

void readResourceList(const QString &name, const char *list, const std::function<void(FieldReader &)> &read)
{
    std::optional<Error> error;
    FieldReader file(QJsonDocument::fromJson(readResource(name)).object(), name, error);
    (void)file.text("about", QString());
    const auto all = file.list(list, 1, 1000);
    file.nothingElse();
    for (qsizetype i = 0; i < all.size(); ++i) {
        auto element = file.element(list, all, i);
        (void)element.text("about", QString());
        read(element);
        element.nothingElse();
    }
    if (error)
        qFatal("%s", qPrintable(error->message));
}

Result<void> checkRegular(int descriptor)
{
    struct ::stat is = {};
    if (::fstat(descriptor, &is) != 0)
        return Error{ErrorCode::BadInput, qt_error_string(errno)};
    if (!S_ISREG(is.st_mode))
        return Error{ErrorCode::BadInput, QStringLiteral("not a regular file")};
    return {};
}

Result<std::unique_ptr<QFile>> openRegularFile(const QString &path)
{
    const int descriptor = ::open(QFile::encodeName(path).constData(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return Error{ErrorCode::BadInput, qt_error_string(errno)};
    auto file = std::make_unique<QFile>(path);
    const bool isOpen = file->open(descriptor, QIODevice::ReadOnly, QFileDevice::AutoCloseHandle);
    TRY_VOID(checkRegular(descriptor));
    if (!isOpen)
        return Error{ErrorCode::BadInput, file->errorString()};
    return file;
}

Result<QByteArray> readRegularFile(const QString &path, qint64 most)
{
    TRY(const auto &file, openRegularFile(path));
    // QFile takes memory for all that may be read, whatever there is. A file of /proc says that it has no size.
    constexpr qint64 leastRead = 4096;
    return (file)->read(std::min(most, std::max((file)->size(), leastRead)));
}

QString resourcePath(const QString &name)
{
    initResources();
    return QStringLiteral(":/lockscope/") + name;
}

QByteArray readResource(const QString &name)
{
    QFile file(resourcePath(name));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("%s is not in the resources", qPrintable(name));
    return file.readAll();
}

} // namespace lockscope
