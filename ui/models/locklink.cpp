// SPDX-License-Identifier: Apache-2.0
#include "ui/models/locklink.h"

#include <QRegularExpression>

namespace lockscope::ui {

namespace {

constexpr qsizetype longestLink = 4096;

Error noLink()
{
    return Error{ErrorCode::BadInput,
                 u"not a link of the form lockscope://open?connection=NAME&lock=NAME or lockscope://lesson/ID"_s};
}

} // namespace

QString linkOf(const inspect::LockName &lock)
{
    const auto encoded = [](const QByteArray &bytes) { return QString::fromLatin1(bytes.toPercentEncoding()); };
    return u"lockscope://open?connection=%1&lock=%2"_s.arg(encoded(lock.connection.bytes()), encoded(lock.name));
}

Result<inspect::LockName> readLink(const QString &link)
{
    // Bytes are percent-encoded, since a lock's name need not be text; a path that somebody wrote by hand may stay.
    static const QRegularExpression form(u"^lockscope://open/?\\?([A-Za-z0-9=&%._~/:@,-]*)$"_s);
    const auto match = form.match(link);
    if (link.size() > longestLink || !match.hasMatch())
        return noLink();
    std::optional<QByteArray> connection;
    std::optional<QByteArray> lock;
    for (const auto &part : match.captured(1).split(u'&')) {
        const auto equals = part.indexOf(u'=');
        const QString key = part.left(equals);
        auto &value = key == u"connection"_s ? connection : lock;
        if (equals < 0 || value || (key != u"connection"_s && key != u"lock"_s))
            return noLink();
        value = QByteArray::fromPercentEncoding(part.mid(equals + 1).toLatin1());
    }
    if (!connection || connection->isEmpty() || !lock || lock->isEmpty())
        return noLink();
    return inspect::LockName{ConnectionName(*connection), *lock};
}

QByteArray lessonOfLink(const QString &link)
{
    static const QRegularExpression form(u"^lockscope://lesson/([a-z0-9-]{1,60})$"_s);
    return form.match(link).captured(1).toLatin1();
}

} // namespace lockscope::ui
