// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/notices.h"

#include "core/base/text.h"
#include "ui/models/pausablebackend.h"
#include "ui/models/screenclock.h"
#include "ui/parts/parts.h"

#include <QCoreApplication>
#include <QEvent>
#include <QPainter>
#include <QStyle>

namespace lockscope::ui {

Banner::Banner(QWidget *parent)
    : QFrame(parent), m_word(makeLabel({}, {}, this)), m_sentence(new WholeLinesLabel(this)),
      m_action(makeButton({}, this, &Banner::actionRequested)),
      m_second(makeButton({}, this, &Banner::secondRequested))
{
    m_word->setProperty("weight", u"bold"_s);
    for (auto *button : {m_action, m_second}) {
        button->setAutoDefault(false); // Enter in a dialog's text field must not press it
        button->hide();
    }
    makeRow(this, {.margins = {10, 6, 10, 6}, .spacing = 10},
            {{m_word, 0, Qt::AlignTop}, {m_sentence, 1}, m_action, m_second});
}

void Banner::say(Look look, const QString &word, const QString &sentence, const QString &action,
                 const QString &second)
{
    static const QString looks[] = {u"banner-critical"_s, u"banner-warning"_s, u"banner-info"_s, u"banner-ok"_s};
    const QString &name = looks[static_cast<int>(look)];
    if (property("look").toString() != name) {
        setProperty("look", name);
        for (QWidget *widget : std::initializer_list<QWidget *>{this, m_word, m_sentence}) {
            widget->style()->unpolish(widget);
            widget->style()->polish(widget);
        }
    }
    m_word->setText(word);
    m_word->setVisible(!word.isEmpty());
    m_sentence->setText(sentence);
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    m_second->setText(second);
    m_second->setVisible(!second.isEmpty());
    alignWord();
}

void Banner::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    alignWord();
}

// Beside the first line of the sentence, also where a button is higher than its only line.
void Banner::alignWord()
{
    const int needed = m_sentence->heightForWidth(m_sentence->width());
    const bool isOneLine = needed < 2 * m_sentence->fontMetrics().lineSpacing();
    layout()->setAlignment(m_word, isOneLine ? Qt::AlignVCenter : Qt::AlignTop);
}

int Banner::linesOf(const QString &word, const QString &sentence, int width) const
{
    const auto edges = layout()->contentsMargins();
    const int room =
        width - edges.left() - edges.right() - m_word->fontMetrics().horizontalAdvance(word) - layout()->spacing();
    const auto metrics = m_sentence->fontMetrics();
    const auto needed = metrics.boundingRect(0, 0, std::max(1, room), 1 << 20, Qt::TextWordWrap, sentence);
    return needed.height() / std::max(1, metrics.lineSpacing());
}

EmptyNotice::EmptyNotice(QWidget *parent)
    : QWidget(parent), m_title(makeWrapped({}, u"heading"_s, this)), m_text(makeWrapped({}, u"muted"_s, this)),
      m_action(makeButton({}, this, &EmptyNotice::actionRequested, u"primary"_s)),
      m_second(makeButton({}, this, &EmptyNotice::secondRequested))
{
    m_second->hide();
    m_title->setAlignment(Qt::AlignHCenter);
    m_text->setAlignment(Qt::AlignHCenter);
    m_text->setMaximumWidth(520);
    for (auto *button : {m_action, m_second})
        button->setAutoDefault(true); // Enter presses it: else only Space does, outside of a dialog

    auto *middle = makeRow({}, {Stretch{}, {m_text, 4}, Stretch{}});
    makeColumn(this, {.margins = {24, 24, 24, 24}, .spacing = 8},
               {Stretch{2},
                m_title,
                middle,
                Gap{6},
                {m_action, 0, Qt::AlignHCenter},
                {m_second, 0, Qt::AlignHCenter},
                Stretch{3}});
}

void EmptyNotice::say(const QString &title, const QString &text, const QString &action, const QString &second)
{
    m_title->setText(title);
    m_text->setText(text);
    // A button that goes would leave the keyboard to whatever is next in the window.
    const bool leavesFocus = (m_action->hasFocus() && action.isEmpty()) || (m_second->hasFocus() && second.isEmpty());
    if (leavesFocus)
        setFocus();
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    m_second->setText(second);
    m_second->setVisible(!second.isEmpty());
    if (hasFocus())
        focusAction();
}

