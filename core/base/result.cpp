// SPDX-License-Identifier: Apache-2.0
#include "core/base/result.h"

namespace lockscope::detail {

static_assert(sizeof(Result<void>) == sizeof(void *));

KeptError::KeptError(Error error) : m_error(std::make_unique<const Error>(std::move(error))) {}

KeptError::KeptError(const KeptError &other)
    : m_error(other.m_error ? std::make_unique<const Error>(*other.m_error) : nullptr)
{
}

} // namespace lockscope::detail
