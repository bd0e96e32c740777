/** Which links are never asked, because opening them may do something; and why. */

import type { Context } from '../check.ts';
import { htmlFacts } from '../html/facts.ts';
import { fields } from '../mime/message.ts';
import { plainWords } from '../text.ts';
import { leavesItToOthers, saysNothing } from './generic-text.ts';
import { type MessageLink, messageLinks } from './links.ts';
import { hasToken } from './tokens.ts';
import {
  leadsToUnsubscribing,
  speaksOfUnsubscribing,
  unsubscribeCandidates,
} from './unsubscribe.ts';

// The words by which a link is told that may do something when it is opened, in many languages.

interface CautionWords {
  /** What such a link is for, after "a link to". */
  purpose: string;
  /** Stems that say so wherever they stand within a word. */
  anywhere: string[];
  /** Beginnings of words; a space stands for a space, a sign or nothing. */
  atStart: string[];
  /** Whole words. */
  whole: string[];
}

/**
 * Written without accents: what is searched loses them too. The first entry is the one on
 * unsubscribing; it comes on top of the phrases by which an unsubscribe link is told, and is wider.
 */
const CAUTION_WORDS: [CautionWords, ...CautionWords[]] = [
  {
    purpose: 'unsubscribe or change preferences',
    anywhere: [
      ...['unsub', 'preference', 'prefcent', 'listmanage', 'abmeld', 'abbestell', 'austrag'],
      ...['einstellungen', 'abonn', 'desabon', 'desinscri', 'desuscri', 'suscripcion'],
      ...['descadastr', 'inscricao', 'disiscri', 'iscrizione', 'preferenze', 'preferencias'],
      ...['uitschrijv', 'afmeld', 'voorkeuren', 'wypisz', 'rezygn', 'subskryp', 'avregistrer'],
      ...['prenumer', 'frameld', 'avmeld', 'odhlas', 'odber', 'leiratkoz', 'dezabon', 'otpis'],
      ...['отпис', 'рассыл', 'відпис', 'απεγγραφ', 'διαγραφ', '退订', '退訂', '订阅', '訂閱'],
      ...['配信停止', '購読', '解除', '退会', '수신거부', '구독', 'الاشتراك', 'הסר', 'abonelik'],
    ],
    atStart: [
      ...[
        'un sub',
        'opt out',
        'opt in',
        'prefs',
        'settings',
        'list manage',
        'stop mail',
        'no longer',
      ],
      ...['no more', 'stop these', 'stop this', 'stop all', 'stop the', 'stop my', 'stop receiv'],
      ...['stop get', 'stop send', 'stop e mail', 'stop news', 'stop notif', 'stop alert'],
      ...['stop messag', 'stop follow', 'turn off', 'turn on', 'switch off', 'mute', 'disable'],
      ...[
        'take me off',
        'leave this',
        'leave the list',
        'removed from',
        'notification',
        'manage your',
      ],
      ...['manage e mail', 'manage mail', 'keine weiteren', 'keine mails', 'keine e mails'],
      ...['benachrichtigung', 'deaktivier', 'ausschalten', 'abstellen', 'desactiv', 'disattiv'],
      ...['uitschakel', 'inaktivera', 'dezaktyw', 'wylacz', 'отключит', 'выключит'],
      ...['darse de baja', 'dar de baja', 'darme de baja', 'peruuta', 'tilaus', 'ayril'],
    ],
    whole: ['baja', 'unsb', 'pref'],
  },
  {
    purpose: 'confirm, verify or activate something',
    anywhere: [
      ...['confirm', 'verif', 'validat', 'activat', 'bestatig', 'bestaetig', 'aktivier', 'activer'],
      ...['activeer', 'activar', 'ativar', 'attiva', 'bevestig', 'conferm', 'potwierd', 'zweryf'],
      ...['aktywuj', 'aktywac', 'bekraft', 'bekraeft', 'bekreft', 'vahvist', 'potvrd', 'overit'],
      ...['onayla', 'dogrula', 'megerosit', 'подтверд', 'активир', 'підтверд', 'επιβεβαι', '确认'],
      ...['確認', '验证', '驗證', '激活', '認証', '확인', '인증', 'تأكيد', 'אישור'],
    ],
    atStart: [
      ...['valider', 'activez', 'double opt', 'yes it', 'yes this', 'yes that', 'no it', 'no this'],
      ...['it was me', 'it wasn t', 'it was not me', 'it s me', 'this was me', 'this wasn t'],
      ...['that was me', 'that wasn t', 'this is me', 'that s me', 'was me', 'not me', 'wasn t me'],
      ...['i recogni', 'don t recogni', 'secure my', 'secure your', 'secure account', 'trust this'],
      ...['das war ich', 'ich war', 'nicht ich', 'war nicht', 'c est moi', 'c etait moi'],
      ...['ce n est pas moi', 'ce n etait pas moi', 'he sido yo', 'fui yo', 'no fui', 'no he sido'],
      ...[
        'sono stato io',
        'sono io',
        'non sono',
        'fui eu',
        'nao fui',
        'ik was',
        'это я',
        'это был',
      ],
    ],
    whole: [],
  },
  {
    purpose: 'sign in or reset a password',
    anywhere: [
      ...['password', 'passwort', 'passwd', 'passphrase', 'kennwort', 'motdepasse', 'contrasen'],
      ...['wachtwoord', 'losenord', 'salasana', 'haslo', 'heslo', 'sifre', 'jelszo', 'парол'],
      ...['reset', 'zurucksetz', 'zuruecksetz', 'reinitialis', 'restablec', 'redefin', 'reimpost'],
      ...['login', 'logon', 'logout', 'logoff', 'oauth', 'token', 'anmeld', 'einlogg', 'inlogg'],
      ...['zaloguj', 'logowan', 'kirjaudu', 'prihlas', 'belepes', 'bejelentkez', 'войти', 'увійти'],
      ...['συνδεση', '登录', '登錄', '登入', 'ログイン', 'パスワード', '密码', '密碼', '로그인'],
      ...['비밀번호'],
    ],
    atStart: [
      ...[
        'log in',
        'log on',
        'log out',
        'log off',
        'sign in',
        'sign on',
        'sign out',
        'authenticat',
      ],
      ...['authori', 'magic link', 'recover', 'mot de passe', 'se connecter', 'connexion', 'senha'],
      ...['iniciar', 'entrar', 'accedi', 'accesso', 'logga in', 'kodeord', 'unlock your account'],
    ],
    whole: ['auth', 'sso', 'otp', 'session', 'sessionid', 'giris', 'вход'],
  },
  {
    purpose: 'subscribe or register',
    anywhere: ['subscri', 'regist', 'signup', 'suscrib', 'inscri', 'подпис', 'підпис'],
    atStart: ['sign up', 'enroll', 'enrol', 'iscriviti', 'invit', 'zapisz', 'uye ol'],
    whole: ['join'],
  },
  {
    purpose: 'delete, cancel, approve or answer something',
    anywhere: [
      ...['delete', 'approv', 'revoke', 'loschen', 'loesch', 'kundig', 'kuendig', 'stornier'],
      ...['supprim', 'elimina', 'verwijder', 'annuler', 'cancell', 'genehmig', 'удалит'],
      ...['видалит', 'отмен', '删除', '刪除', '取消', '削除', '삭제', '취소'],
    ],
    atStart: [
      ...['cancel', 'remove', 'accept', 'decline', 'reject', 'rsvp', 'vote', 'anular', 'usun'],
      ...['grant', 'allow', 'permit', 'agree', 'consent', 'release this', 'release mail', 'undo'],
      ...[
        'give access',
        'request access',
        'share access',
        'erlaub',
        'gewahr',
        'gewaehr',
        'zulassen',
      ],
      ...['zustimm', 'einwillig', 'annehmen', 'ablehnen', 'zusagen', 'absagen', 'freigeben'],
      ...[
        'autoris',
        'autoriz',
        'permett',
        'accord',
        'refus',
        'acept',
        'rechaz',
        'accett',
        'rifiut',
      ],
      ...['aceit', 'recus', 'weiger', 'goedkeur', 'toestaan', 'toestemm', 'godkann', 'zezwol'],
      ...['odrzu', 'zaakceptuj', 'разреш', 'принять', 'отклон', 'одобр'],
      ...['slett', 'report spam', 'report abuse', 'one click', 'ta bort'],
    ],
    whole: ['deny', 'block', 'sil'],
  },
];

