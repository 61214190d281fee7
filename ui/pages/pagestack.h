// SPDX-License-Identifier: Apache-2.0
// Where the pages stand, of which one is shown. A page is made when it is first asked for; those that nobody asks for
// are made one by one after the window's first frame, each in a turn of its own, so that the frame waits for one page
// and not for all of them. Soon afterwards there is none that is missing, and until then whoever has something for a
// page says it to whenMade().
#pragma once

#include "ui/pages/page.h"

#include <QSettings>
#include <QStackedWidget>

namespace lockscope::ui {

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
    void makeNext();
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
