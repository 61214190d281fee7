// SPDX-License-Identifier: Apache-2.0
// The entries of a server that no lock accounts for. They are grouped by how they are named, so that ten thousand
// entries of one system are one line, and no server makes more than a few lines.
#pragma once

#include "core/inspect/snapshot.h"

#include <map>

namespace lockscope::inspect {

// The name without what tells an entry from its siblings: each UUID, and each word with a digit in it, becomes "*".
// "/brokers/ids/17" becomes "/brokers/ids/*".
[[nodiscard]] QByteArray namePattern(const QByteArray &name);

// Not thread-safe.
class Ledger {
public:
    // Groups that `groups` returns at most.
    static constexpr std::size_t mostGroups = 10;
    // What is said of a group: of one entry, and of several ("%1" is how many, "%2" the pattern of their names).
    struct Texts {
        QString one;
        QString many;
    };

    // `count`: entries of which `name` is an example.
    void add(const QByteArray &name, qint64 count = 1) { addTo(m_groups, namePattern(name), {count, name}); }
    [[nodiscard]] bool isEmpty() const { return m_groups.empty(); }
    // The largest first. Names of one folder are one group. Where there are too many groups, folders are joined; what
    // is still too much is one group at the end.
    [[nodiscard]] std::vector<Unexplained> groups(const Texts &texts) const;

private:
    struct Group {
        qint64 count = 0;
        QByteArray example; // the first by name, so that it stays the same from look to look
    };
    using Groups = std::map<QByteArray, Group>; // by pattern
    static void addTo(Groups &groups, const QByteArray &pattern, const Group &group);
    [[nodiscard]] static Groups bySiblings(const Groups &groups);
    [[nodiscard]] static Groups byFolder(const Groups &groups);

    Groups m_groups;
};

} // namespace lockscope::inspect
