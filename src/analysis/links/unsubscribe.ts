/** The links of the body by which a reader can unsubscribe, told by their words; none is ever called. */

import type { Context } from '../check.ts';
import { saysNothing, showsAddress } from './generic-text.ts';
import { type MessageLink, messageLinks } from './links.ts';

const OPENABLE = new Set(['http', 'https', 'mailto']);

// A longer text is a whole paragraph in a link, which speaks of this and that.
const MAX_LINK_TEXT = 300;

// Characters of HTML before a link that shows its own address: "Unsubscribe: https://…".
const JUST_BEFORE = 40;

/** A fact: ask for it by `context.fact(unsubscribeLinks)`. In the order of the message. */
export function unsubscribeLinks(context: Context): MessageLink[] {
  return context.fact(unsubscribeCandidates).filter(({ scheme }) => OPENABLE.has(scheme));
}

/**
 * A fact: those that lead nowhere included, such as an address with an unfilled placeholder. The
 * HTML and the text part are looked at each for itself: a reader sees one of them.
 */
export function unsubscribeCandidates(context: Context): MessageLink[] {
  const links = context.fact(messageLinks);
  const html = links.filter(({ source }) => source === 'html');
  const said = html.filter(saysIt);
  return [
    ...(said.length > 0 ? said : besideWords(html)),
    ...links.filter((link) => link.source === 'text' && saysItInText(link)),
  ];
}

/** Whether it is mail that the link offers to leave, and no session, account or event. */
export function offersToLeaveMail(link: MessageLink): boolean {
  const { source, text, label, href, before, after } = link;
  const around = source === 'text' ? lineAround(link) : `${before} ${after}`;
  return leavesMail(`${text ?? ''} ${label}`, href, around);
}

const saysIt = ({ text, label, href }: MessageLink): boolean =>
  leadsToUnsubscribing(href) ||
  ((text ?? '').length <= MAX_LINK_TEXT && speaksOfUnsubscribing(`${text} ${label}`));

/** On a line with such a word, or alone on the line below one. */
const saysItInText = (link: MessageLink): boolean =>
  leadsToUnsubscribing(link.href) || speaksOfUnsubscribing(lineAround(link));

/** The line without the link itself; with the line above it where the link stands alone. */
function lineAround(link: MessageLink): string {
  const above = link.before.split('\n');
  const before = above.pop() ?? '';
  const after = link.after.split('\n', 1)[0] ?? '';
  const alone = !/[\p{L}\p{N}]/u.test(before + after);
  const previous = alone ? (above.findLast((line) => line.trim() !== '') ?? '') : '';
  return `${previous} ${before} ${after}`;
}

/**
 * A "click here" in a sentence with such a word. Which one of several it is cannot be told for
 * sure, so the last is taken: that is where mail has it.
 */
function besideWords(links: MessageLink[]): MessageLink[] {
  const last = links.findLast(({ text, before, after }) => {
    if (text === null) return false;
    if (showsAddress(text)) return speaksOfUnsubscribing(before.slice(-JUST_BEFORE));
    return saysNothing(text) && speaksOfUnsubscribing(`${before} ${text} ${after}`);
  });
  return last ? [last] : [];
}

// The words by which a text or an address offers to unsubscribe, in the languages of most mail.

/**
 * Compared without case and accents. A blank stands for white space or a dash, `…` for up to two
 * more words, and what ends in `*` goes on: `abbestell*` is "Abbestellung" too.
 */
