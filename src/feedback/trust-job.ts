/** The job that lets the earlier reports of a reporter count, once a person trusts it. */

import type { App } from '../app.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { countTrusted } from './record/trust.ts';

export const TRUST_JOB = 'feedback.count-trusted';

export const trustJob = (app: App): Job => ({
  name: TRUST_JOB,
  tick: '20 * * * * *',
  run: () => countTrusted(app),
});
