// SPDX-License-Identifier: Apache-2.0
// What a ZooKeeper server answers. The first line says what was asked, as numbers of operations; a transaction is 14
// with its parts behind it. The rest is what comes back: each message after its length.
#include "core/zookeeper/libraryguard.h"
#include "tests/fuzz/parser.h"

#include <QtEndian>

using namespace lockscope;
using namespace lockscope::zk;
using namespace lockscope::fuzz;

namespace {

QByteArray number(qint32 value)
{
    const auto big = qToBigEndian(value);
    return {reinterpret_cast<const char *>(&big), sizeof big};
}

QByteArray message(const QByteArray &content)
{
    return number(static_cast<qint32>(content.size())) + content;
}

QByteArray transaction(const QList<QByteArray> &parts)
{
    QByteArray request;
    for (const auto &part : parts) {
        const auto type = part.toInt();
        request += number(type) + QByteArray(1, '\0') + number(-1) + message("/a");
        const bool isCreation = type == 1 || type == 15 || type == 19 || type == 21;
        if (isCreation || type == 5)
            request += message("data");
        if (isCreation)
            request += number(1) + number(31) + message("world") + message("anyone");
        request += number(0) + (type == 21 ? QByteArray(8, '\0') : QByteArray());
    }
    return request + number(-1) + QByteArray(1, '\1') + number(-1);
}

void ask(AnswerCheck &check, const QByteArray &operations)
{
    check.sent(message("we greet"));
    qint32 xid = 0;
    const auto words = operations.split(' ');
    for (qsizetype i = 0; i < words.size() && i < 100; ++i) {
        const auto type = words[i].toInt();
        auto request = number(++xid) + number(type);
        if (type == 14) {
            request += transaction(words.mid(i + 1));
            i = words.size();
        }
        check.sent(message(request));
    }
}

void readAnswers(const QByteArray &input)
{
    auto said = input;
    AnswerCheck check;
    ask(check, takeLine(said));
    while (said.size() >= AnswerCheck::prefixBytes) {
        const auto length = AnswerCheck::lengthIn(QByteArrayView(said).first(AnswerCheck::prefixBytes));
        if (!length)
            return;
        const bool isWhole = *length <= said.size() - AnswerCheck::prefixBytes;
        const auto content = said.mid(AnswerCheck::prefixBytes, isWhole ? *length : AnswerCheck::headerBytes);
        said.remove(0, AnswerCheck::prefixBytes + content.size());
        const auto checked = check.checked(content, isWhole);
        if (!checked)
            return;
        const auto got = AnswerCheck::lengthIn(*checked);
        must(got && *got == checked->size() - AnswerCheck::prefixBytes, "what is handed on says how long it is");
        const bool isAsItWas = *checked == message(content);
        const auto error = qFromBigEndian<qint32>(checked->constData() + AnswerCheck::prefixBytes + 12);
        must(isAsItWas || (*got == AnswerCheck::headerBytes && error == -5),
             "it is as it was, or says that it failed");
    }
}

const QByteArray greeting = message(QByteArray(8, '\0') + QByteArray(8, '\1') + message(QByteArray(16, '\2')) + '\0');

const Registration answersParser({"answers",
                                  readAnswers,
                                  Form::Bytes,
                                  {0.5, 100'000},
                                  {"4\n", "12\n", "6\n", "14 1 5 2 13\n", "15 3 5 8 9\n", greeting, number(1),
                                   number(2), number(-1), number(16), number(0x7fffffff), number(100'000'000),
                                   number(-2), QByteArray(8, '\0'), QByteArray(68, '\0'), message("/a"),
                                   message({})}});

} // namespace
