// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/pagetext.h"

#include <QCoreApplication>
#include <QTranslator>

#include <atomic>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using lessons::Language;

namespace {

std::atomic<Language> g_language = Language::English;

} // namespace

Language displayLanguage()
{
    return g_language;
}

void speak(Language language)
{
    g_language = language;
    auto *application = QCoreApplication::instance();
    const auto name = u"pageWords"_s;
    const auto file = language == Language::English
                          ? QString()
                          : u":/lockscope/words/lockscope_%1.qm"_s.arg(QLatin1StringView(nameOf(language)));
    auto *spoken = application->findChild<QTranslator *>(name, Qt::FindDirectChildrenOnly);
    if ((spoken ? spoken->filePath() : QString()) == file)
        return; // every widget of the window would hear of it
    delete spoken;
    if (file.isEmpty())
        return;
    auto *words = new QTranslator(application);
    words->setObjectName(name);
    if (words->load(file))
        QCoreApplication::installTranslator(words);
}

} // namespace lockscope::ui
