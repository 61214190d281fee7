// SPDX-License-Identifier: Apache-2.0
#include "core/base/regularfile.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

// Resources of a static library have to be asked for, and from outside of any namespace.
static void initResources()
{
    Q_INIT_RESOURCE(lockscope_core);
}

namespace lockscope {

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
