// SPDX-License-Identifier: Apache-2.0
#include "ui/views/brokenbanners.h"

#include "core/base/text.h"
#include "ui/models/screenclock.h"
#include "ui/models/pausablebackend.h"
#include "ui/parts/parts.h"
#include "ui/parts/notices.h"
#include "ui/theme/text.h"

namespace lockscope::ui {

BrokenBanners::BrokenBanners(QWidget *parent) : QWidget(parent), m_column(makeColumn(this, {.spacing = 4}, {})) {}

void BrokenBanners::show(const ConnectionBook &book, const ConnectionName &connection, bool isElsewhere)
{
    std::vector<const ConnectionStatus *> broken;
    for (const auto &status : book.all()) {
        const bool isFailed = status.state == ConnectionStatus::State::Broken
                              || status.state == ConnectionStatus::State::AuthFailed; // also one that never was there
        // Of another moment than now only what was seen is told.
        const bool isTold = ConnectionBook::isStale(status) || (isFailed && !isElsewhere);
        if (isTold && (connection.isEmpty() || status.name == connection))
            broken.push_back(&status);
    }
    while (m_column->count() > static_cast<int>(broken.size())) {
        auto *item = m_column->takeAt(m_column->count() - 1);
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    while (m_column->count() < static_cast<int>(broken.size())) {
        auto *banner = named(new Banner(this), u"brokenBanner"_s);
        const auto at = static_cast<std::size_t>(m_column->count());
        connect(banner, &Banner::actionRequested, this, [this, at] { emit retryRequested(m_broken[at]); });
        connect(banner, &Banner::secondRequested, this, [this, at] { emit editRequested(m_broken[at]); });
        m_column->addWidget(banner);
    }
    m_broken.clear();
    m_column->setContentsMargins(12, broken.empty() ? 0 : 8, 12, 0);
    for (std::size_t i = 0; i < broken.size(); ++i) {
        const auto &status = *broken[i];
        m_broken.push_back(status.name);
        const bool refused = status.state == ConnectionStatus::State::AuthFailed;
        const bool wasSeen = ConnectionBook::isStale(status);
        QString sentence = label(status.message.toUtf8(), 400);
        if (wasSeen)
            sentence = tr("as of %1. %2").arg(timeOfDay(status.asOf).toString(u"HH:mm:ss"_s), sentence);
        if (!sentence.isEmpty() && !sentence.endsWith(u'.'))
            sentence += u'.';
        if (!refused && !isElsewhere)
            sentence = u"%1 %2"_s.arg(sentence, tr("Lockscope reconnects automatically.")).trimmed();
        static_cast<Banner *>(m_column->itemAt(static_cast<int>(i))->widget())
            ->say(Banner::Look::Warning,
                  (refused   ? tr("%1: login refused")
                   : wasSeen ? tr("%1: connection lost")
                             : tr("%1: not connected"))
                      .arg(label(status.name.bytes(), 60)),
                  sentence, isElsewhere ? QString() : tr("Retry"), isElsewhere ? QString() : tr("Edit…"));
    }
}

GapsLine::GapsLine(QWidget *parent) : QWidget(parent), m_text(new ElidedLabel(this))
{
    named(this, u"gaps"_s, tr("Not explained"));
    m_text->setProperty("look", u"muted"_s);
    makeRow(this, {.margins = {12, 2, 8, 2}},
            {{m_text, 1}, makeButton(tr("Show"), this, &GapsLine::moreRequested, u"flat"_s)});
    hide();
}

void GapsLine::say(const QStringList &gaps)
{
    setVisible(!gaps.isEmpty());
    if (gaps.isEmpty())
        return;
    m_text->setText(gaps.size() == 1 ? gaps.front()
                                     : tr("%1 (and %2 more)").arg(gaps.front(), QString::number(gaps.size() - 1)));
    m_text->setToolTip(plainToolTip(gaps.join(u'\n')));
}

} // namespace lockscope::ui

#include "moc_brokenbanners.cpp"
