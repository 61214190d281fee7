// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/mariadb/freshness.h"
#include "core/mariadb/session.h"
#include "core/operate/gatedport.h"

#include <algorithm>

namespace lockscope::operate {

namespace {

// A question that locks, writes a file, or changes who holds a named lock.
bool locksOrWrites(const QByteArray &select, const SqlWriteWords &words)
{
    // IS_USED_LOCK and IS_FREE_LOCK only ask.
    const QByteArray own[] = {"FOR UPDATE", "FOR SHARE",    "LOCK IN SHARE MODE", " INTO ",
                              "GET_LOCK",   "RELEASE_LOCK", "RELEASE_ALL_LOCKS",  "NEXTVAL",
                              "SETVAL"};
    const auto isSaid = [&](const QByteArray &word) { return select.contains(word); };
    return std::ranges::any_of(own, isSaid) || std::ranges::any_of(words, isSaid);
}

QString statementText(const mariadb::Statement &statement)
{
    QStringList values;
    for (const auto &parameter : statement.parameters)
        values << label(parameter, 60);
    const auto text = label(statement.text, 300);
    return values.isEmpty() ? text : u"%1 [%2]"_s.arg(text, values.join(u", "_s));
}

// The values stay out: they may be anything, and long.
QString outcomeOfRows(const mariadb::Rows &rows)
{
    return rows.columns.isEmpty() ? u"ok, %1 changed"_s.arg(std::max<qint64>(0, rows.affected))
                                  : u"ok, "_s + amountOf(qint64(rows.rows.size()), "row"_L1, "rows"_L1);
}

struct SqlWords {
    static constexpr bool repeatsStates = false;
    SqlWriteWords writeWords;

    static QString text(const mariadb::Statement &statement) { return statementText(statement); }
    [[nodiscard]] bool isWrite(const mariadb::Statement &statement) const
    {
        return isSqlWrite(statement, writeWords);
    }
    static QString outcome(const mariadb::Rows &rows) { return outcomeOfRows(rows); }
    static QString stateText(const mariadb::Session &session, mariadb::SessionState state)
    {
        return u"session %1: "_s.arg(session.connectionId()) + stateWord(state);
    }
};

class GatedSql final : public GatedPort<mariadb::ForwardingSession, SqlWords> {
public:
    using GatedPort::GatedPort;

    void interrupt(mariadb::ConnectionId connection) override
    {
        key()->gate->event(u"ends what connection %1 of ours waits for"_s.arg(connection));
        inner().interrupt(connection);
    }
};

} // namespace

bool isSqlWrite(const mariadb::Statement &statement, const SqlWriteWords &words)
{
    const auto text = statement.text.simplified().toUpper();
    const auto first = text.left(std::max<qsizetype>(0, text.indexOf(' ')));
    if (first == "SELECT")
        return locksOrWrites(text, words);
    const QByteArray ofLooks[] = {mariadb::beginLook, mariadb::withoutReadView, mariadb::shortTableWaits,
                                  mariadb::committedNext};
    const bool isLook = std::ranges::any_of(ofLooks, [&](const auto &one) { return text == one.toUpper(); });
    return first != "SHOW" && text != "ROLLBACK" && text != "DO 0" && text != "XA RECOVER" && !isLook;
}

std::unique_ptr<mariadb::Session> gated(mariadb::Session &session, Gate &gate, SqlWriteWords words)
{
    return std::make_unique<GatedSql>(session, nullptr, gate, SqlWords{std::move(words)});
}

std::unique_ptr<mariadb::Session> gated(std::unique_ptr<mariadb::Session> session, Gate &gate, SqlWriteWords words)
{
    auto &inner = *session;
    return std::make_unique<GatedSql>(inner, std::move(session), gate, SqlWords{std::move(words)});
}

} // namespace lockscope::operate
