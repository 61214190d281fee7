// SPDX-License-Identifier: Apache-2.0
// What a recorder hears of beside what observers tell: how the connections of a workspace are, and what was done by
// force on this machine meanwhile (the audit file). Loop thread only.
#pragma once

#include "core/workspace/workspace.h"

#include <QDateTime>

namespace lockscope {

// As a recording has it: an act by the clock that dates all in it.
[[nodiscard]] inspect::LinkState stateOf(Link &link);
[[nodiscard]] inspect::Act actOf(const operate::AuditRecord &record);

// The records of an audit file that were written since. By their order: their times are the wall clock's, which may
// be set back.
class AuditFollower {
public:
    explicit AuditFollower(const operate::AuditFile &file);
    [[nodiscard]] std::vector<inspect::Act> news();

private:
    const operate::AuditFile &m_file;
    std::optional<QByteArray> m_last; // the hash of the last record that is no news; none while that is not known
    std::pair<qint64, QDateTime> m_looked; // size and time of the file then
};

class RecordFeed {
public:
    // Both outlive it.
    RecordFeed(Workspace &workspace, inspect::ObserverSink &recorder);
    // What is news by now; it does so by itself a few times a second.
    void tell();

private:
    void notifyLater();

    Workspace &m_workspace;
    inspect::ObserverSink &m_recorder;
    AuditFollower m_audit;
    Timer m_timer;
};

} // namespace lockscope
