// SPDX-License-Identifier: Apache-2.0
// A recording's file: a line that says what it is and in which version, then chunks. Each chunk is a header of fixed
// length and a compressed payload (zlib), and carries a checksum over both, so that what a crash cut off shows.
//
// Two kinds: changes, in their order, and pictures: all there was at a moment, perhaps in several parts, from which
// the state at any later moment is made without reading what was before.
#pragma once

#include "core/base/result.h"
#include "core/inspect/state/statesnapshot.h"

#include <QIODevice>

namespace lockscope::history {

using inspect::Act;
using inspect::Change;
using inspect::Confirmation;
using inspect::CoverageSeen;
using inspect::LinkState;
using inspect::Moment;
using inspect::SessionsSeen;
using inspect::StateSnapshot;

inline constexpr int formatVersion = 7;                 // 7 adds Coverage::endedDeadlocks
inline constexpr int coverageFormat = 4;                // from this on a Coverage is recorded with all its fields
inline constexpr int oldestFormat = 2;                  // that is read, too (encoding.cpp: since<>)
inline constexpr qint64 mostRaw = 64LL * 1024 * 1024;   // of one chunk, unpacked
inline constexpr qsizetype partRaw = 4LL * 1024 * 1024; // what a writer puts into one, about
inline constexpr quint16 mostParts = 4096;              // of one picture
inline constexpr qint64 chunkHeaderBytes = 43;

struct ChunkHeader {
    enum class Kind : quint8 { Picture = 1, Changes = 2 };
    Kind kind = Kind::Changes;
    quint16 part = 0; // of a picture: from 0
    quint16 parts = 1;
    Moment first{}, last{}; // of a picture: the moment it is of, twice
    quint32 changes = 0;
    quint32 rawBytes = 0;
    quint32 packedBytes = 0;
    quint32 checksum = 0; // CRC-32 over the header before it and the payload
    friend bool operator==(const ChunkHeader &, const ChunkHeader &) = default;
};

// The file's first line.
[[nodiscard]] QByteArray fileHeader(int version = formatVersion);
// Reads it, says the version, and leaves the device behind it. An error for a file that is none, or of a version that
// this program does not read.
[[nodiscard]] Result<int> readFileHeader(QIODevice &file);

// Header and payload of these encoded changes.
[[nodiscard]] QByteArray packChunk(ChunkHeader header, const QByteArray &raw);
// Nothing where there is no header, or none that can be.
[[nodiscard]] std::optional<ChunkHeader> readChunkHeader(const QByteArray &bytes);
// The encoded changes again; an error says what is wrong with it.
[[nodiscard]] Result<QByteArray> unpackChunk(const QByteArray &headerAndPayload);

// Values as bytes, and back. What is read may have been written by anybody: nothing in it is believed. A length that
// what is left cannot hold, a word or a moment that cannot be, is an error that says where.
//
// Which fields a value has, and in which order, is said once for both ways (encoding.cpp).

// Appends it.
void encode(const Change &change, QByteArray &to);

// Reads the changes that stand one after the other in `bytes`.
class ChangeReader {
public:
    explicit ChangeReader(const QByteArray &bytes, int version = formatVersion);
    ~ChangeReader();
    [[nodiscard]] bool atEnd() const;
    [[nodiscard]] qint64 position() const;
    // Findings whose code this version does not know are left out; the change says which.
    [[nodiscard]] Result<Change> next();

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace lockscope::history
