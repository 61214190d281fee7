// SPDX-License-Identifier: Apache-2.0
// How a benchmark speaks: medians, and the ratio against its peer in the same run. What is printed is also
// written as JSON beside the program: bench_x.json.
#pragma once

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QString>
#include <QTest>
#include <QTextStream>

#include <algorithm>
#include <chrono>
#include <vector>

namespace lockscope::bench {

class Medians {
public:
    void add(qint64 nanoseconds) { addValue(static_cast<double>(nanoseconds) / 1e6); }
    void addValue(double value) { m_samples.push_back(value); }
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
    std::vector<double> m_samples; // milliseconds, unless said otherwise
};

// What is measured is a span of time: events are delivered for so long.
inline void runFor(std::chrono::milliseconds span)
{
    QTest::qWait(int(span.count()));
}

inline void write(const QJsonObject &result)
{
    static QJsonArray results;
    results.append(result);
    QSaveFile file(QCoreApplication::applicationFilePath() + QStringLiteral(".json"));
    const QJsonObject whole{{QStringLiteral("schema"), QStringLiteral("lockscope-bench/1")},
                            {QStringLiteral("results"), results}};
    if (!file.open(QIODevice::WriteOnly) || file.write(QJsonDocument(whole).toJson()) < 0 || !file.commit())
        qWarning("the results could not be written: %s", qPrintable(file.errorString()));
}

// `unit` of both; the ratio has none.
inline void reportRatio(const QString &what, const Medians &ours, const Medians &peers, const QString &unit)
{
    QTextStream(stdout) << QStringLiteral("BENCH %1: %2 %5 ÷ %3 %5 = %4\n")
                               .arg(what)
                               .arg(ours.median(), 0, 'g', 4)
                               .arg(peers.median(), 0, 'g', 4)
                               .arg(ours.median() / peers.median(), 0, 'f', 2)
                               .arg(unit);
    write({{QStringLiteral("what"), what},
           {QStringLiteral("unit"), unit},
           {QStringLiteral("ours"), ours.median()},
           {QStringLiteral("peer"), peers.median()},
           {QStringLiteral("ratio"), ours.median() / peers.median()}});
}

inline void report(const QString &what, const Medians &ours, const Medians &peers)
{
    reportRatio(what, ours, peers, QStringLiteral("ms"));
}

inline void report(const QString &what, const Medians &ours)
{
    QTextStream(stdout) << QStringLiteral("BENCH %1: median %2 ms, p99 %3 ms, worst %4 ms of %5\n")
                               .arg(what)
                               .arg(ours.median(), 0, 'f', 1)
                               .arg(ours.at(0.99), 0, 'f', 1)
                               .arg(ours.worst(), 0, 'f', 1)
                               .arg(ours.count());
    write({{QStringLiteral("what"), what},
           {QStringLiteral("unit"), QStringLiteral("ms")},
           {QStringLiteral("median"), ours.median()},
           {QStringLiteral("p99"), ours.at(0.99)},
           {QStringLiteral("worst"), ours.worst()}});
}

} // namespace lockscope::bench
