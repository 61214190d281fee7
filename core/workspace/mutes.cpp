// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/mutes.h"

#include "core/base/text.h"
#include "core/inspect/json.h"
#include "core/workspace/settingsfile.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QFileSystemWatcher>
#include <QRegularExpression>
#include <QSet>

namespace lockscope {

using inspect::FindingCode;
using inspect::LockName;
using inspect::Severity;

namespace {

constexpr qsizetype longestReason = 500;

bool isCritical(FindingCode code)
{
    return inspect::kindOf(code).severity == Severity::Critical;
}

std::optional<FindingCode> codeOf(const QString &name)
{
    for (const auto &kind : inspect::findingKinds()) {
        if (name == QLatin1StringView(kind.name))
            return kind.code;
    }
    return {};
}

std::optional<MuteTime> momentOf(const QJsonValue &value)
{
    const auto moment = QDateTime::fromString(value.toString(), Qt::ISODate);
    if (!moment.isValid())
        return {};
    return MuteTime(std::chrono::seconds(moment.toSecsSinceEpoch()));
}

QJsonObject muteJson(const Mute &mute)
{
    QJsonObject json{{u"reason"_s, mute.reason},
                     {u"since"_s, isoSeconds(mute.since.time_since_epoch())},
                     {u"until"_s, isoSeconds(mute.until.time_since_epoch())}};
    if (!mute.lock.isEmpty())
        json[u"lock"_s] = mute.lock;
    if (!mute.pattern.isEmpty())
        json[u"pattern"_s] = mute.pattern;
    if (mute.code)
        json[u"code"_s] = inspect::word(*mute.code);
    return json;
}

// The field, and what is wrong with it; or the mute.
std::variant<Mute, QString> muteFrom(const QJsonObject &json)
{
    // A field that was meant and is not read would make it cover more than its writer wants.
    static const QSet<QString> known{u"lock"_s, u"pattern"_s, u"reason"_s, u"code"_s, u"since"_s, u"until"_s};
    for (const auto &key : json.keys()) {
        if (!known.contains(key))
            return u"%1 is not known here"_s.arg(key);
    }
    Mute mute;
    for (const auto &[name, text] : {std::pair(u"lock"_s, &mute.lock), std::pair(u"pattern"_s, &mute.pattern),
                                     std::pair(u"reason"_s, &mute.reason)}) {
        if (json.contains(name) && !json[name].isString())
            return u"%1 must be a text"_s.arg(name);
        *text = json[name].toString();
    }
    if (json.contains(u"code"_s)) {
        mute.code = codeOf(json[u"code"_s].toString());
        if (!mute.code)
            return u"code must be a finding code (see docs/findings.md)"_s;
    }
    for (const auto &[name, moment] : {std::pair(u"since"_s, &mute.since), std::pair(u"until"_s, &mute.until)}) {
        const auto read = momentOf(json[name]);
        if (!read)
            return u"%1 must be a time like 2026-11-22T18:00:00Z"_s.arg(name);
        *moment = *read;
    }
    const auto objection = objectionTo(mute);
    if (!objection.isEmpty())
        return objection;
    return mute;
}

MuteTime presentMoment()
{
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

} // namespace

bool covers(const Mute &mute, const LockName &lock, FindingCode code, Severity severity)
{
    if (mute.code && *mute.code != code)
        return false;
    if (!mute.lock.isEmpty())
        return mute.lock == escaped(lock.text());
    return severity != Severity::Critical && !isCritical(code) && inspect::matchesGlob(lock, mute.pattern);
}

const Mute *muteOf(const std::vector<Mute> &mutes, const LockName &lock, FindingCode code, Severity severity)
{
    const Mute *longest = nullptr;
    for (const auto &mute : mutes) {
        if ((!longest || mute.until > longest->until) && covers(mute, lock, code, severity))
            longest = &mute;
    }
    return longest;
}

void removeMuted(std::vector<inspect::Incident> &incidents, const std::vector<Mute> &mutes)
{
    std::erase_if(incidents, [&](const inspect::Incident &incident) {
        return !incident.locks.empty() && std::ranges::all_of(incident.locks, [&](const LockName &lock) {
            return muteOf(mutes, lock, incident.code, incident.severity) != nullptr;
        });
    });
}

QString objectionTo(const Mute &mute)
{
    if (mute.lock.isEmpty() == mute.pattern.isEmpty())
        return u"lock is required, or else pattern, but not both"_s;
    // Another text is never the name of a lock.
    static const QRegularExpression lockName(u"^[A-Za-z0-9_.-]+:."_s);
    if (!mute.lock.isEmpty() && !lockName.match(mute.lock).hasMatch())
        return u"lock must be CONNECTION:NAME, for example zk:/locks/orders"_s;
    if (mute.lock.isEmpty() && mute.code && isCritical(*mute.code))
        return u"lock is required: critical findings can be muted only lock by lock"_s;
    if (mute.reason.trimmed().isEmpty() || mute.reason.size() > longestReason)
        return u"reason is required, at most %1 characters"_s.arg(longestReason);
    if (mute.until <= mute.since || mute.until - mute.since > longestMute)
        return u"until must be after since, by at most %1 days"_s.arg(longestMute.count());
    return {};
}

QString wordsOf(const Mute &mute)
{
    const auto what = mute.code ? inspect::word(*mute.code) : u"whatever is found"_s;
    return u"%1 of %2"_s.arg(what, mute.lock.isEmpty() ? mute.pattern : mute.lock);
}

QString muteFile()
{
    return settingsPath(u"mutes.json"_s);
}

Result<std::vector<Mute>> readMutes(const QString &file)
{
    TRY(const auto &settings, readSettings(file));
    const auto list = settings.value("mutes"_L1);
    if (!list.isUndefined() && !list.isArray())
        return badSetting(file, u"mutes"_s, u"must be an array"_s);
    std::vector<Mute> mutes;
    const auto array = list.toArray();
    for (qsizetype i = 0; i < array.size(); ++i) {
        auto read = muteFrom(array[i].toObject());
        if (const auto *why = std::get_if<QString>(&read))
            return badSetting(file, u"mutes[%1].%2"_s.arg(QString::number(i), why->section(u' ', 0, 0)),
                              why->section(u' ', 1));
        mutes.push_back(std::get<Mute>(std::move(read)));
    }
    return mutes;
}

MuteStore::MuteStore(QString file, QObject *parent) : QObject(parent), m_file(std::move(file))
{
    reload();
}

void MuteStore::reload()
{
    auto read = readMutes(m_file);
    const auto error = read ? QString() : read.error().message;
    auto mutes = read ? std::move(*read) : std::vector<Mute>();
    if (error == m_loadError && mutes == m_all)
        return;
    m_loadError = error;
    m_all = std::move(mutes);
    emit changed();
}

void MuteStore::follow()
{
    m_watcher = new QFileSystemWatcher(this);
    const auto changed = [this] {
        watchFile();
        reload();
    };
    connect(m_watcher, &QFileSystemWatcher::directoryChanged, this, changed);
    connect(m_watcher, &QFileSystemWatcher::fileChanged, this, changed);
    changed();
}

// A file that is replaced is another one: its folder tells of that, and of the first one.
void MuteStore::watchFile()
{
    if (!m_watcher)
        return;
    const auto folder = QFileInfo(m_file).absolutePath();
    if (m_watcher->directories().isEmpty() && QDir(folder).exists())
        m_watcher->addPath(folder);
    if (!m_watcher->files().contains(m_file) && QFile::exists(m_file))
        m_watcher->addPath(m_file);
}

Result<void> MuteStore::add(Mute mute)
{
    if (const auto objection = objectionTo(mute); !objection.isEmpty())
        return Error{ErrorCode::BadInput, objection};
    reload();
    auto mutes = m_all;
    const auto now = mute.since;
    std::erase_if(mutes, [&](const Mute &one) {
        return one.lock == mute.lock && one.pattern == mute.pattern && one.code == mute.code;
    });
    mutes.push_back(std::move(mute));
    return store(std::move(mutes), now);
}

Result<void> MuteStore::remove(const Mute &mute)
{
    reload();
    auto mutes = m_all;
    std::erase(mutes, mute);
    return store(std::move(mutes), presentMoment());
}

Result<void> MuteStore::store(std::vector<Mute> mutes, MuteTime now)
{
    if (!m_loadError.isEmpty())
        return Error{ErrorCode::Refused, m_loadError};
    std::erase_if(mutes, [now](const Mute &mute) { return mute.until <= now; });
    const auto array = mapped<QJsonArray>(mutes, [&](const auto &mute) { return muteJson(mute); });
    TRY_VOID(writeSettings(m_file, {{u"mutes"_s, array}}));
    m_all = std::move(mutes);
    watchFile();
    emit changed();
    return {};
}

} // namespace lockscope

#include "moc_mutes.cpp"
