// SPDX-License-Identifier: Apache-2.0
#include "core/history/recording.h"
#include "core/base/text.h"
#include "core/history/flightrecorder.h"

#include <QDataStream>
#include <QDateTime>
#include <QFileInfo>

#include <zlib.h>

namespace lockscope::history {

using std::chrono::milliseconds;

namespace {

constexpr quint32 chunkMark = 0x4c53434b; // "LSCK"
constexpr auto headerStream = QDataStream::Qt_6_4;
constexpr int fast = 1;            // zlib's level: recording must not cost
constexpr qint64 mostRatio = 1100; // zlib packs to a 1032th at most: what claims more is no chunk
constexpr QByteArrayView fileMark("lockscope recording ");
constexpr qint64 farthest = 253'402'300'799'999; // ms: the year 9999

quint32 checksumOf(const QByteArray &header, const char *payload, qsizetype size)
{
    auto sum = ::crc32(0, nullptr, 0);
    const auto add = [&sum](const char *bytes, qsizetype count) {
        sum = ::crc32(sum, reinterpret_cast<const Bytef *>(bytes), static_cast<uInt>(count));
    };
    add(header.constData(), chunkHeaderBytes - 4);
    if (size > 0)
        add(payload, size);
    return static_cast<quint32>(sum);
}

QByteArray headerBytes(const ChunkHeader &header)
{
    QByteArray bytes;
    QDataStream out(&bytes, QIODevice::WriteOnly);
    out.setVersion(headerStream);
    out << chunkMark << static_cast<quint8>(header.kind) << quint8(0) << quint8(0) << header.part << header.parts
        << static_cast<qint64>(header.first.time_since_epoch().count())
        << static_cast<qint64>(header.last.time_since_epoch().count()) << header.changes << header.rawBytes
        << header.packedBytes << header.checksum;
    return bytes;
}

bool canBe(const ChunkHeader &header, quint8 kind, qint64 first, qint64 last)
{
    const bool isKind = kind == static_cast<quint8>(ChunkHeader::Kind::Picture)
                        || kind == static_cast<quint8>(ChunkHeader::Kind::Changes);
    const bool isTime = first >= 0 && first <= last && last <= farthest;
    const bool isSize = header.rawBytes <= mostRaw
                        && header.rawBytes <= static_cast<qint64>(header.packedBytes) * mostRatio
                        && header.packedBytes <= mostRaw && header.changes <= header.rawBytes;
    return isKind && isTime && isSize && header.part < header.parts && header.parts <= mostParts;
}

} // namespace

QByteArray fileHeader(int version)
{
    return fileMark.toByteArray() + QByteArray::number(version) + '\n';
}

Result<int> readFileHeader(QIODevice &file)
{
    constexpr qint64 longest = 64;
    const auto line = file.readLine(longest);
    if (line.startsWith("{\"events\":"))
        return Error{ErrorCode::BadInput, u"is a run of the simulator, not a recording of servers"_s};
    if (!line.startsWith(fileMark) || !line.endsWith('\n'))
        return Error{ErrorCode::BadInput, u"is not a Lockscope recording"_s};
    bool isNumber = false;
    const auto version = line.mid(fileMark.size()).trimmed().toInt(&isNumber);
    if (!isNumber || version < 1)
        return Error{ErrorCode::BadInput, u"is not a Lockscope recording"_s};
    if (version < oldestFormat || version > formatVersion)
        return Error{ErrorCode::Unsupported,
                     u"is a recording in format %1, and this version (%2) reads formats %3 to %4; open it with the "
                     u"version that wrote it%5"_s.arg(QString::number(version), QStringLiteral(LOCKSCOPE_VERSION),
                                                      QString::number(oldestFormat), QString::number(formatVersion),
                                                      version > formatVersion ? u", or newer"_s : QString())};
    return version;
}

QByteArray packChunk(ChunkHeader header, const QByteArray &raw)
{
    auto size = ::compressBound(static_cast<uLong>(raw.size()));
    QByteArray payload(static_cast<qsizetype>(size), Qt::Uninitialized);
    // It cannot fail: the room is what zlib asks for.
    ::compress2(reinterpret_cast<Bytef *>(payload.data()), &size, reinterpret_cast<const Bytef *>(raw.constData()),
                static_cast<uLong>(raw.size()), fast);
    payload.truncate(static_cast<qsizetype>(size));
    header.rawBytes = static_cast<quint32>(raw.size());
    header.packedBytes = static_cast<quint32>(payload.size());
    header.checksum = 0;
    header.checksum = checksumOf(headerBytes(header), payload.constData(), payload.size());
    return headerBytes(header) + payload;
}

std::optional<ChunkHeader> readChunkHeader(const QByteArray &bytes)
{
    if (bytes.size() < chunkHeaderBytes)
        return std::nullopt;
    QDataStream in(bytes);
    in.setVersion(headerStream);
    ChunkHeader header;
    quint32 mark = 0;
    quint8 kind = 0;
    quint8 unused = 0;
    qint64 first = 0;
    qint64 last = 0;
    in >> mark >> kind >> unused >> unused >> header.part >> header.parts >> first >> last >> header.changes
        >> header.rawBytes >> header.packedBytes >> header.checksum;
    if (in.status() != QDataStream::Ok || mark != chunkMark || !canBe(header, kind, first, last))
        return std::nullopt;
    header.kind = static_cast<ChunkHeader::Kind>(kind);
    header.first = Moment(milliseconds(first));
    header.last = Moment(milliseconds(last));
    return header;
}

Result<QByteArray> unpackChunk(const QByteArray &headerAndPayload)
{
    const auto header = readChunkHeader(headerAndPayload);
    if (!header)
        return Error{ErrorCode::BadInput, u"the chunk header is invalid"_s};
    const auto *payload = headerAndPayload.constData() + chunkHeaderBytes;
    const auto size = headerAndPayload.size() - chunkHeaderBytes;
    if (size != static_cast<qsizetype>(header->packedBytes))
        return Error{ErrorCode::BadInput, u"the chunk is cut off"_s};
    auto unsummed = *header;
    unsummed.checksum = 0;
    if (checksumOf(headerBytes(unsummed), payload, size) != header->checksum)
        return Error{ErrorCode::BadInput, u"the checksum does not match"_s};
    QByteArray raw(static_cast<qsizetype>(header->rawBytes), Qt::Uninitialized);
    auto unpacked = static_cast<uLongf>(raw.size());
    const auto done = ::uncompress(reinterpret_cast<Bytef *>(raw.data()), &unpacked,
                                   reinterpret_cast<const Bytef *>(payload), static_cast<uLong>(size));
    if (done != Z_OK || unpacked != static_cast<uLongf>(raw.size()))
        return Error{ErrorCode::BadInput, u"the chunk cannot be unpacked"_s};
    return raw;
}

constexpr auto pictureAfter = 30s;           // the soonest
constexpr qint64 pictureCosts = 64LL * 1024; // of a small picture: so much is read as quickly

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::create(const QString &path, Moment now,
                                                                 StateSnapshot picture)
{
    std::unique_ptr<RecordingWriter> writer(new RecordingWriter(path));
    auto &file = writer->m_file;
    if (!file.open(QIODevice::WriteOnly | QIODevice::NewOnly | QIODevice::Unbuffered,
                   QFileDevice::ReadOwner | QFileDevice::WriteOwner)) {
        const auto why = QFile::exists(path) ? u"it already exists and is not overwritten"_s : file.errorString();
        return Error{ErrorCode::BadInput, u"cannot record to %1: %2"_s.arg(path, why)};
    }
    writer->m_picture = std::move(picture);
    writer->m_begin = writer->m_first = writer->m_last = writer->m_written.end = now;
    auto begun = writer->write(fileHeader());
    if (begun)
        begun = writer->writePicture();
    if (begun)
        return writer;
    file.remove();
    return begun.error();
}

Result<void> RecordingWriter::add(Change change)
{
    change.at = m_last = std::max(m_last, change.at);
    const auto *lock = std::get_if<inspect::SnapshotChange>(&change.what);
    const auto known = lock ? m_picture.locks.find(lock->lock.lock) : m_picture.locks.end();
    const bool hasWork =
        lock && std::ranges::any_of(lock->lock.contenders, [](const auto &one) { return bool(one.work); });
    const bool isNews = !hasWork || known == m_picture.locks.end() || lock->kind != inspect::ChangeKind::Changed
                        || !inspect::isRecordedAlike(known->second, lock->lock);
    m_picture.apply(change);
    if (!isNews)
        return {};
    if (lock) {
        ++m_lockChanges;
        m_locksSeen.try_emplace(lock->lock.lock);
        m_unwritten.push_back(lock->lock.lock);
    }
    encode(change, m_raw);
    ++m_rawChanges;
    return m_raw.size() < partRaw ? Result<void>() : writeChanges();
}

Result<void> RecordingWriter::flush(Moment now)
{
    m_last = std::max(m_last, now);
    TRY_VOID(writeChanges());
    const bool isWorthIt = m_sincePicture > std::max(pictureCosts, m_pictureRaw);
    return isWorthIt && m_last - m_pictureAt >= pictureAfter ? writePicture() : Result<void>();
}

Result<void> RecordingWriter::writeChanges()
{
    ChunkHeader header;
    header.first = m_first;
    header.last = m_last;
    header.changes = std::exchange(m_rawChanges, 0);
    const auto raw = std::exchange(m_raw, {});
    m_sincePicture += raw.size();
    m_first = m_last;
    if (raw.size() > mostRaw)
        return Error{ErrorCode::TooLarge, u"cannot record to %1: one change takes %2 bytes"_s.arg(
                                              m_file.fileName(), QString::number(raw.size()))};
    TRY_VOID(write(packChunk(header, raw)));
    m_written = {m_lockChanges, static_cast<qint64>(m_locksSeen.size()), m_last};
    m_unwritten.clear();
    return {};
}

Result<void> RecordingWriter::writePicture()
{
    std::vector<std::pair<QByteArray, quint32>> parts(1);
    for (const auto &change : inspect::difference({}, m_picture, m_last)) {
        if (parts.back().first.size() >= partRaw)
            parts.emplace_back();
        encode(change, parts.back().first);
        ++parts.back().second;
    }
    m_pictureAt = m_last;
    m_sincePicture = m_pictureRaw = 0;
    if (parts.size() > mostParts)
        return {}; // seeking is slower then
    ChunkHeader header;
    header.kind = ChunkHeader::Kind::Picture;
    header.first = header.last = m_last;
    header.parts = static_cast<quint16>(parts.size());
    for (const auto &[raw, changes] : parts) {
        m_pictureRaw += raw.size();
        header.changes = changes;
        TRY_VOID(write(packChunk(header, raw)));
        ++header.part;
    }
    return {};
}

Result<void> RecordingWriter::write(const QByteArray &bytes)
{
    // What no longer fits is taken in part, and only the next try says why. That part is taken back.
    for (qint64 done = 0; done < bytes.size();) {
        const auto taken = m_file.write(bytes.constData() + done, bytes.size() - done);
        if (taken <= 0) {
            const auto why = m_file.errorString();
            m_file.resize(m_bytes);
            return Error{ErrorCode::Server, u"cannot record to %1: %2"_s.arg(m_file.fileName(), why)};
        }
        done += taken;
    }
    m_bytes += bytes.size();
    return {};
}

// So many files make up the whole: what goes at once is no more than that part of it.
constexpr int filesInAll = 8;
// A recording that ends later than that after the present was written with a clock that was ahead.
constexpr auto mostStepBack = 1min;

Result<std::unique_ptr<RotatingWriter>> RotatingWriter::create(const QString &folder, RecordingBounds bounds,
                                                               Moment now)
{
    std::unique_ptr<RotatingWriter> writer(new RotatingWriter(folder, bounds));
    TRY_VOID(writer->goOn(now));
    return writer;
}

Result<void> RotatingWriter::goOn(Moment now)
{
    std::optional<FlightRecording> last;
    for (const auto &path : filesIn(m_folder)) {
        const QFileInfo file(path);
        m_number = file.baseName().toInt();
        auto recording = FlightRecording::open({path});
        // A file that a crash left without a snapshot is removed with the others.
        const auto end = recording ? recording->end() : Moment(milliseconds(file.lastModified().toMSecsSinceEpoch()));
        m_closed.push_back({path, std::min(end, now), file.size()});
        m_closedBytes += file.size();
        if (recording && end <= now + mostStepBack)
            last = std::move(*recording);
    }
    // After a longer pause all files are expired, and the clock may be ahead: the pause does not count.
    const auto pause = m_closed.empty() ? milliseconds(0) : now - m_closed.back().end;
    for (auto &closed : m_closed)
        closed.end += pause > m_bounds.span ? pause : milliseconds(0);
    dropOld(now); // a full disk has room for the next file then
    auto known = last ? last->at(last->end()) : Result<StateSnapshot>(StateSnapshot());
    if (!known || known->connections.empty())
        return begin(now, {});
    auto connections = known->connections;
    TRY_VOID(begin(last->end(), std::move(*known)));
    for (auto &[name, state] : connections) {
        state.isConnected = state.isLookedThrough = false;
        state.isGone = true;
        state.problem = u"nothing was recorded"_s;
        TRY_VOID(m_writer->add({last->end() + 1ms, state})); // at its end it is still as it was
    }
    return flush(now);
}

Result<void> RotatingWriter::begin(Moment now, StateSnapshot picture)
{
    const auto path = u"%1/%2.lockscope"_s.arg(m_folder, QString::number(++m_number).rightJustified(6, u'0'));
    auto next = RecordingWriter::create(path, now, std::move(picture));
    if (!next)
        return next.error();
    if (m_writer) {
        m_closed.push_back({m_writer->path(), m_writer->end(), m_writer->bytes()});
        m_closedBytes += m_writer->bytes();
    }
    m_writer = std::move(*next);
    m_begunWith = m_writer->bytes();
    return {};
}

Result<void> RotatingWriter::flush(Moment now)
{
    TRY_VOID(m_writer->flush(now));
    const auto end = m_writer->end();
    // Beside the picture it begins with: that may be as large as all the rest.
    const bool isFull = m_writer->bytes() - m_begunWith >= m_bounds.bytes / filesInAll;
    const bool isLong = end - m_writer->begin() >= m_bounds.span / filesInAll;
    if (isFull || isLong) {
        dropOld(end); // a full disk has room then
        TRY_VOID(begin(end, m_writer->picture()));
    }
    dropOld(end);
    return {};
}

Result<void> RotatingWriter::resume(Moment now)
{
    const auto known = m_writer->picture();
    const auto since = m_writer->end();
    if (m_standing.empty())
        m_standing = known.connections;
    const auto &unwritten = m_writer->unwritten();
    m_missed.insert(unwritten.begin(), unwritten.end());
    TRY_VOID(begin(since, known));
    Result<void> written;
    const auto tell = [&](Change change) {
        if (written)
            written = m_writer->add(std::move(change));
    };
    for (const auto &[name, state] : m_standing) {
        auto unseen = state;
        unseen.isConnected = unseen.isLookedThrough = false;
        unseen.problem = u"the recorder could not write"_s;
        tell({since, unseen});
    }
    for (const auto &[name, state] : m_standing)
        tell({now, state});
    for (const auto &name : m_missed) {
        inspect::SnapshotChange change{inspect::ChangeKind::Removed, {}};
        change.lock.lock = name;
        if (const auto at = known.locks.find(name); at != known.locks.end())
            change = {inspect::ChangeKind::Changed, at->second};
        tell({now, std::move(change)});
    }
    if (written)
        written = flush(now);
    if (written) {
        m_standing.clear();
        m_missed.clear();
    }
    return written;
}

void RotatingWriter::dropOld(Moment now)
{
    const auto isOver = [&] {
        const auto open = m_writer ? m_writer->bytes() : 0;
        return m_closedBytes + open > m_bounds.bytes || now - m_closed.front().end > m_bounds.span;
    };
    while (!m_closed.empty() && isOver()) {
        QFile::remove(m_closed.front().path);
        m_closedBytes -= m_closed.front().bytes;
        m_closed.pop_front();
    }
}

QStringList RotatingWriter::files() const
{
    auto all = mapped<QStringList>(m_closed, [&](const auto &closed) { return closed.path; });
    return all << m_writer->path();
}

} // namespace lockscope::history
