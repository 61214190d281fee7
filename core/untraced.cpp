// SPDX-License-Identifier: Apache-2.0
// What the compiler calls in each block of a traced room (LOCKSCOPE_TRACE), for programs that do not count them.
extern "C" void __sanitizer_cov_trace_pc();
void __sanitizer_cov_trace_pc() {}
