// SPDX-License-Identifier: Apache-2.0
// Which menu each table of a page opens at its rows.
#pragma once

#include "ui/models/connectionbook.h"
#include "ui/pages/page.h"

namespace lockscope::ui {

class LockDetail;
class LocksPage;

// All of them outlive the pages. What a menu asks for is asked by the page, or by `asking`.
void offerRowMenus(LockDetail &detail, const ConnectionBook &book, Page &asking);
// Of that page, if it has such tables.
void offerRowMenusOf(Page &page, LocksPage &locks, const ConnectionBook &book);

// The menu of a lock, of one of its contenders, of a session: the same wherever one of them stands.
class SubjectMenu : public QMenu {
    Q_OBJECT
public:
    // The book may be null: then commands name no server. Deletes itself when it closes.
    SubjectMenu(const ConnectionBook *book, QWidget *parent);

    // What it asks for, that page asks the window for.
    void answeredBy(Page &page);
    void addLock(const inspect::LockSnapshot &lock);
    void addContender(const inspect::LockSnapshot &lock, const inspect::Contender &contender);
    void addSession(const inspect::SessionSnapshot &session);
    // A znode or a key as it is, whatever it belongs to.
    void addCopy(const QString &what, const QString &text);
    void addShow(const QString &what, const Subject &subject, const QString &page = {});
    void addFilter(const QString &what, const QString &text);

    // As somebody would type it: what lockscopectl shows of this lock.
    [[nodiscard]] static QString showCommand(const ConnectionStatus *status, const inspect::LockName &lock);
    // COMMAND WORD on that connection.
    [[nodiscard]] static QString commandFor(const ConnectionStatus *status, const ConnectionName &connection,
                                            const QString &command, const QString &word);
    // Of one key: the pattern that means its name, whatever is in it.
    [[nodiscard]] static QString keyCommand(const ConnectionStatus *status, const inspect::LockName &key);
    [[nodiscard]] static QString rehearsalCommand(const ConnectionStatus *status, const inspect::LockName &lock,
                                                  const QByteArray &holder);

signals:
    void showRequested(const lockscope::ui::Subject &subject, const QString &page);
    void filterRequested(const QString &text);
    // In a window of its own.
    void detachRequested(const lockscope::inspect::LockName &lock);

private:
    void addPlace(BackendKind backend, const ConnectionName &connection, const QByteArray &place);
    [[nodiscard]] const ConnectionStatus *statusOf(const ConnectionName &name) const;

    const ConnectionBook *m_book;
};

} // namespace lockscope::ui
