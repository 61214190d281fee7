// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/serverrunner.h"

namespace lockscope::ui {

ServerRunner::~ServerRunner()
{
    if (m_id && m_backend)
        m_backend->cancelRun(*m_id);
}

void ServerRunner::setBackend(Backend *backend)
{
    m_backend = backend;
    connect(backend, &Backend::runProgressed, this, [this](quint64 id, const RealRunProgress &progress) {
        if (id == m_id && m_wanted && !m_isCancelled && !m_hasNext)
            emit progressed(m_recordings.size(), m_runs[m_recordings.size()], progress);
    });
}

void ServerRunner::play(std::vector<RealRunOptions> runs)
{
    m_runs = std::move(runs);
    m_recordings.clear();
    m_wanted = true;
    m_isCancelled = false;
    if (!m_id) {
        next();
        return;
    }
    m_hasNext = true;
    m_backend->cancelRun(*m_id);
}

void ServerRunner::next()
{
    const auto id = std::make_shared<quint64>(0);
    *id = m_backend->playOnServers(m_runs[m_recordings.size()], this,
                                   [this, id](Result<simulate::Recording> result) { take(*id, std::move(result)); });
    m_id = *id;
}

void ServerRunner::take(quint64 id, Result<simulate::Recording> result)
{
    if (id != m_id)
        return;
    m_id.reset();
    if (std::exchange(m_hasNext, false)) {
        next();
        return;
    }
    if (!m_wanted)
        return;
    if (m_isCancelled) {
        end();
        emit cancelled();
        return;
    }
    if (!result) {
        end();
        emit failed(result.error());
        return;
    }
    m_recordings.push_back(std::move(*result));
    if (m_recordings.size() < m_runs.size()) {
        next();
        return;
    }
    const auto recordings = std::make_shared<std::vector<simulate::Recording>>(std::exchange(m_recordings, {}));
    end();
    emit played(recordings);
}

void ServerRunner::end()
{
    m_wanted = false;
    m_recordings.clear();
    m_runs.clear();
}

void ServerRunner::cancel()
{
    if (!m_wanted)
        return;
    m_isCancelled = true;
    if (m_id)
        m_backend->cancelRun(*m_id);
    m_hasNext = false;
}

void ServerRunner::abandon()
{
    cancel();
    end();
}

} // namespace lockscope::ui
