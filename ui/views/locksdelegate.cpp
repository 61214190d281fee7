// SPDX-License-Identifier: Apache-2.0
#include "ui/views/locksdelegate.h"

#include "core/base/text.h"
#include "ui/parts/environment.h"
#include "ui/theme/theme.h"

#include <QAbstractItemView>
#include <QLocale>
#include <QUrl>

namespace lockscope::ui {

using inspect::Severity;

namespace {

QString hostsOf(const QString &uri)
{
    const QUrl url(uri);
    return url.host().isEmpty() ? uri.section(u"://"_s, 1).section(u'/', 0, 0).section(u'@', -1) : url.host();
}

} // namespace

StackedRow LocksDelegate::stackedRow(const QModelIndex &index) const
{
    const auto text = [&index](int column) { return index.siblingAtColumn(column).data().toString(); };
    const auto brief = [&index](int column) {
        return index.siblingAtColumn(column).data(LocksModel::BriefRole).toString();
    };
    const LockFacts &facts = m_model.factsAt(index.row());
    const auto &lock = m_model.snapshotAt(index.row());
    StackedRow row;
    row.state =
        m_model.isGoneAt(index.row()) ? Pill{PillShape::Ring, Tone::Free, text(LockRow::State)} : facts.pill();
    row.name = text(LockRow::Lock);
    if (facts.waiters > 0 || !lock.waitersKnown)
        row.waiting = facts.waiters == 1 && lock.waitersKnown
                          ? LocksDelegate::tr("1 waits")
                          : LocksDelegate::tr("%1 wait").arg(text(LockRow::Waiting));
    row.holder = brief(LockRow::Holder);
    if (row.holder.isEmpty())
        row.holder = text(LockRow::Holder);
    const bool endsBySelf = facts.expiresAt && (facts.holderDisconnected || !facts.worst);
    if (endsBySelf || !facts.worst)
        row.finding = text(LockRow::FindingColumn);
    else if (!facts.isStateOfFinding())
        row.finding = brief(LockRow::FindingColumn);
    row.findingTone = facts.worst == Severity::Critical  ? Tone::Critical
                      : facts.worst == Severity::Warning ? Tone::Warning
                                                         : Tone::Free;
    row.age = text(LockRow::Held);
    row.isStale = m_model.isGoneAt(index.row()) || m_model.isFrozen(lock.lock.connection);
    return row;
}

void LocksDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const auto group = groups.find(m_model.snapshotAt(index.row()).lock.connection);
    const auto head = group == groups.end() ? GroupHead() : group->second;
    auto row = stackedRow(index);
    row.isSelected = option.state & QStyle::State_Selected;
    const auto *view = qobject_cast<const QAbstractItemView *>(option.widget);
    row.hasFocus = view && view->hasFocus() && view->currentIndex().row() == index.row();
    QRect box = option.rect;
    if (box.height() > shownSize(stackedRowHeight)) {
        box.setTop(box.bottom() + 1 - shownSize(stackedRowHeight));
        paintGroupHead(*painter, QRect(option.rect.topLeft(), QPoint(box.right(), box.top() - 1)), head);
    }
    paintStackedRow(*painter, box, row, head);
}

std::map<ConnectionName, GroupHead> groupHeadsOf(const ConnectionBook &book, const LocksModel &model)
{
    std::map<ConnectionName, GroupHead> heads;
    const auto starts = model.groupStarts();
    std::map<ConnectionName, int> rows;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const int end = i + 1 < starts.size() ? starts[i + 1] : model.rowCount();
        rows[model.snapshotAt(starts[i]).lock.connection] = end - starts[i];
    }
    int number = 0;
    for (const auto &status : book.all()) {
        GroupHead head;
        head.name = label(status.name.bytes(), 60);
        if (const auto backend = backendOf(status.scheme))
            head.facts = u"%1  %2"_s.arg(infoOf(*backend).title, label(hostsOf(status.uri).toUtf8(), 80));
        QStringList facts;
        if (const auto count = rows[status.name]; count > 0)
            facts << (count == 1 ? LocksDelegate::tr("1 lock")
                                 : LocksDelegate::tr("%1 locks").arg(QLocale(QLocale::English).toString(count)));
        if (ConnectionBook::isStale(status))
            facts << LocksDelegate::tr("not connected");
        else if (status.latency)
            facts << u"%1 ms"_s.arg(static_cast<double>(status.latency->count()) / 1000.0, 0, 'f', 1);
        head.status = facts.join(u" · "_s);
        const auto environment = environmentOf(book, status);
        head.tag = environment.word;
        head.isProduction = environment.production;
        head.edge = connectionColor(number++);
        heads.emplace(status.name, std::move(head));
    }
    return heads;
}

} // namespace lockscope::ui

#include "moc_locksdelegate.cpp"
