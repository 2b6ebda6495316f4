import { CliError } from '../exit-codes.js';
import type { RunVerb } from './verb.js';

const SCRIPTS: Record<string, string> = {
  bash: `_slipway() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(slipway __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _slipway slipway`,
  // If it is sourced, it has to register itself; if it is found in fpath, the shell calls it.
  zsh: `#compdef slipway
_slipway() {
  local -a found
  found=("\${(@f)$(slipway __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n $found ]]; then compadd -- $found; else _files; fi
}
if [[ $funcstack[1] = _slipway ]]; then _slipway "$@"; else compdef _slipway slipway; fi`,
  fish: `function __slipway_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (slipway __complete $words[2..-1] 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c slipway -f -a '(__slipway_complete)'`,
};

const SHELLS = Object.keys(SCRIPTS);

export const completion: RunVerb = {
  verb: 'completion',
  args: '[shell]',
  summary: 'Print a script for bash, zsh or fish that completes commands, flags, their values and resource names',
  examples: [
    'source <(slipway completion bash)',
    'source <(slipway completion zsh)',
    'slipway completion fish > ~/.config/fish/completions/slipway.fish',
  ],
  flags: [{ flags: '-s, --shell <shell>', summary: 'the shell, in place of the argument', values: SHELLS }],
  run: async (session, { args: [given], flags }) => {
    const shell = given ?? (flags['shell'] as string | undefined);
    if (shell === undefined) throw new CliError('Name the shell, such as slipway completion bash.');
    if (!Object.hasOwn(SCRIPTS, shell))
      throw new CliError(`The shell ${shell} is not supported. Use bash, zsh or fish.`);
    session.output.data(SCRIPTS[shell]!);
  },
};
