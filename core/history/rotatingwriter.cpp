// SPDX-License-Identifier: Apache-2.0
#include "core/history/rotatingwriter.h"

namespace lockscope::history {

using namespace Qt::StringLiterals;

namespace {

// So many files make up the whole: what goes at once is no more than that part of it.
constexpr int filesInAll = 8;

} // namespace

Result<std::unique_ptr<RotatingWriter>> RotatingWriter::create(const QString &folder, RecordingBounds bounds,
                                                               Moment now)
{
    std::unique_ptr<RotatingWriter> writer(new RotatingWriter(folder, bounds));
    if (auto begun = writer->begin(now, {}); !begun)
        return begun.error();
    return writer;
}

Result<void> RotatingWriter::begin(Moment now, Picture picture)
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
    if (auto flushed = m_writer->flush(now); !flushed)
        return flushed;
    const auto end = m_writer->end();
    // Beside the picture it begins with: that may be as large as all the rest.
    const bool isFull = m_writer->bytes() - m_begunWith >= m_bounds.bytes / filesInAll;
    const bool isLong = end - m_writer->begin() >= m_bounds.span / filesInAll;
    if (isFull || isLong) {
        if (auto begun = begin(end, m_writer->picture()); !begun)
            return begun;
    }
    dropOld(end);
    return {};
}

void RotatingWriter::dropOld(Moment now)
{
    const auto isOver = [&] {
        return m_closedBytes + m_writer->bytes() > m_bounds.bytes || now - m_closed.front().end > m_bounds.span;
    };
    while (!m_closed.empty() && isOver()) {
        QFile::remove(m_closed.front().path);
        m_closedBytes -= m_closed.front().bytes;
        m_closed.pop_front();
    }
}

QStringList RotatingWriter::files() const
{
    QStringList all;
    for (const auto &closed : m_closed)
        all << closed.path;
    return all << m_writer->path();
}

} // namespace lockscope::history
