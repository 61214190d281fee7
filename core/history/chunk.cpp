// SPDX-License-Identifier: Apache-2.0
#include "core/history/chunk.h"

#include <QDataStream>

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

} // namespace lockscope::history
