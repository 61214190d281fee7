// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/timebar.h"

#include "ui/models/screenclock.h"
#include "ui/parts/elidedlabel.h"
#include "ui/parts/parts.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

// Stripes at both ends, as on what must not be walked past.
class NotNowBanner : public QFrame {
public:
    explicit NotNowBanner(QWidget *parent)
        : QFrame(parent), m_words(makeLabel({}, {}, this)), m_more(new ElidedLabel(this)),
          m_back(new QPushButton(this))
    {
        setFixedHeight(38);
        m_words->setFont(textFont(15, QFont::Bold));
        m_words->setObjectName(u"notNow"_s);
        m_more->setObjectName(u"notNowMore"_s);
        m_back->setObjectName(u"backToNow"_s);
        auto *row = new QHBoxLayout(this);
        row->setContentsMargins(stripes + 12, 3, stripes + 12, 3);
        row->setSpacing(14);
        row->addWidget(m_words);
        row->addWidget(m_more, 1);
        row->addWidget(m_back);
        if (auto *theme = Theme::instance())
            QObject::connect(theme, &Theme::changed, this, [this] { recolour(); });
        recolour();
    }
    [[nodiscard]] QLabel &words() { return *m_words; }
    [[nodiscard]] QLabel &more() { return *m_more; }
    [[nodiscard]] QPushButton &back() { return *m_back; }

protected:
    void paintEvent(QPaintEvent *) override
    {
        const auto &tokens = Theme::tokens();
        QPainter painter(this);
        painter.fillRect(rect(), tokens.warning);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(tokens.onCritical, 7));
        for (const auto &end : {QRect(0, 0, stripes, height()), QRect(width() - stripes, 0, stripes, height())}) {
            painter.setClipRect(end);
            for (int x = end.left() - height(); x < end.right() + height(); x += 18)
                painter.drawLine(x, height(), x + height(), 0);
        }
    }

private:
    static constexpr int stripes = 64;
    void recolour()
    {
        const auto colour = u"color: %1; background: transparent;"_s.arg(Theme::tokens().onCritical.name());
        m_words->setStyleSheet(colour);
        m_more->setStyleSheet(colour);
    }

    QLabel *m_words;
    QLabel *m_more;
    QPushButton *m_back;
};

TimeBar::TimeBar(QWidget *parent)
    : QFrame(parent), m_banner(new NotNowBanner(this)), m_track(new TimeTrack(this)),
      m_about(makeLabel({}, u"small"_s, this)), m_previous(new QPushButton(tr("◂ Change"), this)),
      m_next(new QPushButton(tr("Change ▸"), this)), m_more(new QPushButton(tr("File"), this))
{
    setObjectName(u"timeBar"_s);
    setProperty("look", u"panel"_s);
    m_about->setObjectName(u"timeAbout"_s);
    m_about->setMaximumWidth(300);
    m_previous->setToolTip(tr("To the chosen lock's change before (Ctrl+Shift+↑)"));
    m_next->setToolTip(tr("To the chosen lock's next change (Ctrl+Shift+↓)"));
    auto *five = new QPushButton(tr("− 5 min"), this);
    five->setToolTip(tr("Five minutes back (Ctrl+Shift+←)"));
    auto *row = new QHBoxLayout;
    row->setContentsMargins(12, 4, 12, 2);
    row->setSpacing(8);
    row->addWidget(five);
    row->addWidget(m_previous);
    row->addWidget(m_track, 1);
    row->addWidget(m_next);
    row->addWidget(m_about);
    row->addWidget(m_more);
    m_more->hide();
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_banner);
    column->addLayout(row);
    column->addWidget(makeHairline(this));
    m_warned.setSingleShot(true);
    m_warned.setInterval(6s);
    connect(&m_warned, &QTimer::timeout, this, &TimeBar::sayRest);
    connect(five, &QPushButton::clicked, this, [this] { emit stepped(-5min); });
    connect(m_track, &TimeTrack::stepped, this, &TimeBar::stepped);
    connect(m_previous, &QPushButton::clicked, this, &TimeBar::previousChangeRequested);
    connect(m_next, &QPushButton::clicked, this, &TimeBar::nextChangeRequested);
    connect(&m_banner->back(), &QPushButton::clicked, this, [this] {
        if (m_file.isEmpty())
            emit backRequested();
        else
            emit fileCloseRequested();
    });
    showSource({}, {});
    showMoment({}, {});
}

void TimeBar::addMenu(const QList<QAction *> &actions)
{
    auto *menu = new QMenu(m_more);
    menu->addActions(actions);
    m_more->setMenu(menu);
    m_more->show();
}

void TimeBar::showMoment(std::optional<Moment> at, const QString &howFar)
{
    m_track->setMoment(at);
    m_banner->setVisible(at.has_value());
    if (!at)
        return;
    const auto time = timeOfDay(*at);
    const bool isToday = time.date() == QDate::currentDate();
    m_banner->words().setText(
        tr("NOT NOW: %1, %2").arg(time.toString(isToday ? u"HH:mm:ss"_s : u"yyyy-MM-dd HH:mm:ss"_s), howFar));
}

void TimeBar::showSource(const QString &file, const QString &about)
{
    m_file = file;
    m_rest = file.isEmpty() ? tr("Nothing can be done here.") : about;
    sayRest();
    m_banner->back().setText(file.isEmpty() ? tr("Back to now (Esc)") : tr("Close recording"));
}

void TimeBar::showAbout(const QString &words)
{
    m_about->setText(words);
}

void TimeBar::sayRest()
{
    m_banner->more().setText(m_rest);
    m_banner->more().setToolTip(plainToolTip(m_rest));
}

void TimeBar::warn(const QString &sentence)
{
    m_banner->more().setText(u"✕ "_s + sentence);
    m_warned.start();
}

QString TimeBar::bannerText() const
{
    return m_banner->isHidden() ? QString() : m_banner->words().text() + u' ' + m_banner->more().text();
}

} // namespace lockscope::ui

#include "moc_timebar.cpp"
