/**
 * Phrases and names that do not come back, each with what is written instead. A phrase is looked for
 * in texts, comments, titles of tests and documents; a name in everything that the code declares.
 */

export interface Replacement {
  /** Found anywhere in a text, whatever its case; for names in their own case. */
  wrong: RegExp;
  right: string;
}

const phrase = (wrong: string, right: string): Replacement => ({
  wrong: new RegExp(`(?<![\\p{L}-])(?:${wrong})(?![\\p{L}-])`, 'iu'),
  right,
});
const name = (wrong: RegExp, right: string): Replacement => ({ wrong, right });

export const PHRASES: Replacement[] = [
  phrase('mend(?:s|ed|ing)?', 'fix'),
  phrase('comes? about', 'is calculated, results from'),
  phrase('put(?:s|ting)? right', 'fix'),
  phrase('no more than that is known', 'nothing else is known'),
  phrase('works? no more', 'has expired, no longer works'),
  phrase('(?:there )?is nothing at this address', 'page not found'),
  phrase('who(?:ever)? runs (?:it|the server|this server)', 'your administrator'),
  phrase('whom you have it from', 'the person who sent it'),
  phrase('asks? for nothing', 'say what happens instead'),
  phrase('asks? nobody', 'makes no network requests'),
  phrase('nobody is asked', 'no network requests are made'),
  phrase('the same password again', 'confirm password'),
  phrase('has had its message', 'has already received its message'),
  phrase('all that there is', 'everything else'),
  phrase('(?:could|can) not be found out', 'could not determine'),
  phrase('it is not known whether', 'could not determine whether'),
  phrase('look whether', 'check that'),
  phrase('taken over from the e-?mail', 'copied from the email'),
  phrase('e-mails?', 'email'),
  phrase(
    'an? mail(?! (?:server|client|program|host|relay|system|queue|flow|exchanger|sink|service|address|domain))',
    'an email, a message',
  ),
  phrase('anew', 'again'),
  phrase('thereby|thereof|therein|hereby|wherein|whereupon', 'plain words'),
  phrase('in the dark', 'unknown'),
  phrase('let(?:s|ting)? go of', 'release'),
  phrase('as one likes|whichever you like', 'any you like'),
  phrase('such as are', 'those that are'),
  phrase('is to be had', 'is available'),
  phrase('the former', 'the previous'),
  phrase("at one's", 'at your'),
];

export const NAMES: Replacement[] = [
  name(/^(?:MOST|LONGEST|GREATEST)_/, 'MAX_…'),
  name(/^(?:LEAST|SHORTEST|SMALLEST)_/, 'MIN_…'),
  name(/AT_ONCE/, 'MAX_CONCURRENT_…'),
  name(/^UNSPEAKABLE$/, 'COMPOSE_FAILED'),
  name(/^(?:hearAnswer|Heard)$/, 'readResponse, HttpResult'),
  name(/^(?:Visit|visit)$/, 'RequestContext'),
  name(/^standing$/, 'reauthorize'),
  name(/^(?:inTheDark|mayStand|madeUpFor|takeUpMonitors)$/, 'a plain term'),
  name(/^(?:letGo|takeBack|turnAway|comeBack)$/, 'release, undo, reject, resubscribe'),
  name(/^(?:Sealed|sealed|unsealed)(?:Report|Result)$/, 'StoredReport, parseStoredReport'),
  name(/[Mm]anners|forStrangers|hasHadEnough|sparingShutPort|WebGoal/, 'a plain term'),
];
