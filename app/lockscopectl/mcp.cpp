// SPDX-License-Identifier: Apache-2.0
// mcp: the Model Context Protocol over stdin and stdout: JSON-RPC 2.0, a message per line. A tool is a command that
// inspects (resources/mcp.json), on connections that open read-only; none of them writes.
#include "app/lockscopectl/output.h"

#include <QJsonDocument>

namespace lockscope::ctl {

namespace {

constexpr qsizetype longestLine = 1024 * 1024;
const QStringList protocolVersions{u"2025-06-18"_s, u"2025-03-26"_s, u"2024-11-05"_s};

enum RpcError { ParseError = -32700, InvalidRequest = -32600, MethodNotFound = -32601, InvalidParams = -32602 };

struct InputLine {
    QByteArray bytes;
    bool isTooLong = false;
    bool isEnd = false;
};

// stdin, read only while a line is awaited: what a client sends ahead stays in the pipe.
class InputLines {
public:
    explicit InputLines(Loop &loop) : m_loop(&loop), m_notifier(STDIN_FILENO, QSocketNotifier::Read)
    {
        m_notifier.setEnabled(false);
        QObject::connect(&m_notifier, &QSocketNotifier::activated, &m_notifier, [this] { read(); });
    }
    [[nodiscard]] Completion<InputLine> next()
    {
        Completion<InputLine> line(*m_loop);
        m_reader = line;
        deliver();
        return line;
    }

private:
    void read()
    {
        std::array<char, 65536> bytes{};
        const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
        m_isOver = count <= 0;
        m_buffer.append(bytes.data(), std::max<qsizetype>(count, 0));
        deliver();
    }
    void deliver()
    {
        const auto end = m_buffer.indexOf('\n');
        if (std::max(end, end < 0 ? m_buffer.size() : 0) > longestLine) {
            m_isTooLong = true;
            m_buffer.remove(0, end < 0 ? m_buffer.size() : end);
            return deliver();
        }
        m_notifier.setEnabled(end < 0 && !m_isOver);
        if (end < 0 && !m_isOver)
            return;
        const bool isEnd = end < 0 && m_buffer.isEmpty() && !m_isTooLong;
        const InputLine line{end < 0 ? m_buffer : m_buffer.first(end), std::exchange(m_isTooLong, false), isEnd};
        m_buffer.remove(0, end < 0 ? m_buffer.size() : end + 1);
        std::exchange(m_reader, {})->complete(line);
    }

