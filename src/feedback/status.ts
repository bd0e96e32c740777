/** What becomes of a report. Only `counted` ones are part of any sum. */

/** With the word and the state on pages, and the meaning in the API. */
export const STATUSES = {
  counted: { word: 'Counted', state: 'pass', meaning: 'it is part of all sums' },
  duplicate: {
    word: 'Duplicate',
    state: 'info',
    meaning: 'the same report was counted before',
  },
  conflict: {
    word: 'Conflict',
    state: 'warn',
    meaning: 'a report of the same reporter and ID with other figures was counted before',
  },
  unconfirmed: {
    word: 'Not confirmed',
    state: 'warn',
    meaning: 'nobody has confirmed its reporter',
  },
  implausible: {
    word: 'Held back',
    state: 'warn',
    meaning: 'it counts far more messages than all others',
  },
  unverified: { word: 'Not verified', state: 'warn', meaning: 'nothing shows who sent it' },
  refused: {
    word: 'Refused',
    state: 'info',
    meaning: 'it could not be read, or is about another domain',
  },
} as const;

export type ReportStatus = keyof typeof STATUSES;
export const REPORT_STATUSES = Object.keys(STATUSES) as ReportStatus[];

/** What a report that is no copy becomes. The rows of each are stored, and those of `counted` ones are part of the sums. */
export const VERDICTS = ['counted', 'unconfirmed', 'implausible', 'unverified'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** While the rows of a deleted report are taken out of the sums. No page and no response shows it. */
export const REMOVED = 'removed';

/** The content of a report whose rows were deleted at the end of their retention period. Its sums stay. */
export const EMPTY_CONTENT = '{}';
