// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/lessontext.h"

#include "ui/parts/parts.h"
#include "ui/simulator/faultmenu.h"
#include "ui/simulator/playedrun.h"

#include <algorithm>

namespace lockscope::ui {

const LessonWords &lessonWords(Language language)
{
    static const LessonWords english{
        u"Lessons"_s,
        u"Short stories on the real recipes, played in the simulator. Page Down and Page Up, or a presenter's remote, go through the steps."_s,
        u"Back"_s,
        u"Next"_s,
        u"Show the answer"_s,
        u"What it proves"_s,
        u"All lessons"_s,
        u"Step %1 of %2"_s,
        u"%1 of %2 right"_s,
        u"Right."_s,
        u"Not so."_s,
        u"What the counters prove"_s,
        u"measured: %1"_s,
        u"Replay"_s,
        u"Playing…"_s,
        u"This file is not a lesson: %1"_s,
        u"holds"_s,
        u"does not hold"_s,
        u"Try it in the simulator"_s,
        u"This step waits for something that never happens in its run: the picture stays where it was."_s,
        u"Handout…"_s,
        u"With answers…"_s,
        u"Without answers…"_s,
        u"Chapter “%1” as one page…"_s,
        u"Saved %1"_s};
    static const LessonWords chinese{
        u"课程"_s,
        u"用真实的锁算法讲的小故事，在模拟世界中播放。用 Page Down 和 Page Up 或演示遥控器翻页。"_s,
        u"上一步"_s,
        u"下一步"_s,
        u"显示答案"_s,
        u"结论"_s,
        u"全部课程"_s,
        u"第 %1 步，共 %2 步"_s,
        u"答对 %1/%2"_s,
        u"正确。"_s,
        u"不对。"_s,
        u"计数器证明了什么"_s,
        u"实测：%1"_s,
        u"重放"_s,
        u"正在播放…"_s,
        u"此文件不是课程：%1"_s,
        u"成立"_s,
        u"不成立"_s,
        u"在模拟器中试试"_s,
        u"这一步等待的事件在本次运行中从未发生：画面停在原处。"_s,
        u"讲义…"_s,
        u"含答案…"_s,
        u"不含答案…"_s,
        u"整章“%1”为一个网页…"_s,
        u"已保存 %1"_s};
    static const LessonWords russian{
        u"Уроки"_s,
        u"Короткие истории о настоящих рецептах, разыгранные в симуляции. Шаги листаются клавишами Page Down и Page Up или "
        u"пультом докладчика."_s,
        u"Назад"_s,
        u"Дальше"_s,
        u"Показать ответ"_s,
        u"Что доказано"_s,
        u"Все уроки"_s,
        u"Шаг %1 из %2"_s,
        u"верно %1 из %2"_s,
        u"Верно."_s,
        u"Не так."_s,
        u"Что доказывают счётчики"_s,
        u"измерено: %1"_s,
        u"Ещё раз"_s,
        u"Идёт прогон…"_s,
        u"Этот файл — не урок: %1"_s,
        u"выполнено"_s,
        u"не выполнено"_s,
        u"Попробовать в симуляторе"_s,
        u"Этот шаг ждёт того, чего в его прогоне не бывает: картинка осталась на месте."_s,
        u"Раздаточный лист…"_s,
        u"С ответами…"_s,
        u"Без ответов…"_s,
        u"Глава «%1» одной страницей…"_s,
        u"Сохранено: %1"_s};
    switch (language) {
    case Language::Chinese: return chinese;
    case Language::Russian: return russian;
    case Language::English: break;
    }
    return english;
}

std::optional<Comparison> comparisonOf(const lessons::Lesson &lesson)
{
    const auto comparable = [](contention::Scenario scenario) {
        scenario.recipe.clear();
        return scenario;
    };
    const auto &runs = lesson.runs;
    const bool isOne = !runs.empty() && std::ranges::all_of(runs, [&](const lessons::LessonRun &run) {
        return comparable(run.scenario) == comparable(runs.front().scenario);
    });
    if (!isOne)
        return std::nullopt;
    Comparison all{runs.front().scenario, {}};
    for (const auto &run : runs)
        all.recipes.push_back(run.scenario.recipe);
    return all;
}

void addLessonFaults(QMenu &menu, const QString &heading, const lessons::Lesson &lesson, const PlayedRun &played,
                     const LessonPlace &place, std::function<void(const Comparison &)> chosen)
{
    const auto &scenario = lesson.runs[place.run].scenario;
    const auto shown = comparisonOf(lesson).value_or(Comparison{scenario, {scenario.recipe}});
    const ForkPlace here{place.at, place.lane, played.laneName(place.lane),
                         std::max(1, played.recording().history.servers), place.server};
    addMenuHeading(menu, heading);
    addFaults(menu, shown, here, [shown, chosen = std::move(chosen)](const contention::PlannedFault &fault) {
        auto forked = shown;
        forked.scenario.planned.push_back(fault);
        chosen(forked);
    });
}

} // namespace lockscope::ui
