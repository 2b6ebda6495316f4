export function exponential(random: () => number, mean: number): number {
  return -mean * Math.log(1 - random());
}

/** Log-normal with the given mean. @param sigma deviation of the logarithm */
export function logNormal(random: () => number, mean: number, sigma: number): number {
  const gaussian = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return mean * Math.exp(sigma * gaussian - sigma ** 2 / 2);
}
