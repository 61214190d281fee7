// SPDX-License-Identifier: Apache-2.0
#include "core/contention/waitstatistics.h"

#include <algorithm>

namespace lockscope::contention {

namespace {

// How many of those added so far ended after a moment: P. Fenwick, "A New Data Structure for Cumulative Frequency
// Tables", Software: Practice and Experience 24(3), 1994.
class EndsSoFar {
public:
    explicit EndsSoFar(std::vector<Moment> all) : m_ends(std::move(all)), m_tree(m_ends.size() + 1)
    {
        std::ranges::sort(m_ends);
    }
    void add(Moment end)
    {
        const auto at = std::ranges::lower_bound(m_ends, end) - m_ends.begin();
        for (auto i = static_cast<std::size_t>(at) + 1; i < m_tree.size(); i += i & (~i + 1))
            ++m_tree[i];
        ++m_added;
    }
    [[nodiscard]] qint64 after(Moment moment) const
    {
        const auto at = std::ranges::upper_bound(m_ends, moment) - m_ends.begin();
        qint64 until = 0;
        for (auto i = static_cast<std::size_t>(at); i > 0; i -= i & (~i + 1))
            until += m_tree[i];
        return m_added - until;
    }

private:
    std::vector<Moment> m_ends;
    std::vector<qint64> m_tree;
    qint64 m_added = 0;
};

struct Pairs {
    qint64 all = 0, overtaken = 0;
};

Pairs countPairs(const std::vector<const Wait *> &waits)
{
    std::vector<Moment> ends;
    auto byAnswer = waits;
    std::vector<const Wait *> byComing;
    for (const auto *wait : waits) {
        ends.push_back(wait->ended);
        if (wait->isGranted)
            byComing.push_back(wait);
    }
    std::ranges::sort(byAnswer, {}, &Wait::answered);
    std::ranges::sort(byComing, {}, &Wait::joined);
    EndsSoFar earlier(std::move(ends));
    Pairs pairs;
    auto next = byAnswer.begin();
    for (const auto *wait : byComing) {
        for (; next != byAnswer.end() && (*next)->answered < wait->joined; ++next)
            earlier.add((*next)->ended);
        pairs.all += earlier.after(wait->joined);
        pairs.overtaken += earlier.after(wait->ended);
    }
    return pairs;
}

} // namespace

Waits percentilesOf(std::vector<Wait> &waits)
{
    if (waits.empty())
        return {};
    const auto length = [](const Wait &wait) { return wait.ended - wait.joined; };
    std::ranges::sort(waits, {}, length);
    const auto at = [&](std::size_t percent) { return length(waits[(waits.size() * percent + 99) / 100 - 1]); };
    return {at(50), at(99), length(waits.back())};
}

Fairness fairnessOf(const std::vector<Wait> &waits)
{
    std::vector<const Wait *> all, readers;
    for (const auto &wait : waits) {
        all.push_back(&wait);
        if (wait.isReader)
            readers.push_back(&wait);
    }
    const auto ofAll = countPairs(all), ofReaders = countPairs(readers);
    const auto pairs = ofAll.all - ofReaders.all;
    if (pairs == 0)
        return {};
    return {1 - static_cast<double>(ofAll.overtaken - ofReaders.overtaken) / static_cast<double>(pairs), pairs};
}

} // namespace lockscope::contention
