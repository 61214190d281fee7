// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/parts.h"

#include <QCoreApplication>
#include <QEvent>
#include <QTranslator>
#include <QWidget>

namespace lockscope::ui {

using lessons::Language;

namespace {

std::atomic<Language> g_language = Language::English;

class LanguageFollower : public QObject {
public:
    LanguageFollower(QWidget *widget, std::function<void()> say) : QObject(widget), m_say(std::move(say))
    {
        widget->installEventFilter(this);
    }

    bool eventFilter(QObject *, QEvent *event) override
    {
        if (event->type() == QEvent::LanguageChange)
            m_say();
        return false;
    }

private:
    std::function<void()> m_say;
};

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

void sayInEachLanguage(QWidget *widget, std::function<void()> say)
{
    say();
    new LanguageFollower(widget, std::move(say));
}

} // namespace lockscope::ui
