/** Which form of a report a document is: who reads it, where, and in how much detail. */

export interface Form {
  /** `page` can fold and be clicked; `paper` cannot; a `terminal` has room for the most important only. */
  medium: 'page' | 'paper' | 'terminal';
  /** `public`: without the parts that show the message. */
  audience: 'team' | 'public';
  /** One of many, told in short: without the evidence of what passed and the points of each check. */
  isBrief: boolean;
}
