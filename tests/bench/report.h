// How a benchmark speaks: medians, and the ratio against its peer in the same run.
#pragma once

#include <QString>
#include <QTextStream>

#include <algorithm>
#include <vector>

namespace lockscope::bench {

class Medians {
public:
    void add(qint64 nanoseconds) { m_samples.push_back(static_cast<double>(nanoseconds) / 1e6); }
    [[nodiscard]] double at(double share) const
    {
        auto sorted = m_samples;
        std::sort(sorted.begin(), sorted.end());
        const auto index = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
        return sorted.empty() ? 0 : sorted[index];
    }
    [[nodiscard]] double median() const { return at(0.5); }
    [[nodiscard]] double worst() const { return at(1.0); }
    [[nodiscard]] std::size_t count() const { return m_samples.size(); }

private:
    std::vector<double> m_samples; // milliseconds
};

inline void report(const QString &what, const Medians &ours, const Medians &peers)
{
    QTextStream(stdout) << QStringLiteral("BENCH %1: %2 ms ÷ %3 ms = %4\n")
                               .arg(what)
                               .arg(ours.median(), 0, 'f', 1)
                               .arg(peers.median(), 0, 'f', 1)
                               .arg(ours.median() / peers.median(), 0, 'f', 2);
}

inline void report(const QString &what, const Medians &ours)
{
    QTextStream(stdout) << QStringLiteral("BENCH %1: median %2 ms, p99 %3 ms, worst %4 ms of %5\n")
                               .arg(what)
                               .arg(ours.median(), 0, 'f', 1)
                               .arg(ours.at(0.99), 0, 'f', 1)
                               .arg(ours.worst(), 0, 'f', 1)
                               .arg(ours.count());
}

} // namespace lockscope::bench
