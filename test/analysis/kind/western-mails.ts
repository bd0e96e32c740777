/** Short mails of both kinds, as senders write them: subject, text, and the text of a button or null. */

import type { LanguageMails } from './language-mails.ts';

export const WESTERN: Record<string, LanguageMails> = {
  en: {
    marketing: [
      [
        'Two days left: 30% off all boots',
        'Winter is coming. Our whole boot range is 30% off until Sunday, in store and online.',
        'Shop boots',
      ],
      [
        'The potter’s letter, November',
        'In this issue: three glazes for dark clay, a visit to a kiln in Wales, and our reading list for long evenings.',
        'Read more on our site',
      ],
      [
        'Refer a friend and get 10 GBP',
        'Share your link. When a friend opens an account, you both get 10 GBP.',
        'Invite friends',
      ],
      [
        'Join us live: budgeting for small charities',
        'Our free webinar on 3 December shows how to plan a year with little money.',
        'Save your seat',
      ],
      [
        'You left something behind',
        'The walnut desk is still in your cart. Complete your purchase before it sells out.',
        'Back to your cart',
      ],
    ],
    transactional: [
      [
        'Your order 48213 is confirmed',
        'Thank you for your order. We will write again when it leaves our warehouse. Total amount: 41.90 GBP.',
        'View order',
      ],
      [
        'Your parcel is out for delivery',
        'The driver will be with you between 13:00 and 15:00 today.',
        'Track your parcel',
      ],
      [
        'Reset your password',
        'Someone asked for a new password for your account. The link works for one hour.',
        'Choose a password',
      ],
      [
        'Reminder: your appointment on Tuesday at 9:30',
        'Please bring your insurance card. Call us if you cannot come.',
        null,
      ],
      [
        'Payment failed for your subscription',
        'Your bank declined the payment of 12 GBP. Please update your card by Friday.',
        'Update card',
      ],
    ],
  },
  de: {
    marketing: [
      [
        'Nur bis Sonntag: 25 % auf alle Jacken',
        'Der Herbst ist da. Sparen Sie jetzt 25 % auf alle Jacken und Mäntel.',
        'Jetzt shoppen',
      ],
      [
        'Gartenbrief im November',
        'In dieser Ausgabe: Rosen winterfest machen, Laub sinnvoll nutzen und ein Besuch bei einer Imkerin.',
        'Weiterlesen',
      ],
      [
        'Freunde werben und 20 € sichern',
        'Empfehlen Sie uns weiter: Für jeden neuen Kunden bekommen Sie beide 20 € Guthaben.',
        'Jetzt empfehlen',
      ],
      [
        'Einladung zum kostenlosen Webinar',
        'Am 4. Dezember zeigen wir, wie Vereine ihre Buchhaltung vereinfachen. Melden Sie sich an.',
        'Platz sichern',
      ],
      [
        'Ihr Warenkorb wartet',
        'Sie haben etwas vergessen: Der Schreibtisch liegt noch im Warenkorb.',
        'Zum Warenkorb',
      ],
    ],
    transactional: [
      [
        'Ihre Bestellung 48213',
        'Vielen Dank für Ihre Bestellung. Gesamtbetrag: 41,90 €. Wir melden uns, sobald die Ware unterwegs ist.',
        'Bestellung ansehen',
      ],
      [
        'Ihr Paket kommt heute',
        'Die Zustellung ist zwischen 13 und 15 Uhr geplant. Sendungsnummer 00340434161094.',
        'Sendung verfolgen',
      ],
      [
        'Ihr Bestätigungscode',
        'Ihr Code lautet 482913. Er gilt zehn Minuten. Geben Sie ihn niemandem weiter.',
        null,
      ],
      [
        'Terminerinnerung: Dienstag, 9:30 Uhr',
        'Bitte bringen Sie Ihre Versichertenkarte mit. Absagen bitte bis Montag.',
        null,
      ],
      [
        'Ihre Rechnung für November',
        'Im Anhang finden Sie die Rechnung. Der Betrag wird am 5. Dezember abgebucht.',
        'Rechnung öffnen',
      ],
    ],
  },
  fr: {
    marketing: [
      [
        '-30 % sur toutes les bottes',
        'Jusqu’à dimanche, profitez de 30 % de réduction sur toute la collection d’hiver.',
        'J’en profite',
      ],
      [
        'La lettre du jardin, novembre',
        'Dans ce numéro : protéger les rosiers, utiliser les feuilles mortes et la visite d’une ruche.',
        'Lire la suite',
      ],
      [
        'Parrainez un ami et recevez 10 €',
        'Partagez votre lien : votre ami et vous recevez chacun 10 €.',
        'Parrainer un ami',
      ],
      [
        'Webinaire gratuit le 4 décembre',
        'Nous vous invitons à découvrir comment gérer le budget d’une petite association.',
        'Je m’inscris',
      ],
      [
        'Votre panier vous attend',
        'Vous avez oublié quelque chose : le bureau en noyer est toujours dans votre panier.',
        'Voir mon panier',
      ],
    ],
    transactional: [
      [
        'Confirmation de commande 48213',
        'Merci pour votre commande. Total TTC : 41,90 €. Nous vous écrirons dès son expédition.',
        'Voir ma commande',
      ],
      [
        'Votre colis arrive aujourd’hui',
        'Le livreur passera entre 13 h et 15 h. Numéro de suivi : 6A123456789.',
        'Suivre mon colis',
      ],
      ['Votre code de vérification', 'Votre code est 482913. Il est valable dix minutes.', null],
      [
        'Rappel de votre rendez-vous mardi à 9 h 30',
        'Merci d’apporter votre carte vitale. Prévenez-nous en cas d’empêchement.',
        null,
      ],
      [
        'Votre facture de novembre',
        'Votre facture est disponible. Le montant sera prélevé le 5 décembre.',
        'Voir la facture',
      ],
    ],
  },
  es: {
    marketing: [
      [
        'Solo hasta el domingo: 30 % de descuento en botas',
        'Toda la colección de invierno con un 30 % de descuento, en tienda y en línea.',
        'Comprar ahora',
      ],
      [
        'Boletín del huerto, noviembre',
        'En este número: cómo proteger los rosales, qué hacer con las hojas y una visita a un apiario.',
        'Leer más',
      ],
      [
        'Invita a un amigo y gana 10 €',
        'Comparte tu enlace: cuando tu amigo abra una cuenta, los dos recibiréis 10 €.',
        'Invitar a un amigo',
      ],
      [
        'Te invitamos a un seminario web gratuito',
        'El 4 de diciembre explicamos cómo llevar las cuentas de una asociación pequeña.',
        'Reserva tu plaza',
      ],
      [
        'Tu carrito te espera',
        '¿Has olvidado algo? El escritorio de nogal sigue en tu carrito.',
        'Ver mi carrito',
      ],
    ],
    transactional: [
      [
        'Confirmación de pedido 48213',
        'Gracias por tu compra. Total a pagar: 41,90 €. Te avisaremos cuando salga.',
        'Ver el pedido',
      ],
      [
        'Tu paquete llega hoy',
        'El repartidor pasará entre las 13:00 y las 15:00. Número de seguimiento: 48213771.',
        'Seguir el envío',
      ],
      [
        'Restablece tu contraseña',
        'Hemos recibido una solicitud para cambiar la contraseña de tu cuenta. El enlace caduca en una hora.',
        'Cambiar contraseña',
      ],
      [
        'Recordatorio de tu cita del martes a las 9:30',
        'Trae tu tarjeta sanitaria. Si no puedes venir, llámanos.',
        null,
      ],
      [
        'Tu factura de noviembre',
        'Ya puedes consultar tu factura. El cargo se hará el 5 de diciembre.',
        'Ver factura',
      ],
    ],
  },
  it: {
    marketing: [
      [
        'Solo fino a domenica: -30% su tutti gli stivali',
        'Approfitta del 30% di sconto su tutta la collezione invernale, in negozio e online.',
        'Acquista ora',
      ],
      [
        'Lettera dall’orto, novembre',
        'In questo numero: come proteggere le rose, cosa fare delle foglie e la visita a un apicoltore.',
        'Leggi tutto',
      ],
      [
        'Invita un amico e ricevi 10 €',
        'Condividi il tuo link: quando un amico apre un conto, ricevete 10 € ciascuno.',
        'Invita un amico',
      ],
      [
        'Ti invitiamo al webinar gratuito',
        'Il 4 dicembre spieghiamo come tenere i conti di una piccola associazione.',
        'Iscriviti ora',
      ],
      [
        'Il tuo carrello ti aspetta',
        'Hai dimenticato qualcosa? La scrivania in noce è ancora nel tuo carrello.',
        'Vai al carrello',
      ],
    ],
    transactional: [
      [
        'Conferma ordine 48213',
        'Grazie per il tuo ordine. Totale: 41,90 €. Ti scriveremo alla spedizione.',
        'Vedi ordine',
      ],
      [
        'Il tuo pacco arriva oggi',
        'Il corriere passerà tra le 13 e le 15. Il pacco è in consegna.',
        'Traccia il pacco',
      ],
      ['Il tuo codice di verifica', 'Il codice è 482913 e vale dieci minuti.', null],
      [
        'Promemoria: il tuo appuntamento di martedì alle 9:30',
        'Porta la tessera sanitaria. Se non puoi venire, chiamaci.',
        null,
      ],
      [
        'La tua fattura di novembre',
        'La fattura è disponibile. L’importo sarà addebitato il 5 dicembre.',
        'Apri la fattura',
      ],
    ],
  },
  nl: {
    marketing: [
      [
        'Alleen dit weekend: 30% korting op laarzen',
        'De hele wintercollectie met 30% korting, in de winkel en online.',
        'Shop nu',
      ],
      [
        'Tuinbrief november',
        'In dit nummer: rozen beschermen, bladeren gebruiken en een bezoek aan een imker.',
        'Lees verder',
      ],
      [
        'Nodig een vriend uit en krijg 10 euro',
        'Deel je link. Als je vriend klant wordt, krijgen jullie allebei 10 euro.',
        'Vriend uitnodigen',
      ],
      [
        'Uitnodiging voor ons gratis webinar',
        'Op 4 december laten we zien hoe kleine verenigingen hun boekhouding doen.',
        'Meld je aan',
      ],
      [
        'Je bent iets vergeten',
        'Het bureau van notenhout ligt nog in je winkelwagen.',
        'Naar winkelwagen',
      ],
    ],
    transactional: [
      [
        'Orderbevestiging 48213',
        'Bedankt voor je bestelling. Totaal: 41,90 euro. Je hoort van ons zodra alles verzonden is.',
        'Bekijk bestelling',
      ],
      [
        'Je pakket komt vandaag',
        'De bezorger komt tussen 13.00 en 15.00 uur. Je bestelling is onderweg.',
        'Volg je pakket',
      ],
      [
        'Wachtwoord opnieuw instellen',
        'Er is een nieuw wachtwoord aangevraagd voor je account. De link werkt een uur.',
        'Kies een wachtwoord',
      ],
      [
        'Herinnering: je afspraak op dinsdag om 9.30 uur',
        'Neem je zorgpas mee. Bel ons als je niet kunt komen.',
        null,
      ],
      [
        'Je factuur van november',
        'Je factuur staat klaar. Het bedrag wordt op 5 december afgeschreven.',
        'Open factuur',
      ],
    ],
  },
  pt: {
    marketing: [
      [
        'Só até domingo: 30% de desconto em botas',
        'Toda a coleção de inverno com 30% de desconto, na loja e online. Aproveite!',
        'Comprar agora',
      ],
      [
        'Carta da horta, novembro',
        'Nesta edição: como proteger as roseiras, o que fazer com as folhas e a visita a um apicultor.',
        'Ler mais',
      ],
      [
        'Indique um amigo e ganhe 10 euros',
        'Partilhe o seu link: quando um amigo abrir conta, ambos recebem 10 euros.',
        'Indicar um amigo',
      ],
      [
        'Convite para o nosso webinar gratuito',
        'No dia 4 de dezembro mostramos como gerir as contas de uma pequena associação.',
        'Inscreva-se',
      ],
      ['Esqueceu algo?', 'A secretária de nogueira ainda está no seu carrinho.', 'Ver carrinho'],
    ],
    transactional: [
      [
        'Confirmação do pedido 48213',
        'Obrigado pela sua compra. Total: 41,90 euros. Avisaremos quando for enviado.',
        'Ver pedido',
      ],
      [
        'A sua encomenda chega hoje',
        'O estafeta passa entre as 13h e as 15h. Código de rastreamento: 48213771.',
        'Seguir encomenda',
      ],
      [
        'Redefinição de senha',
        'Recebemos um pedido para redefinir sua senha. O link é válido por uma hora.',
        'Criar nova senha',
      ],
      [
        'Lembrete: sua consulta na terça às 9h30',
        'Traga o seu cartão de saúde. Se não puder vir, ligue-nos.',
        null,
      ],
      [
        'Sua fatura de novembro',
        'A fatura já está disponível. O valor será debitado no dia 5 de dezembro.',
        'Abrir fatura',
      ],
    ],
  },
  pl: {
    marketing: [
      [
        'Tylko do niedzieli: -30% na wszystkie buty',
        'Cała zimowa kolekcja 30% taniej, w sklepie i online.',
        'Kup teraz',
      ],
      [
        'List z ogrodu, listopad',
        'W tym numerze: jak chronić róże, co zrobić z liśćmi i wizyta u pszczelarza.',
        'Czytaj dalej',
      ],
      [
        'Poleć nas znajomemu i odbierz 50 zł',
        'Udostępnij link: gdy znajomy otworzy konto, oboje dostaniecie 50 zł.',
        'Poleć znajomemu',
      ],
      [
        'Zapraszamy na bezpłatny webinar',
        '4 grudnia pokażemy, jak prowadzić finanse małego stowarzyszenia.',
        'Zapisz się',
      ],
      ['Coś zostało w koszyku', 'Biurko z orzecha nadal czeka w koszyku.', 'Wróć do koszyka'],
    ],
    transactional: [
      [
        'Potwierdzenie zamówienia 48213',
        'Dziękujemy za zamówienie. Razem do zapłaty: 199,90 zł.',
        'Zobacz zamówienie',
      ],
      [
        'Twoja paczka dotrze dzisiaj',
        'Kurier będzie między 13 a 15. Numer przesyłki: 6800123456.',
        'Śledź paczkę',
      ],
      [
        'Zmiana hasła',
        'Ktoś poprosił o nowe hasło do Twojego konta. Link działa godzinę.',
        'Ustaw hasło',
      ],
      [
        'Przypomnienie: Twoja wizyta we wtorek o 9:30',
        'Prosimy o przybycie 10 minut wcześniej. W razie zmiany planów zadzwoń.',
        null,
      ],
      [
        'Faktura VAT za listopad',
        'W załączniku przesyłamy fakturę. Termin płatności: 5 grudnia.',
        'Pobierz fakturę',
      ],
    ],
  },
};
