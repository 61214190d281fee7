// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/queue.h"

#include "core/base/fieldreader.h"
#include "core/inspect/lockterms.h"

#include <QHostAddress>

namespace lockscope::inspect {

using recipes::Access;

namespace {
constexpr qsizetype hexLength = 32;

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
    const auto &name = node.name.bytes();
    if (!sequence || isUuid36(name) || isHex32(name)) // a UUID may end with ten digits
        return std::nullopt;
    const auto protection = readProtection(sequence->prefix());
    const QByteArray base = sequence->prefix().mid(protection.kind == Protection::Kazoo ? 0 : protection.length);
    const bool reads = saysRead(base) && !saysWrite(base);
    return LayoutMatch{&layout, std::move(*sequence), reads ? Access::Shared : Access::Exclusive, base};
}

std::optional<LayoutMatch> matchSolr(const Layout &layout, const ZnodeView &node)
{
    const bool isAnybodys = !node.isStatKnown && node.stat.ephemeralOwner.isNone();
    const auto owner = QByteArray::number(static_cast<qint64>(node.stat.ephemeralOwner.value));
    if (!isAnybodys && !node.name.bytes().startsWith(owner + '-'))
        return std::nullopt;
    auto sequence = recipes::readSequence(node.name, "-n_");
    return sequence ? std::optional(LayoutMatch{&layout, std::move(*sequence)}) : std::nullopt;
}

// The id in the name must be the owner's, where that is known: anybody may call a node x-1-0000000001.
std::optional<LayoutMatch> matchOwned(const Layout &layout, const ZnodeView &node, QByteArray owner,
                                      bool (*isId)(const QByteArray &text))
{
    if (!node.isStatKnown && node.stat.ephemeralOwner.isNone()) {
        const auto &name = node.name.bytes();
        owner = name.mid(2, name.lastIndexOf('-') - 2);
        if (!isId(owner))
            return std::nullopt;
    }
    auto sequence = sequenceAt(node.name, 0, "x-" + owner + '-');
    return sequence ? std::optional(LayoutMatch{&layout, std::move(*sequence)}) : std::nullopt;
}

std::optional<LayoutMatch> matchDecimal(const Layout &layout, const ZnodeView &node)
{
    return matchOwned(layout, node, QByteArray::number(static_cast<qint64>(node.stat.ephemeralOwner.value)),
                      [](const QByteArray &text) {
                          bool is = false;
                          return text.toLongLong(&is) != 0 && is;
                      });
}

std::optional<LayoutMatch> matchHex(const Layout &layout, const ZnodeView &node)
{
    return matchOwned(layout, node, QByteArray::number(node.stat.ephemeralOwner.value, 16).rightJustified(16, '0'),
                      [](const QByteArray &text) {
                          bool is = false;
                          return text.size() == 16 && text.toULongLong(&is, 16) != 0 && is;
                      });
}

std::optional<LayoutMatch> matchHBase(const Layout &layout, const ZnodeView &node)
{
    auto sequence = recipes::readSequence(node.name);
    if (!sequence)
        return std::nullopt;
    const bool reads = sequence->prefix().startsWith("read-");
    const bool isNamed = (reads || sequence->prefix().startsWith("write-")) && sequence->prefix().contains('@');
    // HBase puts a header that begins with this byte before everything it stores.
    if (!isNamed || !node.data || !node.data->startsWith('\xff'))
        return std::nullopt;
    return LayoutMatch{&layout, std::move(*sequence), reads ? Access::Shared : Access::Exclusive};
}

// "latch-<id>-<seq>": each has an id of its own, so that no two share the text before the number.
std::optional<LayoutMatch> matchRustLatch(const Layout &layout, const ZnodeView &node)
{
    static const QByteArray mark = "latch-";
    auto sequence = recipes::readSequence(node.name);
    const bool isNamed = sequence && sequence->prefix().startsWith(mark) && sequence->prefix().endsWith('-');
    if (!isNamed || sequence->prefix().size() < mark.size() + 2)
        return std::nullopt;
    return LayoutMatch{&layout, std::move(*sequence), Access::Exclusive, {}};
}

void sharedIfRead(Description &description, const std::vector<Member> &members, const ZPath &)
{
    if (std::ranges::none_of(members, [](const auto &one) { return one.match.access == Access::Shared; }))
        return;
    description.recipe = "zk-shared";
    description.discipline = Discipline::ReadWrite;
    description.mode = Mode::Write;
}

void sharedByName(Description &description, const std::vector<Member> &members, const ZPath &directory)
{
    sharedIfRead(description, members, directory);
    if (description.discipline == Discipline::ReadWrite)
        description.note = u"the names say who reads, the order who waits"_s;
}

void npmLock(Description &description, const std::vector<Member> &members, const ZPath &)
{
    if (!std::ranges::all_of(members, [](const Member &one) { return one.node->data == "lock"; }))
        return;
    description.recipe = "zk-herd-mutex";
    description.client = u"npm zk-lock"_s;
    description.note = u"with the data \"lock\""_s;
    description.discipline = Discipline::Herd;
    description.mayWatchChildren = false;
}

// Curator writes the local address when it is given nothing to write.
bool isAddressOfHost(const QByteArray &data)
{
    QHostAddress address;
    return address.setAddress(QString::fromUtf8(data));
}

bool hasTextOfItsOwn(const Member &member)
{
    const auto &data = member.node->data;
    return data && !data->isEmpty() && !isAddressOfHost(*data) && !isRevocation(*member.node);
}

void mutexOrLeader(Description &description, const std::vector<Member> &members, const ZPath &directory)
{
    const auto *curatorLock = &layoutNamed("curator-lock");
    const auto isOfCurator = [curatorLock](const Member &one) { return one.match.layout == curatorLock; };
    const auto saysNothing = [&](const Member &one) { return isOfCurator(one) && !hasTextOfItsOwn(one); };
    if (directory.parent().name().bytes() == "SpringIntegration-LockRegistry") {
        description.client = u"Spring Integration"_s;
        description.recipeOfSemaphore = {};
    } else if (std::ranges::any_of(members, isOfCurator) && std::ranges::none_of(members, saysNothing)) {
        description.recipe = "curator-leader";
        description.note =
            u"the data is an id of its own, as LeaderSelector writes, or a mutex with its own node data"_s;
    } else {
        description.note = u"a leader selector looks the same"_s;
    }
}

Layout readLayout(FieldReader &reader)
{
    static constexpr std::pair<const char *, decltype(Layout::matches)> matchings[] = {
        {"textbook", matchTextbook},
        {"flat", matchFlat},
        {"any", matchAny},
        {"solr", matchSolr},
        {"decimal-owner", matchDecimal},
        {"hexadecimal-owner", matchHex},
        {"hbase", matchHBase},
        {"rust-latch", matchRustLatch}};
    static constexpr std::pair<const char *, decltype(Layout::refine)> refinings[] = {
        {"mutex-or-leader", mutexOrLeader},
        {"npm-lock", npmLock},
        {"shared-if-read", sharedIfRead},
        {"shared-by-name", sharedByName}};
    static constexpr std::pair<const char *, bool Layout::*> marks[] = {
        {"isEphemeralOnly", &Layout::isEphemeralOnly},
        {"isUnmistakable", &Layout::isUnmistakable},
        {"breaksBesideForeignNodes", &Layout::breaksBesideForeignNodes},
        {"seesOnlyItsOwnNames", &Layout::seesOnlyItsOwnNames},
        {"mayShareNumbers", &Layout::mayShareNumbers},
        {"liesAmongFolders", &Layout::liesAmongFolders},
        {"countsEveryChild", &Layout::countsEveryChild}};
    const auto text = [&reader](const char *field) { return reader.text(field, QString()); };
    const auto choose = [&reader](const char *field, const QByteArray &words, auto &into) {
        if (reader.has(field))
            reader.readWord(field, words, into);
    };
    const auto chooseFunction = [&reader](const char *field, const auto &functions, auto &into) {
        const auto name = reader.text(field, QString());
        const auto at =
            std::ranges::find(functions, name, [](const auto &one) { return QLatin1StringView(one.first); });
        if (at != std::end(functions))
            into = at->second;
        else if (!name.isEmpty())
            reader.wrong(QString::fromLatin1(field), u"the name of a function"_s);
    };
    Layout layout{.id = reader.text("id").toLatin1(), .below = text("below").toUtf8(), .description = {}};
    auto protection = Protection::None;
    choose("protection", "none dashed plain kazoo", protection);
    for (const auto &base : reader.texts("exclusive"))
        layout.names.push_back({base, protection, Access::Exclusive});
    for (const auto &base : reader.texts("shared"))
        layout.names.push_back({base, protection, Access::Shared});
    chooseFunction("matches", matchings, layout.matches);
    chooseFunction("refine", refinings, layout.refine);
    choose("extent", "directory flat siblings", layout.extent);
    const QByteArrayList queues{"curator-like", "kazoo", "recipe"}; // in the order of the bits
    for (const auto &queue : reader.texts("queues")) {
        if (const auto bit = queues.indexOf(queue); bit >= 0)
            layout.queues |= 1U << bit;
        else
            reader.wrong(u"queues"_s, FieldReader::oneOf(queues));
    }
    for (const auto &[field, mark] : marks)
        reader.take(field, layout.*mark);

    auto &description = layout.description;
    description.recipe = reader.text("recipe").toLatin1();
    if (reader.has("client"))
        description.client = reader.text("client");
    description.form = reader.text("form");
    description.note = text("note");
    reader.readWord("confidence", "low medium high", description.confidence);
    choose("discipline", "mutex curator-read-write read-write herd no-queue", description.discipline);
    choose("mode", "exclusive read write permit", description.mode);
    reader.take("watchesAreCertain", description.watchesAreCertain);
    reader.take("mayWatchChildren", description.mayWatchChildren);
    reader.take("maybeSemaphore", description.maybeSemaphore);
    description.recipeOfSemaphore = text("recipeOfSemaphore").toLatin1();
    return layout;
}

// LOCK-SEMI_SHARED- excludes neither of the two others.
bool isSemiShared(const NodeName &name)
{
    return name.bytes().startsWith("LOCK-SEMI_SHARED-");
}

bool excludes(const recipes::Queued &earlier, const recipes::Queued &later)
{
    return (earlier.access == Access::Exclusive || later.access == Access::Exclusive)
           && !isSemiShared(earlier.node.name) && !isSemiShared(later.node.name);
}

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

bool isRevocation(const ZnodeView &node)
{
    return node.data && *node.data == "__REVOKE__";
}

// Reads Curator's and kazoo's names, and breaks on any other.
recipes::Turn turnWithoutQueue(const std::vector<recipes::Queued> &queue, const NodeName &me)
{
    const auto mine = std::ranges::find(queue, me, [](const recipes::Queued &one) { return one.node.name; });
    if (mine == queue.end())
        return {};
    const auto first = std::find_if(queue.begin(), mine, [&](const auto &one) { return excludes(one, *mine); });
    if (first == mine)
        return {recipes::Turn::Kind::Mine, std::nullopt};
    return {recipes::Turn::Kind::WaitFor, first->node.name};
}

const std::vector<Layout> &layouts()
{
    static const auto inOrder = [] {
        std::vector<Layout> all;
        readResourceList(u"rules/zookeeper-layouts.json"_s, "layouts",
                         [&all](FieldReader &reader) { all.push_back(readLayout(reader)); });
        return all;
    }();
    return inOrder;
}

const Layout &layoutNamed(QByteArrayView name)
{
    return *std::ranges::find(layouts(), name, [](const Layout &one) { return QByteArrayView(one.id); });
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
    for (const auto &layout : layouts()) {
        if (auto matched = layout.matchLayout(node, directory))
            return matched;
    }
    return std::nullopt;
}

} // namespace lockscope::inspect
