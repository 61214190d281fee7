// SPDX-License-Identifier: Apache-2.0
#include "core/lessons/lessonreader.h"

namespace lockscope::lessons {

using namespace Qt::StringLiterals;

Text FieldReader::words(const char *field)
{
    auto inside = object(field);
    const Text words{inside.text("en", QString()), inside.text("zh_CN", QString()), inside.text("ru", QString())};
    inside.nothingElse();
    if (words.in(Language::English).isEmpty())
        wrong(QString::fromLatin1(field), u"a text in \"en\", \"zh_CN\" or \"ru\""_s);
    return words;
}

} // namespace lockscope::lessons
