// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/pagewords.h"

#include <QCoreApplication>
#include <QTranslator>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using lessons::Language;

void speak(Language language)
{
    auto *application = QCoreApplication::instance();
    const auto name = u"pageWords"_s;
    delete application->findChild<QTranslator *>(name, Qt::FindDirectChildrenOnly);
    if (language == Language::English)
        return;
    auto *words = new QTranslator(application);
    words->setObjectName(name);
    if (words->load(u":/lockscope/words/lockscope_%1.qm"_s.arg(QLatin1StringView(nameOf(language)))))
        QCoreApplication::installTranslator(words);
}

} // namespace lockscope::ui
