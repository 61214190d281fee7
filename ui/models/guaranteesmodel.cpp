// SPDX-License-Identifier: Apache-2.0
#include "ui/models/guaranteesmodel.h"

#include "core/workspace/values.h"
#include "ui/theme/text.h"

namespace lockscope::ui {

using namespace Qt::StringLiterals;
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

GuaranteesModel::GuaranteesModel(QObject *parent)
    : QAbstractTableModel(parent), m_recipes(contention::guaranteedRecipes()), m_faults(contention::allFaults())
{
    fill();
}

void GuaranteesModel::fill()
{
    m_cells.clear();
    for (const auto &recipe : m_recipes) {
        for (const auto fault : m_faults)
            m_cells.push_back(contention::guaranteesOf(recipe, fault, m_isFenced));
    }
}

void GuaranteesModel::setInvariant(const QByteArray &invariant)
{
    m_invariant = invariant;
    emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

void GuaranteesModel::setFenced(bool isFenced)
{
    m_isFenced = isFenced;
    fill();
    emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int GuaranteesModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_recipes.size());
}

int GuaranteesModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_faults.size());
}

const std::vector<Guarantee> &GuaranteesModel::guarantees(int row, int column) const
{
    return m_cells[static_cast<std::size_t>(row) * m_faults.size() + static_cast<std::size_t>(column)];
}

std::optional<Pill> GuaranteesModel::pill(const QModelIndex &index) const
{
    const auto &all = guarantees(index.row(), index.column());
    std::optional<Verdict> worst;
    for (const auto &guarantee : all) {
        if (!m_invariant.isEmpty() && guarantee.invariant != m_invariant)
            continue;
        if (!worst || gravity(guarantee.verdict) > gravity(*worst))
            worst = guarantee.verdict;
    }
    return worst ? std::optional(pillOf(*worst)) : std::nullopt;
}

QVariant GuaranteesModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const auto shown = pill(index);
    switch (role) {
    case Qt::DisplayRole: return shown ? shown->word : u"–"_s;
    case Qt::ToolTipRole:
        return shown ? QVariant()
                     : plainToolTip(tr("Cannot happen to %1").arg(QString::fromLatin1(recipe(index.row()))));
    case Qt::AccessibleTextRole:
        return tr("%1 under %2: %3")
            .arg(QString::fromLatin1(recipe(index.row())), QString::fromLatin1(nameOf(fault(index.column()))),
                 shown ? shown->word : tr("cannot happen"));
    default: return {};
    }
}

QVariant GuaranteesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    const bool isFault = orientation == Qt::Horizontal;
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter));
    if (role == Qt::DisplayRole)
        return QString::fromLatin1(isFault ? nameOf(fault(section)) : recipe(section));
    if (role == Qt::ToolTipRole)
        return plainToolTip(isFault ? summaryOf(fault(section)) : recipes::findRecipe(recipe(section))->summary);
    return {};
}

} // namespace lockscope::ui

#include "moc_guaranteesmodel.cpp"
