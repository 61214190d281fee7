# SPDX-License-Identifier: Apache-2.0
# fish completion for lockscope. The options are read from its own help.

function __lockscope_options
    lockscope --help 2>/dev/null | string replace -rf '^  --([a-z][a-z-]*)(?: [^ ]+)?(?: +(.*))?$' -- '--$1\t$2'
end

function __lockscope_after
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

complete -c lockscope -f
complete -c lockscope -n 'string match -q -- "-*" (commandline -ct)' -a '(__lockscope_options)'
complete -c lockscope -n '__lockscope_after --connect' \
    -a 'zk:// redis:// rediss:// redis+cluster:// redis+sentinel:// mariadb:// etcd:// etcds:// postgresql:// sandbox:'
complete -c lockscope -n '__lockscope_after --page' \
    -a '(lockscope --page \'?\' 2>&1 | string replace -rf \'.*pages: \' \'\' | string split \', \')'
complete -c lockscope -n '__lockscope_after --theme' -a 'auto light dark'
complete -c lockscope -n '__lockscope_after --language' -a 'en zh_CN ru'
complete -c lockscope -n '__lockscope_after --replay --rules --screenshot' -F
