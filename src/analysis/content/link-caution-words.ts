/** The words by which a link is told that may do something when it is opened, in many languages. */

export interface CautionWords {
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
export const CAUTION_WORDS: [CautionWords, ...CautionWords[]] = [
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
