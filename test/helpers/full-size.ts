/** Tests that measure have two sizes: a short one beside all others, and the full one of a reliability run. */

/** Whether measuring tests run at full size: `npm run test:long -- --full`, as the reliability scenarios do. */
export const isFullSize = process.env.TEST_FULL_SIZE === '1';

/** The reason to skip what only the full size measures. */
export const ONLY_FULL_SIZE = !isFullSize && 'only at full size: npm run test:long -- --full';
