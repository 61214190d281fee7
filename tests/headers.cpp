// SPDX-License-Identifier: Apache-2.0
// Nothing of its own: the target it belongs to has the precompiled headers of the tests.
