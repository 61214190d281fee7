// SPDX-License-Identifier: Apache-2.0
// Ctrl+K: whatever the window knows and can do in one list, the best fit to what is typed first. Enter goes there,
// Esc goes back.
#pragma once

#include <QFrame>
#include <QPointer>

#include <functional>
#include <optional>
#include <vector>

class QLineEdit;
class QListWidget;

namespace lockscope::ui {

// How well a few typed letters fit a name. The name is read byte by byte and never copied: there are fifty thousand
// of them between two keys.
class FuzzyQuery {
public:
    // Words, each of which has to fit; case counts for nothing.
    explicit FuzzyQuery(const QString &typed);

    [[nodiscard]] bool isEmpty() const { return m_words.isEmpty(); }
    // The better the fit the higher; empty where a word fits neither. A word fits where it is written, complete parts
    // between separators before beginnings and those before its middle, and last where its letters begin words ("nr":
    // nightly-report). What stands `beside` the text fits less well.
    [[nodiscard]] std::optional<int> score(QByteArrayView text, QByteArrayView beside = {}) const;
    // Where the letters of the words stand in it, in order.
    [[nodiscard]] QList<int> matched(const QString &text) const;

private:
    QList<QByteArray> m_words;
};

struct PaletteItem {
    QString kind; // "Lock"
    QString text;
    QString note; // at the right: its keys, its connection
    std::function<void()> act;
    bool isRefused = false;  // greyed; `act` says why
    bool isWrite = false;    // it leads to a write, and is never chosen by itself
    QList<int> matched = {}; // letters of the text, filled in by the palette
};

// The best of what the sources offer. Of all others nothing is made.
class PaletteHits {
public:
    explicit PaletteHits(const QString &typed) : m_query(typed) {}
    static constexpr std::size_t most = 50;

    using Make = std::function<PaletteItem()>;
    // `make` is called before take() returns, if at all.
    template <class Maker>
    void offer(QByteArrayView text, QByteArrayView beside, Maker &&make)
    {
        const auto score = m_query.score(text, beside);
        if (score && isWanted(m_query.isEmpty() ? 0 : *score))
            keep(m_query.isEmpty() ? 0 : *score, std::forward<Maker>(make));
    }
    [[nodiscard]] bool isEmptyQuery() const { return m_query.isEmpty(); }
    // Best first; of equals whichever was offered first.
    [[nodiscard]] std::vector<PaletteItem> take();

private:
    struct Hit {
        int score;
        int order;
        Make make;
        // Worse than: the heap keeps the worst on top.
        friend bool operator<(const Hit &a, const Hit &b)
        {
            return a.score != b.score ? a.score > b.score : a.order < b.order;
        }
    };
    [[nodiscard]] bool isWanted(int score) const { return m_hits.size() < most || score > m_hits.front().score; }
    void keep(int score, Make make);

    FuzzyQuery m_query;
    std::vector<Hit> m_hits;
    int m_offered = 0;
};

class CommandPalette : public QFrame {
    Q_OBJECT
public:
    explicit CommandPalette(QWidget *window);

    using Source = std::function<void(PaletteHits &)>;
    void addSource(Source source) { m_sources.push_back(std::move(source)); }
    // Asked again while it is open it closes.
    void open();
    [[nodiscard]] QLineEdit &field() const { return *m_field; }
    [[nodiscard]] QListWidget &list() const { return *m_list; }

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void close(bool returnFocus);
    void search();
    void place();
    void go();
    [[nodiscard]] bool takeKey(int key);

    std::vector<Source> m_sources;
    std::vector<PaletteItem> m_items;
    QLineEdit *m_field;
    QListWidget *m_list;
    QPointer<QWidget> m_focusBefore;
};

} // namespace lockscope::ui
