// SPDX-License-Identifier: Apache-2.0
// What the window knows of a page. Each page keeps its own model up to date from the backend's
// batches; the window only switches between them.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/screenclock.h"
#include "ui/parts/parts.h"

#include <QSettings>
#include <QStackedWidget>
#include <QVariant>

namespace lockscope::ui {

class ConnectionBook;
class LocksModel;

// What one page may ask another to show.
struct Subject {
    enum class Kind { Lock, Session, Znode, Key };
    Kind kind = Kind::Lock;
    ConnectionName connection;
    QByteArray name; // the lock's, the session's as SessionSnapshot has it, the path, the key
};

class Page : public QWidget {
    Q_OBJECT
public:
    explicit Page(QWidget *parent = nullptr) : QWidget(parent) { useClock(std::make_shared<ScreenClock>()); }

    // The window's clock, by which all pages count; without it, one of the page's own.
    void useClock(std::shared_ptr<ScreenClock> clock)
    {
        if (m_clock)
            m_clock->disconnect(this);
        m_clock = std::move(clock);
        connect(m_clock.get(), &ScreenClock::ticked, this, [this] {
            if (isVisible() && !window()->isMinimized())
                ticked();
        });
    }

    // Called once, before the page is shown. The backend outlives the page.
    virtual void setBackend(Backend *backend) = 0;
    // The locks of all connections, as the page of locks has them; it outlives the page.
    virtual void useLocks(const LocksModel &locks) { Q_UNUSED(locks) }
    // The connection chosen in the header; an empty name means all. Pages that show one connection
    // at a time take the first they can show.
    virtual void showConnection(const ConnectionName &name) = 0;
    // The one connection that all on the page is of, `chosen` being the choice in the header. Empty: several, or
    // none.
    [[nodiscard]] virtual ConnectionName connectionShown(const ConnectionName &chosen) const { return chosen; }
    // Narrows the page to this text (the window's find field).
    virtual void setFilter(const QString &text) = 0;
    // Puts the keyboard focus where arrows move through the rows.
    virtual void focusContent() = 0;
    // Nothing moves by itself any more, as of this moment; empty: it goes on. What counts time stands with the clock.
    virtual void freeze(std::optional<std::chrono::system_clock::time_point> at) { Q_UNUSED(at) }
    // Whether what it shows is in a recording, too; if not, it is covered while another moment than now is shown.
    [[nodiscard]] virtual bool isRecorded() const { return true; }
    // What keys of its own do on it, in the language it speaks.
    [[nodiscard]] virtual KeyHints keys() const { return {}; }
    // F5: asks the server again for what is on screen, where the page does not follow by itself.
    virtual void refresh() {}
    // Shows it as soon as it is known, if this page shows such.
    [[nodiscard]] virtual bool showSubject(const Subject &subject)
    {
        Q_UNUSED(subject)
        return false;
    }
    // Something that a page may show was changed by the window.
    virtual void edited(const operate::EditRequest &request, const operate::EditOutcome &outcome)
    {
        Q_UNUSED(request)
        Q_UNUSED(outcome)
    }
    // Whether it is complete, beside the connections that it may show.
    [[nodiscard]] virtual bool isSettled() const { return true; }
    // What it keeps in the settings.
    virtual void saveView(QSettings &settings) const;
    virtual void restoreView(QSettings &settings);

signals:
    // isSettled() became true.
    void settled();
    // connectionShown() is another.
    void connectionTurned();
    // The number (or word) at the right of the entry of the page in the rail; empty for none.
    void countChanged(const QString &text);
    // Asks the window to show this lock on the page of locks.
    void lockActivated(const lockscope::inspect::LockName &lock);
    // Asks the window to do this, by the action's id, to what is chosen.
    void actionRequested(const QString &action);
    // Asks the window for the form that releases that contender's hold.
    void releaseRequested(const lockscope::inspect::LockName &lock, const QByteArray &contender);
    // Asks the window for the form of that edit.
    void editRequested(const lockscope::operate::EditRequest &request);
    // And for that of the edit that takes `undone` back.
    void undoRequested(const lockscope::operate::EditRequest &undo, const lockscope::operate::EditRequest &undone);
    // Asks the window to show this on that page (by its id in pages.cpp), or on the first that shows such.
    void subjectActivated(const lockscope::ui::Subject &subject, const QString &page = {});
    // Asks the window to find this text, as if it had been typed.
    void filterRequested(const QString &text);
    // Asks the window to show this lock in a window of its own.
    void detachRequested(const lockscope::inspect::LockName &lock);

protected:
    [[nodiscard]] ScreenClock &clock() const { return *m_clock; }
    // Kept in the settings by that name: what `state` says, and `restore` gets again.
    void keep(const QString &name, std::function<QVariant()> state, std::function<void(const QVariant &)> restore)
    {
        m_kept.push_back({name, std::move(state), std::move(restore)});
    }
    template <class Splitter>
    void keepSizes(Splitter *splitter)
    {
        keep(
            u"splitter"_s, [splitter] { return splitter->saveState(); },
            [splitter](const QVariant &saved) { splitter->restoreState(saved.toByteArray()); });
    }
    template <class View>
    void keepColumns(View *view)
    {
        keep(
            u"columns"_s, [view] { return view->header()->saveState(); },
            [view](const QVariant &saved) { view->restoreColumns(saved.toByteArray()); });
    }
    template <class Button>
    void keepChoice(const QString &name, Button *button)
    {
        keep(
            name, [button] { return button->isChecked(); },
            [button](const QVariant &saved) { button->setChecked(saved.toBool()); });
    }
    // The clock went on while the page is on screen, or it just came there: what counts time is painted anew.
    virtual void ticked() {}
    void showEvent(QShowEvent *event) override
    {
        QWidget::showEvent(event);
        ticked();
    }

private:
    struct Kept {
        QString name;
        std::function<QVariant()> state;
        std::function<void(const QVariant &)> restore;
    };

