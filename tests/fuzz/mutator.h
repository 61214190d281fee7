// SPDX-License-Identifier: Apache-2.0
// Spoils inputs: bytes, lines, numbers, words of the format, and what JSON is made of. The same for the same Random.
#pragma once

#include "core/base/random.h"
#include "tests/fuzz/parser.h"

namespace lockscope::fuzz {

// `other` is another input of the same format, to take pieces from.
[[nodiscard]] QByteArray spoilt(Random &random, const Parser &parser, QByteArray input, const QByteArray &other);

} // namespace lockscope::fuzz