export const PHRASES = [
  // English
  ['unsubscri*', 'opt out', 'opting out', 'optout', 'stop receiving', 'remove me from'],
  ['no longer wish to receive', 'no longer want to receive', 'no longer receive'],
  ['be removed from', 'stop … emails', 'stop … e-mails', 'leave … mailing list'],
  // German, Dutch
  ['abbestell*', 'austragen', 'nicht mehr erhalten', 'keine weiteren e-mails'],
  ['keine weiteren newsletter', 'keine … mehr erhalten', 'uitschrijv*', 'schrijf … uit'],
  // French
  ['désabonn*', 'désinscri*', 'ne plus recevoir'],
  // Spanish, Catalan, Portuguese
  ['darse de baja', 'darme de baja', 'darte de baja', 'date de baja', 'dar de baja'],
  ['dese de baja', 'dejar de recibir', 'desuscri*', 'cancelar suscripción', 'anular suscripción'],
  ['cancelar … suscripción', 'cancela … suscripción', 'cancele … suscripción'],
  ['anular … suscripción', 'cancel·lar … subscripció', 'donar-se de baixa'],
  ['descadastr*', 'desinscrev*', 'deixar de receber', 'cancelar … inscrição'],
  ['cancelar … assinatura', 'cancelar … subscrição', 'anular … subscrição', 'remover … inscrição'],
  // Italian, Romanian
  ['disiscri*', 'annulla … iscrizione', "annulla l'iscrizione", "annullare l'iscrizione"],
  ['cancella … iscrizione', "cancella l'iscrizione", 'non ricevere più', 'dezabon*'],
  // Swedish, Norwegian, Danish, Finnish
  ['avprenumerera', 'avsluta … prenumeration', 'avbryt … prenumeration'],
  ['avslutt … abonnement', 'peruuta … tilaus*'],
  ['peru … tilaus*', 'lopeta … tilaus*', 'poistu postituslistalta'],
  // Polish, Czech, Slovak, Hungarian
  ['wypisz*', 'wypisa*', 'anuluj … subskrypcję', 'rezygnacja z subskrypcji'],
  ['zrušit odběr', 'zrušiť odber', 'leiratkoz*'],
  // Russian, Ukrainian, Bulgarian, Greek, Turkish
  ['отписат*', 'отписк*', 'отпиши*', 'отпишет*', 'отписв*', 'отказаться от рассылки', 'відпис*'],
  ['απεγγραφή', 'κατάργηση εγγραφής', 'abonelikten çık*', 'abonelikten ayrıl*'],
  ['aboneliği iptal*', 'listeden çık*'],
  // Indonesian, Vietnamese
  ['berhenti berlangganan', 'hủy đăng ký', 'huỷ đăng ký', 'ngừng nhận'],
];

/** Words for leaving anything: a list, but a device, an account or an event too. */
export const WIDE = [
  [
    'abmeld*',
    'melden Sie sich … ab',
    'afmeld*',
    'avregistrer*',
    'avmeld*',
    'meld … av',
    'frameld*',
  ],
  ['odhlás*', 'odjav*', 'zrezygnuj*', 'διαγραφή'],
];

/** In scripts that put no blanks between words, or join words to what stands before and after. */
export const ANYWHERE = [
  ['配信停止', '配信を停止', '配信解除', '購読解除', '購読を解除', '登録解除', '受信を停止'],
  [
    '退订',
    '退訂',
    '取消订阅',
    '取消訂閱',
    '수신거부',
    '수신 거부',
    '구독취소',
    '구독 취소',
    '구독 해지',
  ],
  ['إلغاء الاشتراك', 'الغاء الاشتراك', 'ביטול הרשמה', 'הסרה מרשימת', 'להסרה', 'ยกเลิกการรับ'],
  ['ยกเลิกการสมัคร', 'सदस्यता समाप्त', 'सदस्यता रद्द', 'अनसब्सक्राइब'],
];

// Whether a text or an address offers to unsubscribe, told by its words.

// What stands in addresses and hardly in texts.
const SHORT = /(?<![a-z])(?:unsubs?|desabo)(?![a-z])/;

