// SPDX-License-Identifier: Apache-2.0
// What clients run or ran last, as it may be shown and copied: what stands in a text of a statement may be a secret,
// as in SET PASSWORD or in a row of users.
#include "core/inspect/mariadb/pollindex.h"
#include "core/inspect/postgresql/observer.h"

#include <QRegularExpression>

namespace lockscope::inspect {

namespace {

// Reads a statement from its begin to its end, or to where it was cut off.
class TextHider {
public:
    TextHider(const QByteArray &statement, BackendKind backend)
        : m_statement(statement), m_isPostgreSql(backend == BackendKind::PostgreSql)
    {
    }

    [[nodiscard]] QByteArray shown()
    {
        while (m_at < m_statement.size())
            takeNext();
        return m_shown.simplified();
    }

private:
    [[nodiscard]] bool isAt(const char *text) const
    {
        return QByteArrayView(m_statement).sliced(m_at).startsWith(text);
    }
    void takeNext()
    {
        const char next = m_statement[m_at];
        const bool isConditional = isAt("/*!") || isAt("/*M!");
        if (isAtLineComment())
            skipLine();
        else if (isAt("/*") && !isConditional)
            skipComment();
        else if (isConditional)
            skipConditional();
        else if (next == '\'' || (next == '"' && !m_isPostgreSql))
            hideText(next);
        else if (next == '"' || (next == '`' && !m_isPostgreSql))
            copyName(next);
        else if ((next == '$' && hideDollarText()) || (next == '0' && hideNumberOfBytes()))
            return;
        else
            m_shown += m_statement[m_at++];
    }
    [[nodiscard]] bool isAtLineComment() const
    {
        if (!m_isPostgreSql && m_statement[m_at] == '#')
            return true;
        const auto behind = m_at + 2 < m_statement.size() ? static_cast<unsigned char>(m_statement[m_at + 2]) : 0;
        return isAt("--") && (m_isPostgreSql || behind <= ' ' || behind == 0x7f);
    }
    void skipLine()
    {
        while (m_at < m_statement.size() && m_statement[m_at] != '\n'
               && !(m_isPostgreSql && m_statement[m_at] == '\r'))
            ++m_at;
        m_shown += ' ';
    }
    // Servers of some versions execute it, for others it is a comment, where a quote begins nothing. What follows one
    // may then be a text or not, and is left out.
    void skipConditional()
    {
        const auto end = m_statement.indexOf("*/", m_at);
        const auto inside = m_statement.mid(m_at, end < 0 ? -1 : end - m_at);
        const bool hasQuote = inside.contains('\'') || inside.contains('"') || inside.contains('`');
        m_shown += hasQuote ? " …" : inside;
        m_at = hasQuote || end < 0 ? m_statement.size() : end;
    }
    // Whether the character before belongs to a name, or a number.
    [[nodiscard]] bool isInWord() const
    {
        const auto before = m_at > 0 ? static_cast<unsigned char>(m_statement[m_at - 1]) : ' ';
        return std::isalnum(before) != 0 || before == '_' || before == '$' || before >= 0x80;
    }
    // 0x61 and 0b1, which are texts where a text is expected.
    bool hideNumberOfBytes()
    {
        static const QRegularExpression bytes(QStringLiteral("0x[0-9a-fA-F]+|0b[01]+"));
        return !isInWord() && hideMatch(bytes);
    }
    bool hideMatch(const QRegularExpression &expression)
    {
        const auto match =
            expression.match(QString::fromLatin1(m_statement.sliced(m_at)), 0, QRegularExpression::NormalMatch,
                             QRegularExpression::AnchorAtOffsetMatchOption);
        if (!match.hasMatch())
            return false;
        m_at += match.capturedLength();
        m_shown += "'?'";
        return true;
    }
    // PostgreSQL's may stand in one another.
    void skipComment()
    {
        int depth = 0;
        do {
            if (isAt("/*") && (depth == 0 || m_isPostgreSql)) {
                ++depth;
                m_at += 2;
            } else if (isAt("*/")) {
                --depth;
                m_at += 2;
            } else {
                ++m_at;
            }
        } while (depth > 0 && m_at < m_statement.size());
        m_shown += ' ';
    }
    // A quote behind an odd number of backslashes ends a text or not, by a setting that is not known here. What
    // follows may then be a text or not, and is left out.
    void hideText(char quote)
    {
        m_shown += "'?'";
        for (++m_at; m_at < m_statement.size(); ++m_at) {
            if (m_statement[m_at] != quote)
                continue;
            if (backslashesBefore() % 2 != 0) {
                m_shown += " …";
                m_at = m_statement.size();
                return;
            }
            if (m_at + 1 < m_statement.size() && m_statement[m_at + 1] == quote) {
                ++m_at;
                continue;
            }
            ++m_at;
            return;
        }
    }
    void copyName(char quote)
    {
        const auto end = m_statement.indexOf(quote, m_at + 1);
        const auto next = end < 0 ? m_statement.size() : end + 1;
        m_shown += m_statement.sliced(m_at, next - m_at);
        m_at = next;
    }
    [[nodiscard]] qsizetype backslashesBefore() const
    {
        qsizetype count = 0;
        while (m_statement[m_at - 1 - count] == '\\')
            ++count;
        return count;
    }
    // $tag$ … $tag$; not $1, and not the $ in a name.
    bool hideDollarText()
    {
        static const QRegularExpression begin(
            QStringLiteral("\\$(?:[A-Za-z_\\x80-\\xff][A-Za-z0-9_\\x80-\\xff]*)?\\$"));
        const auto at = m_at;
        if (isInWord() || !hideMatch(begin))
            return false;
        const auto tag = m_statement.sliced(at, m_at - at);
        const auto end = m_statement.indexOf(tag, m_at);
        m_at = end < 0 ? m_statement.size() : end + tag.size();
        return true;
    }

