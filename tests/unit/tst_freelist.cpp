// SPDX-License-Identifier: Apache-2.0
// Blocks of the free list, with an arena and without: each is whole for as long as somebody has it, and what nobody
// has goes back to the system.
#include <version>

#include "core/async/freelist.h"
#include "core/base/random.h"
#include "tests/support/testmain.h"

#include <QFile>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

struct Block {
    unsigned char *at;
    std::size_t bytes;
    unsigned char mark;

    Block(std::size_t bytes_, unsigned char mark_)
        : at(static_cast<unsigned char *>(freelist::take(bytes_))), bytes(bytes_), mark(mark_)
    {
        std::fill_n(at, bytes, mark);
    }
    [[nodiscard]] bool isWhole() const
    {
        return reinterpret_cast<std::uintptr_t>(at) % 16 == 0
               && std::all_of(at, at + bytes, [this](unsigned char byte) { return byte == mark; });
    }
    void giveBack() const { freelist::give(at, bytes); }
};

// Of this process, in memory.
qint64 residentBytes()
{
    QFile file(QStringLiteral("/proc/self/statm"));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    return file.readAll().split(' ').value(1).toLongLong() * ::sysconf(_SC_PAGESIZE);
}

} // namespace

class TestFreelist : public QObject {
    Q_OBJECT

private slots:
    void blocksAreWhole_data()
    {
        addRows<bool>("inArena", {{"the system's", false}, {"an arena's", true}, {"another arena's", true}});
    }
    // Some were taken before the arena came, and are given back meanwhile; all sizes, those too that no list is for.
    void blocksAreWhole()
    {
        QFETCH(bool, inArena);
        Random random(5);
        std::vector<Block> all;
        const auto takeSome = [&](int count) {
            for (int i = 0; i < count; ++i)
                all.emplace_back(1 + random.below(i % 50 == 0 ? 20'000 : 700), static_cast<unsigned char>(i % 251));
        };
        takeSome(500);
        std::optional<freelist::Arena> arena;
        if (inArena)
            arena.emplace();
        for (int round = 0; round < 40; ++round) {
            takeSome(200);
            for (int i = 0; i < 150; ++i) {
                std::swap(all[random.below(all.size())], all.back());
                QVERIFY(all.back().isWhole());
                all.back().giveBack();
                all.pop_back();
            }
        }
        for (const auto &block : all) {
            QVERIFY(block.isWhole());
            block.giveBack();
        }
    }

    // A crowd came and went, three times: its memory has gone with it.
    void unusedMemoryIsReturned()
    {
#ifdef LOCKSCOPE_SANITIZED
        constexpr std::size_t bytes = 200, count = 10'000;
#else
        constexpr std::size_t bytes = 200, count = 300'000;
#endif
        const auto before = residentBytes();
        for (int round = 0; round < 3; ++round) {
            const freelist::Arena arena;
            std::vector<Block> all;
            all.reserve(count);
            for (std::size_t i = 0; i < count; ++i)
                all.emplace_back(bytes, static_cast<unsigned char>(i % 251));
            QVERIFY(residentBytes() - before > qint64(bytes * count));
            for (const auto &block : all)
                block.giveBack();
        }
#ifndef LOCKSCOPE_SANITIZED
        QVERIFY2(residentBytes() - before < qint64(bytes * count) / 4, "an arena's memory was kept");
#endif
    }

    // The last one: no arena comes after it.
    void ownedBlockOutlivesItsArena()
    {
        std::optional<Block> late, others;
        {
            const freelist::Arena arena;
            late.emplace(100, 7);
            others.emplace(100, 8);
            std::thread([&others] {
                others->giveBack();
                others.emplace(100, 9); // the same one, as it is the first in that thread's list
            }).join();
        }
        {
            const freelist::Arena next;
            std::vector<Block> all;
            for (int i = 0; i < 1000; ++i)
                all.emplace_back(100, static_cast<unsigned char>(10));
            QVERIFY(late->isWhole());
            QVERIFY(others->isWhole());
            for (const auto &block : all)
                block.giveBack();
        }
        QVERIFY(late->isWhole());
        late->giveBack();
        others->giveBack();
    }
};

LOCKSCOPE_TEST(TestFreelist)
#include "tst_freelist.moc"
