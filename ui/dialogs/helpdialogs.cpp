// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/helpdialogs.h"

#include "core/workspace/values.h"
#include "ui/models/lockfacts.h"
#include "ui/parts/parts.h"

#include <QBoxLayout>
#include <QDialogButtonBox>
#include <QLabel>
#include <QScrollArea>
#include <QSettings>
#include <QStandardPaths>

namespace lockscope::ui {

namespace {

QString stateFolder()
{
    const QString state = qEnvironmentVariable("XDG_STATE_HOME");
    return state.startsWith(u'/')
               ? state
               : QStandardPaths::writableLocation(QStandardPaths::HomeLocation) + u"/.local/state"_s;
}

void addSection(QVBoxLayout &column, QWidget *parent, const QString &title, const QString &text, bool isMono)
{
    column.addSpacing(8);
    column.addWidget(makeLabel(title, u"section"_s, parent));
    auto *body = makeSelectable(text, parent, isMono);
    body->setWordWrap(true);
    body->setMinimumWidth(1);
    column.addWidget(body);
}

// A page that scrolls, below its heading, and a button that closes.
void layOutHelp(QDialog &dialog, const QString &heading, QWidget *page)
{
    auto *title = makeLabel(heading, u"heading"_s, &dialog);
    auto *scroll = makeScroll(page, &dialog);
    scroll->setAccessibleName(dialog.windowTitle());
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close, &dialog);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    makeColumn(&dialog, {.margins = {24, 20, 24, 16}}, {title, {scroll, 1}, buttons});
}

} // namespace

AboutDialog::AboutDialog(QWidget *parent) : QDialog(parent)
{
    setWindowTitle(tr("About Lockscope"));
    setObjectName(u"aboutDialog"_s);
    auto *page = new QWidget;
    auto *rows = makeColumn(page, {.margins = {0, 0, 12, 0}},
                            {makeLabel(tr("An inspector and admin console for distributed locks."), {}, page)});
    addSection(*rows, page, tr("LICENSE"),
               tr("Lockscope is licensed under Apache-2.0, © 2026 the Lockscope authors. It comes without any "
                  "warranty. The libraries below keep their own licenses."),
               false);
    addSection(*rows, page, tr("MADE WITH"),
               tr("Qt %1 (LGPL-3), linked dynamically\nThe ZooKeeper C client (Apache-2.0)\nhiredis "
                  "(BSD-3-Clause)\nLua 5.1 (MIT)\ntoml++ (MIT)\nQtKeychain (BSD-2-Clause)\nzlib (Zlib)\n"
                  "Graphviz (EPL-1.0), in a process of its own")
                   .arg(QString::fromLatin1(qVersion())),
               false);
    const QString dataFolder = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation);
    const QString configFolder = QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation);
    addSection(
        *rows, page, tr("WHERE FILES LIE"),
        tr("Saved connections, without passwords:\n  %1\nThe window's sizes, columns and filters:\n  %2\nNames given "
           "to clients:\n  %3\nWhat was forced, the audit record:\n  %4\nLessons of your own:\n  %5")
            .arg(ConnectionStore::defaultFile(), QSettings().fileName(), configFolder + u"/lockscope/labels"_s,
                 stateFolder() + u"/lockscope/audit.jsonl"_s, dataFolder + u"/lockscope/lessons"_s),
        true);
    rows->addStretch();
    layOutHelp(*this, u"Lockscope "_s + QStringLiteral(LOCKSCOPE_VERSION), page);
    resizeWithinParent(*this, {620, 600});
}

FindingsDialog::FindingsDialog(QWidget *parent) : QDialog(parent)
{
    setWindowTitle(tr("What findings mean, and what to do"));
    setObjectName(u"findingsDialog"_s);
    auto *list = new QWidget;
    auto *rows = new QVBoxLayout(list);
    for (const auto &kind : inspect::findingKinds()) {
        const auto title = u"%1 · %2 · %3"_s.arg(kind.title, inspect::word(kind.code), inspect::word(kind.severity));
        rows->addWidget(makeLabel(title, u"title"_s, list));
        auto *help = makeSelectable(helpOn(kind), list, false);
        help->setWordWrap(true);
        help->setMinimumWidth(1); // a wrapped label would rather be wide
        rows->addWidget(help);
        rows->addSpacing(8);
    }
    layOutHelp(*this, windowTitle(), list);
    resizeWithinParent(*this, {820, 760});
}

} // namespace lockscope::ui

#include "moc_helpdialogs.cpp"