/** Longer than honest addresses are; what is beyond would go unread. */
const MAX_URL_LENGTH = 2000;
/** As much of a message, at either end, as is read for whether it speaks of unsubscribing, in characters. */
const MAX_TEXT = 100_000;
const MAX_SAID = 2000;

export interface Caution {
  /**
   * Why an address that a link redirects to is not asked, as the end of "was not asked: "; null
   * where it may be.
   */
  ofUrl(url: URL): string | null;
  /** Likewise of a link, by what is said about it and about others with its address too. */
  ofLink(link: MessageLink): string | null;
}

const PATTERNS = CAUTION_WORDS.map(patternOf);
const UNSUBSCRIBE = CAUTION_WORDS[0].purpose;

export function linkCaution(context: Context): Caution {
  const unsubscribing = listUnsubscribePages(context);
  const { places, pages } = cautionedByWords(context);
  const ofAddress = (url: URL): string | null => {
    if (url.href.length > MAX_URL_LENGTH) return 'its address is very long';
    if (unsubscribing.has(pageOf(url))) return 'it is in the List-Unsubscribe header';
    const purpose = leadsToUnsubscribing(url.href) ? UNSUBSCRIBE : purposeOf(decoded(url.href));
    if (purpose) return `it looks like a link to ${purpose}`;
    return hasToken(url) ? 'it has a long token in it, which may stand for its reader' : null;
  };
  return {
    ofUrl: (url) => pages.get(pageOf(url)) ?? ofAddress(url),
    ofLink: ({ url }) => (url ? (places.get(placeOf(url)) ?? ofAddress(url)) : null),
  };
}

