// SPDX-License-Identifier: Apache-2.0
// recipes: what each costs and how it can fail; with --faults also what it keeps when something goes wrong.
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/contention/guarantees.h"

namespace lockscope::ctl {

using recipes::RecipeInfo;

namespace {

QJsonValue countOrNull(const QString &count)
{
    return count.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(count);
}

QJsonObject recipeJson(const RecipeInfo &recipe)
{
    const auto flaws = mapped<QJsonArray>(recipe.flaws, [&](const auto &flaw) { return flaw; });
    const QJsonObject requests{{u"acquireFree"_s, countOrNull(recipe.counts.acquireFree)},
                               {u"acquireQueued"_s, countOrNull(recipe.counts.acquireQueued)},
                               {u"release"_s, countOrNull(recipe.counts.release)}};
    return {{u"id"_s, QString::fromUtf8(recipe.id)},
            {u"backend"_s, infoOf(recipe.backend).word},
            {u"summary"_s, recipe.summary},
            {u"acquirable"_s, recipe.acquirable},
            {u"fair"_s, recipe.fair},
            {u"reentrant"_s, recipe.reentrant},
            {u"teachingOnly"_s, recipe.teachingOnly},
            {u"requests"_s, requests},
            {u"wakeupsPerRelease"_s, countOrNull(recipe.counts.wakeUps)},
            {u"flaws"_s, flaws}};
}

QString orDash(const QString &text)
{
    return text.isEmpty() ? u"-"_s : text;
}

void printTable()
{
    Table table(Table::columnsOf(u"RECIPE|ACQUIRABLE|>FREE|>QUEUED|>RELEASE|>WAKE-UPS|+WHAT IT IS"_s));
    for (const auto &recipe : recipes::catalogue()) {
        const auto acquirable = !recipe.acquirable    ? u"seen only"_s
                                : recipe.teachingOnly ? u"for teaching"_s
                                                      : u"yes"_s;
        table.add({QString::fromUtf8(recipe.id), acquirable, orDash(recipe.counts.acquireFree),
                   orDash(recipe.counts.acquireQueued), orDash(recipe.counts.release), orDash(recipe.counts.wakeUps),
                   recipe.summary});
    }
    print(table.text(terminalWidth()));
    print(u"\nFREE, QUEUED and RELEASE are requests sent; N is the number of waiters. Flaws: --json."_s);
}

// One entry for each fault that can happen to it, and each invariant.
QJsonArray guaranteesJson(const QByteArray &recipe, bool fenced)
{
    using Verdict = contention::Guarantee::Verdict;
    QJsonArray array;
    for (const auto fault : contention::faultsFor(recipe)) {
        for (const auto &guarantee : contention::guaranteesOf(recipe, fault, fenced))
            array.append(QJsonObject{{u"fault"_s, QString::fromLatin1(nameOf(fault))},
                                     {u"invariant"_s, QString::fromLatin1(guarantee.invariant)},
                                     {u"promised"_s, guarantee.verdict != Verdict::NotGuaranteed},
                                     {u"holds"_s, guarantee.verdict == Verdict::Holds},
                                     {u"rarely"_s, guarantee.verdict == Verdict::MayBreakRarely},
                                     {u"because"_s, countOrNull(guarantee.because)}});
    }
    return array;
}

// The rows of one recipe: what may break, by reason.
void addGuarantees(Table &table, const QByteArray &recipe, bool fenced)
{
    bool isAny = false;
    for (const auto fault : contention::faultsFor(recipe)) {
        for (const auto &guarantee : contention::guaranteesOf(recipe, fault, fenced)) {
            if (!guarantee.mayBreak())
                continue;
            const bool isRare = guarantee.verdict == contention::Guarantee::Verdict::MayBreakRarely;
            table.add({isAny ? QString() : QString::fromLatin1(recipe), QString::fromLatin1(nameOf(fault)),
                       QString::fromLatin1(guarantee.invariant) + (isRare ? u" (rarely)"_s : QString()),
                       guarantee.because});
            isAny = true;
        }
    }
    if (!isAny)
        table.add({QString::fromLatin1(recipe), u"any"_s, u"-"_s, u"all of it holds"_s});
}

// "  etcd         failover, lag": the faults that no simulated server of that backend knows.
QStringList notSimulated()
{
    std::map<BackendKind, std::set<contention::FaultKind>> known;
    for (const auto &recipe : contention::guaranteedRecipes()) {
        auto &ofBackend = known[recipes::recipeOf(recipe).backend];
        for (const auto fault : contention::faultsFor(recipe))
            ofBackend.insert(fault);
    }
    QStringList lines;
    for (const auto &[backend, faults] : known) {
        QStringList missing;
        for (const auto fault : contention::allFaults()) {
            if (!faults.contains(fault))
                missing << QString::fromLatin1(contention::nameOf(fault));
        }
        if (!missing.isEmpty())
            lines << u"  "_s + infoOf(backend).title.leftJustified(13) + missing.join(u", "_s);
    }
    return lines;
}

void printGuarantees(bool fenced)
{
    Table table(Table::columnsOf(u"RECIPE|FAULT|MAY BREAK|+BECAUSE"_s));
    for (const auto &recipe : contention::guaranteedRecipes())
        addGuarantees(table, recipe, fenced);
    print(table.text(terminalWidth()));
    const auto words = mapped<QStringList>(contention::invariants(), [&](const auto &invariant) {
        return u"  "_s + QString::fromLatin1(invariant.name).leftJustified(13) + invariant.words;
    });
    print(
        u"\nEvery other guarantee holds under the simulated faults (order: for fair recipes; tokens: for recipes with tokens). Not simulated, so unknown:\n"_s
        + notSimulated().join(u'\n')
        + u"\nPlayed with Lockscope's own clients, which stop acting as the holder when their session or lease may have ended. Curator, kazoo and Redisson leave that to the application: with them a longer partition causes two holders.\nInvariants:\n"_s
        + words.join(u'\n'));
}

} // namespace

Task<Result<Exit>> runRecipes(CommandContext &context)
{
    const bool withFaults = context.has(u"faults"_s);
    const bool fenced = context.has(u"fencing"_s);
    if (fenced && !withFaults)
        co_return fail(Error{ErrorCode::BadInput, u"recipes: --fencing is for the table of --faults"_s});
    if (!context.json) {
        if (withFaults)
            printGuarantees(fenced);
        else
            printTable();
        co_return Exit::Done;
    }
    QJsonArray array;
    for (const auto &recipe : recipes::catalogue()) {
        auto entry = recipeJson(recipe);
        if (withFaults)
            entry.insert(u"promises"_s, recipe.acquirable ? guaranteesJson(recipe.id, fenced) : QJsonArray());
        array.append(entry);
    }
    printJson(QJsonObject{{u"recipes"_s, array}});
    co_return Exit::Done;
}

} // namespace lockscope::ctl
