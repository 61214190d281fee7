// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/listshare.h"

#include <QApplication>
#include <QEvent>
#include <QHeaderView>
#include <QSettings>
#include <QSplitter>
#include <QTableView>

#include <algorithm>

namespace lockscope::ui {

ListShare::ListShare(QSplitter &splitter, QTableView &list) : QObject(&splitter), m_splitter(splitter), m_list(list)
{
    connect(&splitter, &QSplitter::splitterMoved, this,
            [this] { m_isTheirs |= m_splitter.orientation() == Qt::Vertical; });
    splitter.installEventFilter(this);
}

int ListShare::neededHeight() const
{
    const int above = m_list.isVisible() ? m_splitter.widget(0)->height() - m_list.height() : 0;
    return above + m_list.verticalHeader()->length() + 2 * m_list.frameWidth();
}

bool ListShare::isDetailInUse() const
{
    const auto *detail = m_splitter.widget(1);
    const auto *focus = QApplication::focusWidget();
    return detail->underMouse() || (focus && detail->isAncestorOf(focus));
}

void ListShare::divide()
{
    const auto sizes = m_splitter.sizes();
    const int whole = sizes[0] + sizes[1];
    if (m_isTheirs || m_splitter.orientation() != Qt::Vertical || whole <= 0 || m_list.model()->rowCount() == 0
        || isDetailInUse())
        return;
    const int least = m_splitter.widget(0)->minimumHeight();
    const int ofList = std::clamp(neededHeight(), least, std::max(least, whole / 2));
    if (ofList != sizes[0])
        m_splitter.setSizes({ofList, whole - ofList});
}

void ListShare::save(QSettings &settings, const QString &key) const
{
    if (m_isTheirs)
        settings.setValue(key, m_splitter.saveState());
}

void ListShare::restore(QSettings &settings, const QString &key)
{
    m_isTheirs = m_splitter.restoreState(settings.value(key).toByteArray());
}

bool ListShare::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize) // which it has not heard of itself yet
        QMetaObject::invokeMethod(this, &ListShare::divide, Qt::QueuedConnection);
    return QObject::eventFilter(watched, event);
}

} // namespace lockscope::ui

#include "moc_listshare.cpp"
