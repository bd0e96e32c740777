/** The job that fetches from each account once a day. */

export const FETCH_JOB = 'receivers.fetch';
