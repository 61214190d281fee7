// SPDX-License-Identifier: Apache-2.0
#include "core/connections/recentconnections.h"

#include "core/base/regularfile.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSaveFile>

#include <algorithm>

namespace lockscope {

using namespace Qt::StringLiterals;

namespace {

constexpr std::size_t mostKept = 8;
constexpr int recentVersion = 1;

bool isTheSame(const SavedConnection &a, const SavedConnection &b)
{
    return a.name == b.name && a.uri == b.uri && a.user == b.user;
}

} // namespace

RecentConnections::RecentConnections(QString file) : m_file(std::move(file))
{
    const auto read = openRegularFile(m_file);
    if (!read)
        return;
    const auto document = QJsonDocument::fromJson((*read)->readAll());
    if (document[u"version"_s].toInt() != recentVersion)
        return;
    for (const auto &entry : document[u"recent"_s].toArray()) {
        auto one = savedConnectionOf(entry.toObject());
        const auto spec = parseConnection(one.uri);
        if (!spec || m_all.size() == mostKept)
            continue;
        one.uri = uriOf(*spec); // whoever wrote it there
        m_all.push_back(std::move(one));
    }
}

void RecentConnections::note(const SavedConnection &connection)
{
    std::erase_if(m_all, [&connection](const auto &other) { return isTheSame(other, connection); });
    m_all.insert(m_all.begin(), connection);
    m_all.resize(std::min(m_all.size(), mostKept));
    store();
}

void RecentConnections::forget(std::size_t which)
{
    if (which >= m_all.size())
        return;
    m_all.erase(m_all.begin() + static_cast<std::ptrdiff_t>(which));
    store();
}

void RecentConnections::store() const
{
    QJsonArray list;
    for (const auto &one : m_all)
        list.append(toJson(one));
    const QJsonDocument document(QJsonObject{{u"version"_s, recentVersion}, {u"recent"_s, list}});
    QDir().mkpath(QFileInfo(m_file).absolutePath());
    QSaveFile file(m_file);
    if (file.open(QIODevice::WriteOnly) && file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner)
        && file.write(document.toJson()) >= 0)
        file.commit();
}

} // namespace lockscope
