// lockscopectl simulate, on a real sandbox: what it counts is what the algorithms cost.
#include "tests/live/tst_ctl_fixture.h"
