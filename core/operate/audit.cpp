// SPDX-License-Identifier: Apache-2.0
#include "core/operate/audit.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"

#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QSysInfo>
#include <QThread>

#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace lockscope::operate {

namespace {

QString defaultPath()
{
    // The XDG rule: a relative path in the variable is no path at all.
    auto state = qEnvironmentVariable("XDG_STATE_HOME");
    if (!state.startsWith(u'/'))
        state = QDir::homePath() + u"/.local/state"_s;
    return state + u"/lockscope/audit.jsonl"_s;
}

Error cannot(const QString &what, const QString &path)
{
    const auto why = QString::fromLocal8Bit(std::strerror(errno));
    return Error{ErrorCode::Refused,
                 u"could not %1 the audit log \"%2\": %3. Lockscope sends no release or edit without a record. "
                 u"Make the file writable or set XDG_STATE_HOME"_s.arg(what, path, why)};
}

// What is ours and others could read is closed to them: it names holders, hosts and reasons.
void closeToOthers(int fd)
{
    struct stat now = {};
    constexpr mode_t others = S_IRWXG | S_IRWXO;
    if (::fstat(fd, &now) == 0 && now.st_uid == ::geteuid() && (now.st_mode & others) != 0)
        ::fchmod(fd, now.st_mode & ~others & 07777U);
}

Result<void> flushFolder(const QString &path)
{
    const auto folder = QFileInfo(path).absolutePath();
    const Descriptor fd(::open(QFile::encodeName(folder).constData(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() < 0 || ::fsync(fd.get()) != 0)
        return cannot(u"flush the folder of"_s, path);
    return {};
}

Result<void> makeFolder(const QString &path)
{
    const auto folder = QFileInfo(path).absolutePath();
    if (QFileInfo(folder).isDir()) {
        const Descriptor fd(::open(QFile::encodeName(folder).constData(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (fd.get() >= 0 && folder.endsWith(u"/lockscope"_s)) // ours alone, not a folder that was chosen for it
            closeToOthers(fd.get());
        return {};
    }
    errno = 0;
    if (!QDir().mkpath(folder))
        return cannot(u"make the folder of"_s, path);
    ::chmod(QFile::encodeName(folder).constData(), S_IRWXU);
    return {};
}

// Waits a little for another writer; never for ever, since the caller has a window or a terminal to serve.
Result<void> lockFile(int fd, const QString &path)
{
    constexpr int tries = 200;
    for (int i = 0; i < tries; ++i) {
        if (::flock(fd, LOCK_EX | LOCK_NB) == 0)
            return {};
        if (errno != EWOULDBLOCK && errno != EINTR)
            return cannot(u"lock"_s, path);
        QThread::msleep(10);
    }
    errno = EWOULDBLOCK;
    return cannot(u"lock (another program writes to it)"_s, path);
}

QByteArray readRange(int fd, qint64 from, qint64 to)
{
    QByteArray bytes(to - from, Qt::Uninitialized);
    qint64 done = 0;
    while (done < bytes.size()) {
        const auto got = ::pread(fd, bytes.data() + done, static_cast<size_t>(bytes.size() - done), from + done);
        if (got <= 0)
            break;
        done += got;
    }
    bytes.truncate(done);
    return bytes;
}

struct Tail {
    QByteArray hash; // of the last whole record; empty when there is none
    bool endsInNewline = true;
};

// The hash that the next record follows, read from the end of the file backwards.
Tail readTail(int fd)
{
    constexpr qint64 step = 64 * 1024;
    struct stat info = {};
    ::fstat(fd, &info);
    Tail tail;
    QByteArray bytes;
    for (qint64 from = info.st_size; from > 0;) {
        const auto start = std::max<qint64>(0, from - step);
        bytes.prepend(readRange(fd, start, from));
        from = start;
        tail.endsInNewline = bytes.endsWith('\n');
        auto lines = bytes.split('\n');
        if (from > 0)
            lines.removeFirst(); // may be cut
        for (auto line = lines.crbegin(); line != lines.crend(); ++line) {
            const auto hash = QJsonDocument::fromJson(*line).object().value("hash"_L1).toString();
            if (!hash.isEmpty()) {
                tail.hash = hash.toLatin1();
                return tail;
            }
        }
    }
    return tail;
}

QByteArray hashOf(const QByteArray &previous, QJsonObject record)
{
    record.remove("hash"_L1);
    QCryptographicHash sha(QCryptographicHash::Sha256);
    sha.addData(previous);
    // Canonical: QJsonObject keeps its keys sorted, and compact writing has one form only.
    sha.addData(QJsonDocument(record).toJson(QJsonDocument::Compact));
    return sha.result().toHex();
}

Result<void> writeAll(int fd, const QByteArray &bytes, const QString &path)
{
    qsizetype done = 0;
    while (done < bytes.size()) {
        const auto wrote = ::write(fd, bytes.constData() + done, static_cast<size_t>(bytes.size() - done));
        if (wrote < 0 && errno != EINTR)
            return cannot(u"write"_s, path);
        done += std::max<qsizetype>(0, wrote);
    }
    if (::fdatasync(fd) != 0)
        return cannot(u"flush"_s, path);
    return {};
}

QString headPath(const QString &path)
{
    return path + u".head"_s;
}

// The hash of the last record written; empty where none was kept.
QByteArray readHead(const QString &path)
{
    const auto bytes = readRegularFile(headPath(path), 200);
    return bytes ? bytes->trimmed() : QByteArray();
}

void writeHead(const QString &path, const QByteArray &hash)
{
    const auto next = QFile::encodeName(headPath(path) + u".new"_s);
    {
        const Descriptor fd(
            ::open(next.constData(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR));
        if (fd.get() < 0 || !writeAll(fd.get(), hash + '\n', headPath(path)))
            return;
    }
    [[maybe_unused]] const bool isNamed =
        ::rename(next.constData(), QFile::encodeName(headPath(path)).constData()) == 0;
}

// Asked only where it is not the last one.
bool holdsHash(int fd, const QByteArray &hash)
{
    struct stat info = {};
    return ::fstat(fd, &info) == 0 && readRange(fd, 0, info.st_size).contains("\"hash\":\"" + hash + '"');
}

// Each result is of the latest intent of its kind that has none yet.
void markUnfinished(std::vector<AuditRecord> &records)
{
    for (auto result = records.begin(); result != records.end(); ++result) {
        if (result->phase == "intent"_L1)
            result->lacksResult = true;
        if (result->phase != "result"_L1)
            continue;
        const auto intent = std::find_if(std::reverse_iterator(result), records.rend(), [&](const AuditRecord &one) {
            return one.lacksResult && one.lock == result->lock && one.holder == result->holder
                   && one.node == result->node && one.actor == result->actor && one.reason == result->reason
                   && one.action == result->action;
        });
        if (intent != records.rend())
            intent->lacksResult = false;
    }
}

AuditRecord fromJson(const QJsonObject &json)
{
    const auto text = [&](QLatin1StringView key) { return json.value(key).toString(); };
    AuditRecord record;
    // A year after 2261 is none of ours, and more nanoseconds than fit.
    constexpr std::chrono::sys_days last(std::chrono::year(2262) / 1 / 1), first(std::chrono::year(1900) / 1 / 1);
    const std::chrono::sys_time<std::chrono::milliseconds> time(
        std::chrono::milliseconds(QDateTime::fromString(text("time"_L1), Qt::ISODateWithMs).toMSecsSinceEpoch()));
    if (time > first && time < last)
        record.time = std::chrono::system_clock::time_point(time.time_since_epoch());
    record.actor = text("actor"_L1);
    record.action = text("action"_L1);
    record.lock = unescaped(text("lock"_L1)).value_or(QByteArray());
    record.holder = unescaped(text("holder"_L1)).value_or(QByteArray());
    record.reason = text("reason"_L1);
    record.phase = text("phase"_L1);
    record.outcome = text("outcome"_L1);
    record.isDone = json.value("done"_L1).toBool();
    record.before = json.value("before"_L1).toObject();
    record.after = json.value("after"_L1).toObject();
    record.node = text("node"_L1);
    record.to = json.value("to"_L1).toObject();
    record.lacksHead = json.value("lacksHead"_L1).toBool();
    record.hash = text("hash"_L1).toLatin1();
    return record;
}

QString userName(uid_t id)
{
    const auto *entry = ::getpwuid(id);
    const auto name = entry ? QString::fromLocal8Bit(entry->pw_name) : QString();
    return name.isEmpty() ? u"uid %1"_s.arg(id) : name;
}

// Who logged in, whatever sudo or su made of them since: the kernel's word, else sudo's.
std::optional<uid_t> loginUser()
{
    QFile file(u"/proc/self/loginuid"_s);
    bool isNumber = false;
    if (file.open(QIODevice::ReadOnly)) {
        const auto id = file.readAll().trimmed().toUInt(&isNumber);
        if (isNumber && id != std::numeric_limits<uint>::max()) // that is: nobody did
            return id;
    }
    const auto id = ::geteuid() == 0 ? qEnvironmentVariable("SUDO_UID").toUInt(&isNumber) : 0;
    return ::geteuid() == 0 && isNumber ? std::optional<uid_t>(id) : std::nullopt;
}

QString stampOf(const QString &path)
{
    const auto one = [](const QString &name) {
        struct stat info = {};
        return ::stat(QFile::encodeName(name).constData(), &info) != 0 ? u"none"_s
                                                                       : u"%1:%2:%3.%4"_s.arg(info.st_ino)
                                                                             .arg(info.st_size)
                                                                             .arg(info.st_mtim.tv_sec)
                                                                             .arg(info.st_mtim.tv_nsec);
    };
    return one(path) + u' ' + one(headPath(path));
}

} // namespace

QString currentActor()
{
    const auto acting = ::geteuid();
    auto actor = userName(acting) + u'@' + QSysInfo::machineHostName();
    const auto person = loginUser();
    if (person && *person != acting)
        actor = u"%1 (logged in as %2)"_s.arg(actor, userName(*person));
    return actor;
}

QJsonObject toJson(const AuditRecord &record)
{
    const auto sinceEpoch = std::chrono::duration_cast<std::chrono::milliseconds>(record.time.time_since_epoch());
    QJsonObject json;
    json["time"_L1] = isoTime(sinceEpoch);
    json["actor"_L1] = record.actor;
    json["action"_L1] = record.action;
    json["lock"_L1] = escaped(record.lock);
    json["holder"_L1] = escaped(record.holder);
    json["reason"_L1] = record.reason;
    json["phase"_L1] = record.phase;
    json["outcome"_L1] = record.outcome;
    json["before"_L1] = record.before.isEmpty() ? QJsonValue() : QJsonValue(record.before);
    json["after"_L1] = record.after.isEmpty() ? QJsonValue() : QJsonValue(record.after);
    if (record.isDone)
        json["done"_L1] = true;
    if (!record.node.isEmpty())
        json["node"_L1] = record.node;
    if (record.lacksHead)
        json["lacksHead"_L1] = true;
    if (!record.to.isEmpty()) // what was written before there was such a field keeps its hash
        json["to"_L1] = record.to;
    json["hash"_L1] = QString::fromLatin1(record.hash);
    return json;
}

AuditFile::AuditFile(QString path) : m_path(path.isEmpty() ? defaultPath() : std::move(path)) {}

Result<void> AuditFile::append(AuditRecord record)
{
    if (auto made = makeFolder(m_path); !made)
        return made;
    // O_CLOEXEC: a command run under a lock must not inherit the record of what was forced.
    const Descriptor fd(::open(QFile::encodeName(m_path).constData(),
                               O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (fd.get() < 0)
        return cannot(u"open"_s, m_path);
    if (const auto regular = checkRegular(fd.get()); !regular)
        return Error{ErrorCode::NoPermission,
                     u"could not open the audit log \"%1\": %2"_s.arg(m_path, regular.error().message)};
    closeToOthers(fd.get());
    if (auto locked = lockFile(fd.get(), m_path); !locked)
        return locked;

    if (record.actor.isEmpty())
        record.actor = currentActor();
    if (record.time == std::chrono::system_clock::time_point{})
        record.time = std::chrono::system_clock::now();
    const auto tail = readTail(fd.get());
    const auto head = readHead(m_path);
    // What was cut off stays missing: the next record follows the one that is not there, and so the check says.
    const bool isCut = !head.isEmpty() && head != tail.hash && !holdsHash(fd.get(), head);
    // Where nothing says which record was the last one, the next says so of itself: its hash ends the question what
    // is missing at the end.
    record.lacksHead = head.isEmpty() && !tail.hash.isEmpty();
    auto json = toJson(record);
    json["hash"_L1] = QString::fromLatin1(hashOf(isCut ? head : tail.hash, json));
    // A writer that died in the middle left half a line: keep it apart, so that only it is lost.
    const QByteArray start = tail.endsInNewline ? "" : "\n";
    const auto line = start + QJsonDocument(json).toJson(QJsonDocument::Compact) + '\n';
    struct stat before = {};
    const bool isSizeKnown = ::fstat(fd.get(), &before) == 0;
    if (auto written = writeAll(fd.get(), line, m_path); !written) {
        // Half a record (the disk is full) would break the chain for whoever checks it, for ever. Where it cannot be
        // taken out either, that check says so.
        [[maybe_unused]] const bool isOut = isSizeKnown && ::ftruncate(fd.get(), before.st_size) == 0;
        return written;
    }
    // The record is on disk; should this fail, the check begins one record earlier.
    writeHead(m_path, json.value("hash"_L1).toString().toLatin1());
    return tail.hash.isEmpty() ? flushFolder(m_path) : Result<void>();
}

bool AuditFile::hasHead() const
{
    return !readHead(m_path).isEmpty();
}

Result<std::vector<AuditRecord>> AuditFile::read(QStringList *problems) const
{
    std::vector<AuditRecord> records;
    const auto head = readHead(m_path);
    const auto reportCut = [&] {
        if (problems && !head.isEmpty())
            *problems << u"%1: records are missing at the end: the last record written (%2…) is not in the file"_s
                             .arg(m_path, QString::fromLatin1(head.left(12)));
    };
    if (!QFile::exists(m_path)) { // nothing was ever forced, or it was taken away
        reportCut();
        return records;
    }
    const auto opened = openRegularFile(m_path);
    if (!opened)
        return Error{ErrorCode::NoPermission,
                     u"could not read the audit log \"%1\": %2"_s.arg(m_path, opened.error().message)};
    auto &file = **opened;
    const auto report = [&](qint64 line, const QString &what) {
        if (problems)
            *problems << u"%1 line %2: %3"_s.arg(m_path, QString::number(line), what);
    };
    QByteArray previous;
    for (qint64 number = 1; !file.atEnd(); ++number) {
        const auto line = file.readLine().trimmed();
        if (line.isEmpty())
            continue;
        const auto document = QJsonDocument::fromJson(line);
        const auto json = document.object();
        auto record = fromJson(json);
        if (record.hash.isEmpty()) {
            const bool isHalf = document.isNull() && line.startsWith("{\"action\":");
            report(number, isHalf ? u"is half a record: its writer ended in the middle (of an intent: before "
                                    u"anything was sent), or the line was cut later"_s
                                  : u"is not an audit record"_s);
            continue;
        }
        if (hashOf(previous, json) != record.hash)
            report(number,
                   u"does not follow from the line before: this line was changed, or a line before it was removed"_s);
        if (record.lacksHead)
            report(number,
                   u"was written while %1 was missing: records missing before this line cannot be detected"_s.arg(
                       headPath(m_path)));
        previous = record.hash;
        records.push_back(std::move(record));
    }
    if (std::ranges::find(records, head, &AuditRecord::hash) == records.end())
        reportCut();
    markUnfinished(records);
    return records;
}

Result<AuditReport> reportOf(const AuditFile &file, const QString &knownStamp)
{
    AuditReport report;
    report.path = file.path();
    // Not while a record is being written: half of one is no broken chain.
    const Descriptor fd(::open(QFile::encodeName(file.path()).constData(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    for (int tries = 0; fd.get() >= 0 && tries < 200 && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0; ++tries)
        QThread::msleep(10);
    report.stamp = stampOf(file.path());
    report.isUnchanged = report.stamp == knownStamp;
    if (report.isUnchanged)
        return report;
    TRY(auto &records, file.read(&report.problems));
    report.records = std::move(records);
    if (!report.records.empty() && !file.hasHead())
        report.problems << u"%1.head is missing: the check cannot detect records missing at the end"_s.arg(
            file.path());
    return report;
}

} // namespace lockscope::operate
