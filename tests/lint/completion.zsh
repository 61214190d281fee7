# SPDX-License-Identifier: Apache-2.0
# Prints what zsh would offer at the end of a line, one a line: completion.zsh FOLDER-OF-_lockscope WORD…
# The functions of zsh's completion system that _lockscope calls print their candidates instead.
fpath=($1 $fpath)
shift
compadd() {
    while [[ $1 == -* && $1 != -- ]]; do
        [[ $1 == -S ]] && shift
        shift
    done
    shift
    print -rl -- "$@"
}
_describe() {
    [[ $1 == -o ]] && shift
    print -rl -- "${(@)${(@P)2}%%:*}"
}
_files() { print -r -- "files" }
_normal() { print -r -- "line of ${words[1]}" }
words=("$@")
CURRENT=$#words
PREFIX=$words[CURRENT]
autoload -U _lockscope
_lockscope
