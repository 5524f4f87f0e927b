// What the pages for members say, in English.

export type Texts = typeof EN;

export const EN = {
  language: 'en',
  links: {
    signIn: {
      title: 'Sign in',
      text: 'Press the button to sign in and see your profile.',
      button: 'Sign in',
    },
    confirmChange: {
      title: 'Confirm your new email address',
      text: 'Press the button to make this your email address.',
      button: 'Confirm the new address',
    },
    undoChange: {
      title: 'Undo the change of your email address',
      text: 'Press the button to get your former email address back.',
      button: 'Undo the change',
    },
    contestUndo: {
      title: 'Contest the loss of your email address',
      text:
        'Press the button if somebody else has taken this email address off your membership. ' +
        'Until we have looked into it, nobody can sign in by email or change the address.',
      button: 'Contest this',
    },
  },
  invitation: {
    title: (partner: string) => `${partner} invites you`,
    text: (partner: string, email: string) =>
      `${partner} would like to enroll ${email}. If you agree, ${partner} can see your name, your ` +
      'address, and your standing there.',
    button: 'Agree',
    accepted: 'You are enrolled',
    acceptedText: (partner: string, email: string) => `${email} is now enrolled with ${partner}.`,
  },
  address: {
    title: 'Sign in',
    app: (app: string) => `to continue to ${app}`,
    label: 'Email address',
    hint: 'We will send you a link and a code to sign in with.',
    button: 'Continue',
    problems: {
      invalid: 'That is not an email address we can use.',
      limited: 'We have sent too many mails. Please wait 15 minutes and try again.',
    },
  },
  code: {
    title: 'Look into your mailbox',
    text: (address: string) =>
      `If ${address} is a member's address, we have sent a link and a code to it. Open the link in ` +
      'this browser, or type the code here. Both are good for 15 minutes.',
    label: 'Code',
    button: 'Sign in',
    problems: {
      wrong: 'That is not the code in the mail. Please check it and try again.',
      expired: 'This code is no longer valid. Please begin again to get a new one.',
    },
    again: 'Begin again',
  },
  elsewhere: {
    title: 'Type the code where you began',
    text: 'You opened this link in another browser. To sign in, type the code from the mail there.',
  },
  consent: {
    title: (app: string) => `Do you want to use ${app}?`,
    text: (app: string, partner: string) =>
      `${app} belongs to ${partner}. If you agree, it can see:`,
    host: (host: string) => `It takes you to ${host}.`,
    scopes: {
      openid: 'your membership, and your standing with this partner if you are enrolled there',
      profile: 'your name',
      email: 'your email address',
      offline_access: 'all this also while you are not using it, until you revoke it',
    } as Readonly<Record<string, string>>,
    agree: 'Agree',
    cancel: 'Cancel',
  },
  signOut: {
    title: 'Do you want to sign out?',
    text: 'This ends your session in this browser, and in the apps that you used with it.',
    button: 'Sign out',
    cancel: 'Cancel',
  },
  account: {
    title: 'Your profile',
    name: 'Name',
    email: 'Email',
    points: 'Points this year',
    stays: 'Stays this year',
    standing: 'Your standing',
    partner: 'Partner',
    tier: 'Tier',
    pointsThere: 'Points',
    notEnrolled: 'You are not enrolled with any partner.',
    address: 'Change your email address',
    newAddress: 'New email address',
    addressHint: 'We send a link to the new address. Nothing changes until you open it.',
    sendLink: 'Send the link',
    names: 'Change your name',
    firstName: 'First name',
    lastName: 'Last name',
    saveNames: 'Save the name',
    enrollments: 'Your enrollments',
    leave: 'Leave',
    apps: 'Apps that you use',
    appOf: (app: string, partner: string) => `${app} of ${partner}`,
    since: (time: string) => `since ${time}`,
    revoke: 'Revoke',
    sessions: 'Where you are signed in',
    session: (browser: string, used: string) => `${browser}, last used ${used}`,
    thisSession: 'this browser',
    endSession: 'End',
    signedIn: 'You are signed in until you do not come back for 30 days.',
    signOut: 'Sign out',
    retry: 'You are signed in',
    retryText: 'Your profile is unavailable because something on our side is not responding.',
    retryButton: 'Try again',
    notices: {
      linkSent: (email: string) => `We have sent a link to ${email}. Open it to make the change.`,
      invalidAddress: 'That is not an email address we can use.',
      invalidNames: 'A name can have at most 100 characters.',
      namesChanged: 'Your name is changed.',
      left: 'You have left the partner.',
      revoked: 'The app can see nothing of you any more.',
      sessionEnded: 'The session has ended.',
    },
  },
  messages: {
    invalidLink: [
      'This link does not work',
      'It has already been used, it has expired, or it is incomplete. Please request a new one.',
    ],
    expired: ['This took too long', 'Please go back to where you came from and begin again.'],
    tooMany: ['Too many attempts', 'Please wait a minute and try again.'],
    signedOut: ['You are signed out', 'To see your profile again, please sign in.'],
    sessionEnded: ['You are signed out', 'Your session has ended. Please sign in again.'],
    appRefused: [
      'You cannot sign in to this app',
      'It sent something that we do not accept. Please tell those who make it.',
    ],
    unavailable: [
      'We cannot do this right now',
      'Something on our side is not responding. Please try again in a minute.',
    ],
    addressChanged: ['Your email address is changed', 'From now on, we write to {}.'],
    addressRestored: ['Your former email address is back', 'From now on, we write to {}.'],
    addressInUse: [
      'This address cannot be used',
      'It belongs to another member. Your address has not changed.',
    ],
    addressLocked: [
      'Your membership is protected',
      'Until we have looked into it, nobody can sign in by email or change the address. ' +
        'Please contact us.',
    ],
    foreignForm: [
      'This form was not sent from our page',
      'Please open the link in your mail again, or go back and try again.',
    ],
    signInElsewhere: [
      'You cannot sign in here',
      'Please sign in where you usually do. Your link has not been used.',
    ],
    wrongMethod: ['This page does not support that', 'Please open the link in your mail.'],
    tooSlow: ['That took too long', 'Please go back, and send the form again.'],
  },
};
