// SPDX-License-Identifier: Apache-2.0
// Files that a user or a team names. A pipe of that name would block the program and a device would never end. So
// what is open is judged: by its name it could be another file by then.
#pragma once

#include "core/base/result.h"

#include <QFile>

#include <unistd.h>
#include <utility>

namespace lockscope {

// Opens it for reading, and never blocks. The error's message is the cause alone: "not a regular file".
[[nodiscard]] Result<std::unique_ptr<QFile>> openRegularFile(const QString &path);
// An open descriptor is one of a regular file.
[[nodiscard]] Result<void> checkRegular(int descriptor);
// The file's first bytes.
[[nodiscard]] Result<QByteArray> readRegularFile(const QString &path, qint64 most);

// An open file, closed with it.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : m_number(number) {}
    Descriptor(Descriptor &&other) noexcept : m_number(std::exchange(other.m_number, -1)) {}
    Descriptor &operator=(Descriptor &&other) noexcept
    {
        std::swap(m_number, other.m_number);
        return *this;
    }
    ~Descriptor()
    {
        if (m_number >= 0)
            ::close(m_number);
    }
    [[nodiscard]] int get() const { return m_number; }

private:
    int m_number = -1;
};

// A file or folder of resources/, in the program itself.
[[nodiscard]] QString resourcePath(const QString &name);
// The file's bytes. A missing file is a mistake in the program, and ends it.
[[nodiscard]] QByteArray readResource(const QString &name);

} // namespace lockscope
