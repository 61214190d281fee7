// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/layouts.h"

#include <algorithm>

namespace lockscope::inspect {

namespace {
constexpr qsizetype hexLength = 32;
} // namespace

qsizetype lengthOf(Protection protection)
{
    switch (protection) {
    case Protection::None: break;
    case Protection::Dashed: return 3 + uuidLength + 1;
    case Protection::Plain: return 3 + hexLength + 1;
    case Protection::Kazoo: return hexLength;
    }
    return 0;
}

ProtectedName readProtection(QByteArrayView name)
{
    const auto found = [](Protection kind) { return ProtectedName{kind, lengthOf(kind)}; };
    if (!name.startsWith("_c_"))
        return found(isHex32(name.first(std::min(name.size(), hexLength))) ? Protection::Kazoo : Protection::None);
    const auto endsAt = [&name](qsizetype idLength) {
        return name.size() > 3 + idLength && name[3 + idLength] == '-';
    };
    if (endsAt(uuidLength) && isUuid36(name.sliced(3, uuidLength)))
        return found(Protection::Dashed);
    if (endsAt(hexLength) && isHex32(name.sliced(3, hexLength)))
        return found(Protection::Plain);
    return {};
}

QByteArray withoutUuids(QByteArray text)
{
    for (qsizetype at = 0; at + hexLength <= text.size();) {
        const QByteArrayView rest = QByteArrayView(text).sliced(at);
        const auto length = rest.size() >= uuidLength && isUuid36(rest.first(uuidLength)) ? uuidLength
                            : isHex32(rest.first(hexLength))                              ? hexLength
                                                                                          : 0;
        if (length > 0)
            text.remove(at, length);
        else
            ++at;
    }
    return text;
}

std::optional<recipes::SequencedName> sequenceAt(const NodeName &name, qsizetype before, const QByteArray &base)
{
    auto read = recipes::readSequence(name, base);
    if (!read || read->prefixLength != before + base.size())
        return std::nullopt;
    return read;
}

extern const Layout curatorReadWrite, curatorLatch, javaRecipe, cRecipe, solrElection, electionSupport,
    clickHouseElection, hiveTable, hbaseTable, dotNetReadWrite, dotNetSemaphore, rubyLock, rubySemaphore,
    rubyElection, rustLatch, textbookShared, herdNode, flatLock, plainLock, anySequence;

// A name belongs to the first that fits, and in a mixed directory the first one present names the lock. So the names
// that only one client writes come first, then those of known systems, then what anybody may have called a node; of
// one client the lock with more to it (read and write, leases) before the plain one, whose names may stand beside it.
const std::vector<const Layout *> &layouts()
{
    static const std::vector<const Layout *> inOrder{
        &curatorReadWrite, &curatorLease,       &curatorLatch,  &curatorLock,  &goLock,
        &kazooRead,        &kazooLock,          &javaRecipe,    &cRecipe,      &solrElection,
        &electionSupport,  &clickHouseElection, &hiveTable,     &hbaseTable,   &dotNetReadWrite,
        &dotNetSemaphore,  &rubyLock,           &rubySemaphore, &rubyElection, &rustLatch,
        &textbookShared,   &herdNode,           &flatLock,      &plainLock,    &anySequence,
    };
    return inOrder;
}

std::optional<LayoutMatch> Layout::matchName(const NodeName &name) const
{
    for (const auto &form : names) {
        // Each name is asked about in every row, and few have the length.
        const auto before = lengthOf(form.protection);
        const auto digits = name.bytes().size() - before - form.base.size();
        if (digits < recipes::leastDigits || digits > recipes::mostDigits)
            continue;
        auto sequence = sequenceAt(name, before, form.base);
        const bool isProtected = form.protection != Protection::None;
        if (sequence && (!isProtected || readProtection(name.bytes()).kind == form.protection))
            return LayoutMatch{this, std::move(*sequence), form.access, {}};
    }
    return std::nullopt;
}

std::optional<LayoutMatch> Layout::matchLayout(const ZnodeView &node, const ZPath &directory) const
{
    const bool isElsewhere = !below.isEmpty() && directory.parent().name().bytes() != below;
    if (isElsewhere || (isEphemeralOnly && !node.mayBeEphemeral()))
        return std::nullopt;
    return matches ? matches(*this, node) : matchName(node.name);
}

Description Layout::describe(const std::vector<Member> &members, const ZPath &directory) const
{
    Description out = description;
    if (refine)
        refine(out, members, directory);
    return out;
}

std::optional<LayoutMatch> matchLayout(const ZnodeView &node, const ZPath &directory)
{
    for (const auto *layout : layouts()) {
        if (auto matched = layout->matchLayout(node, directory))
            return matched;
    }
    return std::nullopt;
}

} // namespace lockscope::inspect
