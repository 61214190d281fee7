// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/settingsfile.h"

#include "core/base/regularfile.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QSaveFile>
#include <QStandardPaths>

#include <algorithm>

namespace lockscope {

namespace {
constexpr int settingsVersion = 1;
constexpr qint64 mostSettings = 16 << 20;
} // namespace

QString settingsPath(const QString &name)
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + u"/lockscope/"_s + name;
}

Error badSetting(const QString &file, const QString &field, const QString &why)
{
    return {ErrorCode::BadInput,
            u"%1: %2: %3; nothing of this file is used, and it is left as it is"_s.arg(file, field, why)};
}

Result<QJsonObject> readSettings(const QString &file)
{
    if (!QFile::exists(file))
        return QJsonObject();
    const auto bytes = readRegularFile(file, mostSettings);
    if (!bytes)
        return Error{ErrorCode::BadInput, u"%1: %2"_s.arg(file, bytes.error().message)};
    QJsonParseError error{};
    const auto document = QJsonDocument::fromJson(*bytes, &error);
    if (!document.isObject())
        return badSetting(file, u"byte %1"_s.arg(error.offset),
                          error.error == QJsonParseError::NoError ? u"no JSON object"_s : error.errorString());
    const auto version = document[u"version"_s];
    if (!version.isDouble())
        return badSetting(file, u"version"_s, u"is missing"_s);
    if (version.toInt() != settingsVersion)
        return badSetting(file, u"version"_s,
                          u"%1 is not %2, the one that this version of Lockscope reads"_s.arg(
                              QString::number(version.toDouble()), QString::number(settingsVersion)));
    return document.object();
}

Result<void> writeSettings(const QString &file, QJsonObject settings)
{
    settings[u"version"_s] = settingsVersion;
    QDir().mkpath(QFileInfo(file).absolutePath());
    QSaveFile to(file);
    const bool isWritten = to.open(QFile::WriteOnly)
                           && to.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner)
                           && to.write(QJsonDocument(settings).toJson()) >= 0 && to.commit();
    if (!isWritten)
        return Error{ErrorCode::Server, u"could not write %1: %2"_s.arg(file, to.errorString())};
    return {};
}

} // namespace lockscope
