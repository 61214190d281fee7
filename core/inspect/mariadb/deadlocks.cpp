// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/reader.h"

#include <QDateTime>
#include <QRegularExpression>
#include <set>

namespace lockscope::inspect {

constexpr auto deadlocksKeptFor = 10min;
constexpr std::size_t mostDeadlocksKept = 20;

std::optional<qint64> EndedDeadlocks::risen(const std::optional<qint64> &counted)
{
    const auto before = m_counted;
    if (counted)
        m_counted = counted;
    return counted && before && *counted >= *before ? std::optional(*counted - *before) : std::nullopt;
}

void EndedDeadlocks::add(EndedDeadlock deadlock)
{
    m_all.push_back(std::move(deadlock));
    if (m_all.size() > mostDeadlocksKept)
        m_all.erase(m_all.begin());
}

void EndedDeadlocks::expire(ServerTime now)
{
    std::erase_if(m_all, [now](const EndedDeadlock &one) { return now - one.at > deadlocksKeptFor; });
}

// The log is read where the counter has risen, and once on a connection. It may be printed a little after it is
// counted, so it is read a second time where it is the one of before.
Task<Result<void>> SqlDeadlocks::read(SqlSend sending, const SqlPoll *look, Deadline deadline)
{
    m_ended.expire(look->now);
    if (!look->deadlocks)
        co_return Result<void>();
    const auto risen = m_ended.risen(look->deadlocks);
    m_unlogged += risen.value_or(0);
    const bool isFirst = !risen && *look->deadlocks > 0;
    if (!isFirst && m_unlogged == 0)
        co_return Result<void>();
    const QByteArray question = "SHOW ENGINE INNODB STATUS";
    auto asking = sending(question, deadline, {});
    const auto status = co_await asking;
    if (!status && !isRefusal(status.error()))
        co_return status.error();
    const auto printed = status ? text(*status, 0, "status") : QByteArray();
    const auto section = deadlockSectionOf(printed);
    const bool isNew = !section.isEmpty() && section != m_section;
    if (!isNew && !isFirst && !std::exchange(m_isLogAwaited, true))
        co_return Result<void>();
    m_isLogAwaited = false;
    EndedDeadlock ended{look->now, true, std::exchange(m_unlogged, 0), {}, {}};
    ended.count = std::max<qint64>(ended.count, 1);
    const auto log = isNew ? parseDeadlockLog(printed) : std::nullopt;
    m_section = isNew ? section : m_section;
    if (log) {
        ended.at = std::chrono::floor<std::chrono::seconds>(look->now) - log->age;
        ended.isAtLatest = false;
        ended.parties = co_await namedParties(&sending, &*log, deadline);
    } else {
        ended.unknown = !status ? u"its log cannot be read: %1"_s.arg(status.error().message)
                        : isNew ? u"its log (LATEST DETECTED DEADLOCK) is not understood"_s
                                : u"its log (LATEST DETECTED DEADLOCK) does not have it"_s;
    }
    if (log || !isFirst) // else it may be of any time
        m_ended.add(std::move(ended));
    m_ended.expire(look->now);
    co_return Result<void>();
}

// A record's key is printed as its bytes: what they mean is a matter of the columns' types. Without these a row is
// named by its place.
Task<std::vector<EndedDeadlock::Party>> SqlDeadlocks::namedParties(const SqlSend *sending, const DeadlockLog *log,
                                                                   Deadline deadline)
{
    constexpr std::size_t mostNamed = 10;
    std::vector<EndedDeadlock::Party> parties;
    IndexColumns named;
    for (const auto &logged : log->parties) {
        auto wait = logged.wait;
        if (!wait.index.isEmpty() && !logged.key.isEmpty() && parties.size() < mostNamed) {
            auto asking = (*sending)(mariadb::sqlText("mariadb-index-columns"), deadline, {wait.table, wait.index});
            const auto rows = co_await asking;
            QByteArrayList columns, values;
            for (std::size_t i = 0; rows && i < rows->rows.size() && values.size() < logged.key.size(); ++i) {
                const auto value = valueOfField(logged.key[values.size()], text(*rows, i, "type"));
                if (!value || rows->cell(i, "cut"))
                    break;
                columns << text(*rows, i, "name");
                values << *value;
            }
            if (!columns.isEmpty() && static_cast<std::size_t>(columns.size()) == rows->rows.size()) {
                named[{wait.table, wait.index}] = columns;
                wait.data = values.join(", ");
            }
        }
        parties.push_back({QString::number(logged.connection), logged.client, logged.statement,
                           innoDbLockName(wait, named), logged.isRolledBack});
    }
    co_return parties;
}

namespace {

constexpr std::size_t mostParties = 200; // InnoDB searches for no longer cycle
constexpr qsizetype mostOfStatement = 1000;

QRegularExpression lineLike(QStringView pattern)
{
    return QRegularExpression(QRegularExpression::anchoredPattern(pattern));
}

// Of bytes as of Latin-1: a byte is a character, so matches are bytes again.
QRegularExpressionMatch matchOf(const QRegularExpression &expression, const QByteArray &line)
{
    return expression.match(QString::fromLatin1(line));
}

std::optional<QDateTime> timeAtBeginOf(const QByteArray &line)
{
    constexpr qsizetype length = 19; // "2026-11-29 11:49:32"; some versions pad the hour with a space
    const auto time = QDateTime::fromString(QString::fromLatin1(line.left(length)).replace(u"  "_s, u" 0"_s),
                                            u"yyyy-MM-dd HH:mm:ss"_s);
    return time.isValid() ? std::optional(time) : std::nullopt;
}

// One pass over the lines of the section. Each line has to fit where it is.
class LogParser {
public:
    bool take(const QByteArray &line);
    [[nodiscard]] std::optional<std::vector<LoggedParty>> parties();

private:
    enum class Part { Begin, Head, Statement, Awaited, Record, Others, End };

