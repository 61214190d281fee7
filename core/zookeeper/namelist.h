// SPDX-License-Identifier: Apache-2.0
// The names of a node's children, as one answer listed them.
//
// A window on names that are shared, so that copying a list of 100,000 costs nothing: a server that hands out one
// list after another (the simulated one) only appends behind the windows it gave away. From a real server the
// list is alone with its names. Not to be read while somebody appends on another thread.
#pragma once

#include "core/base/bytes.h"

#include <memory>
#include <utility>
#include <vector>

namespace lockscope::zk {

class NameList {
public:
    using Names = std::vector<NodeName>;
    using const_iterator = Names::const_iterator;
    using value_type = NodeName;

    NameList() = default;
    NameList(Names names) : m_names(std::make_shared<const Names>(std::move(names))), m_end(m_names->size()) {}
    // The names from `begin` on, before `end`. `ascends`: see below.
    NameList(std::shared_ptr<const Names> names, std::size_t begin, std::size_t end, bool ascends)
        : m_names(std::move(names)), m_begin(begin), m_end(end), m_ascends(ascends)
    {
    }

    NameList(const NameList &) = default;
    NameList &operator=(const NameList &) = default;
    // What was moved from is empty. An answer is moved a dozen times on its way.
    NameList(NameList &&other) noexcept
        : m_names(std::move(other.m_names)), m_begin(std::exchange(other.m_begin, 0)),
          m_end(std::exchange(other.m_end, 0)), m_ascends(std::exchange(other.m_ascends, false))
    {
    }
    NameList &operator=(NameList &&other) noexcept
    {
        NameList moved(std::move(other));
        m_names.swap(moved.m_names);
        m_begin = moved.m_begin;
        m_end = moved.m_end;
        m_ascends = moved.m_ascends;
        return *this;
    }

    [[nodiscard]] const_iterator begin() const { return all().begin() + std::ptrdiff_t(m_begin); }
    [[nodiscard]] const_iterator end() const { return all().begin() + std::ptrdiff_t(m_end); }
    [[nodiscard]] std::size_t size() const { return m_end - m_begin; }
    [[nodiscard]] bool empty() const { return m_end == m_begin; }
    [[nodiscard]] const NodeName &operator[](std::size_t i) const { return (*m_names)[m_begin + i]; }
    [[nodiscard]] const NodeName &front() const { return (*this)[0]; }
    [[nodiscard]] const NodeName &back() const { return (*this)[size() - 1]; }
    [[nodiscard]] Names toVector() const { return {begin(), end()}; }
    // Known to be so: every name ends with a sequence number, none of them negative, each greater than the one
    // before. False says nothing.
    [[nodiscard]] bool ascends() const { return m_ascends; }

private:
    [[nodiscard]] const Names &all() const
    {
        static const Names none;
        return m_names ? *m_names : none;
    }

    std::shared_ptr<const Names> m_names; // null: none
    std::size_t m_begin = 0, m_end = 0;
    bool m_ascends = false;
};

} // namespace lockscope::zk
