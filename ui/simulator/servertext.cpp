// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/serverstrip.h"

#include "ui/simulator/simulatortext.h"

namespace lockscope::ui {

using contention::ServerLine;

namespace {

constexpr int numberDigits = 10; // of a sequential node's number
constexpr std::pair<const char *, QLatin1StringView> twoLocks[] = {{"/sim/lock", "A"_L1}, {"/sim/other", "B"_L1}};

// The end of a long node's name says its place in the queue; what Curator puts before it is 40 random characters.
QByteArray shortName(const QByteArray &name)
{
    constexpr qsizetype most = 26, tail = 17, random = 40;
    const auto last = name.mid(name.lastIndexOf('/') + 1);
    if (last.startsWith("_c_") && last.size() > random)
        return "…" + last.mid(random).last(std::min(most, last.size() - random));
    return name.size() <= most ? name : "…" + name.last(tail);
}

QString leftText(Moment left)
{
    if (left.count() <= 0)
        return ServerWords::tr("its time is over");
    return ServerWords::tr("%1 s left").arg(formatNumber(static_cast<double>(left.count()) / 1e6, 1));
}

class Words {
public:
    Words(const PlayedRun &run, const ServersThen &then) : m_run(run), m_at(then.at()), m_servers(then.servers()) {}

    std::vector<ServerWords> all()
    {
        for (auto &server : m_servers) {
            leaveOutDirectories(server.lines);
            if (m_run.recording().scenario.rows > 1)
                std::ranges::sort(server.lines, {}, &ServerLine::name);
            if (m_run.recording().scenario.locks > 1)
                gatherLocks(server);
            nameRows(server.lines);
        }
        const bool isAnythingThere =
            std::ranges::any_of(m_servers, [](const auto &one) { return !one.isDown && !one.lines.empty(); });
        const bool areSeveral = m_servers.size() > 1;
        addLines();
        if (const auto empty = whichOf([](const auto &one) { return !one.isDown && one.lines.empty(); });
            !empty.isEmpty())
            m_said.push_back({named(empty), {ServerWords::tr("empty")}, areSeveral && isAnythingThere});
        if (const auto down = whichOf([](const auto &one) { return one.isDown; }); !down.isEmpty())
            m_said.push_back({named(down), {ServerWords::tr("down")}, true});
        if (!m_cycle.isEmpty()) // first: it is what one looks for
            m_said.insert(m_said.begin(), {{}, {m_cycle}, true});
        return std::move(m_said);
    }

private:
    template <class Is>
    [[nodiscard]] QStringList whichOf(Is is) const
    {
        QStringList names;
        for (std::size_t i = 0; i < m_servers.size(); ++i) {
            if (is(m_servers[i]))
                names << ServerWords::tr("s%1").arg(i + 1);
        }
        return names;
    }
    [[nodiscard]] QString named(const QStringList &which) const
    {
        return m_servers.size() > 1 ? which.join(u' ') : QString();
    }

    // A directory that says nothing itself is seen in the names of what stands in it.
    static void leaveOutDirectories(std::vector<ServerLine> &lines)
    {
        const auto names = lines;
        std::erase_if(lines, [&](const ServerLine &line) {
            return line.text.isEmpty() && std::ranges::any_of(names, [&](const ServerLine &other) {
                       return other.name.startsWith(line.name + '/');
                   });
        });
    }

    // Rows of one table: its name says nothing.
    static void nameRows(std::vector<ServerLine> &lines)
    {
        const auto table =
            lines.empty() ? QByteArray() : lines.front().name.left(lines.front().name.indexOf(' ') + 1);
        const bool isOne = lines.size() > 1 && !table.isEmpty() && std::ranges::all_of(lines, [&](const auto &line) {
                               return line.name.startsWith(table);
                           });
        for (auto &line : lines)
            line.name = isOne ? line.name.mid(table.size()) : line.name;
    }

    // Of two locks: whose the nodes are, in their order.
    void gatherLocks(ServersThen::Server &server)
    {
        QStringList queues[2];
        for (std::size_t i = 0; i < 2; ++i) {
            const QByteArray place = QByteArray(twoLocks[i].first) + '/';
            std::vector<std::pair<qint64, int>> queue;
            std::erase_if(server.lines, [&](const ServerLine &line) {
                bool isNumber = false;
                const qint64 number = line.name.right(numberDigits).toLongLong(&isNumber);
                if (!line.name.startsWith(place) || line.owner == contention::nobody || !isNumber)
                    return false;
                queue.emplace_back(number, line.owner);
                return true;
            });
            std::ranges::sort(queue);
            for (const auto &[number, owner] : queue)
                queues[i] << m_run.laneName(owner);
            if (queue.empty())
                continue;
            const auto waiting = queues[i].mid(1).join(u' ');
            const QString words = waiting.isEmpty()
                                      ? ServerWords::tr("held by %1").arg(queues[i].front())
                                      : ServerWords::tr("held by %1; waiting: %2").arg(queues[i].front(), waiting);
            server.lines.push_back({0, twoLocks[i].second.latin1(), words.toUtf8(), {}});
        }
        const auto &[first, second] = queues;
        if (!first.isEmpty() && !second.isEmpty() && first.front() != second.front() && first.contains(second.front())
            && second.contains(first.front()))
            m_cycle = ServerWords::tr("a cycle: %1 holds A and waits for B; %2 holds B and waits for A")
                          .arg(first.front(), second.front());
    }