    std::shared_ptr<ScreenClock> m_clock;
    std::vector<Kept> m_kept;
};

// Every page of the window, a row each, in the order of the rail. Another one takes its two files, their names in
// CMakeLists.txt and its row: the rail, the shortcuts (Ctrl and its number), the help, --page, the completion and
// run.sh walk the rows, and a test holds the manual page against them.

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

// Where the pages stand, of which one is shown. A page is made when it is first asked for; those that nobody asks for
// are made one by one after the window's first frame, each in a turn of its own, so that the frame waits for one page
// and not for all of them. Soon afterwards there is none that is missing, and until then whoever has something for a
// page says it to whenMade().
class PageStack : public QStackedWidget {
    Q_OBJECT
public:
    // `make` makes the page of that row of allPages(), with this as its parent.
    using Make = std::function<Page *(std::size_t row)>;
    PageStack(Make make, QWidget *parent);

    // Of that row; made now if it was not before.
    Page &at(std::size_t row);
    // Every one, in the order of the rows; makes what is missing.
    const std::vector<Page *> &all();
    // As many as rows; null for one that is not made yet.
    [[nodiscard]] const std::vector<Page *> &made() const { return m_pages; }
    [[nodiscard]] bool isComplete() const { return std::ranges::find(m_pages, nullptr) == m_pages.end(); }

    void showRow(std::size_t row);
    // The row of the page that is shown.
    [[nodiscard]] std::size_t current() const { return m_current; }

    // Does it to the page of that type: now, or as soon as it is made. What is for the same page is done in order.
    template <class AnyPage>
    void whenMade(std::function<void(AnyPage &)> what)
    {
        const auto tryWith = [what = std::move(what)](Page &page) {
            auto *wanted = qobject_cast<AnyPage *>(&page);
            if (wanted)
                what(*wanted);
            return wanted != nullptr;
        };
        for (auto *page : m_pages) {
            if (page && tryWith(*page))
                return;
        }
        m_waiting.push_back(tryWith);
    }
    // Over those pages whose content is of now only, while another moment is shown.
    void cover(bool isPast);
    // Each page's, in a group of its own. What is made later is restored then, if the settings are still there.
    void saveView(QSettings &settings) const;
    void restoreView(QSettings &settings);
    // Does it, in a turn of its own, once every page is made, which may be so already.
    void whenComplete(QObject *context, const std::function<void()> &what);
    // The window is about to be shown: what is missing is made once its first frame is there.
    void makeAfterFirstFrame(QWindow &window);

signals:
    // Every page is made, just now.
    void completed();

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void restorePage(std::size_t row);

    Make m_make;
    std::vector<Page *> m_pages;
    std::size_t m_current = 0;
    std::vector<std::function<bool(Page &)>> m_waiting; // each says whether that was its page
    QPointer<QSettings> m_saved;
    QTimer m_idle;
    QTimer m_atLatest;
};

} // namespace lockscope::ui
