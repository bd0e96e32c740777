/** Apart from the analysis, so that programs that only name it do not load the checks. */

/** The version of the checks, points, weights and caps. Changes whenever a score could change. */
export const RULESET = '2026.11.13';
