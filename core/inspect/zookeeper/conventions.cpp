// SPDX-License-Identifier: Apache-2.0
// Names by convention, whoever writes them: textbook shared lock, herd, flat layout, lock-<seq>, and
// at last any ephemeral sequential siblings.
#include "core/inspect/zookeeper/layouts.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using recipes::Access;

namespace {

std::optional<LayoutMatch> matchTextbook(const Layout &layout, const ZnodeView &node)
{
    auto sequence = recipes::readSequence(node.name);
    const bool reads = sequence && sequence->prefix().endsWith("-R-");
    if (!sequence || (!reads && !sequence->prefix().endsWith("-W-")))
        return std::nullopt;
    return LayoutMatch{&layout, std::move(*sequence), reads ? Access::Shared : Access::Exclusive};
}

std::optional<LayoutMatch> matchFlat(const Layout &layout, const ZnodeView &node)
{
    static const QByteArray mark = "_lock_";
    auto sequence = recipes::readSequence(node.name);
    if (!sequence || !sequence->prefix().endsWith(mark) || sequence->prefix().size() == mark.size())
        return std::nullopt;
    const QByteArray lock = sequence->prefix().chopped(mark.size());
    return LayoutMatch{&layout, std::move(*sequence), Access::Exclusive, lock};
}

std::optional<LayoutMatch> matchAny(const Layout &layout, const ZnodeView &node)
{
    auto sequence = recipes::readSequence(node.name);
    if (!sequence || isUuid36(node.name.bytes())) // a UUID may end with ten digits
        return std::nullopt;
    const auto protection = readProtection(sequence->prefix());
    const QByteArray base = sequence->prefix().mid(protection.kind == Protection::Kazoo ? 0 : protection.length);
    return LayoutMatch{&layout, std::move(*sequence), Access::Exclusive, base};
}

bool isNpmLock(const Member &member)
{
    return member.node->data && *member.node->data == "lock";
}

void npmLock(Description &description, const std::vector<Member> &members, const ZPath &)
{
    if (!std::ranges::all_of(members, isNpmLock))
        return;
    description.recipe = "zk-herd-mutex";
    description.client = u"npm zk-lock"_s;
    description.note = u"with the data \"lock\""_s;
    description.discipline = Discipline::Herd;
    description.mayWatchChildren = false;
}

} // namespace

extern const Layout textbookShared{
    .matches = matchTextbook,
    .description = {.recipe = "zk-shared",
                    .form = u"<host>-R-<seq> or <host>-W-<seq>"_s,
                    .confidence = Confidence::Medium,
                    .discipline = Discipline::ReadWrite,
                    .mode = Mode::Write,
                    .mayWatchChildren = true},
};

extern const Layout herdNode{
    .names = {{"herd-"}},
    .description = {.recipe = "zk-herd-mutex",
                    .form = u"herd-<seq>"_s,
                    .confidence = Confidence::Medium,
                    .discipline = Discipline::Herd,
                    .mayWatchChildren = true},
};

extern const Layout flatLock{
    .matches = matchFlat,
    .description = {.recipe = "zk-flat-mutex",
                    .form = u"<lock>_lock_<seq>"_s,
                    .confidence = Confidence::Medium,
                    .mayWatchChildren = true},
    .extent = Layout::Extent::Flat,
};

extern const Layout plainLock{
    .names = {{"lock-"}, {"lock_"}},
    .description = {.recipe = "zk-mutex",
                    .form = u"lock-<seq>"_s,
                    .note = u"no known client's name"_s,
                    .confidence = Confidence::Medium,
                    .mayWatchChildren = true},
    .refine = npmLock,
};

extern const Layout anySequence{
    .matches = matchAny,
    .description = {.recipe = "zk-mutex",
                    .form = u"<name><seq>"_s,
                    .note = u"a queue lock or an election, by the order alone"_s,
                    .confidence = Confidence::Low,
                    .mayWatchChildren = true},
    .extent = Layout::Extent::Siblings,
};

} // namespace lockscope::inspect
