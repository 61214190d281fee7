// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/lostedit.h"

#include <utility>

namespace lockscope::ui {

LostEdit::LostEdit(Backend &backend, const ConnectionBook &book, QObject *parent)
    : QObject(parent), m_backend(backend), m_book(book)
{
    connect(&book, &ConnectionBook::changed, this, &LostEdit::connectionsChanged);
}

void LostEdit::take(const operate::EditPlan &plan, const Error &error)
{
    m_plan = plan;
    m_error = error;
    m_wasConnected = true;
    connectionsChanged();
}

void LostEdit::connectionsChanged()
{
    if (!m_plan)
        return;
    const auto *status = m_book.find(m_plan->request.connection);
    const bool isConnected = status && status->state == ConnectionStatus::State::Connected;
    if (!std::exchange(m_wasConnected, isConnected) && isConnected)
        findOut();
}

bool LostEdit::findOut()
{
    if (!m_plan || std::exchange(m_isLooking, true))
        return m_plan.has_value();
    emit looking();
    m_backend.ask(PlanEdit{operate::lookAfterLost(m_plan->request)}, this, [this](const auto &now) {
        m_isLooking = false;
        if (!now) {
            emit unknown(m_error);
            return;
        }
        const auto plan = *std::exchange(m_plan, std::nullopt);
        if (const auto found = operate::foundDone(plan, now->before))
            emit done(*found);
        else
            emit notDone();
    });
    return true;
}

} // namespace lockscope::ui

#include "moc_lostedit.cpp"
