/** The words by which a text or an address offers to unsubscribe, in the languages of most mail. */

// Compared without case and accents (see `fold`). A blank stands for white space or a dash, `…` for
// up to two more words, and what ends in `*` goes on: `abmeld*` is "Abmeldung" too.
const PHRASES = [
  // English
  ['unsubscri*', 'opt out', 'opting out', 'optout', 'stop receiving', 'remove me from'],
  ['no longer wish to receive', 'no longer want to receive'],
  // German, Dutch
  ['abmeld*', 'melden Sie sich … ab', 'abbestell*', 'austragen', 'nicht mehr erhalten'],
  ['uitschrijv*', 'afmeld*', 'schrijf … uit'],
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
  ['avregistrer*', 'avprenumerera', 'avsluta … prenumeration', 'avbryt … prenumeration'],
  ['avmeld*', 'meld … av', 'avslutt … abonnement', 'frameld*', 'peruuta … tilaus*'],
  ['peru … tilaus*', 'lopeta … tilaus*', 'poistu postituslistalta'],
  // Polish, Czech, Slovak, Hungarian, the South Slavic languages
  ['wypisz*', 'wypisa*', 'anuluj … subskrypcję', 'rezygnacja z subskrypcji', 'zrezygnuj*'],
  ['odhlás*', 'odhlas*', 'zrušit odběr', 'zrušiť odber', 'leiratkoz*', 'odjav*'],
  // Russian, Ukrainian, Bulgarian, Greek, Turkish
  ['отписат*', 'отписк*', 'отпиши*', 'отпишет*', 'отписв*', 'отказаться от рассылки', 'відпис*'],
  ['διαγραφή', 'απεγγραφή', 'κατάργηση εγγραφής', 'abonelikten çık*', 'abonelikten ayrıl*'],
  ['aboneliği iptal*', 'listeden çık*'],
  // Indonesian, Vietnamese
  ['berhenti berlangganan', 'hủy đăng ký', 'huỷ đăng ký', 'ngừng nhận'],
];

/** In scripts that put no blanks between words, or join words to what stands before and after. */
const ANYWHERE = [
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

// What stands in addresses and hardly in texts.
const SHORT = /(?<![a-z])(?:unsubs?|desabo|baja|signoff)(?![a-z])/;

// More than any link or line needs: a hostile one may hold 25 MB.
const MAX_LENGTH = 2000;

const GAP = '[\\s-]{1,3}';

const source = (phrase: string): string =>
  phrase
    .replace(/\*$/, '')
    .split(' … ')
    .map((part) => fold(part).replace(/[ -]/g, GAP))
    .join(`${GAP}(?:[\\p{L}']{1,20}${GAP}){0,2}`) + (phrase.endsWith('*') ? '' : '(?!\\p{L})');

const WORDS = new RegExp(
  `(?<!\\p{L})(?:${PHRASES.flat().map(source).join('|')})|${ANYWHERE.flat().map(fold).join('|')}`,
  'u',
);

/** Lower case without accents, invisible characters and curled apostrophes: `désabonner` → `desabonner`. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}|\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/\u2019/g, "'")
    .replace(/[\u2010-\u2015]/g, '-');
}

/** Whether a text offers to unsubscribe; its first 2,000 characters are looked at. */
export function speaksOfUnsubscribing(text: string): boolean {
  return WORDS.test(fold(text.slice(0, MAX_LENGTH)));
}

/** The same of an address, in whatever part of it: `https://example.com/u?do=opt-out`. */
export function leadsToUnsubscribing(href: string): boolean {
  const words = fold(decoded(href.slice(0, MAX_LENGTH))).replace(/[^\p{L}]+/gu, ' ');
  return WORDS.test(words) || SHORT.test(words);
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}
