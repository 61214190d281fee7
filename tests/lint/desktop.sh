#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a desktop reads of Lockscope is valid: desktop.sh DESKTOP-FILE METAINFO ICON-FOLDER
# Without one of the validators it is skipped (status 77).
for program in desktop-file-validate appstreamcli file; do
    command -v "$program" >/dev/null || { echo "SKIP: $program is not installed"; exit 77; }
done
status=0
id=$(sed -n 's:.*<id>\(.*\)</id>.*:\1:p' "$2")
[ "$(basename "$1")" = "$id.desktop" ] || { echo "$1 is not named after the ID $id"; status=1; }
grep -qx "Icon=$id" "$1" || { echo "$1 has another icon than $id"; status=1; }
complaints=$(desktop-file-validate "$1")
[ -z "$complaints" ] || { echo "$complaints"; status=1; }
appstreamcli validate --pedantic --no-net "$2" || status=1
for picture in "$3"/*.png; do
    size=$(basename "$picture" .png)
    file "$picture" | grep -q "PNG image data, $size x $size," || { echo "$picture has another size"; status=1; }
done
exit $status
