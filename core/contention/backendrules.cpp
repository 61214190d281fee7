// SPDX-License-Identifier: Apache-2.0
#include "core/contention/faults.h"

#include "core/base/fieldreader.h"
#include "core/contention/mutants/mutants.h"

namespace lockscope::contention {

std::optional<OverlapBound> overlapBound(const Scenario &scenario, FaultKind fault)
{
    return rulesOf(playable(scenario.recipe)->backend).overlap(scenario, fault);
}

std::optional<OverlapBound> overlapOfRenewedLease(const Scenario &scenario, FaultKind fault)
{
    const Duration lease = scenario.ttl;
    switch (fault) {
    case FaultKind::Pause:
        return OverlapBound{less(longestOf(scenario, fault), lease * 2 / 3) + connectsAgain,
                            u"the pause less two thirds of the lease"_s};
    case FaultKind::Drift:
        return OverlapBound{scaled(lease, 1 / slowClock - 1),
                            u"the time by which its clock is slow at the end of the lease"_s};
    case FaultKind::ForceRelease:
    case FaultKind::ClockJump:
        return OverlapBound{lease / 3 + connectsAgain, u"a third of the lease, until its next renewal"_s};
    case FaultKind::RestartEmpty:
    case FaultKind::Failover:
        // While the server is away it asks again at every twentieth.
        return OverlapBound{lease / 3 + connectsAgain + lease / 20,
                            u"a third of the lease, until its next renewal"_s};
    default: return {};
    }
}

std::optional<OverlapBound> overlapOfSqlConnection(const Scenario &scenario, FaultKind fault)
{
    constexpr Duration asksEvery = 1s;
    switch (fault) {
    case FaultKind::Expire:
    case FaultKind::ForceRelease:
        return OverlapBound{asksEvery + connectsAgain,
                            u"a second, until it asks again whether its connection stands"_s};
    case FaultKind::Pause:
        return OverlapBound{longestOf(scenario, fault) + asksEvery + connectsAgain, u"the pause, plus a second"_s};
    default: return {};
    }
}

Duration overlapBound(const Scenario &scenario)
{
    auto faults = scenario.faults;
    for (const auto &planned : scenario.planned)
        faults.push_back(planned.kind);
    if (faults.size() == 1 && scenario.rounds == 1) {
        const auto alone = overlapBound(scenario, faults.front());
        return alone ? alone->atMost : Duration::zero();
    }
    // Together one may keep from hearing what another did: then its own clock is what ends the belief, be it slow
    // and be it stopped for a while.
    const Duration own = rulesOf(playable(scenario.recipe)->backend).believesFor(scenario);
    return scaled(own, 1 / slowClock) + longestOf(scenario, FaultKind::Pause) + connectsAgain;
}

const BackendRules &rulesOf(BackendKind backend)
{
#define LOCKSCOPE_RULES(Name) rulesOf##Name(),
    static const std::array all{LOCKSCOPE_BACKENDS(LOCKSCOPE_RULES)};
#undef LOCKSCOPE_RULES
    return all[static_cast<std::size_t>(backend)];
}

GuaranteeRule twoBelieve(const QByteArray &held, FaultKind fault)
{
    static const auto all = [] {
        std::map<std::pair<QByteArray, QByteArray>, GuaranteeRule> rules;
        readResourceList(u"guarantees.json"_s, "twoHolders", [&rules](FieldReader &reader) {
            const auto name = reader.text("fault").toUtf8();
            if (!faultByName(name))
                reader.wrong(u"fault"_s, u"the name of a fault"_s);
            const std::pair key(reader.text("held").toUtf8(), name);
            if (rules.contains(key))
                reader.wrong(u"held"_s, u"no second entry of this fault"_s);
            auto &rule = rules[key];
            rule.because = reader.text("because");
            reader.take("isRare", rule.isRare);
        });
        return rules;
    }();
    const auto at = all.find({held, nameOf(fault)});
    return at == all.end() ? GuaranteeRule() : at->second;
}

bool isAny(FaultKind fault, std::initializer_list<const char *> names)
{
    const auto name = nameOf(fault);
    return std::any_of(names.begin(), names.end(), [&name](const char *one) { return name == one; });
}

std::unique_ptr<Servers> makeServers(const ServersContext &context)
{
#define LOCKSCOPE_SERVERS(Name) &make##Name##Servers,
    constexpr std::array makers{LOCKSCOPE_BACKENDS(LOCKSCOPE_SERVERS)};
#undef LOCKSCOPE_SERVERS
    return makers[static_cast<std::size_t>(playable(context.scenario.recipe)->backend)](context);
}

} // namespace lockscope::contention
