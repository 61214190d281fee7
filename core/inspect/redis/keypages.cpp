// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/keypages.h"

#include <algorithm>
#include <utility>

namespace lockscope::inspect {

namespace {

// Of a page whose names are there: where the next one begins; empty where the server refused.
QByteArray nextCursor(const redis::Value &names)
{
    return names.isError() || names.items.size() != 2 ? QByteArray() : names.items[0].text;
}

} // namespace

bool KeyPages::isComplete(const Asked &page) const
{
    return page.names && (page.hashes || !(page.areHashesAsked || m_questions.hashes));
}

Task<Result<KeyPages::Page>> KeyPages::at(QByteArray cursor, Questions questions)
{
    m_questions = std::move(questions);
    if (m_error || m_pages.empty() || m_pages.front().cursor != cursor) {
        reset();
        m_pages.push_back({.cursor = std::move(cursor)});
    }
    ask();
    while (!m_error && !isComplete(m_pages.front())) {
        Completion<bool> arrived(m_reader.loop());
        m_arrived = arrived;
        co_await arrived;
    }
    if (m_error)
        co_return *m_error;
    Page page{*std::move(m_pages.front().names), std::move(m_pages.front().hashes)};
    const auto next = nextCursor(page.names);
    m_pages.pop_front();
    if (m_pages.empty() && m_questions.ahead > 0 && !next.isEmpty() && next != "0")
        m_pages.push_back({.cursor = next});
    if (m_questions.ahead > 0)
        ask();
    co_return std::move(page);
}

void KeyPages::reset()
{
    for (auto *answer : {&m_names, &m_hashes}) {
        if (*answer)
            (*answer)->dropListener();
        answer->reset();
    }
    m_pages.clear();
    m_error.reset();
    m_arrived.reset();
}

void KeyPages::ask()
{
    askForNames();
    if (m_questions.hashes)
        askForHashes();
}

// Each page says where the next one begins, so there is one question at a time.
void KeyPages::askForNames()
{
    if (m_names || m_pages.empty())
        return;
    if (const auto &last = m_pages.back(); last.names) {
        const auto next = nextCursor(*last.names);
        if (next.isEmpty() || next == "0" || m_pages.size() > m_questions.ahead)
            return;
        m_pages.push_back({.cursor = next});
    }
    m_names = send(m_pages.back().cursor, false);
    m_names->then([this](auto &answer) { took(answer, m_names, &Asked::names); });
}

void KeyPages::askForHashes()
{
    if (m_hashes)
        return;
    const auto page = std::ranges::find(m_pages, false, &Asked::areHashesAsked);
    if (page == m_pages.end())
        return;
    page->areHashesAsked = true;
    m_hashes = send(page->cursor, true);
    m_hashes->then([this](auto &answer) { took(answer, m_hashes, &Asked::hashes); });
}

KeyPages::Answer KeyPages::send(const QByteArray &cursor, bool onlyHashes)
{
    redis::Command scan{"SCAN", cursor, "COUNT", m_questions.size};
    if (onlyHashes)
        scan << "TYPE"
             << "hash";
    std::vector<redis::Command> commands;
    commands.push_back(std::move(scan));
    return m_reader.send(std::move(commands));
}

// Answers of one kind come in the order in which they were asked for.
void KeyPages::took(Result<std::vector<redis::Value>> &answer, std::optional<Answer> &asked,
                    std::optional<redis::Value> Asked::*part)
{
    asked.reset();
    if (!answer) {
        m_error = answer.error();
    } else {
        const auto page = std::ranges::find_if(m_pages, [part](const Asked &one) { return !(one.*part); });
        (*page).*part = std::move(answer->front());
        ask();
    }
    if (m_arrived && (m_error || isComplete(m_pages.front())))
        m_arrived->complete(true);
}

} // namespace lockscope::inspect
