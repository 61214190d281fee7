#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the five pictures of README on a demo sandbox, without a display: resources/screenshots/make.sh [BUILD-FOLDER]
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lockscope=${1:-$folder/../../build/release}/app/lockscope/lockscope
home=$(mktemp -d)
trap 'rm -r "$home"' EXIT
# No connections, settings or recordings of the user who runs it appear in the pictures.
export QT_QPA_PLATFORM=offscreen XDG_CONFIG_HOME=$home XDG_STATE_HOME=$home XDG_DATA_HOME=$home
for page in locks graph findings simulator lessons; do
    lock=()
    [ "$page" != locks ] || lock=(--lock zk:/locks/orders)
    "$lockscope" --connect sandbox: --demo --theme light --size 1440x900 --page "$page" "${lock[@]}" --after 12 \
        --screenshot "$folder/$page-light.png"
done
