// SPDX-License-Identifier: Apache-2.0
// A recording, opened: what there was at any moment of it, and what changed from one to another. Chunks are read
// when they are asked for. Nothing in the file is believed (chunk.cpp); what a crash cut off at its end is
// left out, and said.
#pragma once

#include "core/base/result.h"
#include "core/inspect/state/statesnapshot.h"

#include <QIODevice>

#include <functional>
#include <mutex>

namespace lockscope::history {

// A recording's file: a line that says what it is and in which version, then chunks. Each chunk is a header of fixed
// length and a compressed payload (zlib), and carries a checksum over both, so that what a crash cut off shows.
//
// Two kinds: changes, in their order, and pictures: all there was at a moment, perhaps in several parts, from which
// the state at any later moment is made without reading what was before.

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

// A moment of a lock: nothing where it was gone.
struct LockMoment {
    Moment at{};
    std::optional<inspect::LockSnapshot> lock;
    friend bool operator==(const LockMoment &, const LockMoment &) = default;
};

// What is told of one lock.
struct LockHistory {
    Moment begin{};                  // of the recording
    std::vector<LockMoment> moments; // the first: as the recording begins, where it was there then
    std::vector<std::pair<Moment, LinkState>> connection; // of its connection
    std::vector<std::pair<Moment, Act>> acts;
    std::vector<std::pair<Moment, inspect::EndedDeadlock>> deadlocks{}; // in which a client waited for it
};

class FlightRecording {
public:
    // One file, or several that follow each other (the recorder's own, which drops the oldest). The message of an
    // error begins with the file.
    [[nodiscard]] static Result<FlightRecording> open(const QStringList &files);

    [[nodiscard]] Moment begin() const { return m_chunks.front().header.first; }
    [[nodiscard]] Moment end() const { return m_end; }
    [[nodiscard]] qint64 bytes() const { return m_bytes; }
    [[nodiscard]] const QStringList &files() const { return m_files; }
    [[nodiscard]] int version() const { return m_version; } // of the format
    // What is not in it although it was: a torn end.
    [[nodiscard]] const QStringList &damage() const { return m_damage; }

    // As everything stood then. Outside of begin() to end(): an error that says where it begins and ends.
    [[nodiscard]] Result<StateSnapshot> at(Moment moment) const;
    // Calls `each` for every change after `from` and up to `to`, in their order, until it says false.
    [[nodiscard]] Result<void> walk(Moment from, Moment to, const std::function<bool(const Change &)> &each) const;
    // From the beginning up to then; Cancelled as soon as `isWanted` says no.
    [[nodiscard]] Result<LockHistory> historyOf(const inspect::LockName &lock, Moment to,
                                                const std::function<bool()> &isWanted = {}) const;
    // All of it in one file of its own, which is written over.
    [[nodiscard]] Result<void> saveTo(const QString &path) const;

private:
    struct Chunk {
        int file = 0;
        qint64 offset = 0;
        ChunkHeader header;
    };
    FlightRecording() = default;
    [[nodiscard]] Result<void> index(int file);
    void dropTorn(int file, qint64 offset, qint64 size, const QString &why);
    void dropHalfPicture(int file);
    [[nodiscard]] Result<QByteArray> packed(const Chunk &chunk) const;
    [[nodiscard]] Result<QByteArray> read(const Chunk &chunk) const;
    // The first chunk of the last whole picture that is not later.
    [[nodiscard]] std::size_t pictureBefore(Moment moment) const;
    [[nodiscard]] Result<void> each(const Chunk &chunk, const std::function<bool(const Change &)> &call) const;
    [[nodiscard]] Result<std::size_t> takePicture(std::size_t first, StateSnapshot &picture) const;

    QStringList m_files;
    std::vector<Chunk> m_chunks;
    int m_version = 0; // of all its files
    Moment m_end{};
    qint64 m_bytes = 0;
    QStringList m_damage;
};

// Those of a RotatingWriter in that folder, the oldest first.
[[nodiscard]] QStringList filesIn(const QString &folder);

// "2026-03-01T10:00:00Z" (local time where it names no zone), "10:00:00" of the recording's last day, "-5m" before
// its end. Outside of the recording: an error.
[[nodiscard]] Result<Moment> momentIn(const FlightRecording &recording, const QString &text);

// Where the files of recorders are, for who reads them.

// The files that can be read now. Any thread.
class RecordedFiles {
public:
    [[nodiscard]] QStringList list() const
    {
        const std::scoped_lock lock(m_mutex);
        return m_files;
    }
    void set(QStringList files)
    {
        const std::scoped_lock lock(m_mutex);
        m_files = std::move(files);
    }

private:
    mutable std::mutex m_mutex;
    QStringList m_files;
};

// A run that ended without tidying up: the files it left, in their order.
struct LeftRecording {
    QStringList files;
    std::chrono::system_clock::time_point last; // when it was written last
};

} // namespace lockscope::history
