// SPDX-License-Identifier: Apache-2.0
// Locks of a wait-for graph, drawn as lines of text.
//
//   zk:/a kazoo-lock: A | B C      A holds, B and C wait in that order
//   A.r                            reads; B@app-9: has written "app-9"; C%4711: a process of that number
//   A~9                            its node was made as the ninth
#pragma once

#include "core/inspect/waits/waitgraph.h"
#include "core/rules/catalogue.h"
#include "core/workspace/settingsfile.h"

#include <QRegularExpression>

namespace lockscope::inspect::drawing {

using namespace Qt::StringLiterals;

inline const std::chrono::system_clock::time_point pictureTime{std::chrono::hours(24 * 20'000)};

inline Contender drawnContender(const QString &text, Role role, BackendKind backend, int place)
{
    static const QRegularExpression form(u"^([^.@%~=]+)(\\.r|\\.p)?(@[^%~=]+)?(%\\d+)?(~\\d+)?(=\\d+)?$"_s);
    const auto read = form.match(text);
    if (!read.hasMatch())
        qFatal("%s", qPrintable(text));
    Contender one;
    const auto who = read.captured(1);
    one.role = role;
    one.position = place;
    one.mode = read.captured(2) == ".r"_L1   ? Mode::Read
               : read.captured(2) == ".p"_L1 ? Mode::Permit
                                             : Mode::Exclusive;
    const bool isRedisson = backend == BackendKind::Redis && who.contains(u':');
    one.id = who.toUtf8();
    if (!isRedisson && !who.startsWith(u'+')) // "+1": of whom no more than the number is known
        one.session = who;
    const auto says = read.captured(3).mid(1).toUtf8();
    if (!says.isEmpty())
        (infoOf(backend).isIdentityAnAccount ? one.program : one.identity) = says;
    if (!read.captured(4).isEmpty())
        one.pid = read.captured(4).mid(1).toLongLong();
    one.guard.edit<inspect::ZnodeIdentity>().czxid = read.captured(5).mid(1).toLongLong();
    const auto age = std::chrono::seconds(read.captured(6).isEmpty() ? 10 : read.captured(6).mid(1).toInt());
    (role == Role::Holder ? one.heldSince : one.waitingSince) =
        std::chrono::time_point_cast<std::chrono::milliseconds>(pictureTime) - age;
    return one;
}

inline LockSnapshot drawnLock(const QString &line)
{
    const auto head = line.section(u": "_s, 0, 0).simplified().split(u' ');
    const auto sides = line.section(u": "_s, 1).split(u'|');
    LockSnapshot lock;
    const auto name = head.value(0).toUtf8();
    lock.lock = {ConnectionName(name.left(name.indexOf(':'))), name.mid(name.indexOf(':') + 1)};
    lock.recipe = head.value(1).toUtf8();
    if (!recipes::findRecipe(lock.recipe))
        qFatal("%s", lock.recipe.constData());
    lock.backend = recipes::recipeOf(lock.recipe).backend;
    int place = 0;
    for (const auto role : {Role::Holder, Role::Waiter}) {
        const auto side = sides.value(role == Role::Holder ? 0 : 1).simplified();
        for (const auto &one : side.split(u' ', Qt::SkipEmptyParts))
            lock.contenders.push_back(drawnContender(one, role, lock.backend, place++));
    }
    lock.state = lock.waiterCount() > 0 ? LockState::Contended : LockState::Held;
    // An SQL server says who waits for whom: here for all before it that are at odds with it.
    const bool isTold = recipes::recipeOf(lock.recipe).wakeUp == recipes::WakeUp::Answer;
    for (std::size_t i = 0; isTold && i < lock.contenders.size(); ++i) {
        auto &one = lock.contenders[i];
        for (std::size_t j = 0; one.role == Role::Waiter && j < i; ++j) {
            const auto &other = lock.contenders[j];
            if (one.mode != Mode::Read || other.mode != Mode::Read)
                one.watches.push_back({other.id, false, Evidence::Server});
        }
    }
    return lock;
}

inline std::vector<LockSnapshot> drawnLocks(const QString &picture)
{
    std::vector<LockSnapshot> locks;
    for (const auto &line : picture.split(u'\n', Qt::SkipEmptyParts))
        locks.push_back(drawnLock(line));
    return locks;
}

inline std::vector<ClientLabel> drawnLabels(const QString &text)
{
    std::vector<ClientLabel> labels;
    for (const auto &one : text.split(u' ', Qt::SkipEmptyParts))
        labels.push_back(*readClientLabel(one));
    return labels;
}

} // namespace lockscope::inspect::drawing
