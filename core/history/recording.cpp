// SPDX-License-Identifier: Apache-2.0
#include "core/history/recording.h"

#include "core/base/text.h"
#include "core/base/fieldreader.h"
#include "core/inspect/coverage.h"
#include "core/inspect/json.h"

#include <QDateTime>
#include <QDir>
#include <QRegularExpression>
#include <QSaveFile>

namespace lockscope::history {

using ChunkKind = ChunkHeader::Kind;

QStringList filesIn(const QString &folder)
{
    static const QRegularExpression own(u"^([0-9]{6}|[1-9][0-9]{6,8})\\.lockscope$"_s);
    QStringList files;
    for (const auto &file : QDir(folder).entryInfoList(QDir::Files | QDir::NoSymLinks, QDir::Name)) {
        if (own.match(file.fileName()).hasMatch())
            files << file.filePath();
    }
    std::ranges::stable_sort(files, {}, &QString::size); // 1000000 is after 999999
    return files;
}

Result<FlightRecording> FlightRecording::open(const QStringList &files)
{
    FlightRecording recording;
    recording.m_files = files;
    for (int file = 0; file < files.size(); ++file) {
        if (auto indexed = recording.index(file); !indexed)
            return Error{indexed.error().code, files[file] + u' ' + indexed.error().message};
    }
    if (recording.m_chunks.empty())
        return Error{ErrorCode::BadInput, u"%1 contains no snapshot"_s.arg(files.join(u", "_s))};
    return recording;
}

// Reads the headers. What does not hold together ends the file there.
Result<void> FlightRecording::index(int number)
{
    const auto opened = openRegularFile(m_files[number]);
    if (!opened)
        return Error{ErrorCode::BadInput, u"cannot be read: %1"_s.arg(opened.error().message)};
    auto &file = **opened;
    TRY(const auto &version, readFileHeader(file));
    if (number > 0 && version != m_version)
        return Error{ErrorCode::Unsupported,
                     u"is in format %1, and the files before it are in format %2"_s.arg(version).arg(m_version)};
    m_version = version;
    const auto before = m_chunks.size();
    const auto size = file.size();
    m_bytes += size;
    auto last = before > 0 ? m_end : Moment{};
    for (auto offset = file.pos(); offset < size;) {
        const auto header = file.seek(offset) ? readChunkHeader(file.read(chunkHeaderBytes)) : std::nullopt;
        const auto next = offset + chunkHeaderBytes + (header ? header->packedBytes : 0);
        if (!header || next > size || header->first < last) {
            dropTorn(number, offset, size, !header || next <= size ? u"no chunk follows"_s : u"a chunk is cut off"_s);
            break;
        }
        if (m_chunks.size() == before && header->kind != ChunkKind::Picture)
            return Error{ErrorCode::BadInput, u"does not begin with a snapshot (byte %1)"_s.arg(offset)};
        m_chunks.push_back({number, offset, *header});
        last = header->last;
        offset = next;
    }
    // Blocks that a crashed machine never wrote are zeros of the right length.
    while (m_chunks.size() > before && !read(m_chunks.back())) {
        dropTorn(number, m_chunks.back().offset, size, u"a chunk is damaged"_s);
        m_chunks.pop_back();
    }
    dropHalfPicture(number);
    if (m_chunks.size() == before)
        return Error{ErrorCode::BadInput, u"contains no snapshot"_s};
    m_end = m_chunks.back().header.last;
    return {};
}

void FlightRecording::dropTorn(int file, qint64 offset, qint64 size, const QString &why)
{
    m_damage << u"%1: its last %2 bytes are left out: %3 at byte %4"_s.arg(
        m_files[file], QString::number(size - offset), why, QString::number(offset));
}

void FlightRecording::dropHalfPicture(int file)
{
    const auto isPart = [file](const Chunk &chunk) {
        return chunk.file == file && chunk.header.kind == ChunkKind::Picture;
    };
    auto first = m_chunks.size();
    while (first > 0 && isPart(m_chunks[first - 1])
           && m_chunks[first - 1].header.part + 1 < m_chunks[first - 1].header.parts)
        --first;
    m_chunks.resize(first);
}

Result<QByteArray> FlightRecording::packed(const Chunk &chunk) const
{
    const auto opened = openRegularFile(m_files[chunk.file]);
    if (!opened || !(*opened)->seek(chunk.offset))
        return Error{ErrorCode::BadInput,
                     u"%1 cannot be read any more: %2"_s.arg(m_files[chunk.file], opened ? (*opened)->errorString()
                                                                                         : opened.error().message)};
    return (*opened)->read(chunkHeaderBytes + static_cast<qint64>(chunk.header.packedBytes));
}

Result<QByteArray> FlightRecording::read(const Chunk &chunk) const
{
    TRY(const auto &bytes, packed(chunk));
    auto raw = unpackChunk(bytes);
    if (!raw)
        return Error{ErrorCode::BadInput,
                     u"%1 is damaged at byte %2: %3"_s.arg(m_files[chunk.file], QString::number(chunk.offset),
                                                           raw.error().message)};
    return raw;
}

Result<void> FlightRecording::each(const Chunk &chunk, const std::function<bool(const Change &)> &call) const
{
    TRY(const auto &raw, read(chunk));
    ChangeReader reader(raw, m_version);
    for (quint32 count = 0; count < chunk.header.changes; ++count) {
        auto change = reader.next();
        if (!change)
            return Error{ErrorCode::BadInput, u"%1 is damaged in the chunk at byte %2, at its byte %3: %4"_s.arg(
                                                  m_files[chunk.file], QString::number(chunk.offset),
                                                  QString::number(reader.position()), change.error().message)};
        if (!call(*change))
            return {};
    }
    return {};
}

std::size_t FlightRecording::pictureBefore(Moment moment) const
{
    std::size_t found = 0;
    for (std::size_t i = 0; i < m_chunks.size(); ++i) {
        const auto &header = m_chunks[i].header;
        if (header.first > moment)
            break;
        if (header.kind == ChunkKind::Picture && header.part == 0 && i + header.parts <= m_chunks.size())
            found = i;
    }
    return found;
}

// Returns the chunk behind it.
Result<std::size_t> FlightRecording::takePicture(std::size_t first, StateSnapshot &picture) const
{
    picture = {};
    const auto &begin = m_chunks[first].header;
    for (quint16 part = 0; part < begin.parts; ++part) {
        const auto at = first + part;
        const bool isNext = at < m_chunks.size() && m_chunks[at].header.kind == ChunkKind::Picture
                            && m_chunks[at].header.part == part && m_chunks[at].header.parts == begin.parts;
        if (!isNext)
            return Error{ErrorCode::BadInput,
                         u"%1 is damaged: the snapshot at byte %2 is incomplete"_s.arg(
                             m_files[m_chunks[first].file], QString::number(m_chunks[first].offset))};
        TRY_VOID(each(m_chunks[at], [&picture](const Change &change) {
            picture.apply(change);
            return true;
        }));
    }
    return first + begin.parts;
}

Result<StateSnapshot> FlightRecording::at(Moment moment) const
{
    if (moment < begin() || moment > end())
        return Error{ErrorCode::BadInput,
                     u"the recording goes from %1 to %2; %3 is not in it"_s.arg(
                         inspect::isoTime(begin()), inspect::isoTime(end()), inspect::isoTime(moment))};
    StateSnapshot picture;
    TRY(const auto &behind, takePicture(pictureBefore(moment), picture));
    for (auto i = behind; i < m_chunks.size() && m_chunks[i].header.first <= moment; ++i) {
        if (m_chunks[i].header.kind != ChunkKind::Changes)
            continue;
        TRY_VOID(each(m_chunks[i], [&picture, moment](const Change &change) {
            if (change.at <= moment)
                picture.apply(change);
            return change.at <= moment;
        }));
    }
    return picture;
}

Result<void> FlightRecording::walk(Moment from, Moment to, const std::function<bool(const Change &)> &call) const
{
    bool isOver = false;
    for (const auto &chunk : m_chunks) {
        const auto &header = chunk.header;
        if (isOver || header.first > to)
            break;
        if (header.kind != ChunkKind::Changes || header.last <= from)
            continue;
        TRY_VOID(each(chunk, [&](const Change &change) {
            if (change.at > from && change.at <= to)
                isOver = !call(change);
            return !isOver;
        }));
    }
    return {};
}

namespace {

// Each is in the coverage for minutes.
void addDeadlocks(LockHistory &history, const QByteArray &lock, Moment at,
                  const std::vector<inspect::Coverage> &coverage)
{
    for (const auto &part : coverage) {
        for (const auto &deadlock : part.endedDeadlocks) {
            const bool isKnown = std::ranges::any_of(
                history.deadlocks, [&deadlock](const auto &known) { return known.second == deadlock; });
            if (!isKnown && inspect::isInvolved(deadlock, lock))
                history.deadlocks.emplace_back(at, deadlock);
        }
    }
}

std::optional<QDateTime> readTime(const FlightRecording &recording, const QString &text)
{
    auto time = QDateTime::fromString(text, Qt::ISODateWithMs);
    if (!time.isValid()) {
        const auto end = QDateTime::fromMSecsSinceEpoch(recording.end().time_since_epoch().count());
        const auto hour = QTime::fromString(text, Qt::ISODateWithMs);
        if (!hour.isValid())
            return std::nullopt;
        time = QDateTime(end.date(), hour);
    }
    return time;
}

} // namespace

Result<LockHistory> FlightRecording::historyOf(const inspect::LockName &lock, Moment to,
                                               const std::function<bool()> &isWanted) const
{
    bool isCancelled = false;
    LockHistory history;
    history.begin = begin();
    StateSnapshot start;
    TRY_VOID(takePicture(0, start));
    if (const auto at = start.locks.find(lock); at != start.locks.end())
        history.moments.push_back({begin(), at->second});
    if (const auto at = start.connections.find(lock.connection); at != start.connections.end())
        history.connection.emplace_back(begin(), at->second);
    if (const auto at = start.coverage.find(lock.connection); at != start.coverage.end())
        addDeadlocks(history, lock.name, begin(), at->second);
    const auto name = lock.text();
    TRY_VOID(walk(begin() - std::chrono::milliseconds(1), to, [&](const Change &change) {
        if (const auto *news = std::get_if<inspect::SnapshotChange>(&change.what)) {
            const bool isGone = news->kind == inspect::ChangeKind::Removed;
            if (news->lock.lock == lock)
                history.moments.push_back({change.at, isGone ? std::nullopt : std::optional(news->lock)});
        } else if (const auto *state = std::get_if<LinkState>(&change.what)) {
            if (state->name == lock.connection)
                history.connection.emplace_back(change.at, *state);
        } else if (const auto *seen = std::get_if<CoverageSeen>(&change.what)) {
            if (seen->connection == lock.connection)
                addDeadlocks(history, lock.name, change.at, seen->coverage);
        } else if (const auto *act = std::get_if<Act>(&change.what)) {
            if (act->lock == name)
                history.acts.emplace_back(change.at, *act);
        }
        isCancelled = isWanted && !isWanted();
        return !isCancelled;
    }));
    if (isCancelled)
        return Error{ErrorCode::Cancelled, u"the request was cancelled"_s};
    return history;
}

// A picture within a file is as good as one at its beginning, so the chunks are taken as they are.
Result<void> FlightRecording::saveTo(const QString &path) const
{
    const auto failed = [&path](const QString &why) {
        return Error{ErrorCode::BadInput, u"cannot save to %1: %2"_s.arg(path, why)};
    };
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return failed(file.errorString());
    if (!file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner))
        return failed(file.errorString());
    file.write(fileHeader(m_version)); // the chunks are as they were
    for (const auto &chunk : m_chunks) {
        TRY(const auto &bytes, packed(chunk));
        if (file.write(bytes) != bytes.size())
            return failed(file.errorString());
    }
    return file.commit() ? Result<void>() : failed(file.errorString());
}

Result<Moment> momentIn(const FlightRecording &recording, const QString &text)
{
    std::optional<Moment> moment;
    if (text.startsWith(u'-')) {
        if (const auto span = parseDuration(text.mid(1)))
            moment = recording.end() - *span;
    } else if (const auto time = readTime(recording, text)) {
        moment = Moment(std::chrono::milliseconds(time->toMSecsSinceEpoch()));
    }
    if (!moment)
        return Error{ErrorCode::BadInput, u"\"%1\" is not a time; write 2026-03-01T10:00:00Z, or -5m for five "
                                          u"minutes before the recording's end"_s.arg(text)};
    if (*moment < recording.begin() || *moment > recording.end())
        return Error{ErrorCode::BadInput, u"the recording goes from %1 to %2; %3 is not in it"_s.arg(
                                              inspect::isoTime(recording.begin()), inspect::isoTime(recording.end()),
                                              inspect::isoTime(*moment))};
    return *moment;
}

} // namespace lockscope::history