    Loop *m_loop;
    QSocketNotifier m_notifier;
    QByteArray m_buffer;
    bool m_isTooLong = false; // the line that is being read: its beginning was dropped
    bool m_isOver = false;
    std::optional<Completion<InputLine>> m_reader;
};

const QJsonObject &offered()
{
    static const auto table = QJsonDocument::fromJson(readResource(u"mcp.json"_s)).object();
    return table;
}

QJsonObject toolJson(const QJsonObject &tool)
{
    return {{u"name"_s, tool["name"_L1]},
            {u"description"_s, tool["description"_L1]},
            {u"inputSchema"_s, QJsonObject{{u"type"_s, u"object"_s},
                                           {u"properties"_s, tool["properties"_L1]},
                                           {u"required"_s, tool["required"_L1].toArray()},
                                           {u"additionalProperties"_s, false}}},
            {u"annotations"_s, QJsonObject{{u"readOnlyHint"_s, true}}}};
}

// The command line that a call of a tool means.
Result<Arguments> argumentsOf(const QJsonObject &call)
{
    const auto bad = [](const QString &message) { return Error{ErrorCode::BadInput, message}; };
    const auto name = call["name"_L1].toString();
    QJsonObject tool;
    for (const auto &each : offered()["tools"_L1].toArray()) {
        if (each.toObject()["name"_L1] == name)
            tool = each.toObject();
    }
    if (tool.isEmpty())
        return bad(u"unknown tool \"%1\""_s.arg(name));
    const auto given = call["arguments"_L1].toObject();
    if (call.contains("arguments"_L1) && !call["arguments"_L1].isObject())
        return bad(u"%1: \"arguments\" is not an object"_s.arg(name));
    for (const auto &required : tool["required"_L1].toArray()) {
        if (!given.contains(required.toString()))
            return bad(u"%1: \"%2\" is required"_s.arg(name, required.toString()));
    }
    Arguments arguments;
    arguments.words << name;
    const auto properties = tool["properties"_L1].toObject();
    for (auto at = given.begin(); at != given.end(); ++at) {
        const auto property = properties[at.key()].toObject();
        if (property.isEmpty())
            return bad(u"%1: unknown argument \"%2\""_s.arg(name, at.key()));
        const auto allowed = property["enum"_L1].toArray();
        if (!at->isString() || (!allowed.isEmpty() && !allowed.contains(*at)))
            return bad(u"%1: \"%2\" has a value that its schema does not allow"_s.arg(name, at.key()));
        if (at.key() == "lock"_L1)
            arguments.words << at->toString();
        else
            arguments.options[at.key()] << at->toString();
    }
    return arguments;
}

Task<Result<QJsonObject>> callTool(CommandContext &context, QJsonObject call)
{
    CO_TRY(const auto &inner, argumentsOf(call));
    CommandContext then{
        inner, context.workspace, context.pictures, context.sink, context.interrupts, true, context.readOnly,
        {},    context.labels};
    CapturedOutput captured; // written to while it lives
    const auto status = co_await findCommand(inner.words.front())->run(then);
    if (!status)
        (void)fail(status.error());
    QJsonArray content;
    for (const auto &text : {captured.out, captured.errors}) {
        if (!text.isEmpty())
            content.append(QJsonObject{{u"type"_s, u"text"_s}, {u"text"_s, QString::fromUtf8(text.trimmed())}});
    }
    co_return QJsonObject{{u"content"_s, content}, {u"isError"_s, captured.out.isEmpty()}};
}

QJsonObject initialized(const QJsonObject &params)
{
    const auto asked = params["protocolVersion"_L1].toString();
    return {{u"protocolVersion"_s, protocolVersions.contains(asked) ? asked : protocolVersions.front()},
            {u"capabilities"_s, QJsonObject{{u"tools"_s, QJsonObject()}}},
            {u"serverInfo"_s,
             QJsonObject{{u"name"_s, u"lockscope"_s}, {u"version"_s, QStringLiteral(LOCKSCOPE_VERSION)}}},
            {u"instructions"_s, offered()["instructions"_L1]}};
}

QJsonObject errorAnswer(const QJsonValue &id, RpcError code, const QString &message)
{
    return {{u"jsonrpc"_s, u"2.0"_s},
            {u"id"_s, id},
            {u"error"_s, QJsonObject{{u"code"_s, int(code)}, {u"message"_s, message}}}};
}

// Undefined where none is expected.
Task<QJsonValue> answerTo(CommandContext &context, QJsonValue message)
{
    const auto object = message.toObject();
    const auto id = object["id"_L1], params = object["params"_L1];
    const auto method = object["method"_L1].toString();
    const bool isId = id.isString() || id.isDouble();
    if (object["jsonrpc"_L1] != "2.0"_L1 || method.isEmpty() || (!isId && !id.isUndefined())) {
        if (object.contains("result"_L1) || object.contains("error"_L1))
            co_return QJsonValue(QJsonValue::Undefined); // we ask nothing
        co_return errorAnswer(isId ? id : QJsonValue(), InvalidRequest, u"not a JSON-RPC 2.0 request"_s);
    }
    if (!isId)
        co_return QJsonValue(QJsonValue::Undefined); // a notification
    if (!params.isUndefined() && !params.isObject())
        co_return errorAnswer(id, InvalidParams, u"\"params\" is not an object"_s);
    QJsonObject result;
    if (method == "initialize"_L1) {
        result = initialized(params.toObject());
    } else if (method == "tools/list"_L1) {
        QJsonArray tools;
        for (const auto &tool : offered()["tools"_L1].toArray())
            tools.append(toolJson(tool.toObject()));
        result[u"tools"_s] = tools;
    } else if (method == "tools/call"_L1) {
        auto called = co_await callTool(context, params.toObject());
        if (!called)
            co_return errorAnswer(id, InvalidParams, called.error().message);
        result = *called;
    } else if (method != "ping"_L1) {
        co_return errorAnswer(id, MethodNotFound, u"unknown method \"%1\""_s.arg(method));
    }
    co_return QJsonObject{{u"jsonrpc"_s, u"2.0"_s}, {u"id"_s, id}, {u"result"_s, result}};
}

bool send(const QJsonDocument &answer)
{
    return printStyled(QString::fromUtf8(answer.toJson(QJsonDocument::Compact)) + u'\n');
}

// The answer to a line, or to all messages of a batch (protocol version 2025-03-26).
Task<bool> handle(CommandContext &context, InputLine line)
{
    if (line.isTooLong)
        co_return send(QJsonDocument(errorAnswer({}, InvalidRequest, u"a line is longer than 1 MiB"_s)));
    QJsonParseError problem;
    const auto document = QJsonDocument::fromJson(line.bytes, &problem);
    if (document.isNull())
        co_return send(QJsonDocument(errorAnswer({}, ParseError, problem.errorString())));
    if (document.isObject() || document.array().isEmpty()) {
        const auto answer = co_await answerTo(context, document.object());
        co_return answer.isUndefined() || send(QJsonDocument(answer.toObject()));
    }
    QJsonArray answers;
    for (const auto &message : document.array()) {
        const auto answer = co_await answerTo(context, message);
        if (!answer.isUndefined())
            answers.append(answer);
    }
    co_return answers.isEmpty() || send(QJsonDocument(answers));
}

} // namespace

Task<Result<Exit>> runMcp(CommandContext &context)
{
    InputLines input(context.loop());
    for (;;) {
        const auto read = input.next();
        const auto line = co_await read;
        if (line.isEnd)
            co_return Exit::Done;
        if (!line.isTooLong && line.bytes.trimmed().isEmpty())
            continue;
        const bool isSent = co_await handle(context, line);
        if (!isSent) // its reader has gone
            co_return Exit::Done;
    }
}

} // namespace lockscope::ctl
