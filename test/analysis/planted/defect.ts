/** One thing that is wrong, and the check that must find it. */

import type { World } from './world.ts';

export interface Defect {
  /** The id of the check. */
  check: string;
  /** What is wrong, in a few words. */
  name: string;
  /** What the check must say; `fail` unless said. */
  status?: 'warn' | 'fail';
  /** Changes the clean world. */
  plant(world: World): void;
}
