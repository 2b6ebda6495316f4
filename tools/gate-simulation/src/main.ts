/* `--whole` runs whole soaks, which are judged while they last; otherwise one judgement at unequal load. */
await import(process.argv.includes('--whole') ? './whole-soaks.js' : './equal-load.js');

export {};