    bool takeMarker(const QByteArray &line);
    bool takeHead(const QByteArray &line);
    bool takeAwaited(const QByteArray &line);
    void takeRecord(const QByteArray &line);

    std::vector<LoggedParty> m_parties;
    std::size_t m_rolledBack = 0;
    Part m_part = Part::Begin;
};

bool LogParser::takeMarker(const QByteArray &line)
{
    static const auto beginLine = lineLike(u"\\*\\*\\* \\((\\d{1,3})\\) TRANSACTION:");
    static const auto endLine = lineLike(u"\\*\\*\\* WE ROLL BACK TRANSACTION \\((\\d{1,3})\\)");
    static const auto lockLine = lineLike(u"\\*\\*\\* (?:\\((\\d{1,3})\\) )?(WAITING FOR THIS LOCK TO BE GRANTED:|"
                                          u"HOLDS THE LOCK\\(S\\):|CONFLICTING WITH:)");
    if (m_part == Part::End)
        return false;
    const bool isWhole = m_parties.empty() || !m_parties.back().wait.table.isEmpty();
    const auto begin = matchOf(beginLine, line), end = matchOf(endLine, line);
    if (begin.hasMatch()) {
        if (!isWhole || begin.captured(1).toULongLong() != m_parties.size() + 1 || m_parties.size() == mostParties)
            return false;
        m_parties.emplace_back();
        m_part = Part::Head;
        return true;
    }
    if (end.hasMatch()) {
        m_rolledBack = static_cast<std::size_t>(end.captured(1).toULongLong());
        m_part = isWhole ? Part::End : m_part;
        return isWhole;
    }
    const auto lock = matchOf(lockLine, line);
    const auto number = lock.captured(1);
    if (!lock.hasMatch() || m_part == Part::Begin || m_part == Part::Head
        || (!number.isEmpty() && number.toULongLong() != m_parties.size()))
        return false;
    const bool isWaiting = lock.captured(2).startsWith(u'W');
    if (isWaiting && !m_parties.back().wait.table.isEmpty())
        return false;
    m_part = isWaiting ? Part::Awaited : Part::Others;
    return true;
}

bool LogParser::takeHead(const QByteArray &line)
{
    auto &party = m_parties.back();
    if (party.transaction.isEmpty()) {
        static const auto firstLine = lineLike(u"TRANSACTION (\\d{1,20}), .*");
        const auto first = matchOf(firstLine, line);
        party.transaction = first.captured(1).toLatin1();
        return first.hasMatch();
    }
    static const auto threadLine =
        lineLike(u"(?:MariaDB|MySQL) thread id (\\d{1,20}), OS thread handle \\w+, query id \\d+ ?(.*)");
    const auto thread = matchOf(threadLine, line);
    if (thread.hasMatch()) {
        party.connection = thread.captured(1).toULongLong();
        party.client = thread.captured(2).toLatin1().trimmed();
        m_part = Part::Statement;
    }
    return !line.startsWith("***");
}

bool LogParser::takeAwaited(const QByteArray &line)
{
    static const auto lockLine =
        lineLike(u"(?:RECORD LOCKS space id (\\d+) page no (\\d+) n bits \\d+ index (.+) of table|TABLE LOCK table) "
                 u"(`.+`)(?: /\\* Partition .* \\*/)? trx id (\\d+) lock[_ ]mode ([A-Z_-]+)(.*) waiting");
    const auto lock = matchOf(lockLine, line);
    auto &party = m_parties.back();
    if (!lock.hasMatch() || lock.captured(5).toLatin1() != party.transaction)
        return false;
    auto &wait = party.wait;
    wait.requesting = party.transaction;
    wait.index = lock.captured(3).toLatin1();
    if (wait.index.startsWith('`') && wait.index.endsWith('`')) // older versions quote it
        wait.index = wait.index.mid(1, wait.index.size() - 2).replace("``", "`");
    wait.table = lock.captured(4).toLatin1();
    wait.requestedMode = lock.captured(6).toLatin1();
    const auto rest = lock.captured(7);
    if (rest.contains(u"rec but not gap"_s))
        wait.requestedMode += ",REC_NOT_GAP";
    if (rest.contains(u"gap before rec"_s))
        wait.requestedMode += ",GAP";
    if (rest.contains(u"insert intention"_s))
        wait.requestedMode += ",INSERT_INTENTION";
    if (!wait.index.isEmpty())
        wait.id = party.transaction + ':' + lock.captured(1).toLatin1() + ':' + lock.captured(2).toLatin1();
    m_part = wait.index.isEmpty() ? Part::Others : Part::Record;
    return true;
}

void LogParser::takeRecord(const QByteArray &line)
{
    auto &party = m_parties.back();
    static const auto recordLine = lineLike(u"Record lock, heap no (\\d+) .*");
    static const auto fieldLine =
        lineLike(u" (\\d+): len (\\d+); hex ([0-9a-f]*); asc .*;;"); // ";" and its size behind one that is cut
    if (const auto record = matchOf(recordLine, line); record.hasMatch()) {
        if (party.wait.id.count(':') == 2)
            party.wait.id += ':' + record.captured(1).toLatin1();
        if (record.captured(1) == u"1"_s) // the end of the index ("supremum"), which has no values
            m_part = Part::Others;
        return;
    }
    const auto field = matchOf(fieldLine, line);
    const auto bytes = QByteArray::fromHex(field.captured(3).toLatin1());
    if (field.hasMatch() && field.captured(1).toLongLong() == party.key.size()
        && field.captured(2).toLongLong() == bytes.size())
        party.key << bytes;
    else
        m_part = Part::Others; // those behind it have no number that is sure
}

bool LogParser::take(const QByteArray &line)
{
    if (line.startsWith("*** ") && takeMarker(line))
        return true;
    switch (m_part) {
    case Part::Begin: return false;
    case Part::Head: return takeHead(line);
    case Part::Statement: {
        auto &statement = m_parties.back().statement;
        if (statement.size() < mostOfStatement)
            statement += (statement.isEmpty() ? "" : "\n") + line;
        return true;
    }
    case Part::Awaited: return takeAwaited(line);
    case Part::Record: takeRecord(line); [[fallthrough]];
    case Part::Others: return !line.startsWith("***");
    case Part::End: return line.trimmed().isEmpty();
    }
    return false;
}

std::optional<std::vector<LoggedParty>> LogParser::parties()
{
    std::set<QByteArray> transactions;
    for (auto &party : m_parties) {
        transactions.insert(party.transaction);
        party.statement = withoutTexts(party.statement.left(mostOfStatement), BackendKind::MariaDb);
    }
    const bool isWhole = m_part == Part::End && m_rolledBack >= 1 && m_rolledBack <= m_parties.size()
                         && transactions.size() == m_parties.size() && m_parties.size() >= 2
                         && !m_parties.back().wait.table.isEmpty();
    if (!isWhole)
        return std::nullopt;
    m_parties[m_rolledBack - 1].isRolledBack = true;
    return std::move(m_parties);
}

} // namespace

QByteArray deadlockSectionOf(const QByteArray &status)
{
    static const QByteArray line = "\n------------";
    const auto next = line + "\nTRANSACTIONS" + line + '\n';
    const auto others = status.indexOf(next);
    if (others < 0 || status.indexOf(next, others + 1) >= 0)
        return {};
    const auto before = status.left(others);
    const QByteArray title = line + "------------\nLATEST DETECTED DEADLOCK" + line + "------------\n";
    const auto at = before.indexOf(title);
    const bool isOnly = at >= 0 && before.indexOf(title, at + 1) < 0;
    return isOnly ? before.mid(at + title.size()) : QByteArray();
}

std::optional<DeadlockLog> parseDeadlockLog(const QByteArray &status)
{
    // Both times are of the server's own zone, which may be any: only their difference is used.
    constexpr qsizetype mostOfHead = 300;
    std::optional<QDateTime> printed;
    for (const auto &line : status.left(mostOfHead).split('\n')) {
        if (!printed && line.endsWith(" INNODB MONITOR OUTPUT"))
            printed = timeAtBeginOf(line);
    }
    auto lines = deadlockSectionOf(status).split('\n');
    const auto happened = timeAtBeginOf(lines.takeFirst());
    if (!printed || !happened || *happened > *printed)
        return std::nullopt;
    LogParser parser;
    for (const auto &line : lines) {
        if (!parser.take(line))
            return std::nullopt;
    }
    auto parties = parser.parties();
    if (!parties)
        return std::nullopt;
    return DeadlockLog{std::chrono::seconds(happened->secsTo(*printed)), std::move(*parties)};
}

// Numbers are kept with their highest byte first, and with the sign's bit the other way around.
std::optional<QByteArray> valueOfField(const QByteArray &field, const QByteArray &type)
{
    static const std::map<QByteArray, qsizetype> lengths{
        {"tinyint", 1}, {"smallint", 2}, {"mediumint", 3}, {"int", 4}, {"bigint", 8}};
    const auto name = type.left(std::min(type.indexOf('(') < 0 ? type.size() : type.indexOf('('),
                                         type.indexOf(' ') < 0 ? type.size() : type.indexOf(' ')));
    if (name == "varchar") {
        const bool isPlain = !field.isEmpty() && std::ranges::all_of(field, [](char c) {
            return c >= ' ' && c <= '~' && c != '\'' && c != '\\';
        });
        return isPlain ? std::optional('\'' + field + '\'') : std::nullopt;
    }
    const auto length = lengths.find(name);
    if (length == lengths.end() || field.size() != length->second)
        return std::nullopt;
    quint64 number = 0;
    for (const char c : field)
        number = (number << 8) | static_cast<quint8>(c);
    if (type.contains("unsigned"))
        return QByteArray::number(number);
    const quint64 zero = quint64(1) << (8 * field.size() - 1);
    return QByteArray::number(static_cast<qint64>(number - zero));
}

} // namespace lockscope::inspect
