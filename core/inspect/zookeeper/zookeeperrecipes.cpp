// SPDX-License-Identifier: Apache-2.0
// The lock recipes that come with ZooKeeper: x-<session id>-<seq>, decimal in Java, hex in C.
#include "core/inspect/zookeeper/layouts.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

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

Description recipeOf(const QString &client, const QString &form)
{
    return {.recipe = "zookeeper-recipe-lock",
            .client = client,
            .form = form,
            .note = u"the session in the name is the owner"_s,
            .confidence = Confidence::High,
            .watchesAreCertain = true};
}

} // namespace

// The two write the same names but for the radix.
extern const Layout javaRecipe{
    .isEphemeralOnly = true,
    .matches = matchDecimal,
    .description = recipeOf(u"ZooKeeper's Java recipe"_s, u"x-<session, decimal>-<seq>"_s),
    .queues = Layout::RecipeQueue,
};

extern const Layout cRecipe{
    .isEphemeralOnly = true,
    .matches = matchHex,
    .description = recipeOf(u"ZooKeeper's C recipe"_s, u"x-<session, hex>-<seq>"_s),
    .queues = Layout::RecipeQueue,
};

} // namespace lockscope::inspect
