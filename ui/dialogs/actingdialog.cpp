// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/actingdialog.h"

#include "core/base/text.h"
#include "ui/parts/notices.h"

#include <QCheckBox>
#include <QKeyEvent>
#include <QScreen>
#include <QSettings>
#include <QShortcut>

namespace lockscope::ui {

ConfirmationPolicy frictionOf(const ConnectionBook &book, const ConnectionName &name)
{
    const auto *status = book.find(name);
    ConfirmationPolicy friction;
    if (!status)
        return friction;
    friction.typesName = friction.wantsReason = status->production;
    const bool isDevelopment = !status->production && (book.sandbox().contains(name) || book.isDevelopment(name));
    if (!isDevelopment)
        return friction;
    const bool isReason = QSettings().value(u"confirm/development"_s).toString() == "reason"_L1;
    friction.wantsReason = isReason;
    friction.oneKey = !isReason;
    return friction;
}

ActingDialog::ActingDialog(Backend &backend, const ConnectionBook &book, ConnectionName connection, QWidget *parent)
    : QDialog(parent), m_backend(backend), m_book(book), m_connection(std::move(connection))
{
}

void ActingDialog::reject()
{
    if (m_step != Step::Sending)
        QDialog::reject();
}

void ActingDialog::keyPressEvent(QKeyEvent *event)
{
    const bool isEnter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (!isEnter || event->modifiers() & ~Qt::KeypadModifier) {
        QDialog::keyPressEvent(event);
        return;
    }
    auto *button = qobject_cast<QPushButton *>(focusWidget());
    if (button && button != m_act && button->isEnabled())
        button->click();
    else if (auto *line = qobject_cast<QLineEdit *>(focusWidget()); line && line->text().trimmed().isEmpty())
        focusNextPrevChild(true);
    else if (line)
        focusNeeded();
}

void ActingDialog::focusNeeded()
{
    if (m_arm->isVisibleTo(this))
        m_arm->setFocus();
    else if (reason().isEmpty())
        m_reason->setFocus();
    else if (m_typed->isVisibleTo(this) && m_typed->text().isEmpty())
        m_typed->setFocus();
    else if (m_tick && m_tick->isVisibleTo(this) && !m_tick->isChecked())
        m_tick->setFocus();
    else
        m_act->setFocus();
}

QWidget *ActingDialog::makeScrolled(QWidget *content, int width)
{
    m_width = width;
    m_scroll = makeScroll(content, this);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setMinimumHeight(60);
    return m_scroll;
}

QWidget *ActingDialog::makeInputs(const QString &typedName, const QString &typedTitle)
{
    m_inputs = new QWidget(this);
    m_writesTitle = makeLabel(tr("Writes"), u"muted"_s, m_inputs);
    const auto ask = [this] { emit armRequested(m_connection); };
    m_arm = named(makeButton({}, m_inputs, this, ask, u"danger"_s), u"armButton"_s);
    m_arm->setAutoDefault(false);
    m_reason = named(new QLineEdit(m_inputs), u"reason"_s);
    m_reason->setPlaceholderText(tr("ticket, what happened"));
    m_typed = named(new QLineEdit(m_inputs), typedName);
    m_typed->setFont(monoFont());
    auto *reasonTitle = makeLabel(tr("&Reason (recorded)"), u"muted"_s, m_inputs);
    reasonTitle->setBuddy(m_reason);
    m_typedTitle = makeLabel(typedTitle, u"muted"_s, m_inputs);
    m_typedTitle->setBuddy(m_typed);
    auto *grid = makeGrid(m_inputs, {.across = 12, .down = 6, .titles = 158});
    grid->addWidget(m_writesTitle, 0, 0);
    grid->addWidget(m_arm, 0, 1, Qt::AlignLeft);
    grid->addWidget(reasonTitle, 1, 0);
    grid->addWidget(m_reason, 1, 1);
    grid->addWidget(m_typedTitle, 2, 0);
    grid->addWidget(m_typed, 2, 1);
    for (auto *line : {m_reason, m_typed})
        connect(line, &QLineEdit::textChanged, this, &ActingDialog::updateReady);
    return m_inputs;
}

QCheckBox *ActingDialog::makeTick(const QString &name, const QString &text)
{
    m_tick = named(new QCheckBox(text, m_inputs), name);
    static_cast<QGridLayout *>(m_inputs->layout())->addWidget(m_tick, 3, 1);
    connect(m_tick, &QCheckBox::toggled, this, &ActingDialog::updateReady);
    return m_tick;
}

QPushButton *ActingDialog::makeCancel(QWidget *parent)
{
    m_cancel = named(makeButton(tr("Cancel"), parent, this, &QDialog::reject), u"cancelButton"_s);
    m_cancel->setAutoDefault(false);
    return m_cancel;
}

QPushButton *ActingDialog::makeAct(const QString &text, const QString &name, QWidget *parent)
{
    m_act = named(makeButton(text, parent, this, &ActingDialog::send, u"dangerFilled"_s), name);
    m_act->setAutoDefault(false); // Enter in a text field shall not release or change anything
    return m_act;
}

void ActingDialog::addOneKey()
{
    for (const auto &keys : {QKeySequence(Qt::CTRL | Qt::Key_Return), QKeySequence(Qt::CTRL | Qt::Key_Enter)}) {
        connect(new QShortcut(keys, this), &QShortcut::activated, this, [this] {
            if (friction().oneKey)
                send();
        });
    }
}

void ActingDialog::setStep(Step step)
{
    m_step = step;
    showStep();
    m_cancel->setText(step == Step::Done || step == Step::Waiting ? tr("Close") : tr("Cancel"));
    m_cancel->setEnabled(step != Step::Sending);
    updateReady();
    fit();
}

void ActingDialog::updateReady()
{
    const QString why = obstacle();
    m_act->setEnabled(why.isEmpty());
    m_why->setText(m_step == Step::Form ? why : QString());
    showEnvironment(*m_tag, m_book, m_connection);
}

QString ActingDialog::connectionObstacle(const QString &readOnly) const
{
    const auto *status = m_book.find(m_connection);
    const QString name = label(m_connection.bytes(), 60);
    if (!status || status->state != ConnectionStatus::State::Connected)
        return tr("%1 is not connected.").arg(name);
    if (status->readOnlyForGood)
        return tr("%1 is read-only for this run (--read-only).").arg(name);
    return status->readOnly ? readOnly.arg(name) : QString();
}

bool ActingDialog::offerArming()
{
    const auto *status = m_book.find(m_connection);
    const bool isOffered = m_step == Step::Form && status && status->readOnly && !status->readOnlyForGood
                           && status->state == ConnectionStatus::State::Connected;
    const bool hadFocus = focusWidget() == m_arm;
    m_writesTitle->setVisible(isOffered);
    m_arm->setVisible(isOffered);
    if (!isOffered && hadFocus)
        focusNeeded();
    if (status)
        m_arm->setText(tr("Allow writes on %1…").arg(label(m_connection.bytes(), 40)).replace(u'&', u"&&"_s));
    return isOffered;
}

void ActingDialog::showWarnings(const QStringList &warnings)
{
    while (auto *item = m_warnings->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const auto &warning : warnings) {
        auto *banner = new Banner(m_scroll->widget());
        banner->say(Banner::Look::Warning, {}, harmless(warning, 1000));
        m_warnings->addWidget(banner);
    }
}

void ActingDialog::setAvailable(const QRect &available)
{
    m_available = available;
    fit();
}

void ActingDialog::showEvent(QShowEvent *event)
{
    QDialog::showEvent(event); // which moves it over its parent
    fit();
}

void ActingDialog::fit()
{
    if (!m_scroll)
        return;
    fitNow();
    QTimer::singleShot(0, this, &ActingDialog::fitNow); // what is new in a form is shown, and measured, a turn later
}

void ActingDialog::fitNow()
{
    constexpr int spare = 2;
    constexpr QMargins frame(8, 36, 8, 8); // what a window manager puts around it
    const auto stands = standing();
    const QRect available = m_available ? *m_available : screen()->availableGeometry();
    const QRect room = available.marginsRemoved(frame);
    const int wide = std::min(m_width, room.width());
    const auto margins = layout()->contentsMargins();
    const int inside = wide - margins.left() - margins.right();
    auto *inner = m_scroll->widget()->layout();
    inner->activate();
    const int content =
        inner->hasHeightForWidth() ? inner->totalHeightForWidth(inside) : m_scroll->widget()->sizeHint().height();
    int others = margins.top() + margins.bottom();
    int parts = 0;
    for (int i = 0; i < layout()->count(); ++i) {
        auto *item = layout()->itemAt(i);
        if (!item->widget() || item->isEmpty())
            continue;
        ++parts;
        if (item->widget() != m_scroll)
            others += item->hasHeightForWidth() ? item->heightForWidth(inside) : item->sizeHint().height();
    }
    others += std::max(0, parts - 1) * layout()->spacing();
    const int needed = others + content + spare;
    const int high = std::min(room.height(), std::max(needed, stands ? stands->height() : 0));
    QRect place(QPoint(), QSize(wide, high));
    const auto *parent = parentWidget();
    if (stands)
        place.moveTopLeft(stands->topLeft());
    else
        place.moveCenter(parent && parent->isVisible() ? parent->window()->geometry().center() : room.center());
    place.moveLeft(std::clamp(place.left(), room.left(), std::max(room.left(), room.right() + 1 - wide)));
    place.moveTop(std::clamp(place.top(), room.top(), std::max(room.top(), room.bottom() + 1 - high)));
    // A bar that once was there stays as long as the content, narrowed by it, is too high: it has to go first.
    if (high >= needed)
        m_scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setGeometry(place);
    layout()->activate();
    m_scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
}

} // namespace lockscope::ui

#include "moc_actingdialog.cpp"
