// SPDX-License-Identifier: Apache-2.0
// What is fuzzed: a function that reads whatever it is given, and how much of everything that may cost. A parser that
// crashes, trips a sanitizer, goes on for ever or takes more than that has a bug; what it reads and writes again has
// to be the same (must()).
#pragma once

#include <QByteArrayList>

#include <string_view>

namespace lockscope::fuzz {

// What the inputs look like: how they are spoilt follows it.
enum class Form { Bytes, Lines, Json };

// Counted, not timed: a machine that is busy finds the same. Blocks of code are counted where the build traces them
// (LOCKSCOPE_TRACE); what is allocated, everywhere.
struct Limits {
    quint64 blocks = 200'000;
    quint64 blocksPerByte = 3000;
    quint64 allocations = 20'000;
    quint64 allocationsPerByte = 60;
    quint64 memory = 4 << 20; // bytes at a time
    quint64 memoryPerByte = 1000;
};

struct Effort {
    double ofMinute = 1; // in CI, where what belongs together has one (LOCKSCOPE_FUZZ_SECONDS)
    int runs = 20'000;   // everywhere; a tenth of them under a sanitizer
};

struct Parser {
    const char *name;
    void (*read)(const QByteArray &input);
    Form form = Form::Bytes;
    Effort effort = {};
    QByteArrayList words = {}; // that the format is made of
    qsizetype longest = 8192;  // input
    Limits limits = {};
};

struct Registration {
    explicit Registration(Parser parser);
};

// Ends the program where it is not so: `what` has to hold, whatever the input is.
void must(bool isSo, std::string_view what);

// The first line of an input, taken off: several formats of one parser are told apart by it.
[[nodiscard]] QByteArray takeLine(QByteArray &input);

} // namespace lockscope::fuzz
