/** What the scripted session of each client does, and what it reports. */

export interface Setting {
  baseUrl: string;
  apiKey: string;
  /** A raw message. */
  message: string;
  /** An allowed URL for a webhook endpoint. */
  hookUrl: string;
}

/** The values that a client has read through its generated types. */
export interface Transcript {
  /** The status of the test that waits for its message, and its address. */
  created: string;
  address: string;
  /** The ID and the result of the submitted message. */
  submitted: string;
  status: string;
  score: number | null;
  dkim: string | null;
  firstCheck: string;
  firstReference: string;
  /** The tests on two pages of one. */
  listed: string[];
  hasMore: boolean;
  /** The test of the event, read after narrowing the event by its type. */
  eventTest: string;
  eventScore: number | null;
  secret: string;
  shareUrl: string;
  sharedTests: string[];
  /** The codes of an unknown test, of an invalid page and of an invalid body. */
  notFound: string;
  invalidLimit: string;
  invalidParam: string;
}
