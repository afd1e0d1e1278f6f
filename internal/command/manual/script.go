package manual

import "strings"

// Shells are those that there is a script for.
const Shells = "bash,zsh,fish"

// scripts ask the program itself for the words, so that they never tell of another version than it.
var scripts = map[string]string{
	"bash": `# completion of boon for bash: source this file, or: source <(boon completion bash)
_boon() {
  local IFS=$'\n' words
  words=$("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1) || return
  COMPREPLY=($words)
  # bash takes words apart at =, and wants what is behind it only
  [[ ${COMP_WORDS[COMP_CWORD]} == = || ${COMP_WORDS[COMP_CWORD-1]} == = ]] && COMPREPLY=("${COMPREPLY[@]#*=}")
}
complete -o default -F _boon boon
`,
	"zsh": `#compdef boon
# completion of boon for zsh: put this file into a folder of $fpath as _boon, or: source <(boon completion zsh)
_boon() {
  local -a found
  local line
  for line in "${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  if (( $#found )); then _describe boon found; else _files; fi
}
if [[ $funcstack[1] == _boon ]]; then _boon "$@"; else compdef _boon boon; fi
`,
	"fish": `# completion of boon for fish: put this file into ~/.config/fish/completions, or: boon completion fish | source
function __boon
  set -l words (commandline -opc) (commandline -ct)
  $words[1] complete -- $words[2..-1] 2>/dev/null
end
complete -c boon -n 'count (__boon) >/dev/null' -f
complete -c boon -a '(__boon)'
`,
}

// Script is what a shell reads to complete the words of boon.
func Script(shell string) string { return scripts[shell] }

// Lines are words as the scripts read them: a word, a tab and its help on each line.
func Lines(words []Word) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.Text + "\t" + w.Help + "\n")
	}
	return b.String()
}