    // Tokens and nodes by whose they are: nobody reads 20 random characters.
    [[nodiscard]] QString owned(QByteArray text) const
    {
        for (const auto &[name, lane] : m_run.heldAs())
            text.replace(name, ServerWords::tr("%1’s").arg(m_run.laneName(lane)).toUtf8());
        return label(text, 160);
    }
    [[nodiscard]] QString sentence(const ServerLine &line) const
    {
        QString words = label(shortName(line.name), 60);
        if (!line.text.isEmpty())
            words += u"  "_s + formatState(owned(line.text));
        if (line.ends)
            words += u" · "_s + leftText(*line.ends - m_at);
        return words;
    }

    void addLines()
    {
        struct Line {
            ServerLine line;
            QStringList which;
        };
        std::vector<Line> lines;
        for (std::size_t i = 0; i < m_servers.size(); ++i) {
            if (m_servers[i].isDown)
                continue;
            for (const auto &line : m_servers[i].lines) {
                auto same = std::ranges::find_if(lines, [&](const Line &one) {
                    return one.line.name == line.name && one.line.text == line.text
                           && one.line.ends.has_value() == line.ends.has_value();
                });
                if (same == lines.end())
                    same = lines.insert(lines.end(), {line, {}});
                same->which << ServerWords::tr("s%1").arg(i + 1);
                if (line.ends)
                    same->line.ends = std::min(*same->line.ends, *line.ends);
            }
        }
        // What differs first: that is what several servers are looked at for.
        std::ranges::stable_sort(lines, {}, [](const Line &one) { return one.which.size(); });
        for (const auto &one : lines) {
            auto group = std::ranges::find(m_said, named(one.which), &ServerWords::which);
            if (group == m_said.end())
                group = m_said.insert(group, {named(one.which), {}, false});
            group->texts << sentence(one.line);
        }
    }

    const PlayedRun &m_run;
    const Moment m_at;
    std::vector<ServersThen::Server> m_servers;
    QString m_cycle;
    std::vector<ServerWords> m_said;
};

} // namespace

void ServersThen::setRun(PlayedRunPtr run)
{
    m_run = std::move(run);
    m_at = {};
    m_next = 0;
    m_lines.clear();
    m_isDown.assign(m_run ? static_cast<std::size_t>(m_run->recording().history.servers) : 0, false);
}

void ServersThen::goTo(Moment at)
{
    if (!m_run)
        return;
    if (at < m_at)
        setRun(m_run);
    m_at = at;
    const auto &changes = m_run->recording().history.changes;
    for (; m_next < changes.size() && changes[m_next].at <= at; ++m_next) {
        const auto &change = changes[m_next];
        if (change.line.name.isEmpty())
            m_isDown[static_cast<std::size_t>(change.line.server)] = change.line.text == "down";
        else if (change.isGone)
            m_lines.erase({change.line.server, change.line.name});
        else
            m_lines.try_emplace({change.line.server, change.line.name}, m_next, ServerLine{}).first->second.second =
                change.line;
    }
}

std::vector<std::pair<int, int>> ServersThen::watches() const
{
    std::vector<std::pair<int, int>> all;
    for (const auto &[key, placed] : m_lines) {
        if (const int owner = placed.second.owner; owner != contention::nobody)
            for (const int watcher : placed.second.watchers)
                all.emplace_back(watcher, owner);
    }
    return all;
}

std::vector<ServersThen::Server> ServersThen::servers() const
{
    std::vector<Server> all(m_isDown.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i].isDown = m_isDown[i];
    std::vector<std::pair<std::size_t, ServerLine>> queue;
    for (const auto &[key, line] : m_lines) {
        // One whose time has passed is gone, though nobody has looked since.
        if (!line.second.ends || *line.second.ends > m_at)
            queue.push_back(line);
    }
    std::ranges::sort(queue, {}, &std::pair<std::size_t, ServerLine>::first);
    for (const auto &[order, line] : queue)
        all[static_cast<std::size_t>(line.server)].lines.push_back(line);
    return all;
}

std::vector<ServerWords> serverWordsOf(const PlayedRun &run, const ServersThen &then)
{
    const auto until = run.recording().history.until;
    if (until && then.at() > *until)
        return {{{}, {ServerWords::tr("not kept beyond %1").arg(momentText(*until))}, false}};
    return Words(run, then).all();
}

QString letterOfLock(const contention::Scenario &scenario, int contender, bool isSecond)
{
    if (scenario.locks < 2)
        return {};
    const bool isOther = isSecond != (scenario.isOppositeOrder && contender % 2 == 1);
    return twoLocks[isOther ? 1 : 0].second;
}

} // namespace lockscope::ui
