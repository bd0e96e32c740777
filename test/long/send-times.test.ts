/** Send times and periods over a year. */

import { describe } from 'node:test';
import { testYear } from '../schedules/year.ts';

// Clocks change by an hour, by half an hour, and not at all.
describe('Send times of a year', () =>
  testYear(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu']));
