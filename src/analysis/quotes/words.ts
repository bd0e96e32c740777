/** The words with which email clients introduce quoted and forwarded messages, by language. */

import { plainWords } from '../text.ts';

/** The prefixes that email clients add, in many languages, possibly with a count: `Re[2]:`, `RE (2):`. */
const REPLY_PREFIX =
  /^(?:re|aw|antw|antwort|sv|vs|odp|rif|res|r|bls|ynt|回复|回覆|答复|返信|답장|απ|σχετ|отв|ответ|відп)(?:\s?[[(]\d{1,3}[\])])?\s?[:：]/iu;
const FORWARD_PREFIX =
  /^(?:fwd?|wg|tr|vl|vb|pd|enc|rv|i|doorst|továbbítás|ilt|i̇lt|пересл|转发|轉寄|転送|전달|πρθ)(?:\s?[[(]\d{1,3}[\])])?\s?[:：]/iu;

/** A list puts its tag before the prefix: `[list] Re: …`. */
const LIST_TAG = /^\s*\[[^\]]{1,60}\]\s*/;

export interface SubjectPrefix {
  text: string;
  relation: 'reply' | 'forward';
}

/** The prefix of a reply or a forwarded message, at the beginning of a subject; null if it has none. */
export function subjectPrefix(subject: string): SubjectPrefix | null {
  const start = subject.slice(0, 200).replace(LIST_TAG, '').trimStart();
  const reply = REPLY_PREFIX.exec(start)?.[0];
  if (reply !== undefined) return { text: reply, relation: 'reply' };
  const forward = FORWARD_PREFIX.exec(start)?.[0];
  return forward === undefined ? null : { text: forward, relation: 'forward' };
}

const phrases = (...lines: string[]): Set<string> =>
  new Set(lines.flatMap((line) => line.split(',')).map(normalize));

/** As in the sets below: in lower case, without accents and symbols. */
const normalize = (text: string): string => plainWords(text, 200).trim();

// The line above a copied message: "-----Original Message-----".

const REPLY_LINES = phrases(
  'original message, original appointment, original, reply message, ursprüngliche nachricht, originalnachricht',
  "ursprünglicher termin, original nachricht, message d'origine, message original, courriel d'origine, message initial",
  'mensaje original, messaggio originale, mensagem original, oorspronkelijk bericht, oorspronkelijke bericht',
  'wiadomość oryginalna, oryginalna wiadomość, ursprungligt meddelande, originalmeddelande',
  'oprindelig meddelelse, original meddelelse, opprinnelig melding, alkuperäinen viesti, eredeti üzenet',
  'původní zpráva, pôvodná správa, mesaj original, mesajul original, αρχικό μήνυμα',
  'исходное сообщение, оригинальное сообщение, оригінальне повідомлення, вихідне повідомлення',
  'orijinal mesaj, orijinal ileti, özgün ileti, 原始邮件, 原始郵件, 原邮件, 元のメッセージ, オリジナルメッセージ',
  '원본 메시지, 원본 메일, thư gốc, pesan asli, الرسالة الأصلية, הודעה מקורית, missatge original',
);
const FORWARD_LINES = phrases(
  'forwarded message, forwarded mail, begin forwarded message, start of forwarded message',
  'weitergeleitete nachricht, anfang der weitergeleiteten nachricht',
  'message transféré, message transmis, début du message transféré, début du message réexpédié, courriel transféré',
  'mensaje reenviado, inicio del mensaje reenviado, messaggio inoltrato, inizio messaggio inoltrato',
  'inizia messaggio inoltrato, doorgestuurd bericht, begin doorgestuurd bericht, mensagem encaminhada',
  'mensagem reencaminhada, início da mensagem encaminhada, início da mensagem reencaminhada',
  'wiadomość przekazana, przekazana wiadomość, początek przekazywanej wiadomości, treść przekazanej wiadomości',
  'vidarebefordrat meddelande, vidarebefordrat brev, videresendt besked, videresendt meddelelse',
  'videresendt melding, start på videresendt besked, välitetty viesti, továbbított üzenet',
  'přeposlaná zpráva, preposlaná správa, mesaj redirecționat, mesaj retransmis, προωθημένο μήνυμα',
  'пересылаемое сообщение, пересланное сообщение, пересланное письмо, начало переадресованного сообщения',
  'переслане повідомлення, iletilen mesaj, yönlendirilmiş ileti, yönlendirilen ileti, 转发的邮件, 轉寄的郵件',
  '转发邮件信息, 已转发邮件, 転送メッセージ, 転送されたメッセージ, 전달된 메시지, thư chuyển tiếp, pesan terusan',
  'رسالة معاد توجيهها, הודעה שהועברה, missatge reenviat',
);

/** IBM Notes names who forwarded the message, and when. */
const FORWARDED_BY =
  /^ (?:forwarded by|weitergeleitet von|transfere par|reenviado por|inoltrato da) /;

