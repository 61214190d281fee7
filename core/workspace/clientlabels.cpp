// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/clientlabels.h"

#include "core/base/regularfile.h"

#include <QDir>
#include <QFileInfo>
#include <QSaveFile>
#include <QStandardPaths>

#include <algorithm>

namespace lockscope {

namespace {

constexpr qint64 mostReadOfLabels = 1 << 20;

bool isComment(const QString &line)
{
    return line.trimmed().startsWith(u'#');
}

// What a user wrote there besides labels: comments, and lines that are to be corrected.
QByteArrayList otherLinesOf(const QString &file)
{
    QByteArrayList others;
    const auto bytes = readRegularFile(file, mostReadOfLabels);
    if (!bytes)
        return others;
    for (const auto &line : bytes->split('\n')) {
        const auto text = QString::fromUtf8(line);
        if (!text.trimmed().isEmpty() && (isComment(text) || !inspect::readClientLabel(text.trimmed())))
            others << line;
    }
    return others;
}

} // namespace

QString clientLabelFile()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + u"/lockscope/labels"_s;
}

std::vector<inspect::ClientLabel> savedClientLabels(const QString &file, QString *problem)
{
    std::vector<inspect::ClientLabel> labels;
    const auto bytes = readRegularFile(file, mostReadOfLabels);
    if (!bytes) {
        if (problem && QFile::exists(file))
            *problem = u"%1: %2; its labels are not used"_s.arg(file, bytes.error().message);
        return labels;
    }
    QStringList unread;
    const auto lines = QString::fromUtf8(*bytes).split(u'\n');
    for (qsizetype i = 0; i < lines.size(); ++i) {
        const auto line = lines[i].trimmed();
        if (line.isEmpty() || isComment(line))
            continue;
        if (const auto label = inspect::readClientLabel(line))
            labels.push_back(*label);
        else
            unread << QString::number(i + 1);
    }
    if (problem && unread.size() == 1)
        *problem =
            u"%1: line %2 is ignored; write PATTERN=NAME, for example 10.0.3.7:*=billing"_s.arg(file, unread.front());
    else if (problem && !unread.isEmpty())
        *problem = u"%1: lines %2 are ignored; write PATTERN=NAME, for example 10.0.3.7:*=billing"_s.arg(
            file, unread.join(u", "_s));
    return labels;
}

Result<void> saveClientLabels(const std::vector<inspect::ClientLabel> &labels, const QString &file)
{
    auto all = savedClientLabels(file);
    for (const auto &label : labels) {
        std::erase_if(all, [&label](const auto &one) { return one.pattern == label.pattern; });
        all.push_back(label);
    }
    return writeClientLabels(all, file);
}

Result<void> writeClientLabels(const std::vector<inspect::ClientLabel> &labels, const QString &file)
{
    const auto others = otherLinesOf(file);
    if (!QDir().mkpath(QFileInfo(file).absolutePath()))
        return Error{ErrorCode::Server, u"cannot make the folder of %1"_s.arg(file)};
    QSaveFile to(file);
    if (!to.open(QFile::WriteOnly))
        return Error{ErrorCode::Server, u"cannot write %1: %2"_s.arg(file, to.errorString())};
    for (const auto &line : others)
        to.write(line + '\n');
    for (const auto &label : labels)
        to.write(label.pattern + '=' + label.name.toUtf8() + '\n');
    return to.commit() ? Result<void>()
                       : Error{ErrorCode::Server, u"cannot write %1: %2"_s.arg(file, to.errorString())};
}

} // namespace lockscope
