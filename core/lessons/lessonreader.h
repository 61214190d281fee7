// SPDX-License-Identifier: Apache-2.0
// A reader of fields that also reads texts in several languages.
#pragma once

#include "core/base/fieldreader.h"
#include "core/lessons/lessons.h"

namespace lockscope::lessons {

class FieldReader : public lockscope::FieldReader {
public:
    using lockscope::FieldReader::FieldReader;
    FieldReader(const lockscope::FieldReader &other) : lockscope::FieldReader(other) {}

    [[nodiscard]] FieldReader object(const char *field) { return lockscope::FieldReader::object(field); }
    [[nodiscard]] FieldReader element(const char *field, const QJsonArray &list, qsizetype index)
    {
        return lockscope::FieldReader::element(field, list, index);
    }
    [[nodiscard]] Text words(const char *field);
};

} // namespace lockscope::lessons
