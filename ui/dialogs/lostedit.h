// SPDX-License-Identifier: Apache-2.0
// An edit whose answer was lost: what became of it is read as soon as its connection is back, and when it is asked
// for.
#pragma once

#include <version>

#include "ui/models/connectionbook.h"

namespace lockscope::ui {

class LostEdit : public QObject {
    Q_OBJECT
public:
    LostEdit(Backend &backend, const ConnectionBook &book, QObject *parent);

    // From now on; until it is found out.
    void take(const operate::EditPlan &plan, const Error &error);
    // False: there is nothing to be found out.
    bool findOut();

signals:
    void looking();
    void done(const lockscope::operate::EditOutcome &outcome);
    void notDone();
    // That look failed, too: what was said of it at first.
    void unknown(const lockscope::Error &error);

private:
    void connectionsChanged();

    Backend &m_backend;
    const ConnectionBook &m_book;
    std::optional<operate::EditPlan> m_plan;
    Error m_error;
    bool m_wasConnected = true;
    bool m_isLooking = false;
};

} // namespace lockscope::ui
