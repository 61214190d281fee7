// SPDX-License-Identifier: Apache-2.0
// A program without Qt connects again after its last object was destroyed: each time the way to the server is there,
// and the locale is the program's. There is no server.
#include <lockscope/lockscope.h>
#include <lockscope/mariadb.h>

#include <clocale>
#include <cstdio>
#include <string>

int main()
{
    const std::string locale = std::setlocale(LC_ALL, nullptr);
    std::string first;
    for (int round = 0; round < 3; ++round) {
        const auto refused = lockscope::connect("mariadb://user:password@127.0.0.1:1");
        const auto why = refused ? "connected" : refused.error().message;
        if (round == 0)
            first = why;
        if (refused || why != first) {
            std::printf("%s; in round %d: %s\n", first.c_str(), round, why.c_str());
            return 1;
        }
    }
    if (locale != std::setlocale(LC_ALL, nullptr)) {
        std::puts("another locale");
        return 1;
    }
    return 0;
}
