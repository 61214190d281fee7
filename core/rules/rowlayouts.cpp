// SPDX-License-Identifier: Apache-2.0
#include "core/rules/rowlayouts.h"

#include "core/base/fieldreader.h"

#include <algorithm>
#include <deque>
#include <mutex>

namespace lockscope::recipes {

namespace {

RowLayout readRowLayout(FieldReader &reader)
{
    const auto bytes = [&reader](const char *field) { return reader.text(field, QString()).toUtf8(); };
    const QByteArray times("seconds server utc unclear");
    RowLayout layout{.prefix = reader.text("prefix").toUtf8(),
                     .client = reader.text("client", QString()),
                     .recipe = reader.text("recipe", u"row-lock"_s).toUtf8(),
                     .tableSuffix = bytes("tableSuffix"),
                     .columns = reader.texts("columns"),
                     .optional = reader.texts("optional"),
                     .name = reader.texts("name"),
                     .only = bytes("only"),
                     .flag = bytes("flag"),
                     .owner = bytes("owner"),
                     .since = bytes("since"),
                     .ends = bytes("ends"),
                     .why = reader.text("why", QString()),
                     .notices = reader.text("notices", QString())};
    reader.take("mayHaveMore", layout.mayHaveMore);
    reader.take("isOwnerToken", layout.isOwnerToken);
    reader.take("isOwnerNumber", layout.isOwnerNumber);
    reader.take("isSinceRenewed", layout.isSinceRenewed);
    if (reader.has("sinceTime"))
        reader.readWord("sinceTime", times, layout.sinceTime);
    if (reader.has("endsTime"))
        reader.readWord("endsTime", times, layout.endsTime);
    reader.readWord("release", "clear end-time reset-flag delete", layout.release);
    return layout;
}

// Never destroyed, and nothing is taken out: a row of an earlier rule keeps its layout.
struct UserRowLayouts {
    std::mutex guard;
    std::deque<RowLayout> ever;
    std::vector<const RowLayout *> inForce;
};

UserRowLayouts &userLayouts()
{
    static auto *const all = new UserRowLayouts;
    return *all;
}

} // namespace

const std::vector<RowLayout> &rowLayouts()
{
    static const auto all = [] {
        std::vector<RowLayout> layouts;
        readResourceList(u"rules/row-layouts.json"_s, "layouts",
                         [&layouts](FieldReader &reader) { layouts.push_back(readRowLayout(reader)); });
        return layouts;
    }();
    return all;
}

void setUserRowLayouts(const std::vector<RowLayout> &layouts)
{
    auto &all = userLayouts();
    const std::scoped_lock lock(all.guard);
    all.inForce.clear();
    for (const auto &layout : layouts) {
        const auto known = std::ranges::find(all.ever, layout);
        all.inForce.push_back(known == all.ever.end() ? &all.ever.emplace_back(layout) : &*known);
    }
}

std::vector<const RowLayout *> userRowLayouts()
{
    auto &all = userLayouts();
    const std::scoped_lock lock(all.guard);
    return all.inForce;
}

const RowLayout *userRowLayoutOf(const QByteArray &table)
{
    const auto all = userRowLayouts();
    const auto found =
        std::ranges::find_if(all, [&table](const RowLayout *one) { return one->table == table.toLower(); });
    return found == all.end() ? nullptr : *found;
}

QByteArrayList missingColumns(const RowLayout &layout, const QByteArrayList &columns)
{
    QByteArrayList missing;
    std::ranges::copy_if(layout.columns, std::back_inserter(missing),
                         [&columns](const QByteArray &column) { return !columns.contains(column); });
    return missing;
}

const RowLayout *rowLayoutOf(const QByteArray &table, const QByteArrayList &columns)
{
    if (const auto *layout = userRowLayoutOf(table); layout && missingColumns(*layout, columns).isEmpty())
        return layout;
    const auto fits = [&](const RowLayout &one) {
        const auto isOfIt = [&one](const QByteArray &column) {
            return one.columns.contains(column) || one.optional.contains(column);
        };
        return table.toLower().endsWith(one.tableSuffix)
               && std::ranges::all_of(one.columns, [&](const QByteArray &wanted) { return columns.contains(wanted); })
               && (one.mayHaveMore || std::ranges::all_of(columns, isOfIt));
    };
    const auto found = std::ranges::find_if(rowLayouts(), fits);
    return found == rowLayouts().end() ? nullptr : &*found;
}

const RowLayout *rowLayoutNamed(const QByteArray &lock)
{
    const auto isOf = [&lock](const RowLayout *one) { return lock.startsWith(one->prefix); };
    const auto users = userRowLayouts();
    if (const auto user = std::ranges::find_if(users, isOf); user != users.end())
        return *user;
    const auto found = std::ranges::find_if(
        rowLayouts(), [&lock](const RowLayout &one) { return !one.name.isEmpty() && lock.startsWith(one.prefix); });
    return found == rowLayouts().end() ? nullptr : &*found;
}

} // namespace lockscope::recipes
