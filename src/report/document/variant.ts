/** The variant of a report that a document shows: its audience, medium and level of detail. */

export interface ReportVariant {
  /** Only a `page` has folds and links; a `terminal` shows the most important parts. */
  medium: 'page' | 'pdf' | 'terminal';
  /** `public` omits the parts that show the message. */
  audience: 'team' | 'public';
  /** One of many reports: omits the evidence of passed checks and the points of each check. */
  isBrief: boolean;
}
