// SPDX-License-Identifier: Apache-2.0
// Which of the coming requests goes wrong, whatever its kind: "the third from now loses its reply".
#pragma once

namespace lockscope::testing {

enum class RequestFault {
    Pass,
    LoseRequest, // nothing is sent; UnknownOutcome
    LoseReply,   // it is sent and done; UnknownOutcome
    HoldRequest, // sent only by letThrough()
    HoldReply,   // sent at once, answered only by letThrough()
    Refuse,      // nothing is sent; Unsupported
};

class FaultPlan {
public:
    // 1 is the next one.
    void at(int nth, RequestFault fate)
    {
        forget();
        m_left = nth;
        m_fate = fate;
    }
    void forget() { m_left = m_passed = 0; }
    // Whether it went wrong already.
    [[nodiscard]] bool isOver() const { return m_left <= 0; }
    // How many there were since.
    [[nodiscard]] int passed() const { return m_passed; }
    [[nodiscard]] RequestFault next()
    {
        ++m_passed;
        return m_left > 0 && --m_left == 0 ? m_fate : RequestFault::Pass;
    }

private:
    int m_left = 0;
    int m_passed = 0;
    RequestFault m_fate = RequestFault::Pass;
};

} // namespace lockscope::testing