// "baja" is a part of Mexico too: only where it is a whole segment of the path or a whole value.
const SHORT_AND_WIDE = /(?:^|[/=])(?:baja|signoff)(?:\.[a-z]{2,5})?(?![^/?&#;@])/;

/** Words for what a list sends. */
const MAIL =
  /news ?letter|mailing|e-?mails?(?!\p{L})|rundbrief|rundmail|verteiler|nieuwsbrief|nyhe[dt]sbrev|zpravodaj|novink|odber|spravodaj|bilten|obvestil|novost|boletin|uutiskirje|ενημερωτικ|рассыл/u;

/** What stands beside a wide word without saying what is left. */
const FILLING =
  /(?<!\p{L})(?:hier|jetzt|bitte|sich|zur|zum|sie|konnen|link|her|nu|se|si|sa|zde|tu|klikk?|meg|deg|dig|mig|je|u|zich)(?!\p{L})/gu;

// More than any link or line needs: a hostile one may hold 25 MB.
const MAX_LENGTH = 2000;

// Each stands for a phrase, and would grow to many characters.
const PHRASES_IN_ONE = /[\ufdfa\ufdfb]/g;

const GAP = '[\\s-]{1,3}';

const source = (phrase: string): string =>
  phrase
    .replace(/\*$/, '')
    .split(' … ')
    .map((part) => fold(part).replace(/[ -]/g, GAP))
    .join(`${GAP}(?:[\\p{L}']{1,20}${GAP}){0,2}`) + (phrase.endsWith('*') ? '' : '(?!\\p{L})');

const pattern = (phrases: string[][], anywhere: string[][]): RegExp =>
  new RegExp(
    [`(?<!\\p{L})(?:${phrases.flat().map(source).join('|')})`, ...anywhere.flat().map(fold)].join(
      '|',
    ),
    'u',
  );

const WORDS = pattern([...PHRASES, ...WIDE], ANYWHERE);
const CLEAR_WORDS = pattern(PHRASES, ANYWHERE);
const WIDE_WORDS = pattern(WIDE, []);
const WIDE_WHOLE = new RegExp(`${WIDE_WORDS.source}\\p{L}*`, 'gu');

/** Lower case without accents, invisible characters and curled apostrophes: `désabonner` → `desabonner`. */
function fold(text: string): string {
  const start = text.slice(0, MAX_LENGTH).replace(PHRASES_IN_ONE, ' ');
  // Korean syllables are three letters each; what grows more is no word.
  return start
    .normalize('NFKD')
    .slice(0, 3 * start.length)
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/\u2019/g, "'")
    .replace(/[\u2010-\u2015]/g, '-');
}

/** Whether a text offers to unsubscribe; its first 2,000 characters are looked at. */
export function speaksOfUnsubscribing(text: string): boolean {
  return WORDS.test(fold(text));
}

/** The same of an address, in whatever part of it: `https://example.com/u?do=opt-out`. */
export function leadsToUnsubscribing(href: string): boolean {
  const { words, path } = readAddress(href);
  return WORDS.test(words) || SHORT.test(words) || SHORT_AND_WIDE.test(path);
}

/**
 * Whether it is mail that a link which offers to unsubscribe offers to leave. "Abmelden" alone may
 * end a session or cancel a visit: there the link itself has to speak of mail, or where it says no
 * more than that, what stands around it.
 */
function leavesMail(said: string, href: string, around: string): boolean {
  const text = fold(said);
  const { words, path } = readAddress(href);
  if (CLEAR_WORDS.test(text) || CLEAR_WORDS.test(words) || SHORT.test(words)) return true;
  if (MAIL.test(text) || MAIL.test(path)) return true;
  const near = fold(around);
  if (WIDE_WORDS.test(text)) {
    const more = text.replace(WIDE_WHOLE, ' ').replace(FILLING, ' ');
    return !/\p{L}/u.test(more) && MAIL.test(near);
  }
  const wide = WIDE_WORDS.test(words) || SHORT_AND_WIDE.test(path);
  return MAIL.test(near) || (!wide && CLEAR_WORDS.test(near));
}

/** The words of an address, and what comes after its host, in lower case and decoded. */
function readAddress(href: string): { words: string; path: string } {
  const address = fold(decoded(href.slice(0, MAX_LENGTH)));
  return {
    words: address.replace(/[^\p{L}]+/gu, ' '),
    path: address.replace(/^mailto:([^@]*)@[^?]*/, '$1').replace(/^[a-z]+:\/\/[^/?#]*/, ''),
  };
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}
