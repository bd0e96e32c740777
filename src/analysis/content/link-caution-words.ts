/** The words by which a link is told that may do something when it is opened, in many languages. */

export interface CautionWords {
  /** What such a link is for, after "a link to". */
  purpose: string;
  /** Stems that say so wherever they stand within a word. */
  anywhere: string[];
  /** Beginnings of words; a space stands for a space, a sign or nothing. */
  atStart: string[];
}

/** Written without accents: what is searched loses them too. */
export const CAUTION_WORDS: CautionWords[] = [
  {
    purpose: 'unsubscribe or change preferences',
    anywhere: [
      ...['unsub', 'preference', 'prefcent', 'listmanage', 'list-manage'],
      ...['abmeld', 'abbestell', 'austrag', 'einstellungen', 'abonn', 'abonement'],
      ...['desabon', 'desinscri', 'desuscri', 'suscripcion', 'descadastr', 'inscricao'],
      ...['disiscri', 'iscrizione', 'preferenze', 'preferencias', 'uitschrijv', 'afmeld'],
      ...['voorkeuren', 'wypisz', 'rezygn', 'subskryp', 'avregistrer', 'avprenumer', 'prenumer'],
      ...['frameld', 'avmeld', 'odhlas', 'odber', 'leiratkoz', 'dezabon', 'otpis', 'отпис'],
      ...['рассыл', 'відпис', 'απεγγραφ', 'διαγραφ', '退订', '退訂', '订阅', '訂閱', '配信停止'],
      ...['購読', '解除', '退会', '수신거부', '구독', 'الاشتراك', 'הסר', 'yeluyuryat', 'abonelik'],
    ],
    atStart: [
      ...['opt out', 'opt in', 'optout', 'optin', 'pref', 'settings', 'leave', 'stop mail'],
      ...['darse de baja', 'dar de baja', 'darme de baja', 'baja', 'peruuta', 'tilaus', 'ayril'],
    ],
  },
  {
    purpose: 'confirm, verify or activate something',
    anywhere: [
      ...['confirm', 'verif', 'validat', 'activat', 'bestatig', 'bestaetig', 'aktivi', 'activer'],
      ...['activeer', 'activar', 'ativar', 'attiva', 'bevestig', 'conferm', 'potwierd', 'zweryf'],
      ...['aktyw', 'bekraft', 'bekraeft', 'bekreft', 'vahvist', 'potvrd', 'overit', 'onayla'],
      ...['dogrula', 'megerosit', 'подтверд', 'активир', 'підтверд', 'επιβεβαι', '确认', '確認'],
      ...['验证', '驗證', '激活', '認証', '확인', '인증', 'تأكيد', 'אישור'],
    ],
    atStart: ['valider', 'activez', 'double opt', 'doi'],
  },
  {
    purpose: 'sign in or reset a password',
    anywhere: [
      ...['password', 'passwort', 'passwd', 'passphrase', 'kennwort', 'motdepasse', 'contrasen'],
      ...[
        'wachtwoord',
        'losenord',
        'salasana',
        'haslo',
        'heslo',
        'sifre',
        'jelszo',
        'parol',
        'парол',
      ],
      ...['reset', 'zurucksetz', 'zuruecksetz', 'reinitialis', 'restablec', 'redefin', 'reimpost'],
      ...[
        'signin',
        'signon',
        'oauth',
        'anmeld',
        'einlogg',
        'inlogg',
        'zaloguj',
        'logowan',
        'kirjaudu',
      ],
      ...['prihlas', 'belepes', 'bejelentkez', 'войти', 'вход', 'увійти', 'σύνδεση', 'συνδεση'],
      ...['登录', '登錄', '登入', 'ログイン', 'パスワード', '密码', '密碼', '로그인', '비밀번호'],
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
        'auth',
        'sso',
      ],
      ...[
        'token',
        'otp',
        'magic',
        'session',
        'recover',
        'unlock',
        'mot de passe',
        'senha',
        'se connecter',
      ],
      ...['connexion', 'iniciar', 'entrar', 'accedi', 'accesso', 'logga in', 'giris', 'kodeord'],
    ],
  },
  {
    purpose: 'subscribe or register',
    anywhere: ['subscri', 'regist', 'signup', 'suscrib', 'inscri', 'abonnez', 'подпис', 'підпис'],
    atStart: ['sign up', 'join', 'enroll', 'enrol', 'iscriviti', 'invit', 'zapisz', 'uye ol'],
  },
  {
    purpose: 'delete, cancel, approve or answer something',
    anywhere: [
      ...['delete', 'approv', 'revoke', 'loschen', 'loesch', 'kundig', 'kuendig', 'stornier'],
      ...[
        'supprim',
        'eliminar',
        'elimina',
        'verwijder',
        'annuler',
        'anular',
        'cancell',
        'genehmig',
      ],
      ...['удалит', 'видалит', 'отмен', '删除', '刪除', '取消', '削除', '삭제', '취소'],
    ],
    atStart: [
      ...[
        'cancel',
        'remove',
        'accept',
        'decline',
        'reject',
        'deny',
        'rsvp',
        'vote',
        'usun',
        'slett',
      ],
      ...[
        'report spam',
        'report abuse',
        'block',
        'one click',
        'do not',
        'no longer',
        'ta bort',
        'sil',
      ],
    ],
  },
];

/** Texts of links that say nothing about what they do. */
export const EMPTY_PHRASES: ReadonlySet<string> = new Set([
  ...['', 'here', 'click here', 'click', 'this link', 'link', 'this page', 'by clicking here'],
  ...['tap here', 'press here', 'follow this link', 'use this link', 'hier', 'hier klicken'],
  ...['klicken sie hier', 'klick hier', 'diesen link', 'diesem link', 'ici', 'cliquez ici'],
  ...['ce lien', 'en cliquant ici', 'aqui', 'haga clic aqui', 'haz clic aqui', 'clic aqui'],
  ...['este enlace', 'clique aqui', 'este link', 'qui', 'clicca qui', 'questo link', 'klik hier'],
  ...['deze link', 'tutaj', 'kliknij tutaj', 'har', 'klicka har', 'her', 'klik her', 'klikk her'],
  ...['zde', 'kliknete zde', 'здесь', 'тут', 'сюда', 'нажмите здесь', 'εδω', 'tassa', 'buraya'],
  ...['tiklayin', 'burada', 'ide', 'aici', 'こちら', 'ここ', '这里', '這裡', '点击这里', '여기'],
]);
