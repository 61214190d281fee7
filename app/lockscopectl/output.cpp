// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/output.h"

#include "core/base/text.h"

#include <QJsonDocument>
#include <QRegularExpression>

#include <cstdio>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

namespace {

bool write(std::FILE *to, const QByteArray &bytes)
{
    const bool written = std::fwrite(bytes.constData(), 1, static_cast<std::size_t>(bytes.size()), to)
                         == static_cast<std::size_t>(bytes.size());
    return std::fflush(to) == 0 && written;
}

bool printObject(QJsonObject object, QJsonDocument::JsonFormat format)
{
    object["schema"_L1] = u"lockscope/1"_s;
    auto bytes = QJsonDocument(object).toJson(format);
    if (!bytes.endsWith('\n'))
        bytes += '\n';
    return write(stdout, bytes);
}

} // namespace

bool print(const QString &text)
{
    return write(stdout, harmlessLines(text).toUtf8() + '\n');
}

bool printJsonLine(QJsonObject object)
{
    return printObject(std::move(object), QJsonDocument::Compact);
}

bool printJson(QJsonObject object)
{
    return printObject(std::move(object), QJsonDocument::Indented);
}

void complain(const QString &message)
{
    auto line = harmlessLine(message);
    // Whatever is wrong with a URI, or wherever it was written: no password in it is said again.
    // Whom ssh is told to be is none.
    static const QRegularExpression credentials(u"://\\S*:(?:(?![?&]ssh=[^\\s&@]*@)\\S)*@"_s);
    line.replace(credentials, u"://…@"_s);
    write(stderr, "lockscopectl: " + line.toUtf8() + '\n');
}

void remark(const QString &text)
{
    write(stderr, harmlessLines(text).toUtf8());
}

void showOnLine(const QString &text)
{
    write(stderr, "\r\x1b[K" + harmlessLine(text).toUtf8());
}

bool isUnicode()
{
    static const bool unicode = QByteArray(::nl_langinfo(CODESET)) == "UTF-8";
    return unicode;
}

int terminalWidth()
{
    winsize size = {};
    if (!::isatty(STDOUT_FILENO) || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

} // namespace lockscope::ctl
