/** The words by which a text or an address offers to unsubscribe, in the languages of most mail. */

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