/** Why addresses are left alone for what the message says of them, by address and by page. */
function cautionedByWords(context: Context) {
  const reasonOf = readerOfWords(context);
  const places = new Map<string, string>();
  const pages = new Map<string, string>();
  for (const link of context.fact(messageLinks)) {
    const reason = link.url && reasonOf(link);
    if (!link.url || !reason) continue;
    places.set(placeOf(link.url), reason);
    pages.set(pageOf(link.url), reason);
  }
  return { places, pages };
}

function readerOfWords(context: Context): (link: MessageLink) => string | null {
  const candidates = new Set(context.fact(unsubscribeCandidates));
  const wordsOf = wordsAround(context.message.text ?? '');
  const unsubscribing = candidates.size > 0 || speaksSomewhere(context);
  return (link) => {
    const { text, label, before, after } = link;
    const purpose = candidates.has(link)
      ? UNSUBSCRIBE
      : purposeOf(text === null ? wordsOf(link) : `${text} ${label}`);
    if (purpose) return `it looks like a link to ${purpose}`;
    if (text === null || !leavesItToOthers(text)) return null;
    const around = purposeOf(`${before} ${after}`);
    if (around)
      return `its text does not say what it does, and what is around it speaks of a link to ${around}`;
    if (unsubscribing && saysNothing(text))
      return 'its text does not say what it does, and the message speaks of unsubscribing';
    return null;
  };
}

/** In its HTML, hidden text included: a link may hide what it says. */
function speaksSomewhere(context: Context): boolean {
  const facts = context.fact(htmlFacts);
  if (!facts) return false;
  const { text, hidden } = facts;
  const unseen = hidden.map((found) => found.text).join(' ');
  return [text, unseen]
    .flatMap((part) => [part.slice(0, MAX_TEXT), part.slice(MAX_TEXT).slice(-MAX_TEXT)])
    .some((part) => hasAny(plainWords(part, MAX_TEXT), PATTERNS[0]!));
}

/** What a text says that a link is for; null where it says nothing of the kind. */
function purposeOf(text: string): string | null {
  if (text.trim() === '') return null;
  if (speaksOfUnsubscribing(text)) return UNSUBSCRIBE;
  const searched = plainWords(text, MAX_SAID);
  return PATTERNS.find((pattern) => hasAny(searched, pattern))?.purpose ?? null;
}

interface Pattern {
  purpose: string;
  /** Any of these in a plain text, in which every word stands between spaces. */
  pieces: string[];
}

const hasAny = (plain: string, { pieces }: Pattern): boolean =>
  pieces.some((piece) => plain.includes(piece));

