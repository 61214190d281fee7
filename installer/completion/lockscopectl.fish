# SPDX-License-Identifier: Apache-2.0
# fish completion for lockscopectl. Commands and options are read from its own help.

function __lockscopectl_commands
    lockscopectl --help 2>/dev/null | string replace -rf '^(?:[A-Z][A-Za-z ]{7}| {8})([a-z][a-z-]+) +(.*)$' '$1\t$2'
    printf 'help\tprint help\n'
end

# The command on the line; status 1 if there is none.
function __lockscopectl_command
    set -l known (__lockscopectl_commands | string replace -r '\t.*' '')
    set -l before
    for word in (commandline -opc)[2..]
        if contains -- $word $known; and not string match -q -- '--*' "$before"
            echo $word
            return 0
        end
        set before $word
    end
    return 1
end

# The help on the options that every command has, and on those of the command on the line.
function __lockscopectl_help
    lockscopectl help options 2>/dev/null
    set -l command (__lockscopectl_command)
    and test $command != help
    and lockscopectl $command --help 2>/dev/null
end

function __lockscopectl_options
    __lockscopectl_help | string replace -rf '^  --([a-z][a-z-]*)(?: [^ ]+)?(?: +(.*))?$' -- '--$1\t$2'
end

# The cursor is at the value of an option.
function __lockscopectl_at_value
    set -l words (commandline -opc)
    contains -- $words[-1] (__lockscopectl_help | string replace -rf '^  (--[a-z][a-z-]*) [^ ]+(?: .*)?$' '$1')
end

function __lockscopectl_at_command
    not __lockscopectl_command >/dev/null
    and not __lockscopectl_at_value
end

function __lockscopectl_after
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

function __lockscopectl_at_option
    string match -q -- '-*' (commandline -ct)
    and not __lockscopectl_at_value
end

complete -c lockscopectl -f
complete -c lockscopectl -n __lockscopectl_at_command -a '(__lockscopectl_commands)'
complete -c lockscopectl -n 'contains help (__lockscopectl_command)' -a '(__lockscopectl_commands) options connections names'
complete -c lockscopectl -n __lockscopectl_at_option -a '(__lockscopectl_options)'
complete -c lockscopectl -n '__lockscopectl_after --connect --against' \
    -a 'zk:// redis:// rediss:// redis+cluster:// redis+sentinel:// mariadb:// etcd:// etcds:// postgresql:// sandbox:'
complete -c lockscopectl -n '__lockscopectl_after --color' -a 'auto always never'
complete -c lockscopectl -n '__lockscopectl_after --severity' -a 'info warning critical'
complete -c lockscopectl -n '__lockscopectl_after --fail-on' -a 'warning critical'
complete -c lockscopectl -n '__lockscopectl_after --mode' -a 'read write'
complete -c lockscopectl -n '__lockscopectl_after --recipe' \
    -a '(lockscopectl recipes 2>/dev/null | awk \'$2 ~ /^(yes|for)$/ { print $1 }\')'
complete -c lockscopectl -n '__lockscopectl_after --save --rules --rule --thread-dump --dir record replay' -F
