// SPDX-License-Identifier: Apache-2.0
// What the window knows of its connections now: the last status and coverage of each, in the order
// they first appeared. GUI thread only.
#pragma once

#include "core/workspace/backend.h"

namespace lockscope::ui {

struct ConnectionMark {
    QString uri; // the mark is of this address only
    bool isDevelopment = false;
    ConnectionColour colour = ConnectionColour::None;
    friend bool operator==(const ConnectionMark &, const ConnectionMark &) = default;
};

class ConnectionBook : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    void apply(const Batch &batch);
    // The backend does not tell of a closed connection: whoever closed it does.
    void remove(const ConnectionName &name);
    // One of the window's own sandbox: its servers are private, and may be played with.
    void markSandbox(const ConnectionName &name, Scheme scheme);
    // How its user marked the connection of that name and address.
    void mark(const ConnectionName &name, const ConnectionMark &mark);
    // It is marked so, and nothing says production.
    [[nodiscard]] bool isDevelopment(const ConnectionName &name) const;
    // The color that its user gave it, if any.
    [[nodiscard]] ConnectionColour colourOf(const ConnectionName &name) const { return markOf(name).colour; }

    [[nodiscard]] const std::vector<ConnectionStatus> &all() const { return m_all; }
    // Null if there is no such connection.
    [[nodiscard]] const ConnectionStatus *find(const ConnectionName &name) const;
    [[nodiscard]] std::vector<inspect::Coverage> coverageOf(const ConnectionName &name) const;
    [[nodiscard]] const std::vector<inspect::Coverage> &coverage() const { return m_coverage; } // of all connections
    // A first look at one of them is not over.
    [[nodiscard]] bool isLooking() const;
    // Connected once and not now: what is shown of it is as of status.asOf.
    [[nodiscard]] static bool isStale(const ConnectionStatus &status);
    // Those of the sandbox, also before their first status.
    [[nodiscard]] const std::map<ConnectionName, Scheme> &sandbox() const { return m_sandbox; }

signals:
    void changed();
    // It broke (true) or came back (false).
    void staleChanged(const lockscope::ConnectionName &name, bool stale);

private:
    [[nodiscard]] ConnectionMark markOf(const ConnectionName &name) const;

    std::vector<ConnectionStatus> m_all;
    std::vector<inspect::Coverage> m_coverage;
    std::map<ConnectionName, Scheme> m_sandbox;
    std::map<ConnectionName, ConnectionMark> m_marks;
};

// The connections of some schemes that a page can show, and the one it shows.
class ConnectionChoice {
public:
    explicit ConnectionChoice(std::initializer_list<Scheme> schemes) : m_schemes(schemes) {}

    // Takes a batch's statuses in. Returns whether the shown one's status is among them.
    bool take(const std::vector<ConnectionStatus> &statuses);
    // The window's choice; empty, or one that this page cannot show, leaves it to the page.
    void prefer(const ConnectionName &name);
    // Without a choice the first that is not known to be broken; one that was connected once stays, whatever becomes
    // of it. Null when there is none.
    [[nodiscard]] const ConnectionStatus *shown() const;
    // Whether the page can show it.
    [[nodiscard]] bool offers(const ConnectionName &name) const { return find(name) != nullptr; }

private:
    [[nodiscard]] bool canShow(const ConnectionStatus &status) const;
    [[nodiscard]] const ConnectionStatus *find(const ConnectionName &name) const;
    void choose();

    std::vector<Scheme> m_schemes;
    std::vector<ConnectionStatus> m_known;
    ConnectionName m_preferred;
    ConnectionName m_chosen; // by this page, while nothing is preferred
};

} // namespace lockscope::ui