function patternOf({ purpose, anywhere, atStart, whole }: CautionWords): Pattern {
  const bare = (words: string[]) => words.map((word) => plainWords(word, 100).trim());
  const joined = bare(atStart).map((word) => word.replaceAll(' ', ''));
  const starts = new Set([...bare(atStart), ...joined]);
  return {
    purpose,
    pieces: [
      ...bare(anywhere),
      ...[...starts].map((word) => ` ${word}`),
      ...bare(whole).map((word) => ` ${word} `),
    ],
  };
}

/** Percent-encoding taken off twice: an address may hold another. */
function decoded(text: string): string {
  return decodedOnce(decodedOnce(text));
}

// What is no UTF-8 costs no more than its own characters.
function decodedOnce(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

function listUnsubscribePages(context: Context): Set<string> {
  const urls = fields(context.message, 'list-unsubscribe')
    .slice(0, 10)
    .flatMap(({ value }) => value.slice(0, 10_000).match(/<[^<>]*>/g) ?? [])
    .map((uri) => URL.parse(uri.slice(1, -1).replace(/\s/g, '')))
    .filter((url) => url?.protocol === 'https:' || url?.protocol === 'http:') as URL[];
  return new Set(urls.map(pageOf));
}

/** The address without what changes nothing of where it leads: scheme and fragment. */
const placeOf = (url: URL): string => `${url.host}${url.pathname}${url.search}`;

/** The same page whatever its parameters; the very address where the page is the root. */
const pageOf = (url: URL): string =>
  url.pathname === '/' ? placeOf(url) : `${url.host}${url.pathname}`;

// The words of the text part that tell what an address in it is for.

const MAX_TEXT_PART = 5_000_000;
const MAX_REFERENCES = 2000;
const MAX_WORDS = 800;
const BEFORE = 200;
const AFTER = 60;

const LINE_END = /\r\n|\r|\n/;
const ADDRESS = /(?:https?:\/\/|www\.)\S+/gi;

/**
 * For a link of the text part: the rest of its line, the paragraph before it, and where it stands
 * at a number, as in `[1] https://…`, what stands at that number elsewhere.
 */
function wordsAround(text: string): (link: MessageLink) => string {
  let notes: Map<number, string> | null = null;
  return ({ before, after }) => {
    const lines = before.split(LINE_END);
    const [, number] = /(?:\[|^\W*)(\d{1,4})[\].):]\W*$/.exec(lines.at(-1)!.slice(-40)) ?? [];
    if (number !== undefined) notes ??= notesOf(text);
    const note = number === undefined ? '' : (notes?.get(Number(number)) ?? '');
    return `${paragraphBefore(lines)} ${restOfLine(after)} ${note}`;
  };
}

/**
 * The line up to the link and those above it, up to an empty line or another address. Empty lines
 * between are passed over where its own line says nothing.
 */
function paragraphBefore(lines: string[]): string {
  const own = lines.at(-1)!;
  const found = [own];
  let at = lines.length - 2;
  if (leavesItToOthers(own.replace(/\P{L}+/gu, ' '))) while (lines[at]?.trim() === '') at -= 1;
  for (; at >= 0 && lines[at]!.trim() !== ''; at -= 1) {
    const line = lines[at]!;
    const address = [...line.matchAll(ADDRESS)].at(-1);
    found.unshift(address ? line.slice(address.index + address[0].length) : line);
    if (address) break;
  }
  return found.join(' ');
}

/** With the next line, where the sentence goes on there. */
function restOfLine(after: string): string {
  const [rest = '', next = ''] = after.split(LINE_END);
  return `${rest.slice(0, 2 * AFTER)} ${/^\s*\p{Ll}/u.test(next) ? next.slice(0, AFTER) : ''}`;
}

/** What stands around `[1]`, `[2]` and so on. */
function notesOf(text: string): Map<number, string> {
  const notes = new Map<number, string>();
  let count = 0;
  for (const { 0: mark, 1: number, index } of text
    .slice(0, MAX_TEXT_PART)
    .matchAll(/\[(\d{1,4})\]/g)) {
    if (++count > MAX_REFERENCES) break;
    const known = notes.get(Number(number)) ?? '';
    if (known.length >= MAX_WORDS) continue;
    const end = index + mark.length;
    const before = paragraphBefore(text.slice(Math.max(0, index - BEFORE), index).split(LINE_END));
    const [after = ''] = text.slice(end, end + AFTER).split(/[[\r\n]/, 1);
    notes.set(Number(number), `${known} ${before} ${after}`);
  }
  return notes;
}
