/** Send times and periods over a year, in further time zones. */

import { describe } from 'node:test';
import { testYear } from '../schedules/year.ts';

describe('Send times in further time zones', () =>
  testYear(['America/New_York', 'Asia/Kathmandu']));
