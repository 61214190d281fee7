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
    if (!next) {
        QFile::remove(path); // begun in part
        return next.error();
    }
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

Result<void> RotatingWriter::resume(Moment now)
{
    const auto known = m_writer->picture();
    const auto since = m_writer->end();
    if (m_standing.empty())
        m_standing = known.connections;
    const auto &unwritten = m_writer->unwritten();
    m_missed.insert(unwritten.begin(), unwritten.end());
    if (auto begun = begin(since, known); !begun)
        return begun;
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
