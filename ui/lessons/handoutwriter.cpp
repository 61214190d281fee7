// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/lessonview.h"

#include "ui/theme/theme.h"

#include <QBuffer>
#include <QDir>
#include <QFileInfo>
#include <QTextDocument>

namespace lockscope::ui {

HandoutWriter::HandoutWriter(Simulate simulate, Language language, bool hasAnswers, QObject *parent)
    : QObject(parent), m_runner(std::move(simulate)), m_language(language), m_hasAnswers(hasAnswers)
{
    m_picture.resize(1280, 700);
    m_picture.setPace({});
    connect(&m_runner, &Runner::finished, this, &HandoutWriter::add);
    connect(&m_runner, &Runner::failed, this, [this](const Error &error) { emit done(error.message); });
}

void HandoutWriter::write(std::vector<lessons::Lesson> lessons, const QString &file)
{
    m_lessons = std::move(lessons);
    m_file = file;
    playNext();
}

void HandoutWriter::playNext()
{
    if (m_next == m_lessons.size()) {
        finish();
        return;
    }
    std::vector<contention::Scenario> scenarios;
    for (const auto &run : m_lessons[m_next].runs)
        scenarios.push_back(run.scenario);
    m_runner.play(scenarios);
}

void HandoutWriter::add(const std::vector<PlayedRunPtr> &runs)
{
    lessons::PlayedRuns recordings;
    for (const auto &run : runs)
        recordings.push_back(&run->recording());
    const auto lesson = lessons::withNumbers(m_lessons[m_next], recordings);
    m_picture.setRuns(lesson, runs);
    m_picture.setTitles(lesson, m_language, !m_hasAnswers && lesson.titleAfter > 0);
    QStringList names;
    Moment since{};
    for (std::size_t step = 0; step < lesson.steps.size(); ++step) {
        const Moment at = lessons::momentOfStep(lesson, step, recordings);
        const auto number =
            (m_lessons.size() > 1 ? QString::fromLatin1(lesson.id) + u'-' : QString()) + QString::number(step + 1);
        names << (at < Moment{} ? QString() : u"%1-%2.png"_s.arg(QFileInfo(m_file).completeBaseName(), number));
        if (names.back().isEmpty())
            continue;
        QBuffer bytes;
        bytes.open(QIODevice::WriteOnly);
        const auto pictures = m_picture.picturesAt(since, at);
        imageOf(pictures, lightTokens(), pictures, 1.5).save(&bytes, "PNG");
        m_pictures.emplace_back(names.back(), bytes.data());
        since = at;
    }
    m_text += lessons::handout(lesson, recordings, m_language, names, m_hasAnswers) + u'\n';
    ++m_next;
    playNext();
}

void HandoutWriter::finish()
{
    if (m_file.endsWith(".html"_L1, Qt::CaseInsensitive)) {
        QTextDocument page;
        page.setMarkdown(m_text);
        QString html = page.toHtml();
        for (const auto &[name, bytes] : m_pictures)
            html.replace(u"src=\"%1\""_s.arg(name),
                         u"style=\"max-width:100%\" src=\"data:image/png;base64,%1\""_s.arg(
                             QString::fromLatin1(bytes.toBase64())));
        emit done(saveBytes(html.toUtf8(), m_file));
        return;
    }
    QString failure;
    for (const auto &[name, bytes] : m_pictures) {
        if (failure.isEmpty())
            failure = saveBytes(bytes, QFileInfo(m_file).dir().filePath(name));
    }
    emit done(failure.isEmpty() ? saveBytes(m_text.toUtf8(), m_file) : failure);
}

} // namespace lockscope::ui
