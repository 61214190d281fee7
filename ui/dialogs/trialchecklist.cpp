// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/trialchecklist.h"

#include "core/base/text.h"
#include "ui/parts/parts.h"

#include <QLabel>

namespace lockscope::ui {

namespace {

struct CheckLook {
    QString sign, word, tone;
};

CheckLook lookOfState(TrialCheck::State state)
{
    switch (state) {
    case TrialCheck::State::Passed: return {u"✓"_s, TrialChecklist::tr("Passed"), u"ok"_s};
    case TrialCheck::State::Failed: return {u"✗"_s, TrialChecklist::tr("Failed"), u"critical"_s};
    case TrialCheck::State::Warning: return {u"!"_s, TrialChecklist::tr("Warning"), u"warning"_s};
    case TrialCheck::State::Note: break;
    }
    return {u"i"_s, TrialChecklist::tr("Note"), {}};
}

QString textOfFix(TrialCheck::Fix fix)
{
    switch (fix) {
    case TrialCheck::Fix::None: break;
    case TrialCheck::Fix::Hosts: return TrialChecklist::tr("Correct host or port");
    case TrialCheck::Fix::Login: return TrialChecklist::tr("Correct user or password");
    case TrialCheck::Fix::TurnOnTls: return TrialChecklist::tr("Turn on TLS");
    case TrialCheck::Fix::Tls: return TrialChecklist::tr("Correct the TLS files");
    }
    return {};
}

} // namespace

TrialChecklist::TrialChecklist(QWidget *parent) : QWidget(parent), m_rows(makeColumn(this, {.spacing = 3}, {}))
{
    setAccessibleName(tr("Result of the connection test"));
    hide();
}

void TrialChecklist::begin(const ConnectionSpec &spec)
{
    set({{TrialCheck::State::Note, tr("Testing %1 …").arg(spec.displayUri())}});
    m_awaited = std::make_unique<QObject>();
    emit trialRequested(spec);
}

void TrialChecklist::set(std::vector<TrialCheck> checks)
{
    m_awaited.reset();
    m_checks = std::move(checks);
    fill();
}

void TrialChecklist::show(const Result<std::vector<TrialCheck>> &checks)
{
    set(checks ? *checks
               : std::vector{TrialCheck{TrialCheck::State::Failed, label(checks.error().message.toUtf8(), 400)}});
    emit shown();
}

void TrialChecklist::fill()
{
    while (auto *row = m_rows->takeAt(0)) {
        row->widget()->hide();
        row->widget()->deleteLater();
        delete row;
    }
    for (const auto &check : m_checks) {
        const auto look = lookOfState(check.state);
        auto *row = new QWidget(this);
        auto *sign = makeLabel(look.sign, u"check"_s, row);
        sign->setProperty("tone", look.tone);
        sign->setAccessibleName(look.word);
        sign->setFixedWidth(14);
        auto *text = makeWrapped(check.text, {}, row);
        text->setAccessibleName(look.word + u": "_s + check.text);
        auto *column = makeColumn({.spacing = 0}, {text});
        if (check.fix != TrialCheck::Fix::None)
            column->addWidget(
                makeButton(
                    textOfFix(check.fix), row, this, [this, fix = check.fix] { emit fixRequested(fix); }, u"link"_s),
                0, Qt::AlignLeft);
        makeRow(row, {.spacing = 6}, {{sign, 0, Qt::AlignTop}, {column, 1}});
        m_rows->addWidget(row);
    }
    setVisible(!m_checks.empty());
}

} // namespace lockscope::ui

#include "moc_trialchecklist.cpp"
