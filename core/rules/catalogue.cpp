// SPDX-License-Identifier: Apache-2.0
#include "core/rules/catalogue.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"

namespace lockscope::recipes {

namespace {

RecipeInfo readRecipe(FieldReader &reader)
{
    static constexpr std::pair<const char *, bool RecipeInfo::*> marks[] = {
        {"preferred", &RecipeInfo::preferred},
        {"fair", &RecipeInfo::fair},
        {"reentrant", &RecipeInfo::reentrant},
        {"teachingOnly", &RecipeInfo::teachingOnly},
        {"readWrite", &RecipeInfo::readWrite},
        {"counted", &RecipeInfo::counted},
        {"storesLimit", &RecipeInfo::storesLimit},
        {"optimistic", &RecipeInfo::optimistic},
        {"quorum", &RecipeInfo::quorum},
        {"electsLeader", &RecipeInfo::electsLeader},
        {"fenced", &RecipeInfo::fenced},
        {"tellsClientsTokens", &RecipeInfo::tellsClientsTokens},
        {"losesTokensWithData", &RecipeInfo::losesTokensWithData},
        {"renewed", &RecipeInfo::renewed},
        {"namesHolder", &RecipeInfo::namesHolder},
        {"atomicAcquire", &RecipeInfo::atomicAcquire},
        {"lastingQueue", &RecipeInfo::lastingQueue},
        {"containers", &RecipeInfo::containers},
        {"revocable", &RecipeInfo::revocable},
        {"seenContended", &RecipeInfo::seenContended},
        {"simulated", &RecipeInfo::simulated}};
    RecipeInfo recipe;
    recipe.id = reader.text("id").toLatin1();
    recipe.namePrefix = reader.text("namePrefix", QString()).toLatin1();
    recipe.summary = reader.text("summary");
    recipe.title = reader.text("title", QString()).toUtf8();
    reader.readWord("shape", "node queue flat-queue permits key hash counter row named-lock table leases",
                    recipe.shape);
    reader.readWord("endsBy", "session lease timestamp permit-deadline never", recipe.endsBy);
    reader.readWord("wakeUp", "polling watch message answer", recipe.wakeUp);
    if (reader.has("listedWatch"))
        reader.readWord("listedWatch", "no of-known-clients always", recipe.listedWatch);
    reader.readWord("release",
                    "none delete-node compare-and-delete quorum-delete redisson-unlock redisson-permit member-back "
                    "by-rule kill-connection clear-row delete-at-revision terminate-backend clear-pg-row",
                    recipe.release);
    recipe.releaseRefusal = reader.text("releaseRefusal", QString());
    recipe.playedBy = reader.text("playedBy", QString()).toLatin1();
    for (const auto &[field, mark] : marks)
        reader.take(field, recipe.*mark);
    recipe.acquirable = reader.has("requests");
    if (recipe.acquirable) {
        auto counts = reader.object("requests");
        recipe.counts = {counts.text("acquireFree"), counts.text("acquireQueued"), counts.text("release"),
                         counts.text("wakeUps")};
        counts.nothingElse();
    } else {
        recipe.flaws.push_back(u"recognised only: this build does not acquire it"_s);
    }
    for (const auto &flaw : reader.texts("flaws"))
        recipe.flaws.push_back(QString::fromUtf8(flaw));
    if (!recipe.fenced)
        recipe.flaws.push_back(u"no fencing token"_s);
    return recipe;
}

} // namespace

const std::vector<RecipeInfo> &catalogue()
{
    static const auto all = [] {
        std::vector<RecipeInfo> recipes;
        for (const auto &backend : allBackends()) {
            readResourceList(u"recipes/%1.json"_s.arg(backend.word), "recipes", [&](FieldReader &reader) {
                recipes.push_back(readRecipe(reader));
                recipes.back().backend = backend.kind;
            });
        }
        return recipes;
    }();
    return all;
}

const RecipeInfo *findRecipe(const QByteArray &id)
{
    const auto at = std::ranges::find(catalogue(), id, &RecipeInfo::id);
    return at == catalogue().end() ? nullptr : &*at;
}

const RecipeInfo &recipeOf(const QByteArray &id)
{
    static const RecipeInfo unknown;
    const auto *found = findRecipe(id);
    return found ? *found : unknown;
}

std::optional<Error> objectionTo(const QByteArray &id, BackendKind backend, const AcquireOptions &options)
{
    const auto *recipe = findRecipe(id);
    const auto name = label(id);
    if (!recipe)
        return Error{ErrorCode::BadInput, u"unknown recipe \"%1\"; see lockscopectl recipes"_s.arg(name)};
    if (recipe->backend != backend)
        return Error{ErrorCode::BadInput, u"recipe %1 is for another kind of server"_s.arg(name)};
    if (!recipe->acquirable)
        return Error{ErrorCode::Unsupported, u"recipe %1 can be seen but not acquired"_s.arg(name)};
    if (options.readMode && !recipe->readWrite)
        return Error{ErrorCode::BadInput, u"recipe %1 has no read mode"_s.arg(name)};
    if (options.limit < 1)
        return Error{ErrorCode::BadInput, u"a limit of %1 admits no client"_s.arg(options.limit)};
    if (options.limit != 1 && !recipe->counted)
        return Error{ErrorCode::BadInput,
                     u"recipe %1 has one permit, not %2"_s.arg(name, QString::number(options.limit))};
    return std::nullopt;
}

} // namespace lockscope::recipes
