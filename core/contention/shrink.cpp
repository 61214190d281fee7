// SPDX-License-Identifier: Apache-2.0
#include "core/contention/simulation.h"

#include <algorithm>

namespace lockscope::contention {

namespace {

// 1, 2, 3, 4, 6, 8, 12, 16 … below that.
std::vector<int> sizesBelow(int limit)
{
    std::vector<int> sizes;
    for (int power = 1; power < limit; power *= 2) {
        sizes.push_back(power);
        if (power > 1 && power + power / 2 < limit)
            sizes.push_back(power + power / 2);
    }
    return sizes;
}

class Search {
public:
    Search(Scenario broken, const Shows &shows, int mostReplays)
        : m_shortest(std::move(broken)), m_shows(shows), m_most(mostReplays)
    {
    }

    void run()
    {
        // One step makes room for another: until none of them gets any further.
        for (bool isShorter = true; isShorter;) {
            isShorter = hasFewerRounds();
            isShorter = hasFewerContenders() || isShorter;
            isShorter = hasFewerFaults() || isShorter;
            isShorter = isPlainer() || isShorter;
        }
    }
    [[nodiscard]] const Scenario &shortest() const { return m_shortest; }
    [[nodiscard]] int replays() const { return m_replays; }

private:
    // The shortest so far if it shows.
    bool tries(const Scenario &candidate)
    {
        if (candidate == m_shortest || m_replays >= m_most || !candidate.check())
            return false;
        ++m_replays;
        const auto played = simulate(candidate);
        if (!played || !m_shows(*played))
            return false;
        m_shortest = candidate;
        return true;
    }
    bool hasFewerRounds()
    {
        for (const auto rounds : sizesBelow(m_shortest.rounds)) {
            auto candidate = m_shortest;
            candidate.rounds = rounds;
            const auto drawn = rounds * static_cast<int>(candidate.faults.size());
            std::erase_if(candidate.withheld, [drawn](int number) { return number >= drawn; });
            if (tries(candidate))
                return true;
        }
        return false;
    }
    bool hasFewerContenders()
    {
        // With fewer of them chance draws something else: another seed may do what this one did.
        constexpr quint64 otherSeeds = 8;
        for (const auto contenders : sizesBelow(m_shortest.contenders)) {
            auto candidate = m_shortest;
            candidate.contenders = contenders;
            for (auto &fault : candidate.planned)
                fault.contender = std::min(fault.contender, contenders - 1);
            if (tries(candidate))
                return true;
            for (quint64 seed = 1; seed <= otherSeeds; ++seed) {
                candidate.seed = seed;
                if (tries(candidate))
                    return true;
            }
        }
        return false;
    }
    bool hasFewerFaults()
    {
        bool isThinner = false;
        if (m_shortest.withheld.empty())
            isThinner = thinsOut<FaultKind>(m_shortest.faults, [](Scenario &candidate, std::vector<FaultKind> kept) {
                candidate.faults = std::move(kept);
            });
        isThinner = thinsOut<PlannedFault>(m_shortest.planned,
                                           [](Scenario &candidate, std::vector<PlannedFault> kept) {
                                               candidate.planned = std::move(kept);
                                           })
                    || isThinner;
        const auto drawn = m_shortest.rounds * static_cast<int>(m_shortest.faults.size());
        std::vector<int> happen;
        for (int number = 0; number < drawn; ++number) {
            const auto &withheld = m_shortest.withheld;
            if (std::find(withheld.begin(), withheld.end(), number) == withheld.end())
                happen.push_back(number);
        }
        if (happen.size() < 2)
            return isThinner;
        return thinsOut<int>(std::move(happen),
                             [drawn](Scenario &candidate, const std::vector<int> &kept) {
                                 candidate.withheld.clear();
                                 for (int number = 0; number < drawn; ++number) {
                                     if (std::find(kept.begin(), kept.end(), number) == kept.end())
                                         candidate.withheld.push_back(number);
                                 }
                             })
               || isThinner;
    }
    // What makes a scenario special and may have nothing to do with it.
    bool isPlainer()
    {
        const Scenario plain;
        const std::vector<std::function<void(Scenario &)>> steps{
            [&](Scenario &scenario) { scenario.readersPercent = plain.readersPercent; },
            [&](Scenario &scenario) { scenario.limit = plain.limit; },
            [&](Scenario &scenario) { scenario.perProcess = plain.perProcess; },
            [&](Scenario &scenario) {
                scenario.locks = plain.locks, scenario.isOppositeOrder = plain.isOppositeOrder;
            },
            [&](Scenario &scenario) { scenario.rows = plain.rows; },
            [&](Scenario &scenario) { scenario.isIndexed = plain.isIndexed; },
            [&](Scenario &scenario) { scenario.checksFencingTokens = plain.checksFencingTokens; },
            [&](Scenario &scenario) { scenario.wait.reset(); },
            [&](Scenario &scenario) { scenario.arrival = plain.arrival; },
        };
        bool isPlainer = false;
        for (const auto &step : steps) {
            auto candidate = m_shortest;
            step(candidate);
            isPlainer = tries(candidate) || isPlainer;
        }
        return isPlainer;
    }
    // ddmin: leaves out halves, then quarters, … and at last each single one.
    template <class Item>
    bool thinsOut(std::vector<Item> items, const std::function<void(Scenario &, std::vector<Item>)> &put)
    {
        bool isThinner = false;
        for (std::size_t parts = 1; !items.empty();) {
            bool wasLeftOut = false;
            const auto size = (items.size() + parts - 1) / parts;
            for (std::size_t from = 0; from < items.size() && !wasLeftOut; from += size) {
                auto rest = items;
                const auto first = rest.begin() + static_cast<std::ptrdiff_t>(from);
                rest.erase(first, first + static_cast<std::ptrdiff_t>(std::min(size, items.size() - from)));
                auto candidate = m_shortest;
                put(candidate, rest);
                wasLeftOut = tries(candidate);
                if (wasLeftOut)
                    items = std::move(rest);
            }
            isThinner = isThinner || wasLeftOut;
            if (wasLeftOut)
                parts = std::max<std::size_t>(parts - 1, 1);
            else if (parts >= items.size())
                break;
            else
                parts = std::min(parts * 2, items.size());
        }
        return isThinner;
    }

    Scenario m_shortest;
    const Shows &m_shows;
    const int m_most;
    int m_replays = 0;
};

} // namespace

Shows breaks(QByteArray invariant)
{
    return [invariant = std::move(invariant)](const Recording &recording) {
        return std::any_of(recording.violations.begin(), recording.violations.end(),
                           [&](const Violation &violation) { return violation.invariant == invariant; });
    };
}

Result<Shortest> shrink(const Scenario &broken, const Shows &shows, int mostReplays)
{
    auto first = broken;
    first.keepsEvents = false;
    TRY(const auto &played, simulate(first));
    if (!shows(played))
        return Error{ErrorCode::BadInput, u"played again, nothing of the kind happens"_s};
    Search search(first, shows, mostReplays);
    search.run();
    auto shortest = search.shortest();
    shortest.keepsEvents = true;
    TRY(auto &told, simulate(shortest));
    return Shortest{std::move(told), search.replays()};
}

} // namespace lockscope::contention
