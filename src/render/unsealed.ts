/** A stored report, read: its checks and providers out of their JSON. */

import type { Report } from './report.ts';
import type { SealedReport } from './thread/job.ts';

/** Without the message, which is stored apart. */
export const unsealed = (sealed: SealedReport): Report => ({
  ...sealed,
  checks: JSON.parse(sealed.checks),
  providers: JSON.parse(sealed.providers),
  message: null,
});
