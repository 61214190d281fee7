// SPDX-License-Identifier: Apache-2.0
// sessions: the clients, with what each holds and waits for.
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

namespace lockscope::ctl {

using inspect::SessionSnapshot;

namespace {

QString names(const std::vector<QByteArray> &locks)
{
    const auto words = mapped<QStringList>(locks, [&](const auto &lock) { return label(lock, 80); });
    return words.isEmpty() ? u"-"_s : words.join(u", "_s);
}

QString holdWords(const SessionSnapshot &session)
{
    const auto holds = names(session.holds);
    if (session.alsoEndsCount == 0)
        return holds;
    const auto words = u"%1; with it ends %2"_s.arg(holds, label(session.alsoEnds.front(), 80));
    return session.alsoEndsCount == 1 ? words : words + u" +%1"_s.arg(session.alsoEndsCount - 1);
}

// Locks as every other answer names them: CONNECTION:NAME.
QJsonArray lockNames(const SessionSnapshot &session, const std::vector<QByteArray> &locks)
{
    return mapped<QJsonArray>(locks, [&](const auto &name) {
        return escaped(inspect::LockName{session.connection, name}.text());
    });
}

QJsonObject sessionJson(const SessionSnapshot &session, inspect::ServerTime now)
{
    auto json = inspect::toJson(session, now);
    json["holds"_L1] = lockNames(session, session.holds);
    json["waits"_L1] = lockNames(session, session.waits);
    return json;
}

// What a session's client is called, by the user or itself, as its locks know it.
using Programs = std::map<std::pair<ConnectionName, QString>, QByteArray>;

Programs programsOf(const std::vector<inspect::LockSnapshot> &locks)
{
    Programs programs;
    for (const auto &lock : locks) {
        for (const auto &contender : lock.contenders) {
            const auto name = contender.label.isEmpty() ? inspect::selfNameOf(contender, lock.backend)
                                                        : std::optional(contender.label.toUtf8());
            if (contender.session && name)
                programs[{lock.lock.connection, *contender.session}] = *name;
        }
    }
    return programs;
}

QString clientWords(const SessionSnapshot &session, const Programs &programs)
{
    const auto program = programs.find({session.connection, session.session});
    return program == programs.end() ? shown(session.client)
                                     : u"%1 (%2)"_s.arg(shown(session.client), inspect::nameLabel(program->second));
}

void printTable(const std::vector<SessionSnapshot> &all, const Programs &programs, inspect::ServerTime now)
{
    Table table(Table::columnsOf(u"SESSION|CONNECTION|ENDPOINT|~CLIENT|>IF SILENT, ENDS IN|~HOLDS|~WAITS FOR"_s));
    for (const auto &session : all)
        table.add({shown(session.session), escaped(session.connection.bytes()), shown(session.endpoint),
                   clientWords(session, programs),
                   session.expiresAt ? formatDuration(*session.expiresAt - now) : u"-"_s, holdWords(session),
                   names(session.waits)});
    print(table.isEmpty() ? u"no sessions seen"_s : table.text(terminalWidth()));
}

} // namespace

Task<Result<Exit>> runSessions(CommandContext &context)
{
    const auto looked = co_await context.pictures.look(context);
    const auto all = context.pictures.sessions();
    const auto now = context.pictures.now();
    if (!context.json) {
        printTable(all, programsOf(context.pictures.locks()), now);
        for (const auto &line : coverageWords(context))
            print(line);
        co_return looked;
    }
    const auto array = mapped<QJsonArray>(all, [&](const auto &session) { return sessionJson(session, now); });
    printAnswer(context, QJsonObject{{u"sessions"_s, array}, {u"coverage"_s, coverageJson(context)}});
    co_return looked;
}

} // namespace lockscope::ctl
