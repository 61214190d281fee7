// SPDX-License-Identifier: Apache-2.0
#include "core/contention/scenariofile.h"

#include <QJsonArray>

namespace lockscope::contention {

using namespace Qt::StringLiterals;

Result<std::vector<Scenario>> scenariosOf(const QJsonObject &object)
{
    // A scenario has neither of these fields; what wraps one has both, or is no longer what we wrote.
    const bool isWrapped = object.contains(u"scenario"_s) || object.contains(u"schema"_s);
    const auto whole = isWrapped ? object.value(u"scenario"_s) : QJsonValue(object);
    if (!whole.isObject())
        return Error{ErrorCode::BadInput,
                     u"there is no \"scenario\" in it, as simulate --json and --save write it"_s};
    auto first = Scenario::fromJson(whole.toObject());
    if (!first)
        return first.error();
    const auto runs = isWrapped ? object.value(u"runs"_s).toArray() : QJsonArray();
    if (runs.size() < 2)
        return std::vector{*std::move(first)};
    // Several recipes were played: each run says its own.
    std::vector<Scenario> all;
    for (const auto &run : runs) {
        const auto own = run.toObject().value(u"scenario"_s);
        if (!own.isObject())
            return Error{ErrorCode::BadInput, u"of several runs each has to say its \"scenario\""_s};
        auto scenario = Scenario::fromJson(own.toObject());
        if (!scenario)
            return scenario.error();
        all.push_back(*std::move(scenario));
    }
    return all;
}

} // namespace lockscope::contention
