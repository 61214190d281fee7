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

QByteArrayList commentsOf(const QString &file)
{
    QByteArrayList comments;
    const auto bytes = readRegularFile(file, mostReadOfLabels);
    if (!bytes)
        return comments;
    for (const auto &line : bytes->split('\n')) {
        if (line.startsWith('#'))
            comments << line;
    }
    return comments;
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
    for (const auto &line : QString::fromUtf8(*bytes).split(u'\n')) {
        const auto label = inspect::readClientLabel(line.trimmed());
        if (label && !line.startsWith(u'#'))
            labels.push_back(*label);
    }
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
    const auto comments = commentsOf(file);
    if (!QDir().mkpath(QFileInfo(file).absolutePath()))
        return Error{ErrorCode::Server, u"cannot make the folder of %1"_s.arg(file)};
    QSaveFile to(file);
    if (!to.open(QFile::WriteOnly))
        return Error{ErrorCode::Server, u"cannot write %1: %2"_s.arg(file, to.errorString())};
    for (const auto &comment : comments)
        to.write(comment + '\n');
    for (const auto &label : labels)
        to.write(label.pattern + '=' + label.name.toUtf8() + '\n');
    return to.commit() ? Result<void>()
                       : Error{ErrorCode::Server, u"cannot write %1: %2"_s.arg(file, to.errorString())};
}

} // namespace lockscope
