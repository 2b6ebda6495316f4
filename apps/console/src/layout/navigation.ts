import {
  Activity,
  Boxes,
  Building2,
  ClipboardCheck,
  Cpu,
  FolderOpen,
  KeyRound,
  MessageSquare,
  Rocket,
  ScrollText,
  ServerCog,
  Store,
  UserCheck,
  Webhook,
  type LucideIcon,
} from 'lucide-react';
import { mayWith, type Scope, type Identity } from '../api/who.js';

export interface MenuEntry {
  to: string;
  label: string;
  icon: LucideIcon;
  /** The scope that a person needs to see it in the menu. */
  needs: Scope;
  /** Only for the operator tenant: the api refuses it to all others. */
  isOperators?: boolean;
  /** Two letters that open it, one after the other. */
  keys: string;
}

/** The screens in the menu and the palette, in order. */
const MENU_ENTRIES: readonly MenuEntry[] = [
  { to: '/deployments', label: 'Deployments', icon: Rocket, needs: 'viewer', keys: 'gd' },
  { to: '/operations', label: 'Operations', icon: Activity, needs: 'viewer', keys: 'go' },
  { to: '/plans', label: 'Plans', icon: ClipboardCheck, needs: 'viewer', keys: 'gi' },
  { to: '/playground', label: 'Playground', icon: MessageSquare, needs: 'viewer', keys: 'gp' },
  { to: '/targets', label: 'Targets', icon: Cpu, needs: 'viewer', keys: 'gt' },
  { to: '/sandboxes', label: 'Sandboxes', icon: FolderOpen, needs: 'viewer', keys: 'gs' },
  { to: '/catalog', label: 'Catalog', icon: Store, needs: 'viewer', keys: 'gc' },
  { to: '/model-apis', label: 'Model APIs', icon: Boxes, needs: 'admin', keys: 'gm' },
  { to: '/access', label: 'Access', icon: UserCheck, needs: 'admin', keys: 'ga' },
  { to: '/tokens', label: 'Tokens', icon: KeyRound, needs: 'admin', keys: 'gk' },
  { to: '/tenants', label: 'Tenants', icon: Building2, needs: 'admin', isOperators: true, keys: 'gn' },
  { to: '/webhooks', label: 'Webhooks', icon: Webhook, needs: 'admin', keys: 'gw' },
  { to: '/audit', label: 'Audit', icon: ScrollText, needs: 'admin', keys: 'gl' },
  { to: '/system', label: 'System', icon: ServerCog, needs: 'viewer', keys: 'gy' },
];

/** Returns the screens that a person may open; none before the person is known. */
export const menuEntriesOf = (who: Identity | undefined): MenuEntry[] =>
  MENU_ENTRIES.filter(
    ({ needs, isOperators }) => who && mayWith(who.scopes, needs) && (!isOperators || who.tenant.is_operator),
  );
