// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/prooflist.h"

#include "ui/parts/parts.h"

#include <QBoxLayout>
#include <QGridLayout>
#include <QLabel>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

ProofList::ProofList(QWidget *parent)
    : QFrame(parent), m_head(makeLabel({}, u"section"_s, this)), m_grid(new QGridLayout)
{
    setProperty("look", u"card"_s);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(14, 12, 14, 12);
    column->setSpacing(8);
    column->addWidget(m_head);
    column->addLayout(m_grid);
    m_grid->setHorizontalSpacing(10);
    m_grid->setVerticalSpacing(8);
    m_grid->setColumnStretch(1, 1);
}

void ProofList::show(const simulate::Lesson &lesson, const simulate::PlayedRuns &runs, Language language)
{
    const auto &words = lessonWords(language);
    m_head->setText(words.proof.toUpper());
    while (auto *item = m_grid->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    m_lines.clear();
    for (const auto &proof : lesson.proves) {
        const auto proven = simulate::prove(proof, runs);
        const int row = m_grid->rowCount();
        auto *tick = makeLabel(proven.holds ? u"✓"_s : u"✗"_s, u"tick"_s, this);
        tick->setProperty("tone", proven.holds ? u"ok"_s : u"critical"_s);
        tick->setAccessibleName(proven.holds ? words.holds : words.doesNotHold);
        auto *text = makeLabel(proof.text.in(language), u"choice"_s, this);
        text->setWordWrap(true);
        const bool isViolation = proof.of == simulate::Proof::Of::Violation;
        const QString found = !isViolation                       ? proven.measured
                              : proven.measured == "present"_L1 ? words.present
                                                                 : words.absent;
        auto *measured = makeLabel(found, u"muted"_s, this);
        measured->setAccessibleName(words.measured.arg(found));
        m_grid->addWidget(tick, row, 0, Qt::AlignTop);
        m_grid->addWidget(text, row, 1);
        m_grid->addWidget(measured, row, 2, Qt::AlignRight | Qt::AlignTop);
        for (auto *label : {tick, text, measured})
            label->show();
        m_lines << u"%1 %2 (%3)"_s.arg(tick->text(), text->text(), found);
    }
}

} // namespace lockscope::ui
