// SPDX-License-Identifier: Apache-2.0
// A recording without an end in bounded room: files that follow each other in a folder, of which the oldest goes when
// there are too many bytes, or when what is left is long enough without it. Each begins with a full picture, so that
// none needs the one before.
#pragma once

#include "core/history/writer.h"

#include <QStringList>

#include <deque>
#include <set>

namespace lockscope::history {

struct RecordingBounds {
    std::chrono::milliseconds span = std::chrono::minutes(30);
    qint64 bytes = 256LL * 1024 * 1024;
};

class RotatingWriter {
public:
    // In a folder of its own, which is there.
    [[nodiscard]] static Result<std::unique_ptr<RotatingWriter>> create(const QString &folder, RecordingBounds bounds,
                                                                        Moment now);

    [[nodiscard]] Result<void> add(Change change) { return m_writer->add(std::move(change)); }
    // To the file; then perhaps a new one is begun, and old ones go.
    [[nodiscard]] Result<void> flush(Moment now);
    // After a failure, in a new file: from the end of what was written until now no connection stands in it, for what
    // came in between is not there.
    [[nodiscard]] Result<void> resume(Moment now);
    // The oldest first.
    [[nodiscard]] QStringList files() const;

private:
    struct Closed {
        QString path;
        Moment end{};
        qint64 bytes = 0;
    };
    RotatingWriter(QString folder, RecordingBounds bounds) : m_folder(std::move(folder)), m_bounds(bounds) {}
    [[nodiscard]] Result<void> begin(Moment now, Picture picture);
    void dropOld(Moment now);

    QString m_folder;
    RecordingBounds m_bounds;
    int m_number = 0;
    std::unique_ptr<RecordingWriter> m_writer;
    qint64 m_begunWith = 0; // bytes
    std::deque<Closed> m_closed;
    qint64 m_closedBytes = 0;
    // While it cannot be written: what holds again once it can.
    std::map<ConnectionName, LinkState> m_standing;
    std::set<inspect::LockName> m_missed;
};

} // namespace lockscope::history