/** The kind of copied message that begins after the line; null if none does. */
export function separatorOf(line: string): 'reply' | 'forward' | null {
  if (line.length > 120) return null;
  const isRuled = /^[\s>]*[-_=*]{2}/.test(line);
  if (!isRuled && !/[:：]\s*$/.test(line)) return null;
  const words = plainWords(line, 120);
  if (FORWARD_LINES.has(words.trim())) return 'forward';
  if (!isRuled) return null;
  if (FORWARDED_BY.test(words)) return 'forward';
  return REPLY_LINES.has(words.trim()) ? 'reply' : null;
}

// The fields that are copied above it: "From: … Sent: … To: … Subject: …".

const LABELS = {
  from: phrases(
    'from, von, absender, de, expéditeur, da, mittente, van, afzender, od, nadawca, från, avsändare, fra, afsender',
    'lähettäjä, kimden, gönderen, от, от кого, від, feladó, odesílatel, odosielateľ, de la, expeditor, από, 差出人',
    '发件人, 寄件者, 寄件人, 보낸 사람, từ, người gửi, dari, من, מאת, remitente, remetente, จาก',
  ),
  date: phrases(
    'sent, date, gesendet, datum, envoyé, envoyé le, enviado, enviado el, enviada em, enviado em, fecha, data, inviato',
    'data invio, verzonden, wysłano, data wysłania, skickat, sendt, dato, lähetetty, päivämäärä, päiväys, gönderildi',
    'gönderilme tarihi, tarih, отправлено, дата, надіслано, elküldve, dátum, odesláno, odoslané, trimis, στάλθηκε',
    'ημερομηνία, 送信日時, 送信, 日付, 发送时间, 日期, 寄件日期, 보낸 날짜, 날짜, ngày, đã gửi, dikirim, tanggal, تاريخ, التاريخ',
    'תאריך, נשלח, วันที่',
  ),
  to: phrases(
    'to, an, à, para, a, aan, do, till, til, vastaanottaja, kime, alıcı, кому, címzett, komu, către, προς, 宛先, 收件人',
    '받는 사람, đến, kepada, إلى, אל, ถึง, empfänger, destinataire, destinatario, per',
  ),
  subject: phrases(
    'subject, betreff, objet, asunto, oggetto, onderwerp, assunto, temat, ämne, emne, aihe, konu, тема, tárgy, předmět',
    'predmet, subiect, θέμα, 件名, 主题, 主題, 主旨, 제목, chủ đề, tiêu đề, perihal, subjek, موضوع, الموضوع, נושא, เรื่อง',
  ),
} as const;

type Label = keyof typeof LABELS;
const LABEL_NAMES = Object.keys(LABELS) as Label[];
const LABEL = /^[\s>*_|]{0,6}([^:：]{1,24}?)[\s*_]{0,4}[:：]/u;

/** The fields that a line of copied fields may be: "Da:" and "Data:" are in several languages. */
export function labelsOf(line: string): Label[] {
  const label = LABEL.exec(line)?.[1];
  if (label === undefined) return [];
  const words = normalize(label);
  return LABEL_NAMES.filter((name) => LABELS[name].has(words));
}

// The line above a quote: "On 3 Nov 2026 at 10:00, Ana <ana@example.com> wrote:".

const WROTE = anyWord(
  'wrote, writes, schrieb, schreibt, geschrieben, écrit, escribió, scritto, scrive, schreef, geschreven, escreveu',
  'escreve, napisał, napisała, napisal, napsal, napsala, napísal, napísala, pisze, skrev, skriver, kirjoitti, yazdı',
  'написал, написала, пишет, писал, написав, написала, пише, írta, scris, έγραψε, viết, menulis, kirjutas, rašė, escrit',
);
/** Without spaces between words. */
const WROTE_ANYWHERE = /写道|寫道|のメール|님이 작성|작성:|كتب|כתב|เขียน/u;

function anyWord(...lines: string[]): RegExp {
  return new RegExp(` (?:${[...phrases(...lines)].join('|')}) `);
}

const MAX_ATTRIBUTION = 400;
const TIME_OR_DATE = /\d{1,2}[:.hH]\d{2}|\d{1,2}[./-]\d{1,2}[./-]\d{2}|\d{4}/;

/** Whether the text, of one to three lines, says who wrote what follows. */
export function isAttribution(text: string): boolean {
  if (text.length > MAX_ATTRIBUTION || !/[:：]\s*$/.test(text) || !/[\d@]/.test(text)) return false;
  // Any language: an address, a time, and a colon at the end.
  if (text.includes('@') && TIME_OR_DATE.test(text)) return true;
  return WROTE.test(plainWords(text, MAX_ATTRIBUTION)) || WROTE_ANYWHERE.test(text);
}
