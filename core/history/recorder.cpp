// SPDX-License-Identifier: Apache-2.0
#include "core/history/recorder.h"

#include "core/async/dated.h"

namespace lockscope::history {

constexpr auto flushEvery = 1s; // what a crash may cost

Recorder::Recorder(Loop &loop, std::unique_ptr<RecordingWriter> writer, std::function<void(const Error &)> failed)
    : m_loop(loop), m_writer(std::move(writer)), m_failed(std::move(failed))
{
    flushLater();
}

Recorder::~Recorder()
{
    (void)flush(); // nobody is left to be told
}

Moment Recorder::now() const
{
    return std::chrono::time_point_cast<std::chrono::milliseconds>(datedNow(m_loop));
}

void Recorder::check(const Result<void> &result)
{
    if (!result && !std::exchange(m_isOver, true) && m_failed)
        m_failed(result.error());
}

void Recorder::take(Change::What change)
{
    if (m_isOver || !Change::isRecorded(change))
        return;
    if (const auto *state = std::get_if<LinkState>(&change)) {
        const auto &known = m_writer->picture().connections;
        if (const auto at = known.find(state->name); at != known.end() && at->second == *state)
            return;
    }
    check(m_writer->add({now(), std::move(change)}));
}

Result<void> Recorder::flush()
{
    if (m_isOver)
        return {};
    auto flushed = m_writer->flush(now());
    check(flushed);
    return flushed;
}

Result<void> Recorder::end()
{
    auto flushed = flush();
    m_isOver = true;
    return flushed;
}

void Recorder::flushLater()
{
    m_timer = m_loop.callAt(m_loop.now() + flushEvery, [this] {
        if (flush() && !m_isOver)
            flushLater();
    });
}

} // namespace lockscope::history