    const QByteArray &m_statement;
    const bool m_isPostgreSql;
    qsizetype m_at = 0;
    QByteArray m_shown;
};

} // namespace

Task<Result<bool>> readLastStatements(SqlSend send, SqlPoll *look, Deadline deadline)
{
    constexpr qsizetype mostAsked = 100;
    const bool isAwaited = !look->waits.empty() || !std::ranges::all_of(look->namedLocks, &SqlNamedLock::isGranted)
                           || !std::ranges::all_of(look->tableLocks, &SqlTableLock::isGranted);
    std::set<quint64> holding;
    for (const auto *all : {&look->transactions, &look->readers}) {
        for (const auto &one : *all)
            holding.insert(one.connection);
    }
    for (const auto &one : look->namedLocks)
        holding.insert(one.connection);
    for (const auto &one : look->tableLocks)
        holding.insert(one.connection);
    std::map<quint64, SqlProcess *> asked;
    QByteArrayList idle;
    for (auto &process : look->processes) {
        if (!isAwaited || !process.isIdle || idle.size() == mostAsked || !holding.contains(process.connection))
            continue;
        asked[process.connection] = &process;
        idle << QByteArray::number(process.connection);
    }
    if (idle.isEmpty())
        co_return true;
    auto asking = send(mariadb::sqlText("mariadb-last-statements").replace("?", idle.join(", ")), deadline, {});
    const auto rows = co_await asking;
    if (!rows && rows.error().code == ErrorCode::TimedOut)
        co_return true;
    if (!rows && !isRefusal(rows.error()))
        co_return rows.error();
    for (std::size_t i = 0; rows && i < rows->rows.size(); ++i) {
        const auto of = asked.find(text(*rows, i, "connection").toULongLong());
        if (of != asked.end())
            of->second->statement = text(*rows, i, "statement");
    }
    co_return rows.operator bool();
}

QByteArray withoutTexts(const QByteArray &statement, BackendKind backend)
{
    return TextHider(statement, backend).shown();
}

void noteOneClient(LockSnapshot &lock)
{
    const auto hostOf = [](const Contender &one) { return hostOfEndpoint(one.endpoint.value_or(QString())); };
    for (auto &finding : lock.findings) {
        const auto *holder = finding.contenders.empty() ? nullptr : lock.find(finding.contenders.front());
        if (finding.code != FindingCode::IdleInTransaction || !holder || !holder->work)
            continue;
        for (const auto &one : lock.contenders) {
            const bool isAlike = one.role == Role::Waiter && one.work && !one.work->application.isEmpty()
                                 && one.work->application == holder->work->application
                                 && one.identity == holder->identity && hostOf(one) == hostOf(*holder);
            if (!isAlike)
                continue;
            finding.message +=
                clause(u"connection %1, which waits for it, has the same application, user and host: one "
                       u"client may be waiting for itself"_s.arg(one.session.value_or(QString())));
            break;
        }
    }
}

SqlWork workOf(const PgSession &who)
{
    constexpr qsizetype longestName = 256;
    const auto timeOr = [](const std::optional<PgMoment> &moment) {
        return moment ? std::optional(timeOf(*moment)) : std::nullopt;
    };
    const bool isTold = who.statement != "<insufficient privilege>";
    return {.statement =
                isTold ? withoutTexts(who.statement.left(longestStatement), BackendKind::PostgreSql) : QByteArray(),
            .isRunning = !who.state.startsWith("idle"),
            .since = timeOr(who.stateSince),
            .transactionSince = timeOr(who.transactionStart),
            .application = who.application.left(longestName)};
}

using std::chrono::milliseconds;

// By a reader of its own, that keeps the pace of all who look there: a question between two looks of the observer's
// would make the server answer it from an old copy.
Task<Result<SessionActivity>> readSqlDoing(mariadb::Session *session, quint64 connection, Deadline deadline)
{
    SqlReader reader(*session);
    CO_TRY(const auto &look, co_await reader.freshLook(deadline));
    const auto process = std::ranges::find(look.processes, connection, &SqlProcess::connection);
    if (process == look.processes.end())
        co_return Error{ErrorCode::NoNode, look.seesAllProcesses
                                               ? u"the server has no such connection any more"_s
                                               : u"the connection cannot be seen without the PROCESS privilege"_s};
    SessionActivity doing;
    doing.isRunning = !process->isIdle;
    doing.statement = process->statement;
    doing.state = process->state;
    doing.inState = process->inState;
    if (const auto *open = SqlPollIndex::transactionOf(look, connection)) {
        if (open->started)
            doing.transactionAge = std::max(milliseconds(0), look.now - *open->started);
        doing.rowsLocked = open->rowsLocked;
        doing.rowsModified = open->rowsModified;
    }
    if (!reader.rowLocksGap().isEmpty())
        doing.gaps << u"its transaction cannot be seen: %1"_s.arg(reader.rowLocksGap());
    if (!look.rowsAreFresh)
        doing.gaps << u"the data about its transaction is slightly older"_s;
    if (!doing.statement.isEmpty())
        co_return doing;
    auto asking = session->execute(
        {mariadb::sqlText("mariadb-last-statements").replace("?", QByteArray::number(connection)), {}, {}, false},
        deadline);
    const auto rows = co_await asking;
    if (rows)
        doing.statement =
            rows->rows.empty() ? QByteArray() : rows->cell(rows->rows.size() - 1, "statement").value_or(QByteArray());
    if (!rows)
        doing.gaps << u"could not read its last statement: %1"_s.arg(rows.error().message);
    else if (doing.statement.isEmpty() && !rows->rows.empty())
        doing.gaps << u"the server keeps no text of its last statement, as of a prepared one"_s;
    else if (doing.statement.isEmpty())
        doing.gaps << u"its last statement is not kept: performance_schema is off, or does not record statements"_s;
    co_return doing;
}

QByteArray withValues(const QByteArray &query, const QByteArrayList &values)
{
    if (values.isEmpty())
        return query;
    QByteArray text;
    qsizetype next = 0;
    char quote = 0;
    for (const char byte : query) {
        if (quote != 0)
            quote = byte == quote ? 0 : quote; // a doubled one closes and opens
        else if (byte == '`' || byte == '\'' || byte == '"')
            quote = byte;
        if (quote != 0 || byte != '?')
            text += byte;
        else if (const auto &value = values[next++]; QString::fromUtf8(value).toUtf8() == value)
            text += "_utf8mb4 X'" + value.toHex() + '\'';
        else
            text += "X'" + value.toHex() + '\'';
    }
    return text;
}

QByteArray processesQuestion(const mariadb::Features &features)
{
    const QByteArray time = features.milliseconds ? "TIME_MS" : "TIME * 1000";
    return "SELECT ID, USER, HOST, DB, COMMAND, STATE, INFO, " + time
           + " AS in_state, UNIX_TIMESTAMP(NOW(3)) AS now FROM information_schema.PROCESSLIST";
}

Reply<mariadb::Rows> SqlAsker::send(const QByteArray &query, Deadline deadline, const QByteArrayList &parameters)
{
    // A statement with parameters is prepared first, which takes two more round trips.
    const auto text = withValues(query, parameters);
    if (auto ahead = m_ahead.extract(text))
        return std::move(ahead.mapped());
    ++m_requests;
    return m_session.execute({text, {}, std::nullopt, false}, deadline);
}

void SqlAsker::sendAhead(const QByteArray &query, Deadline deadline, const QByteArrayList &parameters)
{
    const auto text = withValues(query, parameters);
    m_ahead.insert_or_assign(text, send(text, deadline));
}

} // namespace lockscope::inspect
