// SPDX-License-Identifier: Apache-2.0
// Every page of the window, a row each, in the order of the rail. Another one takes its two files, their names in
// CMakeLists.txt and its row: the rail, the shortcuts (Ctrl and its number), the help, --page, the completion and
// run.sh walk the rows, and a test holds the manual page against them.
#pragma once

#include "ui/parts/parts.h"

#include <QStringList>

#include <vector>

class QWidget;

namespace lockscope::ui {

class ConnectionBook;
class Page;

struct PageRow {
    QString id;                   // the word of --page
    QString title;                // as the rail says it
    bool showsConnections = true; // complete when they are; if not, Page::isSettled() says when it is
    Page *(*make)(const ConnectionBook &book, QWidget *parent);
    bool isAskedByName = false; // it shows what has a page of its own: only when it is asked for by its id
};
[[nodiscard]] const std::vector<PageRow> &allPages();
[[nodiscard]] QStringList pageIds();
[[nodiscard]] QStringList pageTitles();
// What those pages say of their keys, each with the page's title: "Simulator: play and pause". As many as allPages().
[[nodiscard]] KeyHints keysOfPages(const std::vector<Page *> &pages);

} // namespace lockscope::ui
