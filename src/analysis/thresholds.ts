/** Every number at which a compliance or content check changes its mind, in one table. */

const DAY_MS = 24 * 60 * 60 * 1000;

export const THRESHOLDS = {
  /** `date`: the furthest that Date may lie from the time of receipt, either way. */
  dateSkewMs: DAY_MS,
  /** `recipients`: more addresses than this in To and Cc warn. */
  recipients: 50,
  /** `subject`: octets of the unfolded value. */
  subjectOctets: 998,
  /** `line_length`: octets of a line without its end, MUST and SHOULD of RFC 5322 §2.1.1. */
  lineOctets: 998,
  recommendedLineOctets: 78,
  /** `html_size`: octets of HTML at which to warn, and near which Gmail clips. */
  htmlWarnOctets: 80_000,
  htmlClipOctets: 102_000,
  /** `message_size`: octets of the whole message as sent. */
  messageWarnOctets: 1_000_000,
  messageFailOctets: 10_000_000,
  /** `link_status`: distinct addresses that are asked, and the share of dead ones that fails. */
  linksAsked: 30,
  deadLinksFailShare: 0.5,
  /** `text_matches_html`: the share of words in common below which it warns, and where it applies. */
  wordsInCommon: 0.5,
  wordsToCompare: 10,
  /** `image_ratio`: visible words for each image. */
  wordsForImage: 20,
  /** `image_alt`: from this size on, in pixels, an image is no decoration. */
  largeImageWidth: 200,
  largeImageHeight: 100,
  /** `hidden_text`: characters; a preheader may have more than other hidden text before that counts. */
  preheaderCharacters: 500,
  hiddenWarnCharacters: 150,
  hiddenFailCharacters: 500,
  /** `preheader`: characters that mail programs show of it at most. */
  previewCharacters: 140,
  /** `subject_style`: from how many letters on which share of capitals shouts; and exclamation marks. */
  subjectLetters: 10,
  subjectCapitals: 0.5,
  subjectExclamations: 2,
} as const;
