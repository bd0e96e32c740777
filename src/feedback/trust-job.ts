/** The job that makes reports agree with which reporters a person confirmed. */

import type { App } from '../app.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { followTrust } from './record/trust.ts';

export const TRUST_JOB = 'feedback.follow-trust';

export const trustJob = (app: App): Job => ({
  name: TRUST_JOB,
  tick: '20 * * * * *',
  run: () => followTrust(app),
});
