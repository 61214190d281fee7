#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws the icon in the sizes of the hicolor theme, after lockscope.svg changed: resources/icons/make.sh
# Needs rsvg-convert (librsvg2-bin).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for size in 16 22 24 32 36 48 64 72 96 128 192 256 512; do
    rsvg-convert --width "$size" --height "$size" --output "hicolor/$size.png" lockscope.svg
done