Cover::Cover(QWidget *covered) : EmptyNotice(covered)
{
    setAutoFillBackground(true);
    covered->installEventFilter(this);
    hide();
}

bool Cover::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize)
        resize(parentWidget()->size());
    return EmptyNotice::eventFilter(watched, event);
}

void Cover::showEvent(QShowEvent *event)
{
    EmptyNotice::showEvent(event);
    resize(parentWidget()->size());
    raise();
}

StaleOverlay::StaleOverlay(QWidget *covered) : QWidget(covered)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    covered->installEventFilter(this);
    hide();
}

void StaleOverlay::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    QColor sheet = Theme::tokens().background;
    sheet.setAlphaF(0.55f);
    painter.fillRect(rect(), sheet);
}

bool StaleOverlay::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == parentWidget() && (event->type() == QEvent::Resize || event->type() == QEvent::ChildAdded)) {
        resize(parentWidget()->size());
        raise();
    }
    return QWidget::eventFilter(watched, event);
}

StaleBanner::StaleBanner(QWidget *parent) : QFrame(parent), m_banner(new Banner(this))
{
    makeRow(this, {.margins = {12, 0, 12, 8}}, {m_banner});
    hide();
}

bool StaleBanner::show(const ConnectionStatus &status)
{
    using State = ConnectionStatus::State;
    const bool isStale = status.state != State::Connected;
    if (isStale) {
        QString text = status.state == State::Connecting   ? u"Connecting"_s
                       : status.state == State::AuthFailed ? u"Login refused"_s
                                                           : u"Not connected"_s;
        if (!status.message.isEmpty())
            text += u": "_s + status.message;
        if (status.asOf != WallTime{})
            text = u"%1 · shown as of %2"_s.arg(text, timeOfDay(status.asOf).toString(u"HH:mm:ss"_s));
        m_banner->say(Banner::Look::Warning, {}, text);
    }
    setVisible(isStale);
    return isStale;
}

namespace {

Environment markOf(const ConnectionBook &book, const ConnectionStatus &status)
{
    if (status.production)
        return {u"PROD"_s, true};
    if (book.sandbox().contains(status.name))
        return {u"sandbox"_s, false};
    if (book.isDevelopment(status.name))
        return {u"DEV"_s, false};
    return {status.state == ConnectionStatus::State::Connected ? u"unmarked"_s : QString(), false};
}

} // namespace

Environment environmentOf(const ConnectionBook &book, const ConnectionStatus &status)
{
    const auto mark = markOf(book, status);
    if (transportWarning(status.uri).isEmpty())
        return mark;
    return {mark.production ? mark.word + u" · TLS UNVERIFIED"_s : u"TLS UNVERIFIED"_s, true};
}

void showEnvironment(QLabel &tag, const ConnectionBook &book, const ConnectionName &name)
{
    const auto *status = book.find(name);
    const auto environment = status ? environmentOf(book, *status) : Environment{};
    const QString look = environment.production ? u"tag-production"_s : u"tag"_s;
    if (tag.property("look") != look) {
        setStyleProperty(&tag, "look", look);
        QEvent changed(QEvent::StyleChange); // or a frame does not learn of its new padding
        QCoreApplication::sendEvent(&tag, &changed);
    }
    const QString shown = label(name.bytes(), 40);
    tag.setText(environment.word.isEmpty() ? shown : environment.word + u" · "_s + shown);
}

QColor colourOf(ConnectionColour colour)
{
    const Tokens &tokens = Theme::tokens();
    switch (colour) {
    case ConnectionColour::None: return {};
    case ConnectionColour::Red: return tokens.critical;
    case ConnectionColour::Orange: return tokens.warning;
    case ConnectionColour::Yellow: return tokens.wait;
    case ConnectionColour::Green: return tokens.ok;
    case ConnectionColour::Teal: return tokens.hold;
    case ConnectionColour::Blue: return tokens.accent;
    }
    return {};
}

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

#include "moc_notices.cpp"
