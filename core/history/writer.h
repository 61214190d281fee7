// SPDX-License-Identifier: Apache-2.0
// Writes a recording, in chunks: what is not yet in one is lost in a crash, so flush() is to be called each second. A
// moment at which nothing changed is written, too: it says that the recorder was still there.
//
// A full picture comes at the beginning, and again when so much was written since the last that reading it from there
// takes longer than reading a picture.
#pragma once

#include "core/history/chunk.h"

#include <QFile>

namespace lockscope::history {

class RecordingWriter {
public:
    // A file of its own: none that is there already is written over. Closed to others: it names clients and hosts.
    // It begins with `picture`.
    [[nodiscard]] static Result<std::unique_ptr<RecordingWriter>> create(const QString &path, Moment now,
                                                                         Picture picture = {});

    // Moments that go back (a clock that was set) count as the last one.
    [[nodiscard]] Result<void> add(Change change);
    // To the file: what was added, up to now.
    [[nodiscard]] Result<void> flush(Moment now);

    [[nodiscard]] const Picture &picture() const { return m_picture; }
    [[nodiscard]] QString path() const { return m_file.fileName(); }
    // Of what is in the file.
    [[nodiscard]] qint64 bytes() const { return m_bytes; }
    [[nodiscard]] qint64 lockChanges() const { return m_written.lockChanges; }
    [[nodiscard]] qint64 locksSeen() const { return m_written.locksSeen; }
    [[nodiscard]] Moment begin() const { return m_begin; }
    [[nodiscard]] Moment end() const { return m_written.end; }
    // Locks that the picture has newer than the file.
    [[nodiscard]] const std::vector<inspect::LockName> &unwritten() const { return m_unwritten; }

private:
    explicit RecordingWriter(const QString &path) : m_file(path) {}
    [[nodiscard]] Result<void> writeChanges();
    [[nodiscard]] Result<void> writePicture();
    [[nodiscard]] Result<void> write(const QByteArray &bytes);

    QFile m_file;
    Picture m_picture;
    QByteArray m_raw; // the chunk that is being filled
    quint32 m_rawChanges = 0;
    std::vector<inspect::LockName> m_unwritten; // what is told of in it
    Moment m_begin{};
    Moment m_first{}; // of that chunk
    Moment m_last{};
    Moment m_pictureAt{};
    qint64 m_bytes = 0;
    qint64 m_sincePicture = 0; // raw bytes
    qint64 m_pictureRaw = 0;
    qint64 m_lockChanges = 0;
    std::map<inspect::LockName, char> m_locksSeen;
    struct {
        qint64 lockChanges = 0;
        qint64 locksSeen = 0;
        Moment end{};
    } m_written;
};

} // namespace lockscope::history
