// SPDX-License-Identifier: Apache-2.0
// A list of children on its way into the tree of znodes.
#pragma once

#include "ui/models/znodenode.h"

#include <optional>

namespace lockscope::ui {

// The server's order means nothing. A heap gives the rows sorted, page by page, without ever sorting
// all of them in one go.
struct ZnodeFilling {
    ZnodeNode *node = nullptr;
    std::vector<ZnodeRow> rows;
    std::vector<quint32> heap; // of indices of rows, smallest name on top
    std::size_t heaped = 0;
    NodeName largest;
    int at = 0;                     // children before it are merged
    int total = 0;                  // rows that went through
    int limit = 0;                  // how many may, for now
    std::optional<NodeName> wanted; // whether it is on the heap, and behind how many, is being looked up
    std::size_t looked = 0;         // places of the heap
    int rowsBefore = 0;
    bool isWantedThere = false;

    [[nodiscard]] bool isHeaped() const { return heaped == rows.size(); }
    [[nodiscard]] bool isFull() const { return isHeaped() && (heap.empty() || total >= limit); }
    [[nodiscard]] bool isDone() const { return !wanted && isFull() && at == node->count(); }

    // Returns how many rows were laid on the heap: at most so many.
    int heapUp(std::size_t atMost)
    {
        const auto before = heaped;
        while (!isHeaped() && heaped - before < atMost)
            push();
        return static_cast<int>(heaped - before);
    }
    void lookFor(const NodeName &name)
    {
        wanted = name;
        looked = 0;
        rowsBefore = 0;
        isWantedThere = false;
    }
    // Returns how many rows were looked at: at most so many. Found, all up to it may go through.
    int lookOn(std::size_t atMost)
    {
        const auto end = std::min(heap.size(), looked + atMost);
        const auto count = static_cast<int>(end - looked);
        for (; looked < end; ++looked) {
            const auto order = rows[heap[looked]].name <=> *wanted;
            rowsBefore += order < 0 ? 1 : 0;
            isWantedThere |= order == 0;
        }
        if (looked == heap.size()) {
            limit = isWantedThere ? total + rowsBefore + 1 : total;
            wanted.reset();
        }
        return count;
    }
    // The next rows in order, each name once.
    [[nodiscard]] std::vector<ZnodeRow> page(int atMost)
    {
        std::vector<ZnodeRow> rowsOfPage;
        while (!isFull() && static_cast<int>(rowsOfPage.size()) < std::min(atMost, limit - total)) {
            auto row = pop();
            if (rowsOfPage.empty() || rowsOfPage.back().name != row.name)
                rowsOfPage.push_back(std::move(row));
        }
        return rowsOfPage;
    }

private:
    [[nodiscard]] auto above() const
    {
        return [this](quint32 a, quint32 b) { return rows[b].name < rows[a].name; };
    }
    void push()
    {
        const auto &name = rows[heaped].name;
        if (largest < name)
            largest = name;
        heap.push_back(static_cast<quint32>(heaped++));
        std::push_heap(heap.begin(), heap.end(), above());
    }
    [[nodiscard]] ZnodeRow pop()
    {
        std::pop_heap(heap.begin(), heap.end(), above());
        const auto index = heap.back();
        heap.pop_back();
        return std::move(rows[index]);
    }
};

} // namespace lockscope::ui
