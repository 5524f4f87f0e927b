// The section /console/staff: who may use the console for the partner.
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import type { KeyStore } from '../identity/keystore.ts';
import { inviteStaff, listStaff, MAX_STAFF, removeStaff } from '../identity/staff.ts';
import { type Html, html } from '../pages/html.ts';
import { actionForm, confirmed, timeText } from './frame.ts';
import {
  ConsoleError,
  type ConsoleVisit,
  NotFoundError,
  type Section,
  STAFF_ROLES,
  type Staff,
  type StaffRole,
} from './section.ts';

const NAME = 'staff';

export function createStaffSection({
  keyStore,
}: {
  keyStore: Pick<KeyStore, 'staffTables'>;
}): Section {
  async function invite({ staff, changed }: ConsoleVisit, form: URLSearchParams): Promise<void> {
    const { partnerId } = staff;
    const email = form.get('email') ?? '';
    const role = STAFF_ROLES.find((one) => one === form.get('role'));
    if (role === undefined) throw new ConsoleError('The role is admin or viewer.');
    const tables = await keyStore.staffTables();
    const others = await listStaff(tables, partnerId);
    const address = canonicalEmail(email);
    const known = others.find((one) => canonicalEmail(one.email) === address);
    const isDemoted = role === 'viewer' && known !== undefined;
    if (isDemoted) requireOtherAdmin(others, known);
    const invited = await inviteStaff(tables, { partnerId, email, role });
    if (invited === 'invalid') throw new ConsoleError('That is not an email address we can use.');
    if (invited === 'full')
      throw new ConsoleError(`There can be ${MAX_STAFF} people. Remove somebody first.`);
    changed(invited.staffId);
    if (isDemoted) await keepAdmin(known);
  }

  async function remove({ staff, changed }: ConsoleVisit, staffId: string): Promise<void> {
    const { partnerId } = staff;
    const tables = await keyStore.staffTables();
    const others = await listStaff(tables, partnerId);
    const known = others.find((one) => one.staffId === staffId);
    if (known !== undefined) requireOtherAdmin(others, known);
    if (known === undefined || !(await removeStaff(tables, staffId, partnerId)))
      throw new NotFoundError('There is nobody with this ID. Somebody may have removed them.');
    changed(staffId);
    await keepAdmin(known);
  }

  /** Two admins may have removed each other at once: then both are back. */
  async function keepAdmin({ partnerId, email, role }: Staff): Promise<void> {
    const tables = await keyStore.staffTables();
    if (role === 'admin' && !(await listStaff(tables, partnerId)).some(isAdmin))
      await inviteStaff(tables, { partnerId, email, role });
  }

  return {
    name: NAME,
    title: 'Staff',
    about: 'Who may use this console, and who may make changes in it.',
    async show({ staff: own }) {
      const all = await listStaff(await keyStore.staffTables(), own.partnerId);
      const rows = all.map((one) => rowOf(one, own));
      return html`<p>Admins make changes, viewers look at everything. Whoever is here signs in with a
mailed link or code; nobody has to accept an invitation.</p>
<ul class="rows">${rows}</ul>
${isAdmin(own) ? inviteForm() : ''}`;
    },
    async submit(visit, form) {
      const action = form.get('action');
      if (action === 'invite') await invite(visit, form);
      else if (action === 'remove') await remove(visit, form.get('staffId') ?? '');
      else throw new ConsoleError('Nothing was changed.');
      return undefined;
    },
  };
}

const isAdmin = ({ role }: Staff) => role === 'admin';

function requireOtherAdmin(all: readonly Staff[], known: Staff): void {
  if (isAdmin(known) && all.filter(isAdmin).length === 1)
    throw new ConsoleError('There has to be an admin. Make somebody else one first.');
}

function rowOf(one: Staff, own: Staff): Html {
  const { staffId, email, role, createdAt } = one;
  const other: StaffRole = role === 'admin' ? 'viewer' : 'admin';
  const change = actionForm(
    NAME,
    'invite',
    `Make ${other === 'admin' ? 'an admin' : 'a viewer'}`,
    html`<input type="hidden" name="email" value="${email}">
<input type="hidden" name="role" value="${other}">`,
  );
  const removal = html`<p>${email} can no longer use the console for you, and is signed out at
once.</p>
${actionForm(NAME, 'remove', 'Remove', html`<input type="hidden" name="staffId" value="${staffId}">`, 'danger')}`;
  return html`<li class="row"><h2>${email} <span class="state ${role}">${role}</span></h2>
<p class="soft">${staffId === own.staffId ? 'You, s' : 'S'}ince ${timeText(createdAt)}</p>
${own.role === 'admin' ? html`<div class="actions">${confirmed('Change role', change)}${confirmed('Remove', removal)}</div>` : ''}</li>`;
}

function inviteForm(): Html {
  const roles = STAFF_ROLES.map(
    (role) =>
      html`<option value="${role}"${role === 'viewer' ? html` selected` : ''}>${role}</option>`,
  );
  return html`<section class="new" aria-labelledby="invite"><h2 id="invite">Invite somebody</h2>
${actionForm(
  NAME,
  'invite',
  'Invite',
  html`<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="off" maxlength="254" spellcheck="false" required>
<label for="role">Role</label>
<select id="role" name="role">${roles}</select>`,
)}</section>`;
}
