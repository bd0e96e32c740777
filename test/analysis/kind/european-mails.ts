/** Short mails of both kinds, as senders write them: subject, text, and the text of a button or null. */

import type { LanguageMails } from './language-mails.ts';

export const EUROPEAN: Record<string, LanguageMails> = {
  sv: {
    marketing: [
      [
        'Bara till söndag: 30 % rabatt på alla stövlar',
        'Hela vinterkollektionen till halva priset eller lägre, i butik och på nätet.',
        'Handla nu',
      ],
      [
        'Trädgårdsbrevet november',
        'I det här numret: skydda rosorna, använd löven och besök hos en biodlare.',
        'Läs mer',
      ],
      [
        'Värva en vän och få 100 kr',
        'Dela din länk. När din vän blir kund får ni båda 100 kr.',
        'Bjud in en vän',
      ],
      [
        'Inbjudan till vårt kostnadsfria webbinarium',
        'Den 4 december visar vi hur små föreningar sköter sin ekonomi.',
        'Anmäl dig',
      ],
      [
        'Du glömde något i varukorgen',
        'Skrivbordet i valnöt ligger kvar i varukorgen.',
        'Till varukorgen',
      ],
    ],
    transactional: [
      [
        'Orderbekräftelse 48213',
        'Tack för din beställning. Totalt: 499 kr. Vi hör av oss när den skickas.',
        'Visa order',
      ],
      [
        'Ditt paket levereras i dag',
        'Chauffören kommer mellan 13 och 15. Kollinummer 48213771.',
        'Spåra paketet',
      ],
      [
        'Återställ ditt lösenord',
        'Någon har begärt ett nytt lösenord till ditt konto. Länken gäller i en timme.',
        'Välj lösenord',
      ],
      [
        'Påminnelse om din tid på tisdag kl. 9.30',
        'Ta med legitimation. Ring om du får förhinder.',
        null,
      ],
      [
        'Din faktura för november',
        'Fakturan finns nu i din inkorg. Förfallodag är den 5 december.',
        'Öppna fakturan',
      ],
    ],
  },
  ro: {
    marketing: [
      [
        'Doar până duminică: reducere 30% la cizme',
        'Toată colecția de iarnă cu reduceri de 30%, în magazin și online.',
        'Cumpără acum',
      ],
      [
        'Scrisoarea grădinii, noiembrie',
        'În acest număr: cum protejăm trandafirii, ce facem cu frunzele și o vizită la un apicultor.',
        'Citește mai mult',
      ],
      [
        'Recomandă un prieten și primești 50 lei',
        'Trimite linkul tău: când prietenul își face cont, primiți amândoi 50 lei.',
        'Invită un prieten',
      ],
      [
        'Te invităm la un webinar gratuit',
        'Pe 4 decembrie arătăm cum își ține contabilitatea o asociație mică.',
        'Înscrie-te',
      ],
      ['Ai uitat ceva în coș', 'Biroul din nuc te așteaptă încă în coșul tău.', 'Mergi la coș'],
    ],
    transactional: [
      [
        'Confirmarea comenzii 48213',
        'Îți mulțumim pentru comandă. Total de plată: 199,90 lei.',
        'Vezi comanda',
      ],
      [
        'Coletul tău ajunge astăzi',
        'Curierul vine între 13 și 15. Număr AWB: 4821377100.',
        'Urmărește coletul',
      ],
      [
        'Resetează parola',
        'Am primit o cerere de schimbare a parolei contului tău. Linkul este valabil o oră.',
        'Alege o parolă',
      ],
      [
        'Reamintire: programarea ta de marți, ora 9:30',
        'Te rugăm să aduci cardul de sănătate. Dacă nu poți ajunge, sună-ne.',
        null,
      ],
      [
        'Factura ta pe noiembrie',
        'Factura este disponibilă. Scadența este pe 5 decembrie.',
        'Vezi factura',
      ],
    ],
  },
  cs: {
    marketing: [
      [
        'Jen do neděle: sleva 30 % na všechny boty',
        'Celá zimní kolekce o 30 % levněji, v prodejně i na e-shopu.',
        'Koupit nyní',
      ],
      [
        'Zahradní dopis, listopad',
        'V tomto čísle: jak ochránit růže, co s listím a návštěva u včelaře.',
        'Číst dál',
      ],
      [
        'Doporučte nás příteli a získejte 200 Kč',
        'Sdílejte svůj odkaz. Když si přítel založí účet, dostanete oba 200 Kč.',
        'Pozvat přítele',
      ],
      [
        'Pozvánka na bezplatný webinář',
        '4. prosince ukážeme, jak vést finance malého spolku.',
        'Přihlásit se',
      ],
      ['Něco zůstalo v košíku', 'Ořechový stůl na vás stále čeká v košíku.', 'Zpět do košíku'],
    ],
    transactional: [
      [
        'Potvrzení objednávky 48213',
        'Děkujeme za objednávku. Celkem k úhradě: 1 290 Kč.',
        'Zobrazit objednávku',
      ],
      [
        'Vaše zásilka dorazí dnes',
        'Kurýr přijede mezi 13. a 15. hodinou. Číslo zásilky: 4821377100.',
        'Sledovat zásilku',
      ],
      [
        'Obnovení hesla',
        'Někdo požádal o nové heslo k vašemu účtu. Odkaz platí hodinu.',
        'Nastavit heslo',
      ],
      [
        'Připomínka: vaše návštěva v úterý v 9:30',
        'Vezměte si prosím průkaz pojištěnce. Pokud nemůžete přijít, zavolejte.',
        null,
      ],
      [
        'Vaše faktura za listopad',
        'Faktura je připravena. Splatnost je 5. prosince.',
        'Otevřít fakturu',
      ],
    ],
  },
  hu: {
    marketing: [
      [
        'Csak vasárnapig: 30% kedvezmény minden csizmára',
        'A teljes téli kollekció 30% kedvezménnyel, az üzletben és online.',
        'Vásárlás most',
      ],
      [
        'Kertlevél, november',
        'Ebben a számban: hogyan védjük a rózsákat, mire jó az avar, és látogatás egy méhésznél.',
        'Tovább olvasom',
      ],
      [
        'Ajánlj minket egy barátodnak, és kapsz 2000 Ft-ot',
        'Oszd meg a linkedet: ha a barátod számlát nyit, mindketten 2000 Ft-ot kaptok.',
        'Barát meghívása',
      ],
      [
        'Meghívó ingyenes webináriumunkra',
        'December 4-én megmutatjuk, hogyan kezeli a pénzügyeit egy kis egyesület.',
        'Jelentkezem',
      ],
      [
        'Valami a kosárban maradt',
        'A diófa íróasztal még mindig a kosaradban vár.',
        'Vissza a kosárhoz',
      ],
    ],
    transactional: [
      [
        'Rendelés visszaigazolása: 48213',
        'Köszönjük a rendelést. Fizetendő összesen: 19 990 Ft.',
        'Rendelés megtekintése',
      ],
      [
        'Csomagod ma érkezik',
        'A futár 13 és 15 óra között érkezik. Csomagszám: 4821377100.',
        'Csomag követése',
      ],
      [
        'Jelszó visszaállítása',
        'Valaki új jelszót kért a fiókodhoz. A link egy óráig érvényes.',
        'Új jelszó',
      ],
      [
        'Emlékeztető: időpontod kedden 9:30-kor',
        'Kérjük, hozd magaddal a TAJ-kártyádat. Ha nem tudsz jönni, hívj minket.',
        null,
      ],
      [
        'Novemberi számlád elkészült',
        'A számla letölthető. Fizetési határidő: december 5.',
        'Számla megnyitása',
      ],
    ],
  },
  el: {
    marketing: [
      [
        'Μόνο ως την Κυριακή: -30% σε όλες τις μπότες',
        'Όλη η χειμερινή συλλογή με έκπτωση 30%, στο κατάστημα και online.',
        'Αγοράστε τώρα',
      ],
      [
        'Το γράμμα του κήπου, Νοέμβριος',
        'Σε αυτό το τεύχος: πώς προστατεύουμε τις τριανταφυλλιές και μια επίσκεψη σε μελισσοκόμο.',
        'Διαβάστε περισσότερα',
      ],
      [
        'Πρότεινε έναν φίλο και κέρδισε 10 €',
        'Μοιράσου τον σύνδεσμό σου: όταν ο φίλος σου ανοίξει λογαριασμό, παίρνετε και οι δύο 10 €.',
        'Κάλεσε έναν φίλο',
      ],
      [
        'Πρόσκληση σε δωρεάν διαδικτυακό σεμινάριο',
        'Στις 4 Δεκεμβρίου δείχνουμε πώς κρατά λογαριασμούς ένας μικρός σύλλογος.',
        'Δηλώστε συμμετοχή',
      ],
      [
        'Κάτι ξεχάσατε στο καλάθι',
        'Το γραφείο από καρυδιά είναι ακόμη στο καλάθι σας.',
        'Στο καλάθι',
      ],
    ],
    transactional: [
      [
        'Επιβεβαίωση παραγγελίας 48213',
        'Ευχαριστούμε για την παραγγελία σας. Σύνολο: 41,90 €.',
        'Δείτε την παραγγελία',
      ],
      [
        'Το δέμα σας φτάνει σήμερα',
        'Ο διανομέας θα περάσει μεταξύ 13:00 και 15:00. Αριθμός αποστολής: 48213771.',
        'Παρακολούθηση',
      ],
      [
        'Επαναφορά κωδικού πρόσβασης',
        'Ζητήθηκε νέος κωδικός για τον λογαριασμό σας. Ο σύνδεσμος ισχύει για μία ώρα.',
        'Νέος κωδικός',
      ],
      [
        'Υπενθύμιση: το ραντεβού σας την Τρίτη στις 9:30',
        'Φέρτε μαζί σας την ταυτότητά σας. Αν δεν μπορείτε να έρθετε, καλέστε μας.',
        null,
      ],
      [
        'Ο λογαριασμός σας για τον Νοέμβριο',
        'Το τιμολόγιό σας είναι έτοιμο. Πληρωτέο έως 5 Δεκεμβρίου.',
        'Δείτε το τιμολόγιο',
      ],
    ],
  },
  ru: {
    marketing: [
      [
        'Только до воскресенья: скидка 30 % на все сапоги',
        'Вся зимняя коллекция со скидкой 30 % в магазине и на сайте.',
        'Купить',
      ],
      [
        'Садовое письмо, ноябрь',
        'В этом выпуске: как укрыть розы, что делать с листьями и визит к пасечнику.',
        'Читать дальше',
      ],
      [
        'Пригласи друга и получи 500 рублей',
        'Поделитесь ссылкой: когда друг откроет счёт, вы оба получите по 500 рублей.',
        'Пригласить друга',
      ],
      [
        'Приглашаем на бесплатный вебинар',
        '4 декабря покажем, как вести финансы небольшой организации.',
        'Зарегистрироваться',
      ],
      [
        'Вы забыли товар в корзине',
        'Письменный стол из ореха всё ещё ждёт вас в корзине.',
        'Вернуться в корзину',
      ],
    ],
    transactional: [
      [
        'Ваш заказ № 48213 оформлен',
        'Спасибо за заказ. Итого к оплате: 4 190 руб.',
        'Посмотреть заказ',
      ],
      [
        'Ваша посылка прибудет сегодня',
        'Курьер приедет с 13 до 15 часов. Трек-номер: 4821377100.',
        'Отследить посылку',
      ],
      ['Ваш код подтверждения', 'Код: 482913. Никому его не сообщайте.', null],
      [
        'Напоминание о записи на вторник, 9:30',
        'Возьмите с собой паспорт. Если не сможете прийти, позвоните нам.',
        null,
      ],
      [
        'Восстановление пароля',
        'Кто-то запросил новый пароль для вашей учётной записи. Ссылка действует один час.',
        'Задать пароль',
      ],
    ],
  },
  uk: {
    marketing: [
      [
        'Лише до неділі: знижка 30 % на всі чоботи',
        'Уся зимова колекція зі знижкою 30 % у магазині та на сайті.',
        'Купити',
      ],
      [
        'Садовий лист, листопад',
        'У цьому випуску: як укрити троянди, що робити з листям і візит до пасічника.',
        'Читати далі',
      ],
      [
        'Запроси друга й отримай 200 грн',
        'Поділіться посиланням: коли друг відкриє рахунок, ви обоє отримаєте по 200 грн.',
        'Запросити друга',
      ],
      [
        'Запрошуємо на безкоштовний вебінар',
        '4 грудня покажемо, як вести фінанси невеликої організації.',
        'Зареєструватися',
      ],
      [
        'Ви залишили товар у кошику',
        'Стіл із горіха досі чекає на вас у кошику.',
        'Повернутися до кошика',
      ],
    ],
    transactional: [
      [
        'Ваше замовлення № 48213 прийнято',
        'Дякуємо за замовлення. Разом до сплати: 1 290 грн.',
        'Переглянути замовлення',
      ],
      [
        'Ваша посилка прибуде сьогодні',
        'Кур’єр приїде з 13 до 15 години. Номер накладної: 4821377100.',
        'Відстежити',
      ],
      ['Ваш код підтвердження', 'Код: 482913. Нікому його не повідомляйте.', null],
      [
        'Нагадування про запис на вівторок, 9:30',
        'Візьміть із собою паспорт. Якщо не зможете прийти, зателефонуйте нам.',
        null,
      ],
      [
        'Відновлення пароля',
        'Хтось запросив новий пароль для вашого облікового запису. Посилання діє одну годину.',
        'Новий пароль',
      ],
    ],
  },
  tr: {
    marketing: [
      [
        'Sadece pazara kadar: tüm botlarda %30 indirim',
        'Tüm kış koleksiyonu mağazada ve internette %30 indirimli.',
        'Hemen al',
      ],
      [
        'Bahçe mektubu, kasım',
        'Bu sayıda: gülleri korumak, yaprakları kullanmak ve bir arıcıyı ziyaret.',
        'Devamını oku',
      ],
      [
        'Arkadaşını davet et, 100 TL kazan',
        'Bağlantını paylaş: arkadaşın hesap açınca ikiniz de 100 TL kazanırsınız.',
        'Arkadaşını davet et',
      ],
      [
        'Ücretsiz web seminerimize davetlisiniz',
        '4 Aralık’ta küçük bir derneğin mali işlerini nasıl yürüttüğünü gösteriyoruz.',
        'Kayıt ol',
      ],
      [
        'Sepetinizde ürün kaldı',
        'Ceviz çalışma masası hâlâ sepetinizde sizi bekliyor.',
        'Sepete dön',
      ],
    ],
    transactional: [
      [
        '48213 numaralı siparişiniz alındı',
        'Siparişiniz için teşekkür ederiz. Toplam tutar: 419,90 TL.',
        'Siparişi gör',
      ],
      [
        'Kargonuz bugün teslim edilecek',
        'Kurye 13:00 ile 15:00 arasında gelecek. Takip numarası: 4821377100.',
        'Kargoyu takip et',
      ],
      [
        'Şifrenizi sıfırlayın',
        'Hesabınız için yeni bir şifre istendi. Bağlantı bir saat geçerlidir.',
        'Yeni şifre',
      ],
      [
        'Hatırlatma: salı 9.30 randevunuz',
        'Lütfen kimliğinizi getirin. Gelemeyecekseniz bizi arayın.',
        null,
      ],
      ['Kasım ayı faturanız', 'Faturanız hazır. Son ödeme tarihi 5 Aralık.', 'Faturayı aç'],
    ],
  },
};
