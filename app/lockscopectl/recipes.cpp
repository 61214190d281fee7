// recipes: what each costs and how it can fail.
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/table.h"
#include "core/recipes/catalogue.h"

#include <QJsonArray>

namespace lockscope::ctl {

using namespace Qt::StringLiterals;
using recipes::RecipeInfo;

namespace {

QString word(recipes::RecipeBackend backend)
{
    switch (backend) {
    case recipes::RecipeBackend::ZooKeeper: return u"zookeeper"_s;
    case recipes::RecipeBackend::Redis: return u"redis"_s;
    case recipes::RecipeBackend::MariaDb: return u"mariadb"_s;
    }
    return {};
}

QJsonValue countOrNull(const QString &count)
{
    return count.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(count);
}

QJsonObject toJson(const RecipeInfo &recipe)
{
    QJsonArray flaws;
    for (const auto &flaw : recipe.flaws)
        flaws.append(flaw);
    const QJsonObject requests{{u"acquireFree"_s, countOrNull(recipe.requestsAcquireFree)},
                               {u"acquireQueued"_s, countOrNull(recipe.requestsAcquireQueued)},
                               {u"release"_s, countOrNull(recipe.requestsRelease)}};
    return {{u"id"_s, QString::fromUtf8(recipe.id)},
            {u"backend"_s, word(recipe.backend)},
            {u"summary"_s, recipe.summary},
            {u"acquirable"_s, recipe.acquirable},
            {u"fair"_s, recipe.fair},
            {u"reentrant"_s, recipe.reentrant},
            {u"teachingOnly"_s, recipe.teachingOnly},
            {u"requests"_s, requests},
            {u"wakeupsPerRelease"_s, countOrNull(recipe.wakeupsPerRelease)},
            {u"flaws"_s, flaws}};
}

QString orDash(const QString &text)
{
    return text.isEmpty() ? u"-"_s : text;
}

void printTable()
{
    Table table({{u"RECIPE"_s},
                 {u"ACQUIRABLE"_s},
                 {u"FREE"_s, Table::Align::Right},
                 {u"QUEUED"_s, Table::Align::Right},
                 {u"RELEASE"_s, Table::Align::Right},
                 {u"WAKE-UPS"_s, Table::Align::Right},
                 {u"WHAT IT IS"_s, Table::Align::Left, true}});
    for (const auto &recipe : recipes::catalogue()) {
        const auto acquirable = !recipe.acquirable ? u"seen only"_s : recipe.teachingOnly ? u"for teaching"_s : u"yes"_s;
        table.add({QString::fromUtf8(recipe.id), acquirable, orDash(recipe.requestsAcquireFree),
                   orDash(recipe.requestsAcquireQueued), orDash(recipe.requestsRelease),
                   orDash(recipe.wakeupsPerRelease), recipe.summary});
    }
    print(table.text(terminalWidth()));
    print(u"\nFREE, QUEUED and RELEASE are requests sent; N is the number of waiters. Flaws: --json."_s);
}

Task<Exit> listRecipes(Run &run)
{
    if (!run.json) {
        printTable();
        co_return Exit::Done;
    }
    QJsonArray array;
    for (const auto &recipe : recipes::catalogue())
        array.append(toJson(recipe));
    printJson(QJsonObject{{u"recipes"_s, array}});
    co_return Exit::Done;
}

} // namespace

CommandSpec recipesCommand()
{
    CommandSpec spec;
    spec.name = u"recipes"_s;
    spec.summary = u"the lock recipes, with requests and wake-ups per operation, and their flaws"_s;
    spec.connects = false;
    spec.run = listRecipes;
    return spec;
}

} // namespace lockscope::ctl
