// SPDX-License-Identifier: Apache-2.0
// Directories of znodes, of whatever names: the first line is the directory's path, the second its data, then a line
// for each child (tests/unit/znodetable.h says how).
#include "core/base/text.h"
#include "core/inspect/zookeeper/queue.h"
#include "core/rules/turn.h"
#include "tests/fuzz/locks.h"
#include "tests/unit/znodetable.h"

using namespace lockscope;
using namespace lockscope::inspect;
using namespace lockscope::fuzz;

namespace {

// The table asks for a name and an owner, and takes the digit behind the "s" for a session.
bool isRow(const QByteArray &line)
{
    const auto words = line.split(' ');
    const auto isOwner = [](const QByteArray &word) { return word == "-" || (word.size() == 2 && word[0] == 's'); };
    return words.size() > 1 && (isOwner(words[1]) || (words.size() > 2 && words[1] == ">" && isOwner(words[0])));
}

void readDirectory(const QByteArray &input)
{
    auto rest = input;
    auto path = takeLine(rest);
    if (!path.startsWith('/') || (path.size() > 1 && path.endsWith('/')))
        path = "/locks/orders";
    const auto data = takeLine(rest);
    QByteArrayList rows;
    for (const auto &line : rest.split('\n')) {
        if (isRow(line.trimmed()))
            rows << line;
    }
    const table::Input directory(path, rows.join('\n'), table::expand(data));
    std::vector<NodeName> ephemerals;
    for (const auto &child : directory.directory.children) {
        (void)matchLayout(child, directory.directory.path);
        (void)recipes::isGivenOnce(child.name);
        if (!child.stat.ephemeralOwner.isNone())
            ephemerals.push_back(child.name);
    }
    (void)candidateDirectory(directory.directory.path, ephemerals);
    must(partsToRead(directory.directory).size() <= 3, "a lock has few parts");
    const auto locks = directory.locks();
    must(locks == directory.locks(), "the same directory has the same locks");
    for (const auto &lock : locks)
        useLock(lock);
}

const Registration directoriesParser(
    {"znodes",
     readDirectory,
     Form::Lines,
     {1, 6'000},
     {"{u1}",
      "{u2}",
      "{h1}",
      "{d1}",
      "{x1}",
      "_c_",
      "-lock-0000000001",
      "-lease-",
      "-lock-",
      "__READ__",
      "__WRIT__",
      "__lock__",
      "__rlock__",
      "read-",
      "write-",
      "~guard/",
      "locks/",
      "leases/",
      "s1",
      " s2 ",
      " - ",
      "s1 > ",
      "n_0000000001",
      "lock-0000000000",
      "lock--2147483648",
      "lock-2147483647",
      "__REVOKE__",
      "guid-n-",
      "latch-",
      "-0000000002",
      "member_",
      "/_locknode_",
      "ActiveStandbyElectorLock",
      "controller",
      "leader"},
     3000,
     {.blocks = 2'000'000, .blocksPerByte = 60'000, .allocations = 60'000, .allocationsPerByte = 600}});

} // namespace
