/** Serves the files that go with DNS records: MTA-STS policies, BIMI logos and their certificates. */

import type { Feature } from '../feature.ts';
import { hostedFileOperations } from './routes.ts';

export const hostedFiles: Feature = {
  name: 'hosted-files',
  routes: Object.values(hostedFileOperations),
};
