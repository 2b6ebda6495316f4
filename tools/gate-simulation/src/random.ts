/** Mulberry32: small, fast, and reproducible for a seed. Values in [0, 1). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function exponential(random: () => number, mean: number): number {
  return -mean * Math.log(1 - random());
}

/** Log-normal with the given mean. @param sigma deviation of the logarithm */
export function logNormal(random: () => number, mean: number, sigma: number): number {
  const gaussian = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return mean * Math.exp(sigma * gaussian - sigma ** 2 / 2);
}
