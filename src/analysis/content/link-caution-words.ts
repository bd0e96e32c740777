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

/** Written without accents: what is searched loses them too. The first entry is the one on unsubscribing. */
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
    atStart: ['valider', 'activez', 'double opt'],
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
      ...['slett', 'report spam', 'report abuse', 'one click', 'ta bort'],
    ],
    whole: ['deny', 'block', 'sil'],
  },
];

/** Texts of links that do not say what the link is for. */
export const EMPTY_PHRASES: string[] = [
  ...['here', 'click here', 'click', 'this link', 'link', 'this page', 'by clicking here'],
  ...['tap here', 'press here', 'follow this link', 'use this link', 'hier', 'hier klicken'],
  ...['klicken Sie hier', 'klick hier', 'diesen Link', 'diesem Link', 'ici', 'cliquez ici'],
  ...['ce lien', 'en cliquant ici', 'aquí', 'haga clic aquí', 'haz clic aquí', 'clic aquí'],
  ...['este enlace', 'aqui', 'clique aqui', 'este link', 'qui', 'clicca qui', 'questo link'],
  ...['klik hier', 'deze link', 'tutaj', 'kliknij tutaj', 'här', 'klicka här', 'her', 'klik her'],
  ...['klikk her', 'zde', 'klikněte zde', 'здесь', 'тут', 'сюда', 'нажмите здесь', 'εδώ', 'tässä'],
  ...[
    'buraya',
    'tıklayın',
    'burada',
    'ide',
    'aici',
    'こちら',
    'ここ',
    '这里',
    '這裡',
    '点击这里',
    '여기',
  ],
];
