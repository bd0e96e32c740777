/**
 * Banned phrases and names, each with its replacement. Phrases are searched for in texts, comments,
 * test titles and documents; names in all declarations.
 */

export interface Replacement {
  /** Phrases match anywhere in a text and ignore case; names are case-sensitive. */
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
  phrase('put(?:s|ting)? (?:it |that |this )?right', 'fix'),
  phrase('comes? about', 'is calculated, results from'),
  phrase('asks? for nothing(?: to be done)?', 'say what happens instead'),
  phrase('(?:asks?|asking) nobody(?: anything)?', 'makes no network requests'),
  phrase('nobody is asked', 'no network requests are made'),
  phrase('nothing may be asked', 'offline mode makes no lookups'),
  phrase('(?:could|can) ?not be found out', 'could not determine'),
  phrase('could not be looked (?:at|for)', 'could not check'),
  phrase('(?:were|was) not looked (?:at|for)', 'was not checked'),
  phrase('than (?:is|what is) looked at', 'too long to read completely'),
  phrase('looks? whether', 'check that'),
  phrase('taken over from', 'copied from'),
  phrase('(?:is|are|was|were) tried again', 'is retried'),
  phrase('taken back', 'canceled, revoked'),
  phrase('let(?:s|ting)? go of', 'release'),
  phrase('vouch(?:es|ed)? for', 'passes for'),
  phrase('taken apart', 'parsed'),
  phrase('reckon(?:s|ed)? anew|anew', 'again'),
  phrase('(?:switch(?:ed|es)?|turned) (?:it )?on(?! (?:the|a) )', 'enable'),
  phrase('leads? nowhere|lead to nothing', 'does not resolve, is not configured'),
  phrase('has no say', 'is ignored'),
  phrase('press(?:es)? the spam button', 'report spam'),
  phrase('takes? (?:it|this|your message) for spam', 'treats it as spam'),
  phrase('passed? over all of them', 'ignore all of them'),
  phrase('(?:was|were) left alone', 'was left out'),
  phrase(
    '(?:this|which) is not counted against you|not counted against you',
    "this doesn't affect your score",
  ),
  phrase('e-mails?', 'email'),
  phrase(
    'an? mail(?! (?:from|server|client|program|host|relay|system|queue|flow|exchanger|sink|service|address|domain|loop|provider|transaction|date|user))',
    'an email, a message',
  ),
  phrase('an? mail address|mail addresses', 'email address'),
  phrase('mail programs?', 'email client'),
  phrase('(?:large|big) receivers', 'large mailbox providers'),
  phrase('fault of the tester', 'a bug in the tester'),
  phrase('alternative texts?', 'alt text'),
  phrase('who(?:ever)? runs (?:it|the server|this server)', 'your administrator'),
  phrase('whom you have it from', 'the person who sent it'),
  phrase('the same password again', 'confirm password'),
  phrase('has had its message', 'has already received its message'),
  phrase('all that there is', 'everything else'),
  phrase(
    'works? no more|is true no longer|must not be used any more|kept no longer',
    'has expired, is no longer',
  ),
  phrase('(?:there )?is nothing at this address', 'page not found'),
  phrase('thereby|thereof|therein|hereby|wherein|whereupon|wherefore', 'plain words'),
  phrase('in the dark', 'unknown'),
  phrase('such as are', 'those that are'),
  phrase('is to be had', 'is available'),
  phrase('in the place of', 'instead of'),
  phrase('beside its plan', 'outside its schedule'),
  phrase('in good order', 'healthy'),
  phrase('are under way|underway', 'in progress'),
  phrase('may lie beyond', 'there may be more beyond this limit'),
  phrase('stands? (?:there|here) twice', 'appears twice'),
  phrase('beginning with the heaviest', 'highest points first'),
  phrase('more kindly', 'less strictly'),
  phrase('half-way', 'at least half'),
  phrase('what could be checked', 'the completed checks'),
  phrase('is the id of no', 'is not the ID of an existing'),
  phrase('nothing more is (?:sent|said) about this', 'no further alerts until this is resolved'),
  phrase('you get this mail', 'you received this email'),
  phrase('since 1970', 'since the Unix epoch'),
  phrase('in a circle', 'in a loop'),
  phrase('whatever it is called', 'regardless of its name'),
  phrase('with scripts and all', 'with scripts'),
  phrase('where there is none', 'if there is none'),
  phrase('another key than', 'a different key'),
];

export const NAMES: Replacement[] = [
  name(/^(?:MOST|LONGEST|GREATEST)_/, 'MAX_…'),
  name(/^(?:LEAST|SHORTEST|SMALLEST)_/, 'MIN_…'),
  name(/(?:AT_ONCE|SIDE_BY_SIDE)$/, 'MAX_CONCURRENT_…'),
  name(/^(?:hearAnswer|Heard|isHeard)$/, 'readResponse, HttpResult'),
  name(/^(?:Visit|visit)$/, 'RequestContext'),
  name(/^standing$/, 'reauthorize, or what remains'),
  name(/^(?:inTheDark|mayStand|madeUpFor|takeUpMonitors|UNSPEAKABLE)$/, 'the plain term'),
  name(
    /^(?:letGo|takeBack|turnAway|comeBack|underWay)$/,
    'release, undo, reject, resubscribe, pending',
  ),
  name(/^(?:Sealed|sealed|unsealed)(?:Report|Result)$/, 'StoredReport, parseStoredReport'),
  name(
    /^(?:doubled|waning|grave|oddity|former[A-Z]\w*)$/,
    'duplicate, expiring, severe, deviation, previous…',
  ),
  name(/[Mm]anners|forStrangers|hasHadEnough|sparingShutPort|WebGoal/, 'the plain term'),
];
