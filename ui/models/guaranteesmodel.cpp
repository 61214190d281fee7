// SPDX-License-Identifier: Apache-2.0
#include "ui/models/guaranteesmodel.h"

#include "ui/theme/text.h"

namespace lockscope::ui {

using contention::Guarantee;
using Verdict = Guarantee::Verdict;

namespace {

int gravity(Verdict verdict)
{
    switch (verdict) {
    case Verdict::NotGuaranteed: return 0;
    case Verdict::Holds: return 1;
    case Verdict::MayBreakRarely: return 2;
    case Verdict::MayBreak: return 3;
    }
    return 0;
}

} // namespace

Pill pillOf(Verdict verdict)
{
    switch (verdict) {
    case Verdict::Holds: return {PillShape::Disc, Tone::Ok, GuaranteesModel::tr("holds")};
    case Verdict::MayBreak: return {PillShape::Cross, Tone::Critical, GuaranteesModel::tr("may break")};
    case Verdict::MayBreakRarely: return {PillShape::Quarter, Tone::Warning, GuaranteesModel::tr("rarely breaks")};
    case Verdict::NotGuaranteed: return {PillShape::Ring, Tone::Free, GuaranteesModel::tr("not promised")};
    }
    return {};
}

GuaranteesModel::GuaranteesModel(QObject *parent) : RowsModel(parent), m_faults(contention::allFaults())
{
    for (const auto &recipe : contention::guaranteedRecipes())
        m_rows.push_back({.recipe = recipe});
    for (std::size_t fault = 0; fault < m_faults.size(); ++fault)
        m_columns.push_back(columnOf(fault));
    fill();
}

RowColumn<RecipeGuarantees> GuaranteesModel::columnOf(std::size_t fault) const
{
    const auto recipeName = [](const RecipeGuarantees &row) { return QString::fromLatin1(row.recipe); };
    const auto faultName = QString::fromLatin1(nameOf(m_faults[fault]));
    const auto shown = [this, fault](const RecipeGuarantees &row) { return worstOf(row.cells[fault]); };
    return {.title = faultName,
            .text = [=](const RecipeGuarantees &row) { return shown(row) ? shown(row)->word : u"–"_s; },
            .help = plainToolTip(summaryOf(m_faults[fault])),
            .values = {{Qt::ToolTipRole,
                        [=](const RecipeGuarantees &row) {
                            return shown(row) ? QVariant()
                                              : plainToolTip(tr("Cannot happen to %1").arg(recipeName(row)));
                        }},
                       {Qt::AccessibleTextRole, [=](const RecipeGuarantees &row) {
                            return tr("%1 under %2: %3")
                                .arg(recipeName(row), faultName, shown(row) ? shown(row)->word : tr("cannot happen"));
                        }}}};
}

void GuaranteesModel::fill()
{
    for (auto &row : m_rows) {
        row.cells.clear();
        for (const auto fault : m_faults)
            row.cells.push_back(contention::guaranteesOf(row.recipe, fault, m_isFenced));
    }
}

void GuaranteesModel::setInvariant(const QByteArray &invariant)
{
    m_invariant = invariant;
    reportAll();
}

void GuaranteesModel::setFenced(bool isFenced)
{
    m_isFenced = isFenced;
    fill();
    reportAll();
}

std::optional<Pill> GuaranteesModel::worstOf(const std::vector<Guarantee> &guarantees) const
{
    std::optional<Verdict> worst;
    for (const auto &guarantee : guarantees) {
        if (!m_invariant.isEmpty() && guarantee.invariant != m_invariant)
            continue;
        if (!worst || gravity(guarantee.verdict) > gravity(*worst))
            worst = guarantee.verdict;
    }
    return worst ? std::optional(pillOf(*worst)) : std::nullopt;
}

QVariant GuaranteesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation == Qt::Horizontal)
        return RowsModel::headerData(section, orientation, role);
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignLeft | Qt::AlignVCenter);
    if (role == Qt::DisplayRole)
        return QString::fromLatin1(recipe(section));
    return role == Qt::ToolTipRole ? plainToolTip(recipes::findRecipe(recipe(section))->summary) : QVariant();
}

} // namespace lockscope::ui

#include "moc_guaranteesmodel.cpp"
